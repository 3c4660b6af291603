"""What a question leaves unsaid: without a word of a write cache, the answer says what one would change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.ledger import Account, on_account
from diskmodel.plan import Outcome, run_plan
from diskmodel.plan.advice.assumed import assumptions
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.show.words import assumed
from diskmodel.result import Interval
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of


class BitmapQueues(Queues):
    """Queues in which a bitmap doubles what each request takes."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        outcome = super().__call__(array, workload, n_requests=n_requests, seed=seed)
        if not array.controller.linux_md:
            return outcome
        latency = {
            stream: {name: Interval(2 * x.value, 2 * x.low, 2 * x.high) for name, x in figures.items()}
            for stream, figures in outcome.latency_ns.items()
        }
        return replace(outcome, latency_ns=latency)


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
    (item,) = result.assumptions
    assert result.best is not None
    assert item.disks is not None
    assert item.disks < (result.best.disks or 0)
    assert assumed(result) == [
        f"Assumed: no write cache of the controller. With 1 GiB, battery-backed: {item.disks} disks in {item.level}."
    ]
    assert result.to_dict()["assumptions"][0]["disks"] == item.disks
    again = plan_of(controller={"write_cache": {"size": "1 GiB"}})
    assert run_plan(again, evaluate=CachedQueues()).best.disks == item.disks  # type: ignore[union-attr]


def test_a_cache_that_changes_nothing_is_named_as_such() -> None:
    mirrors = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    (line,) = asked(objective={"latency": {"p99": "40 ms"}, "capacity": "4.5 TB"}, candidates=mirrors)
    assert line.endswith("With 1 GiB, battery-backed: no fewer disks.")


def test_nothing_is_assumed_where_it_is_said_or_makes_no_difference() -> None:
    assert asked(controller={"write_cache": {"size": "1 GiB"}}) == []
    assert asked(workload={"size": "8 KiB", "read_ratio": 1, "rate": "1000/s"}) == []


@pytest.mark.parametrize(("limit_ms", "is_named"), [(40, True), (400, False)])
def test_a_bitmap_with_which_the_answer_fails_comes_first(limit_ms: int, is_named: bool) -> None:
    mirrors = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    objective = {"latency": {"p99": f"{limit_ms} ms"}, "capacity": "4.5 TB"}
    result = run_plan(plan_of(objective=objective, candidates=mirrors), evaluate=BitmapQueues())
    named = [item for item in result.assumptions if item.needs_more]
    assert bool(named) == is_named
    if is_named:
        assert result.assumptions[0] is named[0]
        assert "With mdadm's (--controller linux-md): these disks do not meet the objective" in assumed(result)[0]


def test_what_was_not_decided_is_not_said_to_need_no_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(*args: Any, **options: Any) -> Candidate:
        return replace(search_family(*args, **options), trial=None, is_decided=False)

    monkeypatch.setattr("diskmodel.plan.advice.assumed.search_family", undecided)
    lines = asked()
    assert "With 1 GiB, battery-backed: not decided beside this answer; --write-cache 1GiB asks it." in lines[-1]
    assert not any("no fewer disks" in line for line in lines)


def test_what_is_too_small_needs_no_time_to_be_decided() -> None:
    mirrors = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    plan = plan_of(objective={"latency": {"p99": "400 ms"}, "capacity": "4.5 TB"}, candidates=mirrors)
    best = run_plan(plan, evaluate=CachedQueues()).best
    assert best is not None
    assert best.binds == "capacity"
    with on_account(Account(0.0)):
        (item,) = assumptions(plan, best, CachedQueues())
    assert (item.disks, item.unknown) == (None, "")


LOAD = {"size": "8 KiB", "read_ratio": 1.0, "rate": "1000/s"}


class SpreadQueues(Queues):
    """Queues in which requests take so many times as long where the data are all over the array."""

    factor = 10.0

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        outcome = super().__call__(array, workload, n_requests=n_requests, seed=seed)
        if any(stream.span_bytes is not None for stream in workload.streams):
            return outcome
        latency = {
            stream: {
                name: Interval(self.factor * x.value, self.factor * x.low, self.factor * x.high)
                for name, x in figures.items()
            }
            for stream, figures in outcome.latency_ns.items()
        }
        return replace(outcome, latency_ns=latency)


class EvenQueues(SpreadQueues):
    """Queues in which places make no difference."""

    factor = 1.0


@pytest.mark.parametrize(
    ("evaluate", "more", "is_said"),
    [
        (SpreadQueues, {}, True),
        (EvenQueues, {}, False),
        (EvenQueues, {"workload": {**LOAD, "span": "100%"}}, False),
        (SpreadQueues, {"candidates": {"drives": ["generic-15k"], "levels": ["mirror"]}}, False),
        (SpreadQueues, {"candidates": {"drives": ["samsung-pm893-960"], "levels": ["raid10"]}}, False),
    ],
)
def test_data_in_one_piece_are_said_where_spread_ones_miss_the_objective(
    evaluate: type[Queues], more: dict[str, Any], is_said: bool
) -> None:
    plan = plan_of(**({"workload": LOAD, "objective": {"capacity": "100 GB", "latency": {"p99": "40 ms"}}} | more))
    result = run_plan(plan, evaluate=evaluate())
    assert result.best is not None
    said = [text for text in assumed(result) if "in one piece" in text]
    assert bool(said) == is_said
    if said:
        assert "(--span 100%): these disks do not meet the objective: " in said[0]
        assert "% of the disks" in said[0]
