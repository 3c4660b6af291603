"""Comparison, curves, headroom, what relaxes, sensitivity, front: over queues whose answers are known."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import pytest

from diskmodel.array import Array
from diskmodel.drawing import svg_of
from diskmodel.engine.drawn_runs import simulate_drawn_runs
from diskmodel.errors import DescriptionError
from diskmodel.plan import ParetoPoint, cases, compare, pareto_search, run_plan
from diskmodel.plan.advice import relax
from diskmodel.plan.advice.relax import relaxations
from diskmodel.plan.advice.sensitivity import sensitivity
from diskmodel.plan.answer.criterion import Verdict
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.comparison.compare import _pairs, _why
from diskmodel.plan.comparison.pareto import pareto_front
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.show.plot import curves_of, save_latency_plot
from diskmodel.result import Interval
from diskmodel.workload import Workload
from tests.unit.plan.fakes import SERVICE_S, Queues, plan_of

LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"})


def array(level: str, disks: int = 8, **layout: object) -> Array:
    return Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": disks, **layout}})


def test_raid10_beats_raid5_with_confidence() -> None:
    result = compare([array("raid5"), array("raid10")], LOAD, evaluate=Queues(noise=0.02), growth_ratio=0.25)
    five, ten = result.arrays
    p99 = next(d for d in result.differences if d.statistic == "p99")
    assert p99.is_significant
    assert p99.ratio.high < 0
    rate = next(d for d in result.differences if d.statistic == "iops")
    assert not rate.is_significant
    # the highest stable load of the curve lies short of saturation, where the formula puts it
    for item, per_host in ((five, 0.7 + 0.3 * 4), (ten, 0.7 + 0.3 * 2)):
        saturation = 8 / SERVICE_S[15_000] / per_host
        assert 0.98 * saturation < item.headroom.most_iops < saturation
        # without a limit, headroom ends at the knee
        assert item.headroom.rate == pytest.approx(item.headroom.knee_iops, rel=0.01)
        assert item.headroom.ratio == pytest.approx(item.headroom.rate / 500 - 1)
        assert item.headroom.months == pytest.approx(max(0.0, 12 * math.log(1 + item.headroom.ratio) / math.log(1.25)))
        # Kleinrock's power of M/M/1 is largest at half load
        assert item.headroom.knee_iops == pytest.approx(saturation / 2, rel=0.1)
        assert not item.curve[-1].outcome.is_stable
        assert item.degraded is not None
        assert item.degraded.latency_ns[""]["p99"].value > item.healthy.latency_ns[""]["p99"].value
        assert item.rule_of_thumb_iops == pytest.approx(8 * 165 / per_host)


def test_headroom_ends_at_the_limit() -> None:
    """M/M/1 queues: p99 = ln(100) / (1/s - rate per disk) reaches 60 ms at a rate that the formula gives."""
    result = compare([array("raid5"), array("raid10")], LOAD, evaluate=Queues(), p99_limit_ms=60, growth_ratio=0.5)
    for item, per_host in zip(result.arrays, (0.7 + 0.3 * 4, 0.7 + 0.3 * 2), strict=True):
        most = 8 / per_host * (1 / SERVICE_S[15_000] - math.log(100) / 0.060)
        headroom = item.headroom
        assert 0.95 * most < headroom.rate <= most
        assert 50 < headroom.p99_ms <= 60
        assert headroom.ratio == pytest.approx(headroom.rate / 500 - 1)
        assert headroom.months == pytest.approx(12 * math.log1p(headroom.ratio) / math.log(1.5))
    # the present load is above what the limit allows
    tight = compare([array("raid5")], LOAD, evaluate=Queues(), p99_limit_ms=27).arrays[0].headroom
    assert tight.ratio < 0
    assert tight.p99_ms <= 27
    never = compare([array("raid5")], LOAD, evaluate=Queues(), p99_limit_ms=20).arrays[0].headroom
    assert (never.rate, never.ratio) == (0.0, -1.0)
    with pytest.raises(DescriptionError, match="must be a time above 0"):
        compare([array("raid5")], LOAD, evaluate=Queues(), p99_limit_ms=0)


def test_an_overloaded_array_has_negative_headroom() -> None:
    result = compare([array("raid5", 3)], LOAD, evaluate=Queues(), growth_ratio=0.2)
    headroom = result.arrays[0].headroom
    assert headroom.ratio < 0
    assert headroom.months == 0
    assert result.to_dict()["arrays"][0]["stable"] is False


def test_closed_workloads_are_swept_by_depth() -> None:
    clients = Workload.parse({"size": "8 KiB", "clients": 8})
    curve = compare([array("raid10")], clients, evaluate=Queues()).arrays[0].curve
    assert [point.offered for point in curve] == [1, 2, 4, 8, 16, 32, 64]
    rates = [point.outcome.iops.value for point in curve]
    assert rates == sorted(rates)


def test_raid0_and_degraded_arrays_have_no_degraded_twin() -> None:
    arrays = [array("raid0"), array("raid5", failed=[2])]
    assert [item.degraded for item in compare(arrays, LOAD, evaluate=Queues()).arrays] == [None, None]


def test_nothing_to_compare() -> None:
    with pytest.raises(DescriptionError, match="nothing to compare"):
        compare([], LOAD)


def test_a_load_that_does_not_fit_one_array_is_refused_before_any_is_simulated() -> None:
    def none_is_asked(*_: object, **__: object) -> Outcome:
        raise AssertionError("simulated")

    large = Workload.parse({"size": "8 KiB", "rate": "10/s", "span": "1 TB"})
    with pytest.raises(DescriptionError, match="beyond the array's capacity"):
        compare([array("raid5"), array("raid10", 6)], large, evaluate=none_is_asked)


def test_plot_is_written_and_always_the_same(tmp_path: Path) -> None:
    result = compare([array("raid5"), array("raid10")], LOAD, evaluate=Queues(noise=0.05))
    save_latency_plot(curves_of(result.arrays), tmp_path / "a.png", limit_ms=20)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    save_latency_plot(curves_of(result.arrays), tmp_path / "a.svg")
    save_latency_plot(curves_of(result.arrays), tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<svg")
    assert "raid10" in text
    assert text == (tmp_path / "b.svg").read_text()
    assert svg_of(lambda axes: None).startswith("<svg")


def test_what_relaxes_most() -> None:
    plan = plan_of(
        candidates={"drives": ["generic-10k", "generic-15k"], "levels": ["raid5"], "max_disks": 40},
        controller={"read_cache": {"hit_ratio": 0.2}},
        objective={"latency": {"p99": "60 ms"}},
    )
    candidate = search_family(cases(plan)[0], Queues())
    found = relaxations(plan, candidate, Queues())
    assert candidate.below is not None
    assert candidate.binding is not None
    limit = f"a limit of {math.ceil(candidate.binding.figure.high)} ms on p99 instead of 60 ms"
    # twice the disks' speed, fewer operations, or another limit; strips and caches change nothing in these queues, and
    # one disk more is the answer itself
    assert {item.change for item in found} == {
        "RAID 10 instead",
        "Generic 15k rpm SAS drives",
        "Generic 12 Gb/s SAS SSD drives",
        "10 % more of the reads hit the cache",
        limit,
    }
    assert all(item.gain_ratio > 0 for item in found)
    assert all(item.criterion.verdict is Verdict.HOLDS for item in found)
    assert {item.disks for item in found} == {candidate.below.disks}
    margins = [item.criterion.margin_ratio for item in found[:-1]]
    assert margins == sorted(margins, reverse=True)
    assert found[-1].change.startswith("a limit of")


def test_changes_that_do_not_meet_the_objective_are_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 disks of 5 ms serve 2105 requests a second in RAID 5, 3077 in RAID 10: 4000 need 39 disks or flash."""
    plan = plan_of(
        objective={"iops": 4000},
        candidates={
            "drives": ["generic-15k"],
            "levels": ["raid5"],
            "max_disks": 20,
        },
    )
    result = run_plan(plan, evaluate=Queues())
    assert not result.is_feasible
    # how many disks is the question, so that what is said first, and never cut off, is their number
    assert [(item.change, item.disks) for item in result.relaxations] == [
        ("19 more disks", 39),
        ("Generic 12 Gb/s SAS SSD drives", 20),
    ]
    monkeypatch.setattr(relax, "MOST_DISKS", 30)
    assert [item.disks for item in run_plan(plan, evaluate=Queues()).relaxations] == [20]
    slow = plan_of(
        objective={"latency": {"p99": "20 ms"}},
        candidates={
            "drives": ["generic-15k"],
            "levels": ["raid5"],
            "max_disks": 20,
        },
    )
    # an idle disk takes 23 ms, so that no number of disks is offered
    changes = [item.change for item in run_plan(slow, evaluate=Queues()).relaxations]
    assert changes[0] == "Generic 12 Gb/s SAS SSD drives"
    assert not any("more disk" in change for change in changes)


def test_more_of_the_same_is_not_offered_where_space_is_missing() -> None:
    plan = plan_of(
        objective={"capacity": "10 TB", "iops": 100},
        candidates={
            "drives": ["generic-15k"],
            "levels": ["raid5"],
            "max_disks": 60,
        },
    )
    candidate = search_family(cases(plan)[0], Queues())
    assert candidate.binds == "capacity"
    # the flash drive is larger
    assert [item.change for item in relaxations(plan, candidate, Queues())] == ["Generic 12 Gb/s SAS SSD drives"]


def test_an_overload_is_held_against_what_is_offered() -> None:
    plan = plan_of(objective={"iops": 4000}, candidates={"drives": ["generic-15k"], "levels": ["raid5"], "disks": [8]})
    (trial,) = search_family(cases(plan)[0], Queues()).trials
    (failed,) = (item for item in trial.criteria if item.is_overload)
    assert failed.limit == 4000
    assert failed.figure.value < 4000
    assert failed.in_short() == f"overloaded: it completes {failed.figure.value:,.0f} of 4,000 requests/s"


def test_sensitivity_moves_the_right_way() -> None:
    plan = plan_of(
        objective={"iops": 1000, "latency": {"p99": "40 ms"}},
        controller={"read_cache": {"hit_ratio": 0.3}},
        candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 60},
    )
    candidate = search_family(cases(plan)[0], Queues())
    by_input = {item.input: item for item in sensitivity(plan, candidate, Queues())}
    assert set(by_input) == {"load", "share of reads", "cache hits", "seek times"}
    disks = candidate.disks
    assert disks is not None
    load, reads, hits = by_input["load"], by_input["share of reads"], by_input["cache hits"]
    assert load.disks_low is not None
    assert load.disks_high is not None
    assert load.disks_low < disks < load.disks_high
    assert reads.disks_low is not None
    assert reads.disks_high is not None
    assert reads.disks_low > disks > reads.disks_high
    assert hits.disks_low == hits.disks_high or (hits.disks_low or 0) > (hits.disks_high or 0)


def test_front_has_only_what_nothing_beats() -> None:
    family = cases(plan_of())[0].family
    points = [
        ParetoPoint(family, n, float(n), False, y) for n, y in ((4, 9.0), (6, 9.5), (8, 5.0), (8, 6.0), (10, 5.0))
    ]
    assert [(p.disks, p.latency_ms) for p in pareto_front(points)] == [(4, 9.0), (8, 5.0)]
    plan = plan_of(prices={"drives_usd": {"Generic 15k rpm SAS": 300.0}, "slot_usd": 100.0})
    front = pareto_search(plan, Queues(), per_family=8)
    assert len(front) > 2
    assert all(point.is_cost and point.price == 400.0 * point.disks for point in front)
    assert all(a.latency_ms > b.latency_ms for a, b in itertools.pairwise(front))


def test_cheapest_wins_where_prices_are_known() -> None:
    candidates = {"drives": ["generic-15k", "generic-7k2"], "levels": ["raid10"], "max_disks": 200}
    by_disks = run_plan(plan_of(candidates=candidates, objective={"latency": {"p99": "80 ms"}}), evaluate=Queues())
    prices = {"drives_usd": {"Generic 15k rpm SAS": 1000.0, "Generic 7.2k rpm SATA": 100.0}}
    by_cost = run_plan(
        plan_of(candidates=candidates, objective={"latency": {"p99": "80 ms"}}, prices=prices), evaluate=Queues()
    )
    assert by_disks.best is not None
    assert by_cost.best is not None
    assert (by_disks.minimized, by_disks.best.family.drive.name) == ("disks", "Generic 15k rpm SAS")
    assert (by_cost.minimized, by_cost.best.family.drive.name) == ("cost", "Generic 7.2k rpm SATA")


def test_flash_drives_do_not_seek() -> None:
    flash = Array.parse({"drive": "generic-sas-ssd", "layout": {"level": "raid5", "disks": 6}})
    disks = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 6}})
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.7, "queue_depth": 16})
    first, second = compare([flash, disks], load, n_requests=2000).arrays
    assert not [line for line in first.differs if "an operation takes" in line]
    assert [line for line in second.differs if "an operation takes" in line]


@pytest.mark.parametrize(
    ("drive", "reads", "reason"),
    [
        ("seagate-archive-st8000as0002", 0.5, "cleaning of the media cache of shingled tracks"),
        ("seagate-archive-st8000as0002", 1.0, "seek and rotation"),
        ("generic-7k2", 0.5, "seek and rotation"),
    ],
)
def test_the_media_cache_is_why_shingled_disks_are_slow(drive: str, reads: float, reason: str) -> None:
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    load = Workload.parse({"size": "8 KiB", "read_ratio": reads, "rate": "4/s"})
    rate = Interval.exact(4.0)
    slow = Outcome(True, rate, rate, {"": {}}, 0.5, back_end_per_host=1.0)
    (line,) = _why(array, load, 1.0, slow)
    assert line.startswith("an operation takes 125.00 ms")
    assert line.endswith(f"({reason})")


def test_a_cache_that_has_all_of_the_data_leaves_no_operations_to_compare() -> None:
    """Reads of a drive of 64 GB behind a cache of 256 GiB: a division by no operations was a bug in diskmodel."""
    cache = {"read_cache": {"size": "256 GiB"}}
    cached = Array.parse({"drive": "intel-x25-e-64", "layout": {"level": "raid1", "disks": 2}, "controller": cache})
    load = Workload.parse({"size": "1 MiB", "read_ratio": 1.0, "clients": 8})
    (found,) = compare([cached], load, n_requests=1000).arrays
    assert not found.differs


def test_truths_that_only_one_array_had_time_for_make_no_pairs() -> None:
    one = simulate_drawn_runs(array("raid0", 2), LOAD.scaled(0.2), 500, n_draws=6, seed=1)
    assert one is not None
    fewer = replace(one, figures=one.figures[:4])
    ratios = one.ratios("mean")[:4]
    assert _pairs(one, fewer, "mean") == _pairs(fewer, one, "mean") == [(ratio, ratio) for ratio in ratios]
    assert _pairs(None, fewer, "mean") == [(1.0, ratio) for ratio in ratios]
