"""The answer of a plan under the uncertainty of a calibrated drive, with an evaluation whose answers are known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from diskmodel.array import Array
from diskmodel.drive import Flash, load_drive, parse_drive
from diskmodel.engine.ledger import current, question
from diskmodel.plan import ask, run_plan
from diskmodel.plan.advice.profile_risk import DRAWN_REQUESTS, _Bounds, _tried_until
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.profile_risk import CountChance, ProfileRisk
from diskmodel.plan.show.report import markdown
from diskmodel.result import Interval
from diskmodel.uncertainty.registry import PART
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


@pytest.mark.parametrize(("known", "n_tried", "is_enough"), [(0.1, 4, True), (0.3, 2, True), (0.0, 6, False)])
def test_draws_end_when_a_number_of_disks_is_known_to_be_enough(known: float, n_tried: int, is_enough: bool) -> None:
    """Six draws of which the two worst decide, asked for in twos; the chance of the others is at least as known."""

    class Truths:
        case = SimpleNamespace(objective=SimpleNamespace(confidence=0.8))
        asked: ClassVar[list[int]] = []

        def prepare(self, disks: int) -> None:
            """Nothing to find."""

        def chances(self, disks: int, truths: list[int]) -> list[float]:
            self.asked += truths
            return [0.95 if known else 0.5 for _ in truths]

    least = [0.9, known, 0.9, known, 0.9, known]
    truths: Any = Truths()
    truths.asked.clear()
    drawn: Any = list(range(6))
    found = _tried_until(truths, 12, drawn, _Bounds(least, [1.0] * 6), lambda verdict: verdict is True)
    assert truths.asked[:2] == [1, 3]
    assert len(truths.asked) == n_tried
    assert found.is_enough(0.8) is is_enough
    assert all(low <= high for low, high in zip(found.least, found.most, strict=True))


@pytest.mark.parametrize(("limit_ms", "fewest", "most"), [(14.0, 15, 16), (10.001, 3, 13)])
def test_share_of_drives_that_hold(limit_ms: float, fewest: int, most: int) -> None:
    """Four standard errors above the value nearly all hold; at the value about half do."""
    plan = plan_of(
        exact=False,
        objective={"latency": {"p99": f"{limit_ms} ms"}},
        candidates={"drives": [uncertain_drive()], "levels": ["raid10"], "max_disks": 8},
    )
    result = run_plan(plan, evaluate=answers)
    risk = result.profile_risk
    assert risk is not None
    assert risk.n_draws == 16
    assert fewest <= risk.n_holding <= most
    assert sum(risk.failing.values()) == risk.n_draws - risk.n_holding
    assert set(risk.parameters) == {"fitted parameters", "model", "layout", "slowest requests"}
    # what lies between the draws counts, too: a draw or two more or less
    assert risk.probability == pytest.approx(risk.n_holding / 16, abs=2 / 16)
    p99 = risk.figures["p99"]
    # two standard errors to either side, of 16 draws
    assert 1.1 < p99.high / p99.value < 1.8
    assert 1.1 < p99.value / p99.low < 1.8
    json.dumps(result.to_dict(), allow_nan=False)
    shown = " ".join(text_of(result).split())
    is_low = risk.probability < 0.9
    assert (f"meet the objective with a chance of {100 * risk.probability:.0f} %, not 90 %" in shown) == is_low
    assert f"{risk.n_holding} of 16 draws of what is not known meet the objective" in markdown(result)
    assert result.best is not None
    assert result.best.to_dict()["probability"] == risk.probability


def test_a_drive_that_is_exact_has_no_such_risk() -> None:
    exact = parse_drive(load_drive("wd-raptor-wd740gd").to_dict() | {"exact": True})
    plan = plan_of(candidates={"drives": [exact], "levels": ["raid10"], "max_disks": 64})
    result = run_plan(plan, evaluate=Queues())
    assert result.best is not None
    assert result.profile_risk is None


def test_the_answer_has_the_chance_that_is_asked_for() -> None:
    """With a queue at each disk, a truth that meets the objective also meets it with more disks."""
    asked = {"latency": {"p99": "40 ms"}, "confidence": 0.9}
    plan = plan_of(exact=False, objective=asked)
    result = run_plan(plan, evaluate=Queues())
    described = run_plan(plan, evaluate=Queues(), by_chance=False)
    risk, best = result.profile_risk, result.best
    assert risk is not None
    assert best is not None
    assert risk.probability >= 0.9
    assert best.probability == risk.probability
    chances = [one.probability for one in risk.curve]
    assert chances == sorted(chances)
    assert [one.disks for one in risk.curve] == sorted(one.disks for one in risk.curve)
    assert risk.curve[-1].disks == risk.disks == best.disks
    assert all(chance < 0.9 for chance in chances[:-1])
    nominal = described.best
    assert nominal is not None
    assert nominal.disks is not None
    assert described.profile_risk is None
    assert result.to_dict()["nominal"]["disks"] == nominal.disks < (best.disks or 0)
    shown = " ".join(text_of(result).split())
    assert f"{nominal.disks} disks meet the objective if everything is as described" in shown
    assert f"{best.disks} disks: {100 * risk.probability:.0f} %" in shown
    assert "a measurement of one such drive would settle" in shown
    assert best.waterfall[-1].step == "what is not known"
    assert [step.disks for step in best.waterfall[-2:]] == [best.nominal_disks, best.disks]


@pytest.mark.parametrize(("each_s", "n_draws"), [(0.01, 16), (0.5, 10), (9.0, 4)])
def test_as_many_draws_are_tried_as_there_is_time_for(each_s: float, n_draws: int) -> None:
    """Sixteen of 1,400 flash drives, of seconds each, took two minutes of a question that may take a quarter of one."""

    def costly(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        current().enter(each_s)
        return Queues()(array, workload, n_requests=n_requests, seed=seed)

    with question() as account:
        result = run_plan(plan_of(exact=False, objective={"latency": {"p99": "40 ms"}}), evaluate=costly)
    risk, best = result.profile_risk, result.best
    assert risk is not None
    assert best is not None
    assert risk.n_draws == n_draws
    assert any("chances are from fewer" in words for words in account.left_out) == (n_draws < 16)
    # fewer draws need no fewer disks
    whole = run_plan(plan_of(exact=False, objective={"latency": {"p99": "40 ms"}}), evaluate=Queues()).best
    assert whole is not None
    assert (best.disks or 0) >= (whole.disks or 0) - 1


def test_a_run_that_the_account_cuts_short_does_not_cost_the_chance() -> None:
    """The chance is of 16 draws; that the run with more disks is too short for intervals takes nothing from it."""
    plan = plan_of(exact=False, objective={"latency": {"p99": "40 ms"}, "confidence": 0.9})
    whole = run_plan(plan, evaluate=Queues()).best
    assert whole is not None
    assert whole.disks is not None
    enough = whole.disks

    def cut(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        outcome = Queues()(array, workload, n_requests=n_requests, seed=seed)
        if array.layout.disks < enough:
            return outcome
        figures = {name: Interval(one.value, math.nan, math.nan) for name, one in outcome.latency_ns[""].items()}
        return replace(outcome, latency_ns={"": figures}, is_cut=True)

    best = run_plan(plan, evaluate=cut).best
    assert best is not None
    assert best.disks == enough
    assert best.is_sure


def test_without_a_number_of_disks_that_is_sure_the_answer_says_so() -> None:
    """One more disk than as described at most: the chance of that is stated, and that it is too low."""
    asked = {"latency": {"p99": "40 ms"}, "confidence": 0.99}
    free = run_plan(plan_of(exact=False, objective=asked), evaluate=Queues(), by_chance=False).best
    assert free is not None
    only = {"drives": ["generic-15k"], "levels": [free.level], "max_disks": free.disks}
    result = run_plan(plan_of(exact=False, objective=asked, candidates=only), evaluate=Queues())
    assert result.best is not None
    assert result.best.disks == free.disks
    assert result.profile_risk is not None
    assert result.profile_risk.probability < 0.99
    assert "not 99 %" in " ".join(text_of(result).split())


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
            exact=False,
            objective={"latency": {"p99": "10.001 ms"}, **objective},
            candidates={"drives": [uncertain_drive()], "levels": ["raid10"], "max_disks": 8},
        )
        return run_plan(plan, evaluate=biased).profile_risk

    lengths: list[int] = []
    risk = asked()
    assert lengths.count(DRAWN_REQUESTS) >= 17
    assert 3 <= risk.n_holding <= 13
    assert risk.figures["p99"].value == pytest.approx(10e6)
    assert asked(degraded={"latency": {"p99": "20 ms"}}).n_holding == risk.n_holding
    assert DRAWN_REQUESTS not in lengths, "failed disks are simulated only where intervals show that the rest is met"


def test_a_number_that_alone_is_known_to_be_needed_is_not_worth_a_measurement() -> None:
    curve = (CountChance(9, 0.0), CountChance(11, 15 / 16))
    risk = ProfileRisk(11, ("seeks",), 16, 15, {"latency": 1}, {}, curve=curve)
    assert risk.settled_by_measuring == (11, 11)
    assert str(risk) == (
        "15 of 16 draws of what is not known meet the objective; 1 misses latency; 9 disks: 0 %; 11 disks: 94 %"
    )
    wider = replace(risk, curve=(CountChance(9, 0.25), *curve[1:]))
    assert str(wider).endswith("a measurement of one such drive would settle between 9 and 11 disks")
    assert "measurement" not in str(replace(wider, is_measured=True)), "there has been one"
    assert "measurement" not in str(replace(wider, parameters=(PART,))), "another hour of the recording may differ"


def test_fewer_disks_without_room_have_no_chance() -> None:
    """Eight of these disks in RAID 10 have 9.6 TB: nothing can be prepared for draws of them."""
    found = ask(
        iops=500,
        reads="70%",
        block="8k",
        capacity="10 TB",
        p99="60 ms",
        drive="seagate-exos-10e2400-2400",
        level="raid10",
    )
    assert found.best is not None
    assert found.best.risk is not None
    assert found.best.risk.curve[0].disks < 10
    assert found.best.risk.curve[0].probability == 0
