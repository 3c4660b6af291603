"""Laws of pools: what a failed disk does to reads."""

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
