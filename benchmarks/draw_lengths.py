"""How far ends of intervals of what is not known move with the length of the runs of its draws, and with their seed.

    python benchmarks/draw_lengths.py [--questions 40] [--seed 5] [--first 0]

Arrays and open loads are those of the audit's questions (`tests/audit`), at 30 to 85 % of what clients that keep all
disks busy get. The sixteen draws are the same in each row, and so is the run whose figures the intervals are about;
the runs of the draws have other lengths, or other requests. A movement is that of the end that moves more, as a part
of the interval's width with 160,000 requests of another seed: of runs that long, each draw is known.

60 questions of seed 5, of which 40 have such intervals at all lengths (2026-11-30, seven minutes of a processor), 95 %
intervals, medians, and in brackets with other requests: 10,000 requests, which questions take, are off by 15 % (14) of
the mean's and by 14 % (13) of p99's, 20,000 by 13 % (14) and 15 % (14), 5,000 by 9 % (11) and 13 % (11). So it is not
the length of the draws by which an interval is off.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from diskmodel import Array, DescriptionError, PlanDescription, Workload, simulate
from diskmodel.engine.drawn_runs import DRAWS, DrawnRuns, Trials
from diskmodel.engine.ledger import question
from diskmodel.engine.threads import Threads, mapped
from diskmodel.plan import cases
from diskmodel.plan.comparison.highest_rate import saturating
from diskmodel.result import Interval, Result
from diskmodel.uncertainty import Case
from diskmodel.uncertainty.draws import draw
from tests.audit.questions import draw as audit_question

#: Requests of each drawn run, and the seed of the requests.
ROWS = {
    "20,000": (20_000, 0),
    "20,000 others": (20_000, 1),
    "10,000": (10_000, 0),
    "10,000 others": (10_000, 1),
    "5,000": (5_000, 0),
    "5,000 others": (5_000, 1),
}
#: The same of those that the others are compared with, and the computing time of each at most, seconds by counts.
LONG, LONG_S = (160_000, 3), 60.0
STATISTICS = ("mean", "p99", "p999")
_DEPTH, _REQUESTS = 16, 30_000


def questions(seed: int, n: int, first: int) -> Iterator[tuple[int, Array, Workload]]:
    """Yield the numbers, arrays and open loads of some of the audit's questions."""
    number = first
    while n:
        plan = PlanDescription.parse(audit_question(seed, number).plan)
        rng = np.random.default_rng([seed, number, 9])
        families = cases(plan)
        case = families[int(rng.integers(len(families)))]
        counts = [count for count in case.counts if 4 <= count <= 16]
        if counts and case.workload.is_open:
            array = case.array(counts[int(rng.integers(len(counts)))])
            share = float(rng.uniform(0.3, 0.85))
            try:
                busy = simulate(array, saturating(array, case.workload, _DEPTH), n_requests=6000, profile_draws=0)
                load = case.workload.scaled(share * busy.iops.mean / case.workload.offered_rate_per_s)
                yield number, array, load
                n -= 1
            except DescriptionError:  # no room for the load
                pass
        number += 1


def drawn(array: Array, load: Workload, n_requests: int, seed: int) -> DrawnRuns:
    """Return the draws of an array in runs of so many requests of a seed."""
    load = load.at_the_end(array.usable_bytes, _REQUESTS)
    with question():
        trials = Trials(
            array, load, max(_REQUESTS, n_requests), seed=seed, start="steady", longest=n_requests, longest_s=LONG_S
        )
        case = Case(array.behind_host(load), load, trials.seen)
        draws = draw(case, DRAWS, 0)
        with Threads() as pool:
            figures = mapped(pool, trials._figures, draws.perturbations, are_runs=True)
        return DrawnRuns(case, draws, trials.reference, figures, trials.n_requests)


def ends(found: DrawnRuns, own: Result) -> dict[str, Interval]:
    """Return the 95 % intervals of the statistics."""
    figures = {"mean": own.latency.run_mean_ns}
    for name in STATISTICS[1:]:
        value, run_ends = own.latency.quantiles_ns[name], own.latency.run_ends_ns[name]
        figures[name] = Interval(value, *(value if math.isnan(end) else end for end in run_ends))
    return {name: found.interval(figure, name, 0.95) for name, figure in figures.items()}


def movement(one: Interval, other: Interval) -> tuple[float, float]:
    """Return how far the end that moves more does, as a part of the width, and the upper end as a part of the first.

    nan where an interval has no width.
    """
    width = one.high - one.low
    moved = max(abs(one.low - other.low), abs(one.high - other.high))
    is_known = width > 0 and math.isfinite(width) and math.isfinite(moved)
    return (moved / width, other.high / one.high) if is_known else (math.nan, math.nan)


def main() -> None:
    """Print the movements of all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("questions", 40), ("seed", 5), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    moved: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number, array, load in questions(asked.seed, asked.questions, asked.first):
        with question():
            own = simulate(array, load, n_requests=_REQUESTS, profile_draws=0, is_one_of_many=True)
        if not own.is_stable:
            continue
        reference = ends(drawn(array, load, *LONG), own)
        known = {row: ends(drawn(array, load, *ROWS[row]), own) for row in ROWS}
        for name in STATISTICS:
            found = {row: movement(reference[name], intervals[name]) for row, intervals in known.items()}
            # where draws of some lengths are overloaded, and those of others are not, there is nothing to compare
            if all(math.isfinite(one) for one, _ in found.values()):
                for row, pair in found.items():
                    moved.setdefault((name, row), []).append(pair)
        print(f"question {number}", file=sys.stderr, flush=True)
    for (name, row), pairs in moved.items():
        parts, upper = np.array(pairs).T
        median, most = np.median(parts), np.quantile(parts, 0.75)
        low, high = np.quantile(upper, (0.1, 0.9))
        print(
            f"{name:5} {row:14} {len(parts):4} questions: median {median:.1%}, three of four up to {most:.1%}; "
            f"upper ends {np.median(upper):.3f} ({low:.2f} to {high:.2f}) times as high"
        )


if __name__ == "__main__":
    main()
