"""How long records stay on the cache devices of a pool, and how many of them are there (rule Z13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.records import Int64

Floats = NDArray[np.float64]

#: Parts of the L2ARC's slots by age, of which each is described by one number: what is valid falls by half from one to
#: the next where a record is written about six times in a turn.
N_AGES = 8
#: Uses up to which records are counted with those used once more: of more uses it makes no difference.
_FEW = 6
#: Rounds in which the turn is found; each brings it at least half way closer.
_ROUNDS = 80
#: Requests that no L2ARC takes to go round.
_NEVER = 1e15


@dataclass(frozen=True)
class Kinds:
    """Records of a pool by how often they are used.

    Attributes
    ----------
    n : float64, shape (k,)
        Records of each kind.
    read, written : float64, shape (k,)
        How often such a record comes into the ARC and is only read there, and how often it is written, for each request
        of the load.
    """

    n: Floats
    read: Floats
    written: Floats

    @classmethod
    def of(
        cls, uses: Int64, are_written: NDArray[np.bool_], *, n_records: int, n_requests: int, n_kept: float
    ) -> Kinds:
        """Return the kinds of `n_records` that `n_requests` have used like this.

        Records used c times are used as often as c + 1 times those that were used once more, for each of them (Good,
        *The population frequencies of species and the estimation of population parameters*, Biometrika 40, 1953): most
        of those used once are used less often.

        Parameters
        ----------
        uses : int64, shape (m,)
        are_written : bool, shape (m,)
        n_kept : float
            Requests for which the ARC keeps a record that is not used again.
        """
        times, n = np.unique(np.unique(uses, return_counts=True)[1], return_counts=True)
        times, n = np.append(0, times), np.append(max(n_records - int(n.sum()), 0), n)
        often = times.astype(np.float64)
        for at in range(min(len(times) - 1, _FEW)):
            if n[at] and times[at + 1] == times[at] + 1:
                often[at] = times[at + 1] * n[at + 1] / n[at]
        each = np.maximum(often, 1e-9) / n_requests
        together = np.exp(np.minimum(each * n_kept, 50.0))
        stays = each / together
        share = -np.expm1(together * np.log1p(-min(float(are_written.mean()), 1 - 1e-9))) if len(uses) else 0.0
        return cls(n.astype(np.float64), stays * (1 - share), stays * share)


@dataclass(frozen=True)
class Turn:
    """An L2ARC that has gone round again and again.

    Attributes
    ----------
    requests : float
        Requests of the load that come while it goes round once.
    taken : int
        Slots that were taken.
    fed : float
        Share of what comes into the ARC that a feed takes.
    """

    requests: float
    taken: int
    fed: float

    @classmethod
    def of(cls, kinds: list[Kinds], slots: int, fed: float) -> Turn:
        """Return the turn in which as many records are fed as the L2ARC has slots."""
        turn = float(slots)
        for _ in range(_ROUNDS):
            per_request = sum(float(_fed(one, turn, fed)[0].sum()) for one in kinds)
            turn = min((turn * slots / max(per_request, 1e-300)) ** 0.5, _NEVER)
        n_taken = sum(float(_fed(one, turn, fed)[0].sum()) for one in kinds) * turn
        return cls(turn, min(slots, int(np.ceil(n_taken * (1 - 1e-9)))), fed)

    def ages(self, kinds: Kinds) -> Int64:
        """Return how many records are valid in equal parts of the slots that were taken, the oldest first."""
        per_request, _ = _fed(kinds, self.requests, self.fed)
        left = [
            float((per_request * _stage(kinds.written, self.requests * at / N_AGES)).sum()) for at in range(N_AGES + 1)
        ]
        return np.diff(left)[::-1].astype(np.int64)


def _stage(written: Floats, ends: float) -> Floats:
    """Requests after which a record has been written, or so many have come, on average."""
    is_seldom = written * ends < 1e-9
    return np.where(is_seldom, ends, -np.expm1(-written * ends) / np.where(is_seldom, 1.0, written))


def _fed(kinds: Kinds, turn: float, fed: float) -> tuple[Floats, Floats]:
    """Records of each kind that are fed for a request, and how many are on the L2ARC.

    One that is fed stays for a turn, or until it is written; then it may be fed at once again. One that is not on the
    L2ARC may be whenever it comes into the ARC.
    """
    stage = _stage(kinds.written, turn)
    begins = fed * (kinds.read + kinds.written)
    on = kinds.n / (1 + (1 - fed * kinds.written * stage) / np.maximum(stage * begins, 1e-300))
    return on / stage, on
