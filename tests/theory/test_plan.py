"""Plans decided by the simulation: the minimum against brute force, levels against each other, engines alike.

Seeds are those of the plans (0 and 5); every verdict uses the 95 % intervals of the runs.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from diskmodel import Array, simulate
from diskmodel.drive import load_drive
from diskmodel.plan import Case, PlanDescription, cases, compare, run_plan
from diskmodel.plan.advice.sensitivity import sensitivity
from diskmodel.plan.answer.criterion import Verdict
from diskmodel.plan.comparison.crossover import find_crossover
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.evaluation import evaluator
from diskmodel.plan.trial.statics import sequential_bytes_per_s
from diskmodel.plan.trial.trier import Trier
from diskmodel.workload import Workload

pytestmark = pytest.mark.slow

HAS_KERNEL = importlib.util.find_spec("diskmodel.engine._kernel") is not None


def plan_of(**more: Any) -> PlanDescription:
    data: dict[str, Any] = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "400/s"},
        "objective": {"iops": 400, "latency": {"mean": "12 ms"}},
        "candidates": {"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": 14},
        "search": {"requests": 4000, "max_requests": 16_000},
    }
    return PlanDescription.parse(data | more)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("limit_ms", [9, 12])
def test_minimum_against_brute_force(limit_ms: int, seed: int) -> None:
    plan = plan_of(
        objective={"iops": 400, "latency": {"mean": f"{limit_ms} ms"}},
        search={"requests": 4000, "max_requests": 16_000, "seed": seed},
    )
    for case in cases(plan):
        trier = Trier(case, evaluator(plan))
        met = {n: trier.careful(n).is_met for n in case.counts}
        fewest = next((n for n, is_met in met.items() if is_met), None)
        # more disks never make it worse
        assert fewest is None or all(is_met for n, is_met in met.items() if n >= fewest)
        candidate = search_family(case, evaluator(plan))
        assert candidate.disks == fewest
        assert len(candidate.trials) < len(met) or fewest is None


def test_answer_holds_and_one_step_fewer_does_not() -> None:
    result = run_plan(plan_of(), with_relaxations=False, by_chance=False)
    assert [candidate.binds for candidate in result.candidates] == ["latency", "latency"]
    for candidate in result.candidates:
        assert candidate.trial is not None
        assert candidate.below is not None
        assert candidate.trial.verdict is Verdict.HOLDS
        assert candidate.below.verdict is not Verdict.HOLDS
        assert candidate.is_decided == (candidate.below.verdict is Verdict.FAILS)
        outcome = candidate.trial.outcome
        assert outcome is not None
        assert outcome.latency_ns[""]["mean"].high <= 12e6
        # offered is what is done: Little's law has been asserted by the run itself
        assert outcome.iops.low < 400 * 1.05


def test_penalties_are_paid_in_disks() -> None:
    """With the load far above what capacity needs, RAID 5 takes more spindles than RAID 10 for a write-heavy load."""
    plan = plan_of(
        workload={"size": "8 KiB", "read_ratio": 0.2, "rate": "600/s"},
        objective={"utilization_ceiling": "60%"},
        candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid5", "raid6"], "max_disks": 40},
    )
    ten, five, six = (
        candidate.disks for candidate in run_plan(plan, with_relaxations=False, by_chance=False).candidates
    )
    assert ten is not None
    assert five is not None
    assert six is not None
    assert ten < five < six
    # a held read-modify-write costs less than the textbook's four accesses, never more
    assert five / ten < (0.2 + 0.8 * 4) / (0.2 + 0.8 * 2) * 1.15


def test_raid5_and_raid10_cross_by_share_of_writes() -> None:
    plan = plan_of(
        workload={"size": "8 KiB", "read_ratio": 0.7, "rate": "1000/s", "span": "all"},
        objective={"iops": 1000, "utilization_ceiling": "70%", "capacity": "3 TB"},
        candidates={"drives": ["generic-15k"], "levels": ["raid5", "raid10"], "max_disks": 60},
    )
    found = find_crossover(plan, write_ratios=(0.1, 0.5, 0.9))
    five, ten = found.disks["raid5"], found.disks["raid10"]
    # capacity decides at few writes: eleven disks of data and one of parity, or twenty-two
    assert five[0] == 12
    assert ten == (22, 22, 22)
    assert five[2] is not None
    assert five[2] > 22
    assert found.crossing("raid5", "raid10") == (0.5, 0.9)
    assert found.crossing("raid10", "raid5") is None


def test_degraded_reads_double_and_the_plan_knows() -> None:
    whole = plan_of(objective={"latency": {"mean": "12 ms"}})
    strict = plan_of(objective={"latency": {"mean": "12 ms"}, "degraded": {"latency": {"mean": "12 ms"}}})
    five = cases(whole)[1].family
    before = search_family(Case(whole, five), evaluator(whole))
    after = search_family(Case(strict, five), evaluator(strict))
    assert before.disks is not None
    assert after.disks is None or after.disks > before.disks
    assert after.binds.startswith("degraded")


@pytest.mark.skipif(not HAS_KERNEL, reason="the native kernel is not built")
def test_both_engines_give_the_same_plan() -> None:
    answers = []
    for engine in ("native", "simpy"):
        plan = plan_of(
            candidates={"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 10},
            search={"requests": 3000, "max_requests": 6000, "engine": engine},
        )
        data = search_family(cases(plan)[0], evaluator(plan)).to_dict()
        answers.append(_without_engine(data))
    assert answers[0] == answers[1]


def _without_engine(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_engine(value) for key, value in data.items() if key != "engine"}
    return [_without_engine(item) for item in data] if isinstance(data, list) else data


def test_comparison_of_raid5_and_raid10_under_writes() -> None:
    plan = plan_of()
    arrays = [case.array(8) for case in reversed(cases(plan))]
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.3, "rate": "300/s"})
    result = compare(arrays, load, n_requests=6000, growth_ratio=0.2)
    five, ten = result.arrays
    mean = next(item for item in result.differences if item.statistic == "mean")
    assert mean.is_significant
    assert mean.ratio.high < 0
    assert ten.headroom.most_iops > five.headroom.most_iops
    assert (ten.headroom.months or 0) > (five.headroom.months or 0)
    assert five.degraded is not None
    means = [five.healthy.latency_ns[""]["mean"].value, five.degraded.latency_ns[""]["mean"].value]
    assert means[0] < means[1]


def test_rebuild_is_simulated_and_takes_longer_than_the_stream_alone() -> None:
    plan = plan_of(objective={"iops": 200, "rebuild_hours": 24, "data_loss_per_year": "1%"})
    five = cases(plan)[1]
    trial = Trier(five, evaluator(plan))(8)
    stream_hours = 300e9 / sequential_bytes_per_s(five.array(8)) / 3600
    assert trial.statics.rebuild_hours > stream_hours
    by_name = {item.name: item for item in trial.criteria}
    assert by_name["rebuild"].figure.value == trial.statics.rebuild_hours
    # more load leaves less time for it
    busier = plan_of(objective={"iops": 500, "rebuild_hours": 24})
    assert (
        Trier(Case(busier, five.family), evaluator(busier))(8).statics.rebuild_hours > 1.2 * trial.statics.rebuild_hours
    )
    # and a limit on its rate is kept
    limited = plan_of(
        objective={"iops": 200, "rebuild_hours": 24},
        candidates={
            "drives": ["generic-15k"],
            "levels": ["raid10", "raid5"],
            "max_disks": 14,
            "rebuild": {"speed_max": "5 MB/s"},
        },
    )
    hours = Trier(Case(limited, five.family), evaluator(limited))(8).statics.rebuild_hours
    assert hours == pytest.approx(300e9 / 5e6 / 3600, rel=0.1)


def test_rebuild_objective_rules_out_what_has_nothing_to_rebuild_from() -> None:
    plan = plan_of(
        objective={"iops": 200, "rebuild_hours": 24},
        candidates={"drives": ["generic-15k"], "levels": ["raid0", "raid10"], "max_disks": 8},
    )
    striped, mirrored = run_plan(plan, with_relaxations=False, by_chance=False).candidates
    assert not striped.is_feasible
    assert striped.binds == "rebuild"
    assert mirrored.is_feasible


def test_interval_of_the_utilisation_covers_other_seeds() -> None:
    """Twelve seeds; intervals of 95 % around each run cover the mean of all in at least ten (binomial, 0.2 % else)."""
    plan = plan_of(workload={"size": "8 KiB", "read_ratio": 0.7, "rate": "600/s"})
    array = cases(plan)[1].array(8)
    evaluate = evaluator(plan)
    outcomes = [evaluate(array, plan.workload, n_requests=6000, seed=seed) for seed in range(12)]
    mean = sum(outcome.utilization_ratio for outcome in outcomes) / len(outcomes)
    covered = sum(outcome.utilization.low <= mean <= outcome.utilization.high for outcome in outcomes)
    assert covered >= 10
    assert median(outcome.utilization_half_width for outcome in outcomes) < 0.03


def test_the_classical_exercise_as_a_plan() -> None:
    """10 000 IOPS, 60 % reads, 30 % hits: the rule of thumb needs too many disks for RAID 10, too few for RAID 5."""
    plan = PlanDescription.load(Path(__file__).parents[2] / "examples" / "plan-sizing-10000.toml")
    ten, five = run_plan(plan, with_relaxations=False, by_chance=False).candidates
    # 12 200 and 20 200 operations a second over 165 IOPS at 85 %
    assert (ten.rule_of_thumb_disks, five.rule_of_thumb_disks) == (88, 145)
    assert ten.disks is not None
    assert five.disks is not None
    assert 68 <= ten.disks < 88
    assert 145 < five.disks < 170
    assert five.binds == "latency"
    assert any("elevator" in text for text in ten.rule_of_thumb_difference)


def test_uncertainty_of_a_measured_drive_travels_into_the_answer() -> None:
    drive = load_drive("generic-15k")
    seek = {"names": ["seek.average_ns", "write_settle_ns"], "covariance": [[(4e5) ** 2, 0.0], [0.0, 1.0]]}
    times = {"track_to_track": "0.2 ms", "average": "3.5 ms", "full_stroke": "7 ms"}
    data = {**drive.to_dict(), "name": "measured", "seek": times, "write_settle_ns": 500_000, "uncertainty": seek}
    plan = plan_of(
        objective={"iops": 400, "latency": {"mean": "9.5 ms"}},
        candidates={"drives": [data], "levels": ["raid5"], "max_disks": 40},
    )
    case = cases(plan)[0]
    candidate = search_family(case, evaluator(plan))
    by_input = {item.input: item for item in sensitivity(plan, candidate, evaluator(plan))}
    average, settle = by_input["seek.average_ns of the drive"], by_input["write_settle_ns of the drive"]
    assert "seek times" not in by_input
    assert candidate.disks is not None
    assert average.disks_low is not None
    assert average.disks_low < candidate.disks
    assert average.disks_high is None or average.disks_high > candidate.disks
    # two nanoseconds of settling change nothing
    assert settle.disks_low == settle.disks_high == candidate.disks


def test_array_and_workload_of_a_candidate_reproduce_its_figure() -> None:
    """The JSON alone is enough: array, workload, number of requests and seed give the same p99 to the nanosecond."""
    plan = plan_of(
        objective={"iops": 300, "latency": {"p99": "60 ms"}, "capacity": "700 GB", "fill_limit": "80%"},
        candidates={
            "drives": ["generic-7k2"],
            "levels": ["raid10", "raid5", "raid0"],
            "max_disks": 12,
            "max_group_width": {"raid5": 3},
        },
    )
    document = json.loads(json.dumps(run_plan(plan, with_relaxations=False, by_chance=False).to_dict()))
    assert [candidate["level"] for candidate in document["candidates"]][1] == "raid50"
    for candidate in document["candidates"]:
        array, workload = Array.parse(candidate["array"]), Workload.parse(candidate["workload"])
        result = simulate(array, workload, n_requests=candidate["requests"], seed=candidate["seed"], profile_draws=0)
        assert result.latency.quantiles_ns["p99"] / 1e6 == candidate["latency_ms"]["p99"]
        assert workload.streams[0].span_bytes == 875_000_000_000
        assert (result.requests.offset + result.requests.length).max() <= 875_000_000_000
