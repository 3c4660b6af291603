"""Response times over time as a grid, and where the time of each cell went: which mechanism made this band?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.records import PARTS, Completions

#: Cells in each direction: more cannot be seen on a page.
N_TIMES, N_LATENCIES = 120, 60
#: What each part of a response is called where it is shown.
PART_NAMES = {
    "link": "link",
    "cache": "controller's cache",
    "queue": "waiting in a queue",
    "overhead": "command overhead",
    "seek": "seek",
    "rotation": "rotation",
    "transfer": "transfer",
    "parity": "parity and mirrors",
    "sync": "flush",
}
#: Part of the requests below the lowest cell and above the highest one, which take what lies beyond: one request of
#: a thousand stretches the scale no further. At zero, one slow request leaves all others in a few rows.
BEYOND = 0.0005
#: Room below the lowest and above the highest response, and the least range of all: responses that are all the same
#: would make a grid without height.
MARGIN, LEAST_RANGE = 1.02, 1.5


@dataclass(frozen=True)
class HeatMap:
    """How many requests ended when, and after how long.

    Attributes
    ----------
    start_s : float64, shape (n_times + 1,)
        Edges of the cells over time: when requests were done, seconds of the run.
    latency_ms : float64, shape (n_latencies + 1,)
        Edges over response times, equally far apart as logarithms. The first and the last cell also have what lies
        beyond.
    counts : int64, shape (n_times, n_latencies)
        Requests.
    parts_ms : mapping of str to float64, shape (n_times, n_latencies)
        Time of these requests together by where it went (`records.PARTS`); parts that took none are left out.
    revolution_ms : float or None
        Of hard disks: responses to random requests form bands that are a revolution apart.
    """

    start_s: NDArray[np.float64]
    latency_ms: NDArray[np.float64]
    counts: NDArray[np.int64]
    parts_ms: Mapping[str, NDArray[np.float64]]
    revolution_ms: float | None

    def of_band(self, low_ms: float, high_ms: float) -> dict[str, float]:
        """Return the share of the response time that each part took, of requests in the cells between two latencies.

        Parameters
        ----------
        low_ms, high_ms : float
            Cells whose middle lies between count.

        Returns
        -------
        dict of part to float
            Shares, from the largest on; empty where there were no requests.
        """
        middle = np.sqrt(self.latency_ms[:-1] * self.latency_ms[1:])
        rows = (middle >= low_ms) & (middle <= high_ms)
        spent = {part: float(values[:, rows].sum()) for part, values in self.parts_ms.items()}
        total = sum(spent.values())
        shares = {part: value / total for part, value in spent.items() if value > 0} if total else {}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the grid for a page or a file; cells by time, then latency."""
        return {
            "start_s": self.start_s.tolist(),
            "latency_ms": self.latency_ms.tolist(),
            "counts": self.counts.tolist(),
            "parts_ms": {part: np.round(values, 4).tolist() for part, values in self.parts_ms.items()},
            "revolution_ms": self.revolution_ms,
        }


def heat_map(
    done: Completions, *, revolution_ms: float | None = None, n_times: int = N_TIMES, n_latencies: int = N_LATENCIES
) -> HeatMap:
    """Return the response times of a run over time, its beginning included.

    Parameters
    ----------
    done : Completions
        Of every request (a run with `keep="all"`).
    revolution_ms : float or None
        Of the disks.
    n_times, n_latencies : int
        Cells in each direction.

    Raises
    ------
    ValueError
        If the run kept no completions.
    """
    if not len(done.done_ns):
        raise ValueError("a run that keeps only a histogram has no heat map")
    response_ms = np.maximum((done.done_ns - done.issue_ns) / 1e6, 1e-6)
    low, high = np.quantile(response_ms, [BEYOND, 1 - BEYOND])
    latency_ms = np.geomspace(low / MARGIN, max(high, low * LEAST_RANGE) * MARGIN, n_latencies + 1)
    start_s = np.linspace(0.0, float(done.done_ns.max()) / 1e9, n_times + 1)
    column = np.clip(np.searchsorted(start_s, done.done_ns / 1e9, "left") - 1, 0, n_times - 1)
    row = np.clip(np.searchsorted(latency_ms, response_ms, "right") - 1, 0, n_latencies - 1)
    cell = column * n_latencies + row

    def together(weights: NDArray[Any] | None) -> NDArray[Any]:
        return np.bincount(cell, weights, n_times * n_latencies).reshape(n_times, n_latencies)

    parts = {part: together(done.parts_ns[:, i] / 1e6) for i, part in enumerate(PARTS) if done.parts_ns[:, i].any()}
    return HeatMap(start_s, latency_ms, together(None).astype(np.int64), parts, revolution_ms)
