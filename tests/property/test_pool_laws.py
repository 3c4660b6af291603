"""Laws of pools: what a failed disk, the order of streams, a special vdev and a small cache do to latencies."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from diskmodel.workload import Workload


def reads(level: str, disks: int, clients: int, failed: list[int], seed: int = 0) -> Result:
    layout: dict[str, Any] = {"level": level, "disks": disks, "failed": failed}
    array = Array.parse({"drive": "generic-7k2", "layout": layout})
    load = Workload.parse({"size": "8 KiB", "clients": clients, "read_ratio": 1.0})
    return simulate(array, load, n_requests=3_000, seed=seed, profile_draws=0, with_angles=False)


@settings(max_examples=8, deadline=None, derandomize=True, database=None)
@given(
    st.sampled_from([("raidz1", 3), ("raidz1", 5), ("raidz2", 6), ("mirror", 2)]),
    st.sampled_from([4, 8, 16]),
    st.integers(0, 1000),
)
def test_busy_disks_serve_reads_no_faster_with_one_of_them_failed(
    pool: tuple[str, int], clients: int, seed: int
) -> None:
    healthy, degraded = (reads(*pool, clients, failed, seed).latency.mean_ns for failed in ([], [0]))
    assert degraded > 0.97 * healthy


def test_arms_of_a_degraded_pair_move_together() -> None:
    """One reader of RAID-Z1 of three may wait no longer with a disk failed: both others then read every record.

    Their arms stand at the same place, so that the longer one of two seeks is no longer than either. In a healthy vdev
    each disk rests for every third record, and arms come from different places. What seeks gain, angles lose.
    """
    healthy, degraded = (reads("raidz1", 3, 1, failed) for failed in ([], [0]))
    assert degraded.breakdown_ns["seek"] < 0.95 * healthy.breakdown_ns["seek"]
    assert degraded.breakdown_ns["rotation"] > 1.05 * healthy.breakdown_ns["rotation"]
    assert 0.9 < degraded.latency.mean_ns / healthy.latency.mean_ns < 1.1


def of_flash(level: str, disks: int, load: Workload, n_requests: int, seed: int, **more: Any) -> Result:
    layout = {"level": level, "disks": disks, **more.pop("layout", {})}
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": layout, **more})
    return simulate(array, load, n_requests=n_requests, seed=seed, profile_draws=0, with_angles=False)


@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(st.sampled_from([("mirror", 2), ("raidz1", 3), ("raidz2", 6)]), st.integers(0, 1000))
def test_the_order_of_streams_in_a_file_changes_no_mean(pool: tuple[str, int], seed: int) -> None:
    """Another order draws other requests, which decide a run of a few hundred that sees a part of a group's writing.

    In 3,000 requests the mean of each stream is the same to a few percent.
    """
    one = {"name": "a", "size": "8 KiB", "rate": "900/s", "read_ratio": 0.5}
    other = {"name": "b", "size": "16 KiB", "rate": "300/s", "read_ratio": 0.0, "sync": "dsync"}
    first, second = (
        of_flash(*pool, Workload.parse({"streams": streams}), 3_000, seed).per_stream
        for streams in ([one, other], [other, one])
    )
    for name in ("a", "b"):
        assert 0.93 < first[name].mean_ns / second[name].mean_ns < 1.07


@settings(max_examples=2, deadline=None, derandomize=True, database=None)
@given(st.sampled_from([("mirror", 2), ("raidz1", 3)]), st.sampled_from(["none", "dsync"]), st.integers(0, 1000))
def test_a_special_vdev_or_a_small_cache_makes_no_pool_slower(pool: tuple[str, int], sync: str, seed: int) -> None:
    """In two whole rounds of its groups' writing: a part of one is of any speed, because it begins anywhere."""
    load = Workload.parse({"size": "8 KiB", "rate": "900/s", "read_ratio": 0.5, "sync": sync})
    plain = of_flash(*pool, load, 10_000, seed)
    special = of_flash(*pool, load, 10_000, seed, layout={"special": "2x micron-7450-pro-1920"})
    cached = of_flash(*pool, load, 10_000, seed, controller={"read_cache": {"size": "64 MiB"}})
    for other in (special, cached):
        assert other.reads.mean_ns < 1.03 * plain.reads.mean_ns
        assert other.writes.mean_ns < 1.03 * plain.writes.mean_ns
