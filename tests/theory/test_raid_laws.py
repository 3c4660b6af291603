"""What arrays do against what is known of them: penalties, revolutions, queueing. Seeds and samples in each test."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.drive import load_drive
from diskmodel.records import PARTS
from tests.theory.plain_disks import response_ns, simulated, turning_drive

T = 4_000_000
#: First come, first served, and nothing but the arm and the platter.
PLAIN = load_drive("md-raid-10k").to_dict() | {
    "read_overhead_ns": 0,
    "write_overhead_ns": 0,
    "completion_overhead_ns": 0,
    "interface_bytes_per_s": 1e15,
}
ALONE = {"drive": PLAIN, "layout": {"level": "jbod", "disks": 1}}


def test_a_small_raid5_write_without_seeks_takes_two_thirds_and_one_revolution() -> None:
    """Two reads, the later of which takes 2T/3 on unsynchronised disks, then the same places one revolution later:
    6.667 ms at T = 4 ms, plus the sectors themselves. 300 arrays (seeds 0 to 299) of 100 writes: standard error
    below 1 %."""
    layout = {"level": "raid5", "disks": 5, "strip": "4 KiB"}
    means = []
    for seed in range(300):
        array = {"drive": turning_drive(T), "layout": layout}
        _, outcome = simulated(array, {"clients": 1, "read_ratio": 0}, 100, seed)
        means.append(response_ns(outcome)[1:].mean())
    assert np.mean(means) - 8 / 1024 * T == pytest.approx(2 * T / 3 + T, rel=0.02)


@pytest.mark.parametrize(
    ("layout", "reads", "writes"),
    [
        ({"level": "raid0", "disks": 8}, 0, 1),
        ({"level": "raid10", "disks": 8}, 0, 2),
        ({"level": "raid5", "disks": 8}, 2, 2),
        ({"level": "raid50", "disks": 16}, 2, 2),
        ({"level": "raid6", "disks": 10}, 3, 3),
        ({"level": "raid60", "disks": 20}, 3, 3),
        ({"level": "raid5", "disks": 4}, 2, 2),
        ({"level": "raid5", "disks": 3}, 1, 2),
    ],
)
def test_write_penalties_emerge(layout: dict[str, object], reads: int, writes: int) -> None:
    """Disk operations for each small write are counted at the disks, exactly. Seed 21, 500 writes."""
    n = 500
    _, outcome = simulated({"drive": "generic-15k", "layout": layout}, {"clients": 4, "read_ratio": 0}, n, 21)
    assert outcome.devices.n_reads.sum() == reads * n
    assert outcome.devices.n_writes.sum() == writes * n


@pytest.mark.parametrize(("level", "disks", "penalty"), [("raid10", 8, 2), ("raid5", 8, 4), ("raid6", 10, 6)])
def test_saturated_arrays_approach_the_rule_of_thumb_from_their_own_disks(level: str, disks: int, penalty: int) -> None:
    """Disks that are busy all the time share their operations among the penalties: host IOPS = n · X_disk / penalty,
    with X_disk measured from busy time per operation. 256 clients, 20,000 writes, seed 22; the rest is idle time of
    disks that the random load leaves out (below 12 %)."""
    array = {"drive": "generic-15k", "layout": {"level": level, "disks": disks}}
    _, outcome = simulated(array, {"clients": 256, "read_ratio": 0}, 20_000, 22)
    devices = outcome.devices
    service_ns = devices.busy_ns.sum() / (devices.n_reads + devices.n_writes).sum()
    bound = disks * 1e9 / service_ns / penalty
    iops = 20_000 / outcome.end_ns * 1e9
    assert 0.88 * bound < iops <= bound


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_one_disk_under_poisson_arrivals_follows_pollaczek_khinchine(load: float) -> None:
    """W = λ E[S²] / 2(1 - ρ) with both moments of S taken from the run. 400,000 reads, seed 23: standard error of the
    mean wait 1 to 2 %; successive seeks share an end, so services are weakly dependent, and 5 % is allowed."""
    _, closed = simulated(ALONE, {"clients": 1}, 20_000, 23)
    service_s = response_ns(closed).mean() / 1e9
    _, outcome = simulated(ALONE, {"rate_per_s": float(load / service_s)}, 400_000, 23)
    parts = outcome.completions.parts_ns[:, 2:]
    service = parts[:, 1:].sum(axis=1).astype(float)
    rate = len(service) / outcome.end_ns
    utilization = rate * service.mean()
    expected = rate * (service**2).mean() / (2 * (1 - utilization))
    wait = parts[:, 0].mean()
    assert wait == pytest.approx(expected, rel=0.05)


def test_busy_time_is_the_service_of_what_was_served() -> None:
    """Utilization law, exactly: writes hold the arm from the start of the move to the end of the transfer. Seed 24."""
    _, outcome = simulated(ALONE, {"clients": 3, "read_ratio": 0}, 3000, 24)
    columns = [PARTS.index(name) for name in ("seek", "rotation", "transfer")]
    assert outcome.devices.busy_ns.sum() == outcome.completions.parts_ns[:, columns].sum()


@pytest.mark.parametrize("clients", [1, 2, 4, 8, 16, 64])
def test_closed_bounds_hold(clients: int) -> None:
    """X ≤ min(n_disks / S, N / S) with S the busy time of a read. 10,000 reads on RAID 0 of 4, seed 25."""
    array = {"drive": "generic-15k", "layout": {"level": "raid0", "disks": 4}}
    _, outcome = simulated(array, {"clients": clients}, 10_000, 25)
    service_ns = outcome.devices.busy_ns.sum() / 10_000
    assert 10_000 / outcome.end_ns <= min(4, clients) / service_ns
    # Little: all clients are always in the system
    inside = response_ns(outcome).sum() / outcome.end_ns
    assert inside == pytest.approx(clients, rel=0.01)


def test_fork_join_lies_between_one_disk_and_harmonic_number() -> None:
    """A mirrored write under Poisson arrivals joins two disks with the same work: R_1 ≤ R_2 ≤ (1 + 1/2) R_1.
    100,000 writes at 60 % load, seed 26."""
    _, closed = simulated(ALONE, {"clients": 1, "read_ratio": 0}, 10_000, 26)
    rate = 0.6 / (response_ns(closed).mean() / 1e9)
    _, one = simulated(ALONE, {"rate_per_s": float(rate), "read_ratio": 0}, 100_000, 26)
    pair = {"drive": PLAIN, "layout": {"level": "raid1", "disks": 2}}
    _, two = simulated(pair, {"rate_per_s": float(rate), "read_ratio": 0}, 100_000, 26)
    single = response_ns(one).mean()
    assert single < response_ns(two).mean() < 1.5 * single
