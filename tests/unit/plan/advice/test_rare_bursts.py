"""Bursts that a percentile of all requests allows to be slow: a plan gives the answer within them, and over all."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.plan import Outcome, run_plan
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.show.words import assumed
from tests.unit.plan.fakes import Queues, plan_of

#: 0.15 % of the requests come at ten times the rate, too seldom for a run of a million.
RARE = {"kind": "bursts", "on_rate": "1500/s", "mean_on": "100 ms", "off_rate": "150/s", "mean_off": "667 s"}


def asked(*, limits: Any = None, **arrival: str) -> PlanDescription:
    workload = {"size": "8 KiB", "read_ratio": 1.0, "arrival": RARE | arrival}
    candidates = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    return plan_of(workload=workload, objective={"latency": limits or {"p99": "40 ms"}}, candidates=candidates)


def test_both_answers_are_said() -> None:
    result = run_plan(asked(), evaluate=Queues())
    (item,) = result.assumptions
    assert result.best is not None
    calm = run_plan(asked(on_rate="151/s", mean_on="60 s", mean_off="60 s"), evaluate=Queues()).best
    assert calm is not None
    assert item.disks == calm.disks
    assert item.disks < (result.best.disks or 0)
    (line,) = assumed(result)
    assert line == (
        "Assumed: the limit of p99 applies within bursts, in which 0.15% of the requests come. To all requests "
        f"together, with everything as described: {item.disks} disks in RAID 10."
    )


def test_the_other_answer_is_from_runs_that_see_the_bursts() -> None:
    method = Queues()
    run_plan(asked(), evaluate=method)
    cycle = 150 * 667.1 + 1350 * 0.1
    assert max(n for _, _, n in method.runs) <= 11 * (cycle + 1)

    def seen(array: Any, workload: Any, *, n_requests: int, seed: int) -> Outcome:
        lengths.add((workload.streams[0].arrival.kind, n_requests))
        return Queues()(array, workload, n_requests=n_requests, seed=seed)

    lengths: set[tuple[str, int]] = set()
    run_plan(asked(), evaluate=seen)
    assert {"bursts", "poisson"} == {kind for kind, _ in lengths}


def test_bursts_too_rare_for_any_run_are_named() -> None:
    (line,) = assumed(run_plan(asked(mean_off="6670 s", mean_on="1 s"), evaluate=Queues()))
    assert "maybe fewer; a run must see 11,0" in line
    assert line.endswith("requests for that (search.max_requests_at_answer).")


@pytest.mark.parametrize(
    ("limits", "arrival"),
    [
        ({"mean": "40 ms"}, {}),  # a mean has no room for a burst
        ({"p999": "40 ms"}, {}),  # nor has a percentile that a burst is more than
        ({"p99": "40 ms"}, {"on_rate": "15000/s"}),  # 1.5 % of the requests
    ],
)
def test_bursts_that_matter_to_the_limit_are_the_load(limits: Any, arrival: Any) -> None:
    assert assumed(run_plan(asked(limits=limits, **arrival), evaluate=Queues())) == []
