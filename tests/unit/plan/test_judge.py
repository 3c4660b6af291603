"""Which criteria an outcome meets: disks that hardly keep up behind a write cache."""

import math

import pytest

from diskmodel import Workload
from diskmodel.plan.answer.criterion import Verdict
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.trial.judge import performance
from diskmodel.result.statistics.batches import Interval

OPEN = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "rate": "1000/s"})
CLOSED = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 4})


def outcome(busy: float, *, half_width: float = 0.001, burst: float = 1000.0) -> Outcome:
    exact = Interval.exact(1000.0)
    return Outcome(
        True, exact, exact, {}, busy, utilization_half_width=half_width, n_requests=1000, burst_requests=burst
    )


@pytest.mark.parametrize(
    ("busy", "half_width", "verdict"),
    [
        (0.95, 0.001, None),
        (0.985, 0.009, None),
        (0.985, 0.02, Verdict.UNDECIDED),
        (0.992, 0.005, Verdict.UNDECIDED),
        (0.996, 0.001, Verdict.FAILS),
    ],
)
def test_disks_behind_a_write_cache_recover_from_a_burst(
    busy: float, half_width: float, verdict: Verdict | None
) -> None:
    found = performance(Objective.parse({"capacity": "1 TB"}), outcome(busy, half_width=half_width), OPEN)
    assert [item.verdict for item in found] == ([] if verdict is None else [verdict])
    assert all("to recover from a full write cache" in item.detail for item in found)


def test_other_busy_disks_are_no_concern() -> None:
    assert not performance(Objective.parse({"capacity": "1 TB"}), outcome(0.999, burst=math.nan), OPEN)
    assert not performance(Objective.parse({"capacity": "1 TB"}), outcome(1.0), CLOSED)
    stated = performance(Objective.parse({"utilization_ceiling": "90%"}), outcome(0.996), OPEN)
    assert [(item.name, item.limit) for item in stated] == [("utilization", 0.9)]
