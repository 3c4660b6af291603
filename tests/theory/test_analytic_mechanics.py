"""Formulas of arms and platters against brute force with stated seeds; margins are four standard errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from diskmodel.analytic import mechanics
from diskmodel.errors import InputError

SEED = 7041
N = 400_000


def assert_mean(sample: NDArray[np.float64], expected: float) -> None:
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    assert abs(float(sample.mean()) - expected) < 4 * error
    assert error < 0.01 * expected


def test_mean_seek() -> None:
    rng = np.random.default_rng(SEED)
    assert_mean(np.abs(rng.random(N) - rng.random(N)), mechanics.mean_seek_ratio())
    n = 17
    places = np.arange(n)
    exact = np.abs(places[:, None] - places[None, :]).mean() / n
    assert mechanics.mean_seek_ratio(n) == pytest.approx(exact, rel=1e-12)
    assert mechanics.mean_seek_ratio(10**6) == pytest.approx(1 / 3)


@pytest.mark.parametrize("arms", [1, 2, 3, 5])
def test_nearest_and_farthest_of_independent_arms(arms: int) -> None:
    rng = np.random.default_rng([SEED, arms])
    distance = np.abs(rng.random((arms, N)) - rng.random(N))
    assert_mean(distance.min(axis=0), mechanics.nearest_of_arms_ratio(arms))
    assert_mean(distance.max(axis=0), mechanics.farthest_of_arms_ratio(arms))


def test_values_of_mirrors() -> None:
    assert mechanics.nearest_of_arms_ratio(2) == pytest.approx(5 / 24)
    assert mechanics.nearest_of_arms_ratio(3) == pytest.approx(0.150)
    assert mechanics.farthest_of_arms_ratio(2) == pytest.approx(11 / 24)


def test_greedy_nearest_arm_settles_below_independent_arms() -> None:
    rng = np.random.default_rng(SEED)
    arms, total, n = [0.25, 0.75], 0.0, 200_000
    for target in rng.random(n).tolist():
        near = 0 if abs(arms[0] - target) <= abs(arms[1] - target) else 1
        total += abs(arms[near] - target)
        arms[near] = target
    assert total / n == pytest.approx(0.1615, rel=0.01)
    assert total / n < mechanics.nearest_of_arms_ratio(2)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_sweeps_and_rotations(n: int) -> None:
    rng = np.random.default_rng([SEED, n])
    places = np.sort(rng.random((n, 100_000)), axis=0)
    assert_mean(places[-1], mechanics.scan_farthest_ratio(n))
    assert_mean(np.diff(places, axis=0, prepend=0.0)[n // 2], mechanics.scan_spacing_ratio(n))
    assert_mean(0.004 * places[0], mechanics.shortest_rotation_wait_s(0.004, n))
    assert_mean(0.004 * places[-1], mechanics.longest_rotation_wait_s(0.004, n))
    assert mechanics.rotation_wait_s(0.004) == mechanics.longest_rotation_wait_s(0.004, 1)


@pytest.mark.parametrize("n", list(mechanics.SSTF_SEEK_RATIOS))
def test_saturated_shortest_seek_first(n: int) -> None:
    rng = np.random.default_rng([SEED, n, 1])
    count, warm = 60_000, 5_000
    queue = rng.random(n)
    fresh = rng.random(count).tolist()
    head, total = 0.5, 0.0
    for i, new in enumerate(fresh):
        distance = np.abs(queue - head)
        best = int(distance.argmin())
        head = float(queue[best])
        queue[best] = new
        if i >= warm:
            total += float(distance[best])
    assert total / (count - warm) == pytest.approx(mechanics.sstf_seek_ratio(n), rel=0.02)


def test_sstf_between_and_beyond_the_rows_falls() -> None:
    values = [mechanics.sstf_seek_ratio(n) for n in (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)]
    assert all(a > b for a, b in itertools.pairwise(values))


def test_vendor_average_is_the_mean_over_all_pairs() -> None:
    n = 40
    inward = [0.001 + 0.0002 * math.sqrt(d) for d in range(1, n)]
    outward = [t + 0.0003 for t in inward]
    pairs = [(inward if b > a else outward)[abs(a - b) - 1] for a in range(n) for b in range(n) if a != b]
    assert mechanics.vendor_average_seek_s(inward, outward) == pytest.approx(sum(pairs) / len(pairs), rel=1e-12)


def test_small_parity_write_on_an_idle_array() -> None:
    rng = np.random.default_rng(SEED)
    turn = 0.004
    for parities in (1, 2):
        reads = turn * rng.random((parities + 1, N))
        # each disk writes when its block comes round again after *all* reads are done
        ready = reads.max(axis=0)
        done = reads + turn * np.ceil((ready - reads) / turn + 1e-12)
        done = np.where(done == reads, done + turn, done)
        assert_mean(done.max(axis=0), mechanics.idle_parity_write_s(turn, parities))
    assert mechanics.idle_parity_write_s(0.004) == pytest.approx(0.006667, abs=1e-6)


def test_effective_penalty() -> None:
    assert round(mechanics.effective_write_penalty(0.0035, 0.004), 2) == 3.45
    assert round(mechanics.effective_write_penalty(0.0080, 0.00833), 2) == 3.37
    assert mechanics.effective_write_penalty(0.0, 0.004) == 6
    assert mechanics.effective_write_penalty(0.0035, 0.004, is_held=False) == 4
    assert mechanics.effective_write_penalty(0.0035, 0.004, n_parity=2, is_held=False) == 6
    assert mechanics.held_read_modify_write_s(0.0035, 0.004) == pytest.approx(0.0095)


def test_parity_write_operations_by_counting() -> None:
    for disks in range(3, 12):
        for parities in (1, 2):
            for written in range(1, disks - parities + 1):
                data = disks - parities
                modify = (written + parities) + (written + parities)
                reconstruct = (data - written) + (written + parities)
                assert mechanics.parity_write_operations(written, disks, parities) == (modify, reconstruct)
    cheaper = [w for w in range(1, 8) if (lambda p: p[0] < p[1])(mechanics.parity_write_operations(w, 8))]
    assert cheaper == [1, 2]


def test_degraded_reads_by_counting() -> None:
    for disks, parities, failed in ((5, 1, 1), (8, 2, 1), (8, 2, 2), (10, 3, 2)):
        loads = np.zeros(disks)
        for strip in range(disks):  # one read of a strip of each disk; parity rotates, so all disks hold data alike
            if strip >= failed:
                loads[strip] += 1
            else:  # any n - m survivors: each is as likely
                loads[failed:] += (disks - parities) / (disks - failed)
        assert mechanics.degraded_read_load(disks, parities, failed) == pytest.approx(loads[-1])
    assert mechanics.degraded_read_load(7) == 2
    with pytest.raises(InputError, match="data is lost"):
        mechanics.degraded_read_load(7, 1, 2)


def test_rebuild_hours() -> None:
    assert mechanics.rebuild_hours(3_600_000_000_000, 100e6) == pytest.approx(10)
    assert mechanics.rebuild_hours(3_600_000_000_000, 100e6, host_utilization_ratio=0.75) == pytest.approx(40)
    assert mechanics.rebuild_hours(3_600_000_000_000, 100e6, share_limit=0.3) == pytest.approx(33.333, rel=1e-4)
    assert math.isinf(mechanics.rebuild_hours(10**12, 100e6, host_utilization_ratio=1.0))
