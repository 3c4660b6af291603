"""What a small RAID 5 write costs, by mechanics: the disk held between its read and its write, or released.

A visit of a disk with seek S and revolution T takes S + T/2; with the arm held, the write takes one revolution more.
So a small write costs 2 (S + 3T/2) of disk time held and 4 (S + T/2) released, a read S + T/2; their ratio is the
effective penalty. It is compared as busy time an operation (the law U = X · D makes that independent of the load), and
as the ratio of saturated rates. Sampling: 12,000 requests, seed 1; the mean of a visit is known to T / √12 / √12,000,
below 0.3 %; the transfer of one 128th of a revolution is part of the expectation.

References
----------
Chen, Towsley, *The design and evaluation of RAID 5 and parity striping disk array architectures*, Journal of Parallel
and Distributed Computing 17, 1993 (read first, then parity); the formula 4 (S + 3T/2) / (2S + T) follows by counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.theory.plain_disks import response_ns, simulated, turning_drive

SECTORS_PER_TRACK, CYLINDERS = 1024, 400
TRANSFER = 8 / SECTORS_PER_TRACK
N = 12_000

#: (seek in ms, revolution in ms, effective penalty of a held disk)
MECHANICS = [(3.5, 4.0, 3.45), (8.0, 8.33, 3.37), (0.0, 4.0, 6.0)]


def _drive(seek_ms: float, revolution_ms: float) -> dict[str, Any]:
    """Every seek takes the same time."""
    return {
        **turning_drive(round(revolution_ms * 1e6)),
        "capacity_bytes": CYLINDERS * SECTORS_PER_TRACK * 512,
        "zones": [{"cylinders": CYLINDERS, "sectors_per_track": SECTORS_PER_TRACK}],
        "seek": {"kind": "table", "distance": [1, CYLINDERS - 1], "time_ms": [max(seek_ms, 1e-6)] * 2},
    }


def _array(seek_ms: float, revolution_ms: float, how: str) -> dict[str, Any]:
    layout = {
        "level": "raid5",
        "disks": 5,
        "strip": "4 KiB",
        "write_policy": "read-modify-write",
        "read_modify_write": how,
    }
    # parity lies at the angle of its data: only spindles that drift against each other meet at all angles alike
    return {"drive": _drive(seek_ms, revolution_ms), "layout": layout, "spindles": {"drift_ppm": 400}}


def _demand_ns_and_rate(array: dict[str, Any], op: int, clients: int) -> tuple[float, float]:
    _, outcome = simulated(array, {"clients": clients}, N, seed=1, ops=[op])
    return float(outcome.devices.busy_ns.sum()) / N, N / outcome.end_ns


@pytest.mark.parametrize(("seek_ms", "revolution_ms", "published"), MECHANICS)
@pytest.mark.parametrize("clients", [1, 64])
def test_effective_penalty_of_a_held_disk(seek_ms: float, revolution_ms: float, published: float, clients: int) -> None:
    array = _array(seek_ms, revolution_ms, "held")
    read, read_rate = _demand_ns_and_rate(array, 0, clients)
    write, write_rate = _demand_ns_and_rate(array, 1, clients)
    visit = seek_ms + revolution_ms * (1 / 2 + TRANSFER)
    assert write / read == pytest.approx(2 * (visit + revolution_ms) / visit, rel=0.01)
    assert write / read == pytest.approx(published, rel=0.025)
    if clients == 64:
        # two of five disks wait for each other more often than one: the rates fall a little faster than the demands
        assert read_rate / write_rate == pytest.approx(published, rel=0.06)


@pytest.mark.parametrize(("seek_ms", "revolution_ms"), [m[:2] for m in MECHANICS[:2]])
def test_a_released_disk_pays_two_visits_when_others_come_between(seek_ms: float, revolution_ms: float) -> None:
    array = _array(seek_ms, revolution_ms, "released")
    read, _ = _demand_ns_and_rate(array, 0, 64)
    write, _ = _demand_ns_and_rate(array, 1, 64)
    assert write / read == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(("how", "revolutions"), [("released", 2 / 3 + 1), ("held", 2)])
def test_idle_response_without_seeks(how: str, revolutions: float) -> None:
    """Released: both reads at once, the later of two, one revolution. Held: data, then parity, one revolution."""
    array = _array(0.0, 4.0, how)
    _, outcome = simulated(array, {"clients": 1}, N, seed=1, ops=[1])
    assert float(response_ns(outcome).mean()) == pytest.approx(revolutions * 4e6, rel=0.02)


@pytest.mark.parametrize("level", ["raid5", "raid6", "raid50"])
def test_held_or_released_the_same_blocks_are_read_and_written(level: str) -> None:
    disks = {"raid5": 5, "raid6": 6, "raid50": 10}[level]
    counts = {}
    for how in ("held", "released"):
        array = _array(3.5, 4.0, how)
        array["layout"] |= {"level": level, "disks": disks}
        _, outcome = simulated(array, {"clients": 8}, 500, seed=1, ops=[1])
        counts[how] = (outcome.devices.read_bytes.tolist(), outcome.devices.write_bytes.tolist())
        parts = outcome.completions.parts_ns.sum(axis=1)
        assert np.array_equal(parts, response_ns(outcome))
    assert counts["held"] == counts["released"]
