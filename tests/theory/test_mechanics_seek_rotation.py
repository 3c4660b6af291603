"""Seek and rotation against closed forms. Every test states seed and sample; 4 standard errors or more are allowed."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.records import PARTS
from tests.theory.plain_disks import (
    N_CYLINDERS,
    SEEK_NS_PER_CYLINDER,
    response_ns,
    seeking_drive,
    simulated,
    turning_drive,
)

SEEK = PARTS.index("seek")
ROTATION = PARTS.index("rotation")
STROKE_NS = N_CYLINDERS * SEEK_NS_PER_CYLINDER
T = 4_000_000


def alone(drive: dict[str, object]) -> dict[str, object]:
    return {"drive": drive, "layout": {"level": "jbod", "disks": 1}}


@pytest.mark.parametrize(
    ("depth", "expected"), [(1, 1 / 3), (2, 0.220), (4, 0.137), (8, 0.0787), (16, 0.0428), (32, 0.0218)]
)
def test_shortest_seek_first_shrinks_the_seek(depth: int, expected: float) -> None:
    """Saturated closed queue, places uniform; 60,000 requests, seed 11: standard error below 0.5 %."""
    _, outcome = simulated(alone(seeking_drive("sstf")), {"clients": depth}, 60_000, 11)
    share = outcome.completions.parts_ns[1000:, SEEK].mean() / STROKE_NS
    assert share == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("depth", [4, 16])
def test_a_sweep_costs_the_distance_to_the_farthest_of_n(depth: int) -> None:
    """LOOK under load moves less than the mean seek of FCFS by far: at most 1/(n + 1) of the stroke for each request
    of a batch of n, and at least half of it, since newcomers ahead join the sweep. 40,000 requests, seed 12."""
    _, outcome = simulated(alone(seeking_drive("look")), {"clients": depth}, 40_000, 12)
    share = outcome.completions.parts_ns[1000:, SEEK].mean() / STROKE_NS
    assert 0.5 / (depth + 1) < share < 1 / (depth + 1)


def test_first_come_first_served_seeks_a_third_of_the_stroke() -> None:
    """(N² - 1)/(3N); 60,000 requests, seed 13: standard error 0.3 %."""
    _, outcome = simulated(alone(seeking_drive()), {"clients": 1}, 60_000, 13)
    share = outcome.completions.parts_ns[:, SEEK].mean() / STROKE_NS
    assert share == pytest.approx((N_CYLINDERS**2 - 1) / (3 * N_CYLINDERS**2), rel=0.015)


def test_the_nearest_of_two_arms_seeks_a_sixth_of_the_stroke() -> None:
    """Reads only, greedy nearest arm, steady state: 0.1615 (independent uniform arms would be 5/24 = 0.208, by
    Bitton and Gray 0.2). 30,000 requests, seed 14: standard error 0.6 %."""
    layout = {"level": "raid1", "disks": 2, "read_policy": "nearest-arm", "strip": "4 KiB"}
    _, outcome = simulated({"drive": seeking_drive(), "layout": layout}, {"clients": 1}, 30_000, 14)
    share = outcome.completions.parts_ns[500:, SEEK].mean() / STROKE_NS
    assert share == pytest.approx(0.1615, rel=0.025)


def test_a_mirrored_write_seeks_the_longer_of_two_ways() -> None:
    """Arms at independent uniform places (a read of each before every write): 11/24. 60,000 requests (20,000 writes),
    seed 15: standard error 0.4 %."""
    layout = {"level": "raid1", "disks": 2, "read_policy": "round-robin", "strip": "4 KiB"}
    requests, outcome = simulated(
        {"drive": seeking_drive(), "layout": layout}, {"clients": 1}, 60_000, 15, ops=[0, 0, 1]
    )
    writes = requests.op == 1
    share = outcome.completions.parts_ns[writes, SEEK].mean() / STROKE_NS
    assert share == pytest.approx(11 / 24, rel=0.02)


def test_mirrored_writes_alone_keep_the_arms_together() -> None:
    """Both arms stand where the last write was: the seek of one disk, a third. 30,000 requests, seed 16."""
    layout = {"level": "raid1", "disks": 2, "strip": "4 KiB"}
    _, outcome = simulated({"drive": seeking_drive(), "layout": layout}, {"clients": 1, "read_ratio": 0}, 30_000, 16)
    assert outcome.completions.parts_ns[:, SEEK].mean() / STROKE_NS == pytest.approx(1 / 3, rel=0.02)


def test_rotational_latency_is_half_a_revolution() -> None:
    """30,000 requests, seed 17: standard error 0.33 %."""
    _, outcome = simulated(alone(turning_drive(T)), {"clients": 1}, 30_000, 17)
    assert outcome.completions.parts_ns[:, ROTATION].mean() == pytest.approx(T / 2, rel=0.015)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_last_of_n_unsynchronised_disks_waits_n_of_n_plus_1(n: int) -> None:
    """Writes to n mirrors with random angles: nT/(n + 1), plus the sectors themselves. 300 arrays (seeds 0 to 299) of
    100 requests: standard error below 1 %."""
    layout = {"level": "raid1", "disks": n, "strip": "4 KiB"}
    means = []
    for seed in range(300):
        _, outcome = simulated(
            {"drive": turning_drive(T), "layout": layout}, {"clients": 1, "read_ratio": 0}, 100, seed
        )
        means.append(response_ns(outcome)[1:].mean())
    transfer = 8 / 1024 * T
    assert np.mean(means) - transfer == pytest.approx(n * T / (n + 1), rel=0.03)


def test_synchronised_disks_wait_like_one() -> None:
    """Seed 18, 20,000 requests."""
    array = {
        "drive": turning_drive(T),
        "layout": {"level": "raid1", "disks": 4, "strip": "4 KiB"},
        "spindles": {"phase": "synchronised"},
    }
    _, outcome = simulated(array, {"clients": 1, "read_ratio": 0}, 20_000, 18)
    assert outcome.completions.parts_ns[:, ROTATION].mean() == pytest.approx(T / 2, rel=0.02)
