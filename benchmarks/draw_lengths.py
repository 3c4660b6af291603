"""How far ends of intervals of what is not known move with the length of the runs of its draws, and with their seed.

    python benchmarks/draw_lengths.py [--questions 40] [--seed 5] [--first 0]

Arrays and open loads are those of the audit's questions (`tests/audit`), at 30 to 85 % of what clients that keep all
disks busy get. The sixteen draws are the same in each row, and so is the run whose figures the intervals are about;
the runs of the draws have other lengths, or other requests. A movement is that of the end that moves more, as a part
of the interval's width with 20,000 requests, which is what questions take.

100 questions of seed 5, of which 75 have such intervals (2026-11-30, three minutes of a processor), 95 % intervals of
p99 latency: 10,000 requests move them by 1.7 % at the median, and by up to 3 % in 59 of 100; 5,000 by 3.9 %, in 38 of
100; 20,000 other requests by 4.0 %, in 41 of 100. So sixteen runs of 20,000 requests do not themselves say where the
ends are within 3 % of the width: what is cheaper can be compared with them only as closely as they agree.
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
ROWS = {"20,000": (20_000, 0), "10,000": (10_000, 0), "5,000": (5_000, 0), "20,000 others": (20_000, 1)}
STATISTICS = ("mean", "p99")
#: Movement that is asked for, as a part of the width.
_ASKED = 0.03
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
        trials = Trials(array, load, max(_REQUESTS, n_requests), seed=seed, start="steady", longest=n_requests)
        case = Case(array.behind_host(load), load, trials.seen)
        draws = draw(case, DRAWS, 0)
        with Threads() as pool:
            figures = mapped(pool, trials._figures, draws.perturbations, are_runs=True)
        return DrawnRuns(case, draws, trials.reference, figures, trials.n_requests)


def ends(found: DrawnRuns, own: Result) -> dict[str, Interval]:
    """Return the 95 % intervals of the statistics."""
    figures = {
        "mean": own.latency.run_mean_ns,
        "p99": Interval(own.latency.quantiles_ns["p99"], *own.latency.run_ends_ns["p99"]),
    }
    return {name: found.interval(figure, name, 0.95) for name, figure in figures.items()}


def movement(one: Interval, other: Interval) -> float:
    """Return how far the end that moves more does, as a part of the width; nan where an interval has no width."""
    width = one.high - one.low
    moved = max(abs(one.low - other.low), abs(one.high - other.high))
    return moved / width if width > 0 and math.isfinite(width) and math.isfinite(moved) else math.nan


def main() -> None:
    """Print the movements of all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("questions", 40), ("seed", 5), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    moved: dict[tuple[str, str], list[float]] = {}
    for number, array, load in questions(asked.seed, asked.questions, asked.first):
        with question():
            own = simulate(array, load, n_requests=_REQUESTS, profile_draws=0, is_one_of_many=True)
        if not own.is_stable:
            continue
        known = {row: ends(drawn(array, load, *ROWS[row]), own) for row in ROWS}
        reference = known.pop("20,000")
        for row, intervals in known.items():
            for name in STATISTICS:
                moved.setdefault((name, row), []).append(movement(reference[name], intervals[name]))
        print(f"question {number}", file=sys.stderr, flush=True)
    for (name, row), parts in moved.items():
        found = np.array([part for part in parts if not math.isnan(part)])
        near = (found <= _ASKED).mean()
        print(f"{name:5} {row:14} {len(found):4} questions: median {np.median(found):.1%}, within 3 %: {near:.0%}")


if __name__ == "__main__":
    main()
