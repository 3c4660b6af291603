"""What a question leaves unsaid: without a word of a write cache, the answer says what one would change."""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.plan import Outcome, run_plan
from diskmodel.plan.show.words import assumed
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of


class CachedQueues(Queues):
    """Queues in which a write cache takes all writes off the disks."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        if array.controller.write_cache is not None:
            (stream,) = workload.streams
            workload = workload.model_copy(update={"streams": (stream.model_copy(update={"read_ratio": 1.0}),)})
        return super().__call__(array, workload, n_requests=n_requests, seed=seed)


def asked(**more: Any) -> list[str]:
    return assumed(run_plan(plan_of(**more), evaluate=CachedQueues()))


def test_a_cache_that_would_save_disks_is_named() -> None:
    result = run_plan(plan_of(), evaluate=CachedQueues())
    item, _ = result.assumptions
    assert result.best is not None
    assert item.disks is not None
    assert item.disks < (result.best.disks or 0)
    assert assumed(result) == [
        f"Assumed: no write cache of the controller. With 1 GiB, battery-backed: {item.disks} disks in {item.level}.",
        "Assumed: Linux md on an HBA, no write-intent bitmap. With mdadm's: --controller linux-md.",
    ]
    assert result.to_dict()["assumptions"][0]["disks"] == item.disks
    again = plan_of(controller={"write_cache": {"size": "1 GiB"}})
    assert run_plan(again, evaluate=CachedQueues()).best.disks == item.disks  # type: ignore[union-attr]


def test_a_cache_that_changes_nothing_is_named_as_such() -> None:
    mirrors = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    line, _ = asked(objective={"latency": {"p99": "40 ms"}, "capacity": "4.5 TB"}, candidates=mirrors)
    assert line.endswith("With 1 GiB, battery-backed: no fewer disks.")


def test_nothing_is_assumed_where_it_is_said_or_makes_no_difference() -> None:
    assert asked(controller={"write_cache": {"size": "1 GiB"}}) == []
    assert asked(workload={"size": "8 KiB", "read_ratio": 1, "rate": "1000/s"}) == []
