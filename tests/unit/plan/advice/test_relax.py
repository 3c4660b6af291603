"""Which changes are tried where an array falls short, and for how long."""

from __future__ import annotations

import pytest

from diskmodel.plan import cases
from diskmodel.plan.advice.relax import _changes
from diskmodel.plan.run.plan import run_plan
from tests.unit.plan.fakes import Queues, plan_of


@pytest.mark.parametrize(("read_ratio", "is_tried"), [(0.9, True), (0.0, False)])
def test_a_read_cache_is_tried_only_where_something_is_read(read_ratio: float, is_tried: bool) -> None:
    (case, _) = cases(plan_of(workload={"size": "8 KiB", "read_ratio": read_ratio, "rate": "1000/s"}))
    changes = [change for change, _ in _changes(case)]
    assert ("1 GiB of read cache" in changes) is is_tried


def test_a_change_that_is_not_enough_is_not_tried_for_long() -> None:
    """RAID 10 of the same disks misses the limit by less than it takes to settle that, but it does miss it."""
    plan = plan_of(
        workload={"size": "8 KiB", "read_ratio": 0.0, "rate": "240/s"},
        candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 4},
        search={"requests": 1000, "max_requests": 1000, "max_requests_at_answer": 64_000},
    )
    queues = Queues(noise=0.2)
    changes = [item.change for item in run_plan(plan, evaluate=queues).relaxations]
    assert "Generic 12 Gb/s SAS SSD drives" in changes
    assert "RAID 10 instead" not in changes
    assert [n for name, _, n in queues.runs if "raid10" in name] == [1000]
