"""What pools of OpenZFS are asked: requests at random and in order are answered, others refused with their name."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.analytic.rule import rule_of_thumb
from diskmodel.controller.description import ReadCache
from diskmodel.engine.native import cannot_serve
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.past import history
from diskmodel.errors import CoverageError, InputError
from diskmodel.plan.trial.rule_of_thumb import rule_of_an_array

POOL = Array("2x6 generic-7k2 raidz2, record 8KiB")
READS = {"size": "8 KiB", "rate": "100/s"}


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ({"addresses": {"pattern": "strided", "stride": "1 MiB"}}, "requests at equal distances or in sorted batches"),
    ],
)
def test_other_loads_are_refused(stream: dict[str, Any], said: str) -> None:
    with pytest.raises(CoverageError) as caught:
        simulate(POOL, Workload.parse({**READS, **stream}), n_requests=200, profile_draws=0)
    assert said in str(caught.value)


def test_a_reader_in_order_gets_what_the_disks_read() -> None:
    """Its records are read ahead and together: no more is read than asked for, in commands of up to 1 MiB."""
    load = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    result = simulate(Array("6 generic-7k2 raidz2"), load, n_requests=400, profile_draws=0)
    devices = result.run.devices
    assert devices.read_bytes.sum() == pytest.approx(400 << 20, rel=0.1)
    assert devices.read_bytes.sum() / devices.n_reads.sum() > 200 << 10
    random = simulate(
        Array("6 generic-7k2 raidz2"), Workload.parse({"size": "1 MiB", "clients": 1}), n_requests=400, profile_draws=0
    )
    assert result.iops.value > 2 * random.iops.value


def test_no_pool_is_served_as_a_file() -> None:
    assert "OpenZFS" in str(cannot_serve(resolve(POOL, 0)))


def test_a_run_sees_several_groups() -> None:
    """However many requests come in a second; the disks write more than they are asked to, in a few long commands."""
    load = Workload.parse({**READS, "rate": "400/s", "read_ratio": 0.5})
    result = simulate(POOL, load, profile_draws=0)
    assert result.run.end_ns >= 2 * 5_000_000_000
    assert result.run.round_requests == pytest.approx(2000, rel=0.01)
    devices = result.run.devices
    assert devices.write_bytes.sum() > 3 * result.requests.length[result.requests.op == 1].sum()
    assert any("one piece" in message for message in result.messages)


def test_sync_disabled_is_named() -> None:
    load = Workload.parse({**READS, "read_ratio": 0.5, "sync": "dsync"})
    pool = Array("2x6 generic-7k2 raidz2, record 8KiB, sync disabled")
    result = simulate(pool, load, n_requests=400, profile_draws=0)
    assert any("power cut" in message for message in result.messages)


def test_a_log_device_takes_the_log() -> None:
    """A safe write takes the device's time, and not a revolution of the disks."""
    load = Workload.parse({"size": "8 KiB", "clients": 1, "think": "20 ms", "read_ratio": 0, "sync": "dsync"})
    alone, own = (
        simulate(Array(f"2x6 generic-7k2 raidz2, record 8KiB{log}"), load, n_requests=300, profile_draws=0)
        for log in ("", ", log 50us")
    )
    assert alone.latency.mean.value > 5  # ms
    assert own.latency.quantiles_ns["p50"] == pytest.approx(50e3 + 12 * 1024 / 500e6 * 1e9, rel=0.02)


def test_a_log_block_takes_the_processor_of_the_host() -> None:
    """As long as the write itself; then come the link of the device and its time."""
    load = Workload.parse({"size": "8 KiB", "clients": 1, "read_ratio": 0, "sync": "dsync"})
    pool = Array("6 generic-7k2 raidz2, record 8KiB, log 50us").to_dict()
    pool["layout"]["record_work"] = "1 us"
    pool["host"] = {"submission": "80 us"}
    result = simulate(Array.parse(pool), load, n_requests=300, profile_draws=0)
    expected_ns = 2 * 80e3 + 50e3 + 12 * 1024 / 500e6 * 1e9
    assert result.latency.quantiles_ns["p50"] == pytest.approx(expected_ns, rel=0.02)


def test_reads_are_answered_alike_by_both_engines() -> None:
    load = Workload.parse(READS)
    native, simpy = (
        simulate(POOL, load, n_requests=400, engine=engine, profile_draws=0) for engine in ("native", "simpy")
    )
    assert native.latency.mean_ns == simpy.latency.mean_ns
    assert native.back_end_per_host == 2  # two data columns of each record
    assert any("ARC" in message for message in native.messages)


@pytest.mark.parametrize("record", ["16KiB", "128KiB"])
def test_hits_of_the_arc_follow_from_its_size(record: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At uniformly random places a record is in it with the share of the data that fits, however much that is.

    Of records of 16 KiB the past that is drawn fills a tenth of it, and the rest is filled beside it (rule Z4).
    """
    monkeypatch.setattr(history, "MAX_ROWS", 8_000)
    pool = Array(f"2x6 generic-7k2 raidz2, record {record}, 1GiB read cache")
    load = Workload.parse({"size": "8 KiB", "clients": 8, "read_ratio": 1, "span": "4 GiB"})
    n = 3_000
    result = simulate(pool, load, n_requests=n, profile_draws=0)
    share = 0.25
    # four standard deviations of so many reads, and one percent of the cache that duplicates leave free
    assert result.hit_ratio == pytest.approx(share, abs=4 * (share * (1 - share) / n) ** 0.5 + 0.01 * share)
    assert pool.front_controller.read_cache == ReadCache.parse({"size": "1 GiB", "policy": "zfs-arc", "block": record})
    assert any("all of the size of the cache of OpenZFS (ARC) is for data" in message for message in result.messages)


def test_an_arc_with_all_records_saves_reads_before_writes() -> None:
    load = Workload.parse({"size": "8 KiB", "clients": 4, "read_ratio": 0, "span": "64 MiB"})
    pools = (Array(f"2x6 generic-7k2 raidz2, record 128KiB{arc}") for arc in ("", ", 1GiB read cache"))
    without, with_arc = (simulate(pool, load, n_requests=2_000, profile_draws=0) for pool in pools)
    assert with_arc.latency.mean_ns == pytest.approx(30e3)
    assert without.latency.mean_ns > 10 * with_arc.latency.mean_ns


def test_a_reader_of_what_an_arc_has_goes_on_with_its_stream() -> None:
    """Both engines count the same, and all is read once: what is cached is not read ahead."""
    load = Workload.parse({"size": "64 KiB", "clients": 1, "addresses": "sequential", "span": "64 MiB"})
    pool = Array("1x4 generic-7k2 raidz1, record 128KiB, 1GiB read cache")
    results = [
        simulate(pool, load, n_requests=1_500, engine=engine, profile_draws=0, start="empty")
        for engine in ("native", "simpy")
    ]
    assert results[0].latency.mean_ns == results[1].latency.mean_ns
    assert results[0].hit_ratio == results[1].hit_ratio > 0.5


def test_hits_of_the_arc_may_be_given() -> None:
    half = Array.parse({**POOL.to_dict(), "controller": {"read_cache": {"hit_ratio": 0.5}}})
    result = simulate(half, Workload.parse(READS), n_requests=2_000, profile_draws=0)
    assert result.back_end_per_host == pytest.approx(1, rel=0.1)


def test_the_rule_of_thumb_is_one_disk_for_each_vdev_of_raidz() -> None:
    load = Workload.parse(READS)
    assert rule_of_an_array(POOL, load).host_iops == pytest.approx(2 * 80)
    assert rule_of_an_array(Array("6x2 generic-7k2 mirror"), load).host_iops == pytest.approx(12 * 80)
    with pytest.raises(InputError, match="is a vdev of OpenZFS"):
        rule_of_thumb("raidz2", read_fraction=1.0, disks=6, per_disk_iops=80)
