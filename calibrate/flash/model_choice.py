"""Which model of a drive without moving parts the evidence supports: parallel dies, or a server that answers in
batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.evidence import Cells
from calibrate.flash.fit import FlashFit
from calibrate.virtual_disk import MODEL_ERROR, ServerFit, robust_chi2

#: Free parameters: times and rates of the read side, and number and size of dies and pages.
_FREE_OF_DIES, _FREE_OF_SERVER = 6, 3
#: Difference of the Bayesian information criterion that Kass and Raftery call strong evidence: odds of 20 to 1.
STRONG_BIC = 6.0


#: Share of the outstanding requests that complete together from which on a drive answers in batches, whatever the
#: means show. A drive that answers one by one stays below a quarter even where the program is slow to look; at 0.8
#: disturbed batches are missed.
MIN_TOGETHER_RATIO = 0.5


@dataclass(frozen=True)
class Choice:
    """Misfit of both models on the reads of the evidence; the smaller criterion wins unless batches were seen.

    Attributes
    ----------
    is_single_server : bool
    dies_bic, server_bic : float
        Bayesian information criterion: robust chi² and ln(n) for each free parameter.
    together_ratio : float or None
        Share of the outstanding requests that were answered at one instant, where single responses are known.
    """

    is_single_server: bool
    dies_bic: float
    server_bic: float
    together_ratio: float | None = None

    def __str__(self) -> str:
        apart = abs(self.dies_bic - self.server_bic)
        chosen, other = ("one server with batches", "parallel dies")[:: 1 if self.is_single_server else -1]
        said = f"{chosen} rather than {other}: "
        if self.together_ratio is not None and self.together_ratio >= MIN_TOGETHER_RATIO:
            said += f"{self.together_ratio:.0%} of the outstanding requests complete together; "
        if self.is_single_server != (self.server_bic < self.dies_bic):
            return said + f"mean responses alone favor the other (criterion worse by {apart:.0f})"
        return said + f"{'strong' if apart >= STRONG_BIC else 'weak'} evidence (criterion better by {apart:.0f})"


def choose(cells: Cells, dies: FlashFit, server: ServerFit, together_ratio: float | None = None) -> Choice:
    """Return the model that the reads support.

    Means of a disturbed machine scatter more than the models differ. Requests that complete together show in every run,
    and parallel dies do not produce them.

    References
    ----------
    R. Kass, A. Raftery, *Bayes factors*, JASA 90(430), 1995: the criterion and its scale.
    """
    server_ns = dict(zip(server.keys, server.predicted_ns, strict=True))
    sigma = np.hypot([cells.sigma_ratio(key) for key in dies.keys], MODEL_ERROR)
    measured = np.log([cells.expected_ns(key) for key in dies.keys])
    count = np.log(max(len(dies.keys), 2))

    def criterion(predicted_ns: list[float], n_free: int) -> float:
        return robust_chi2((np.log(predicted_ns) - measured) / sigma) + n_free * float(count)

    of_dies = criterion(dies.predicted_ns.tolist(), _FREE_OF_DIES)
    of_server = criterion([float(server_ns[key]) for key in dies.keys], _FREE_OF_SERVER)
    has_batches = together_ratio is not None and together_ratio >= MIN_TOGETHER_RATIO
    # a host that limits the rate hides how the drive answers: then only strong evidence makes it a virtual disk
    needed = STRONG_BIC if cells.host_ns(dies.keys).any() else 0.0
    return Choice(has_batches or of_server + needed < of_dies, of_dies, of_server, together_ratio)
