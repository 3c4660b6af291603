"""Intervals of a load that was fitted to one piece of a trace, and what the piece after or before it sees.

    python -m tests.validation.synthesis.later

Needs DISKMODEL_EVIDENCE.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import Trials
from diskmodel.engine.simulate import simulate
from diskmodel.records import Requests
from diskmodel.result.statistics.batches import Interval
from diskmodel.synthesis import settings, synthesize
from diskmodel.synthesis.reference import within
from diskmodel.workload import TraceWorkload
from tests.validation.synthesis.traces import paths, pieces, read, title

#: Into how many pieces a trace is cut.
CUTS = (2, 4)
CONFIDENCE = 0.95
NAMES = ("mean", "p99")


@dataclass(frozen=True)
class Later:
    """What one piece of a trace sees on an array, and the interval of the load that was fitted to another.

    Attributes
    ----------
    trace : str
    n_pieces : int
    array : str
    speed_up : float
    true_ns : mapping of str to float
        Mean and p99 of the replay.
    intervals : mapping of str to Interval
        Of the fitted load; ns.
    """

    trace: str
    n_pieces: int
    array: str
    speed_up: float
    true_ns: dict[str, float]
    intervals: dict[str, Interval]

    def is_inside(self, name: str) -> bool:
        """Return whether the interval of "mean" or "p99" contains what the replay sees."""
        return self.intervals[name].low <= self.true_ns[name] <= self.intervals[name].high

    def factor(self, name: str) -> float:
        """Return by which factor an interval's ends are away from its middle."""
        found = self.intervals[name]
        return math.sqrt(found.high / found.low) if found.low > 0 else math.inf


def later_of(trace: Requests, name: str) -> Iterator[Later]:
    """Yield neighboring pieces of a trace, each predicted from the other, on the arrays of the page."""
    for n_pieces in CUTS:
        parts = list(pieces(TraceWorkload(trace).without_flushes().trace, n_pieces))
        pairs = [pair for first in range(n_pieces - 1) for pair in ((first, first + 1), (first + 1, first))]
        for known, asked in pairs:
            load = synthesize(parts[known]).workload
            for setting in settings(parts[asked]):
                array = _exact(setting.array)
                fitted = within(load, array.usable_bytes).scaled(setting.speed_up)
                own = simulate(array, fitted, n_requests=len(parts[known]), profile_draws=0, start="empty", seed=1000)
                trials = Trials(array, fitted, len(parts[known]), seed=1000, start="empty")
                truths = trials.truths(16)
                assert truths is not None
                intervals = {key: truths.interval(own.run_interval(key), key, CONFIDENCE) for key in NAMES}
                true = {"mean": setting.trace.mean_ns, "p99": setting.trace.p99_ns}
                yield Later(name, n_pieces, setting.title, setting.speed_up, true, intervals)


def _exact(array: Array) -> Array:
    """Return the array with drives of which everything is known: what is left is the load."""
    return array.model_copy(update={"drive": array.drive.model_copy(update={"exact": True})})


def table(found: list[Later]) -> str:
    """Return the shares inside, by trace and by the length of the pieces."""
    text = "| trace | intervals | mean inside | p99 inside | ends off by: mean | p99 |\n|---|--:|--:|--:|--:|--:|\n"
    names = list(dict.fromkeys(one.trace for one in found))
    groups = [(name, [one for one in found if one.trace == name]) for name in names]
    groups += [(f"all, pieces of 1/{n}", [one for one in found if one.n_pieces == n]) for n in CUTS]
    for name, group in [*groups, ("all", found)]:
        inside = Counter(key for one in group for key in NAMES if one.is_inside(key))
        typical = {key: float(np.median([one.factor(key) for one in group])) for key in NAMES}
        text += f"| {name} | {len(group)} | {inside['mean']} | {inside['p99']} | "
        text += " | ".join(f"{typical[key]:.2g}" for key in NAMES) + " |\n"
    return text


def main() -> None:
    """Print the table."""
    found = []
    for path in paths():
        print(title(path), file=sys.stderr)
        found += later_of(read(path), title(path))
        print(table(found), file=sys.stderr)
    print(table(found))


if __name__ == "__main__":
    main()
