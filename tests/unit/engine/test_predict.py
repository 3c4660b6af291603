"""Intervals of a result that include the uncertainty of the drive."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive, parse_drive
from diskmodel.engine import predict as predict_module
from diskmodel.engine.drawn_runs import DrawnRuns, Trials, most_iops
from diskmodel.engine.predict import predict
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.result import Interval
from diskmodel.result.prediction import combined, middle_around
from diskmodel.uncertainty.spread import spread_of
from diskmodel.units import in_digits
from diskmodel.workload import Workload

LOAD = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 8})
WAKE_NS, OVERHEAD_NS, RELATIVE = 30_000, 10_000, 0.1


def array(*, is_uncertain: bool = True) -> Array:
    data: dict[str, Any] = {
        "kind": "virtual",
        "name": "calibrated",
        "capacity_bytes": 1 << 30,
        "read_overhead_ns": OVERHEAD_NS,
        "write_overhead_ns": OVERHEAD_NS,
        "wake_ns": [WAKE_NS],
    }
    data["exact"] = not is_uncertain
    if is_uncertain:
        data["provenance"] = {"evidence": [{"file": "m.json", "kind": "measurement"}]}
        data["uncertainty"] = {"names": ["read_overhead_ns"], "covariance": [[(RELATIVE * OVERHEAD_NS) ** 2]]}
    return Array.parse({"drive": parse_drive(data), "layout": {"level": "jbod", "disks": 1}})


def test_interval_has_the_width_of_the_drives_uncertainty() -> None:
    """Response is waking and eight overheads: 8/11 of it moves with the overhead, by ±10 %."""
    result = simulate(array(), LOAD, n_requests=4000, profile_draws=200)
    assert result.prediction is not None
    interval = result.prediction.intervals["mean"]
    half = math.log(interval.high / interval.low) / 2
    share = 8 * OVERHEAD_NS / (WAKE_NS + 8 * OVERHEAD_NS)
    # 200 draws determine a standard deviation to 5 %
    remaining = spread_of("measured-virtual", "model", "iops")
    assert remaining is not None
    assert half == pytest.approx(1.96 * math.hypot(RELATIVE * share, remaining.log_sd), rel=0.2)
    assert interval.low < result.latency.mean_ns < interval.high
    assert list(result.prediction.sources) == ["fitted parameters", "model", "run"]
    assert sum(result.prediction.sources.values()) == pytest.approx(1)
    assert result.prediction.sources["model"] == pytest.approx(
        (remaining.log_sd / math.hypot(RELATIVE * share, remaining.log_sd)) ** 2, abs=0.05
    )


def test_drawn_drives_begin_as_the_run_did() -> None:
    """From empty, all of 800 writes find room in the buffer, and how long a program takes does not matter."""
    data = load_drive("samsung-pm893-960").to_dict()
    program_ns = data["program_ns"]
    data["uncertainty"] = {"names": ["program_ns"], "covariance": [[(RELATIVE * program_ns) ** 2]]}
    data["provenance"] = {"evidence": [{"file": "m.json", "kind": "measurement"}]}
    drive = Array.parse({"drive": parse_drive(data), "layout": {"level": "jbod", "disks": 1}})
    writes = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 32})
    steady, empty = (simulate(drive, writes, n_requests=800, start=start).prediction for start in ("steady", "empty"))
    assert steady is not None
    assert empty is not None
    spread = {
        name: math.log(found.intervals["iops"].high / found.intervals["iops"].low)
        for name, found in (("steady", steady), ("empty", empty))
    }
    assert spread["empty"] < 0.12  # what remains of a measured drive: 2 % of standard deviation
    assert spread["steady"] > RELATIVE


def test_draws_come_by_themselves_unless_a_drive_is_exact() -> None:
    result = simulate(array(), LOAD, n_requests=1000)
    assert result.prediction is not None
    assert result.prediction.n_draws == 16
    assert simulate(array(), LOAD, n_requests=1000, profile_draws=0).prediction is None
    assert simulate(array(is_uncertain=False), LOAD, n_requests=1000).prediction is None
    assert predict(array(is_uncertain=False), LOAD, result) is None


def test_json_has_the_wider_interval_and_the_run_s_own() -> None:
    result = simulate(array(), LOAD, n_requests=1000)
    data = result.to_dict()
    assert data["interval"]["mean_low_ms"] < data["run_interval"]["mean_low_ms"]
    assert data["interval"]["mean_high_ms"] > data["run_interval"]["mean_high_ms"]
    assert data["interval"]["draws"] == 16
    assert list(data["interval"]["sources"]) == ["fitted parameters", "model", "run"]
    assert data["interval"]["origins"]["fitted parameters"] == "the covariance of its calibration"
    assert "one of ten is slower by" in str(result)


def test_people_read_the_typical_value_and_the_bad_one_of_ten() -> None:
    result = simulate(array(), LOAD, n_requests=1000)
    first, *_ = str(result).splitlines()
    data = result.to_dict()
    rate, bad, p90 = (
        in_digits(value) for value in (data["iops"], data["interval"]["iops_p10"], data["interval"]["mean_p90_ms"])
    )
    assert first.startswith(f"{rate}/s, {bad} in one of ten; mean ")
    assert f"ms, {p90} in one of ten" in str(result).replace("\n", " ")
    assert " … " not in str(result)  # the noise of the run stays where it is asked for
    assert " … " in str(simulate(array(), LOAD, n_requests=1000, profile_draws=0))


def test_an_overload_is_a_chance_in_the_first_line_and_no_column_is_infinite() -> None:
    """At this rate the generic disk keeps up, and one of 16 draws of its kind does not."""
    load = Workload.parse({"size": "4 KiB", "rate_per_s": 330})
    result = simulate(Array("generic-10k", "jbod", 1), load, n_requests=3000)
    assert result.prediction is not None
    assert result.prediction.n_overloaded
    assert str(result).startswith("Overloaded with a chance of ")
    assert "inf" not in str(result)


def test_an_interval_of_a_known_drive_is_that_of_the_run() -> None:
    data = simulate(array(is_uncertain=False), LOAD, n_requests=1000).to_dict()
    assert data["interval"] == data["run_interval"] | {"sources": {"run": 1.0}}
    only = simulate(array(), LOAD, n_requests=1000, profile_draws=0).to_dict()
    assert only["interval"] == only["run_interval"] | {"sources": {"run": 1.0}}


def test_shares_of_the_width_add_up_and_name_what_moves_it() -> None:
    """At depth 1 a hard disk depends on its seeks, and on no order of commands."""
    one, deep = (
        simulate(Array("generic-7k2", "jbod", 1), Workload.parse({"size": "4 KiB", "clients": n}), n_requests=3000)
        for n in (1, 16)
    )
    for result in (one, deep):
        assert result.prediction is not None
        assert sum(result.prediction.sources.values()) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in result.prediction.sources.values())
        assert result.prediction.sources["run"] < 0.1
        assert result.prediction.main == "iops"
    assert one.prediction is not None
    assert deep.prediction is not None
    assert "order of commands" not in one.prediction.sources
    assert deep.prediction.sources["order of commands"] > 0.1
    assert one.prediction.sources["seeks"] > 0.8


def test_the_bad_one_of_ten_lies_within_the_interval() -> None:
    result = simulate(
        Array("generic-10k", "raid10", 4), Workload.parse({"size": "8 KiB", "rate_per_s": 150}), n_requests=3000
    )
    data = result.to_dict()["interval"]
    for name, unit in (("iops", ""), ("mean", "_ms"), ("p99", "_ms"), ("utilization", "")):
        low, p10, p90, high = (data[f"{name}_{end}{unit}"] for end in ("low", "p10", "p90", "high"))
        assert low <= p10 <= p90 <= high
    assert result.prediction is not None
    logs = [
        math.log(one.high / one.low) for one in (result.prediction.middles["mean"], result.prediction.intervals["mean"])
    ]
    assert logs[0] / logs[1] == pytest.approx(1.2816 / 1.96, abs=0.1)


def test_measuring_the_drive_would_narrow_the_interval_of_its_class() -> None:
    result = simulate(
        Array("generic-7k2", "jbod", 1), Workload.parse({"size": "4 KiB", "clients": 16}), n_requests=3000
    )
    assert result.prediction is not None
    assert 0 < result.prediction.if_measured_ratio < result.prediction.half_width_ratio / 2
    measured = simulate(array(), LOAD, n_requests=1000).prediction
    assert measured is not None
    assert math.isnan(measured.if_measured_ratio)


def test_what_a_measurement_would_leave_takes_shorter_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of it only the width for the mean is shown; the intervals themselves are from runs of 10,000 requests."""
    lengths = []

    class Noted(Trials):
        def truths(self, n_draws: int, **how: Any) -> DrawnRuns | None:
            lengths.append((n_draws, self.n_requests))
            return super().truths(n_draws, **how)

    monkeypatch.setattr(predict_module, "Trials", Noted)
    load = Workload.parse({"size": "4 KiB", "rate": "60/s"})
    found = simulate(Array("generic-7k2", "jbod", 1), load, n_requests=12_000, profile_draws=4).prediction
    assert found is not None
    assert found.n_requests == 10_000
    assert lengths == [(4, 10_000), (2, 5_000)]


def test_the_rate_of_an_open_load_is_given_and_its_latency_is_not() -> None:
    load = Workload.parse({"size": "4 KiB", "rate_per_s": 40})
    result = simulate(Array("generic-7k2", "jbod", 1), load, n_requests=3000)
    assert result.prediction is not None
    assert result.prediction.main == "mean"
    iops, mean = (result.prediction.intervals[name] for name in ("iops", "mean"))
    assert iops.high / iops.low < 1.2
    assert mean.high / mean.low > 1.2


def test_the_result_itself_does_not_depend_on_draws() -> None:
    with_draws, without = (simulate(array(), LOAD, n_requests=1000, profile_draws=n) for n in (4, 0))
    assert with_draws.latency == without.latency
    assert with_draws.iops == without.iops


def test_one_draw_tells_no_spread() -> None:
    with pytest.raises(DescriptionError, match="at least 2"):
        simulate(array(), LOAD, n_requests=1000, profile_draws=1)


def test_draws_to_one_side_move_the_interval_there() -> None:
    found = combined(Interval(100.0, 99.0, 101.0), 50.0, [60.0, 61.0, 59.0, 60.0], 0.95)
    assert found.low == 100.0
    assert 120.0 < found.high < 130.0


def test_sampling_error_alone_is_kept_where_the_draws_agree() -> None:
    own = Interval(100.0, 90.0, 112.0)
    found = combined(own, 50.0, [50.0] * 8, 0.95)
    assert found.low == pytest.approx(90.0)
    assert found.high == pytest.approx(112.0)


def test_an_overloaded_draw_leaves_the_upper_end_open() -> None:
    found = combined(Interval(100.0, 99.0, 101.0), 50.0, [50.0, 51.0, 49.0, math.nan], 0.95)
    assert math.isinf(found.high)
    assert found.low < 99.0


def test_kinds_that_lie_apart_have_ends_of_their_own() -> None:
    """Half as much, the same and nine times: the ends are near these, however many draws lie between."""
    own, kinds = Interval(100.0, 99.0, 101.0), [0, 0, 1, 1, 1, 1, 2, 2]
    drawn = [50.0, 51.0, 100.0, 101.0, 99.0, 100.0, 900.0, 910.0]
    found = combined(own, 100.0, drawn, 0.95, groups=kinds)
    assert found.low == pytest.approx(50, rel=0.05)
    assert found.high == pytest.approx(910, rel=0.05)
    assert combined(own, 100.0, drawn, 0.95).high > 1000


def test_an_interval_ends_where_draws_meet_a_limit() -> None:
    """Most volumes reach the rate that they were sold with, and none more; one falls far short."""
    own, drawn = Interval(100.0, 100.0, 100.0), [70.0, *[100.0] * 7]
    rate = combined(own, 100.0, drawn, 0.95)
    assert rate.low < 80.0
    assert rate.high == pytest.approx(100.0)
    time = combined(own, 100.0, [1e4 / one for one in drawn], 0.95)
    assert (time.low, time.high) == (pytest.approx(100.0), pytest.approx(1e4 / rate.low))
    assert combined(own, 100.0, [70.0, 80.0, 90.0, *[100.0] * 3, 105.0, 110.0], 0.95).high > 115.0


def test_the_other_end_beside_a_limit_is_where_many_draws_have_it() -> None:
    """Of 2,000 volumes a tenth misses the limit; 16 draws show the same ends, and eight of ten systems reach it."""
    normal, own = NormalDist(), Interval(100.0, 100.0, 100.0)

    def rates(n: int, reached: float) -> list[float]:
        scores = (normal.inv_cdf((i + 0.5) / n) for i in range(n))
        return [min(100.0, 100.0 * math.exp(0.3 * (score - normal.inv_cdf(1 - reached)))) for score in scores]

    for reached in (0.97, 0.9, 0.6, 0.4, 0.13):
        truth, drawn = np.array(rates(2000, reached)), rates(16, reached)
        found, middle = combined(own, 100.0, drawn, 0.95), middle_around(own, 100.0, drawn, 0.95)
        assert found.low == pytest.approx(np.quantile(truth, 0.025), rel=0.1)
        assert middle.low == pytest.approx(np.quantile(truth, 0.1), rel=0.05)
        assert found.high == pytest.approx(100.0)
        assert middle.high == pytest.approx(np.quantile(truth, 0.9), rel=0.01)


def test_an_interval_of_the_run_that_reaches_zero_has_a_low_end_above_it() -> None:
    found = combined(Interval(100.0, -20.0, 220.0), 50.0, [50.0, 51.0, 49.0, 50.0], 0.95)
    assert 100.0 * math.exp(-1.3) < found.low < 100.0 * math.exp(-1.1)
    assert found.high >= 220.0


def test_latencies_of_subsets_include_what_is_not_known() -> None:
    """Reads, writes, commits and streams vary with the drive as all requests do; a subset of all has their interval."""
    log = {"name": "log", "kind": "commits", "record": "512 B", "span": "1 GiB", "rate": "20/s"}
    mixed = {"name": "mixed", "size": "4 KiB", "read_ratio": 0.6, "rate": "40/s"}
    disk = Array.parse({"drive": "seagate-exos-x18", "layout": {"level": "jbod", "disks": 1}})
    found = simulate(disk, Workload.parse({"streams": [log, mixed]}), n_requests=2000, profile_draws=4)
    assert [*found.subsets] == ["reads", "writes", "commits", "stream log", "stream mixed"]
    for latency in found.subsets.values():
        for name in ("mean", "p99"):
            own, whole = latency.run_interval(name), latency.interval_of(name)
            assert whole.value == own.value
            assert whole.low < own.low or math.isnan(own.low)
            assert whole.high > own.high or math.isnan(own.high)
    data = found.to_dict()
    assert data["reads"]["interval"]["mean_high_ms"] > data["reads"]["run_interval"]["mean_high_ms"]
    alone = simulate(disk, Workload.parse({"streams": [mixed]}), n_requests=1000, profile_draws=4)
    assert alone.prediction is not None
    assert alone.per_stream["mixed"].interval_of("p99") == alone.prediction.intervals["p99"]
    only_run = simulate(disk, Workload.parse({"streams": [mixed]}), n_requests=1000, profile_draws=0)
    assert only_run.reads.interval_of("mean") == only_run.reads.run_mean_ns


def test_what_the_page_cache_answers_takes_no_time_in_any_draw() -> None:
    buffered = {"is_buffered": True, "page_cache": {"memory": "1 GiB"}}
    array = Array("generic-15k", "raid10", 8, host=buffered)
    found = simulate(array, Workload.parse({"size": "4 KiB", "read_ratio": 0, "rate": "20/s"}), n_requests=2000)
    assert found.prediction is not None
    assert found.prediction.half_width_ratio == 0
    assert found.mean == Interval.exact(0.0)
    assert "of the mean" not in str(found)
    assert not any("wider than" in message for message in found.messages)


@pytest.mark.parametrize(
    ("words", "load", "most"),
    [
        # no draw is at the limit of the machine, and the spread of latencies reaches beyond it
        ("2x aws-gp3 raid0, 6000 IOPS, 500MB/s, instance 8000 IOPS and 300MB/s", {"clients": 4}, 8000),
        ("2x aws-gp3 raid0, 4000 IOPS", {"clients": 4}, 8000),
        ("1x aws-gp3, 16000 IOPS, 125MiB/s", {"clients": 1, "size": "64 KiB"}, 2000),
        ("1x aws-gp3, 3000 IOPS", {"clients": 4, "addresses": {"pattern": "sequential"}}, 125 * 64),
        ("1x aws-gp2-200GiB, full credits", {"clients": 4}, math.inf),
        ("4x samsung-pm983-1920 raid0", {"clients": 4}, math.inf),
    ],
)
def test_limits_that_are_known(words: str, load: dict[str, Any], most: float) -> None:
    workload = Workload.parse({"size": "16 KiB", "read_ratio": 1.0, **load})
    assert most_iops(Array(words), workload) == pytest.approx(most)


def test_no_interval_of_a_rate_goes_beyond_what_a_machine_allows() -> None:
    array = Array("2x aws-gp3 raid0, 6000 IOPS, 500MB/s, instance 8000 IOPS and 300MB/s")
    load = Workload.parse({"size": "16 KiB", "read_ratio": 1.0, "clients": 4})
    found = simulate(array, load, n_requests=3000).interval_of("iops")
    assert found.low < found.value < 7500
    assert found.high == pytest.approx(8000)
