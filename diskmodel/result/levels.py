"""Does anything still fill? Judged from what waits to be written, which no mean of responses shows (rule Z8)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from diskmodel.records import Int64, Op, Requests, Run
from diskmodel.result.statistics.stability import DEVIATIONS, SHORT_REQUESTS, median

#: Names of the columns of `records.Run.levels`, as messages say them.
PARTS = ("the controller's write cache", "the drives' write buffers", "the host's dirty memory")
#: Fewest records for a verdict: a quarter of them must have a mean.
_MIN_RECORDS = 16
#: As in `stability.judge_counts`: a straight line has a late growth of a half, a level that has settled of 0.
_LATE_SHARE = 1 / 6
#: Share of what was written meanwhile that a level must grow by. At half of it, what a mark's own fluctuation moves
#: counts as growth now and then; at double, a load one percent above what can be destaged passes as stable.
_MATERIAL = 0.005


class Drift(NamedTuple):
    """A level that has not settled.

    Attributes
    ----------
    part : str
        What fills or drains, one of `PARTS`.
    bytes_per_s : float
        How fast, over the last half of the run; negative where it drains.
    is_overload : bool
        It rises although it is above its mark, where as much as possible is being written.
    may_be_overload : bool
        It may be: it is above its mark unless lines of the controller's cache have come to hold more.
    """

    part: str
    bytes_per_s: float
    is_overload: bool
    may_be_overload: bool = False

    @property
    def is_undecided(self) -> bool:
        """Whether a longer run has to show if it is an overload."""
        return self.may_be_overload and not self.is_overload

    @property
    def message(self) -> str:
        """What the reader must know."""
        what = ("fill" if self.bytes_per_s > 0 else "drain") + ("" if self.part.endswith("s") else "s")
        return f"{self.part} still {what} at {abs(self.bytes_per_s) / 1e6:.2g} MB/s; simulate more requests"


def drifts(run: Run, requests: Requests, until_ns: int) -> tuple[Drift, ...]:
    """Levels that still rise or fall up to `until_ns`.

    Notes
    -----
    A level drifts where it stays, over the last half of the records, on one side of the median of the first half;
    where it goes on moving away, by at least a sixth of its growth from the first half to the last; and where that is
    more than half a percent of what was written meanwhile. It is an overload where it is above its mark, and of fewer
    than 10,000 requests has grown by more than random writes explain: three standard deviations of what is written.
    """
    written = requests.length[requests.op == Op.WRITE].astype(np.float64)
    chance = chance_bytes(len(requests), float((written**2).sum()))
    return drifts_of(
        run.levels, float(written.sum()) / max(run.end_ns, 1), until_ns, run.level_marks, run.overload_marks, chance
    )


def chance_bytes(n_requests: int, squares: float) -> float:
    """Return what a level of random writes may grow by over half of a short run, bytes; 0 where the run is long.

    `squares` are those of the lengths of its writes, added up. What leaves differs as much as what comes, at most.
    """
    return DEVIATIONS * math.sqrt(squares) if n_requests < SHORT_REQUESTS else 0.0


def drifts_of(
    levels: Int64,
    written_per_ns: float,
    until_ns: int,
    marks: tuple[int, int, int],
    overload_marks: tuple[int, int, int],
    chance_bytes: float = 0.0,
) -> tuple[Drift, ...]:
    """As `drifts`, of recorded levels with their marks, the bytes written per ns, and what chance may add."""
    levels = levels[levels[:, 0] <= until_ns]
    if len(levels) < _MIN_RECORDS:
        return ()
    half, quarter = len(levels) // 2, len(levels) // 4
    span_ns = int(levels[-1, 0] - levels[half - 1, 0])
    if not span_ns:  # a host's memory answers all in no time: no level goes anywhere
        return ()
    found = []
    columns = levels[:, 1:4].T.astype(np.float64)
    for part, level, mark, full in zip(PARTS, columns, marks, overload_marks, strict=True):
        first, last = level[:half], level[half:]
        sign = 1.0 if last.mean() > first.mean() else -1.0
        is_apart = (sign * last).min() > sign * median(first)
        late = sign * (last[quarter:].mean() - last[:quarter].mean())
        goes_on = late > 0 and late >= _LATE_SHARE * sign * (last.mean() - first.mean())
        # means of two quarters next to each other lie half of the span apart
        if is_apart and goes_on and late > _MATERIAL * written_per_ns * span_ns / 2:
            end = last[quarter:].mean() if sign > 0 and last[-1] - first[-1] > chance_bytes else 0.0
            found.append(Drift(part, sign * late / (span_ns / 2) * 1e9, bool(end > full), bool(end > mark)))
    return tuple(found)
