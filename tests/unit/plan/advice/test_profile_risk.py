"""The answer of a plan under the uncertainty of a calibrated drive, with an evaluation whose answers are known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.drive import Flash, load_drive, parse_drive
from diskmodel.plan import run_plan
from diskmodel.plan.advice.profile_risk import DRAWN_REQUESTS
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.show.report import markdown
from diskmodel.result import Interval
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of
from tests.unit.plan.test_table import text_of

OVERHEAD_NS, RELATIVE = 10_000, 0.1


def answers(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
    """Every latency is a thousand times the overhead, whatever the array."""
    assert isinstance(array.drive, Flash)
    latency_ns = Interval.exact(1000.0 * array.drive.read_overhead_ns)
    return Outcome(
        is_stable=True,
        iops=Interval.exact(workload.offered_rate_per_s),
        bytes_per_s=Interval.exact(workload.offered_rate_per_s * 8192),
        latency_ns={"": {"mean": latency_ns, "p99": latency_ns}},
        utilization_ratio=0.5,
        back_end_per_host=1.0,
        n_requests=n_requests,
        method="known",
    )


def uncertain_drive() -> Flash:
    data = load_drive("generic-sas-ssd").to_dict() | {
        "name": "measured",
        "read_overhead_ns": OVERHEAD_NS,
        "uncertainty": {"names": ["read_overhead_ns"], "covariance": [[(RELATIVE * OVERHEAD_NS) ** 2]]},
    }
    found = parse_drive(data)
    assert isinstance(found, Flash)
    return found


@pytest.mark.parametrize(("limit_ms", "fewest", "most"), [(14.0, 15, 16), (10.001, 3, 13)])
def test_share_of_drives_that_hold(limit_ms: float, fewest: int, most: int) -> None:
    """Four standard errors above the value nearly all hold; at the value about half do."""
    plan = plan_of(
        objective={"latency": {"p99": f"{limit_ms} ms"}},
        candidates={"drives": [uncertain_drive()], "levels": ["raid10"], "max_disks": 8},
    )
    result = run_plan(plan, evaluate=answers)
    risk = result.profile_risk
    assert risk is not None
    assert risk.n_draws == 16
    assert fewest <= risk.n_holding <= most
    assert sum(risk.failing.values()) == risk.n_draws - risk.n_holding
    assert risk.parameters == ("read_overhead_ns",)
    p99 = risk.figures["p99"]
    # two standard errors to either side, of 16 draws
    assert 1.1 < p99.high / p99.value < 1.5
    assert p99.high / p99.value == pytest.approx(p99.value / p99.low)
    json.dumps(result.to_dict(), allow_nan=False)
    shown = text_of(result)
    missed = risk.n_draws - risk.n_holding
    assert (f"Caution: {missed} of 16 drives that the profile allows miss the objective" in shown) == (missed > 0)
    assert f"{risk.n_holding} of 16 drives drawn from the profile's uncertainty meet the objective" in markdown(result)


def test_drives_of_which_all_is_measured_or_printed_have_no_such_risk() -> None:
    plan = plan_of(candidates={"drives": ["wd-raptor-wd740gd"], "levels": ["raid10"], "max_disks": 64})
    result = run_plan(plan, evaluate=Queues())
    assert result.best is not None
    assert result.profile_risk is None


def test_an_assumed_order_is_such_a_risk() -> None:
    """These answers do not depend on the order: all four that were measured are tried, and meet the objective."""
    risk = run_plan(plan_of(), evaluate=Queues()).profile_risk
    assert risk is not None
    assert (risk.n_draws, risk.n_holding) == (4, 4)
    assert "queue.miss_margin_ns" in risk.parameters


def test_a_drawn_drive_counts_by_its_ratio_to_the_profile_in_short_runs() -> None:
    """Short runs show latencies half as large: an answer of 10 ms at a limit of 10.001 ms still fails with some."""

    def biased(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        found = answers(array, workload, n_requests=n_requests, seed=seed)
        lengths.append(n_requests)
        factor = 0.5 if n_requests == DRAWN_REQUESTS else 1.0
        scaled = {name: figure.scaled(factor) for name, figure in found.latency_ns[""].items()}
        return replace(found, latency_ns={"": scaled})

    def asked(**objective: Any) -> Any:
        lengths.clear()
        plan = plan_of(
            objective={"latency": {"p99": "10.001 ms"}, **objective},
            candidates={"drives": [uncertain_drive()], "levels": ["raid10"], "max_disks": 8},
        )
        return run_plan(plan, evaluate=biased).profile_risk

    lengths: list[int] = []
    risk = asked()
    assert lengths.count(DRAWN_REQUESTS) == 17
    assert 3 <= risk.n_holding <= 13
    assert risk.figures["p99"].value == pytest.approx(10e6)
    assert asked(degraded={"latency": {"p99": "20 ms"}}).n_holding == risk.n_holding
    assert DRAWN_REQUESTS not in lengths, "failed disks are simulated only where intervals show that the rest is met"
