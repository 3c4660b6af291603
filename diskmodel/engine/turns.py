"""How the drives of a run turn when it begins, and where their draws begin."""

from __future__ import annotations

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import DriveTables
from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Int64


def _key(purpose: int, place: int) -> tuple[int, ...]:
    """Return the key of the draws of a purpose: of the drives of each place apart."""
    return (purpose, place) if place else (purpose,)


def spindles(array: Array, tables: DriveTables, n: int, seed: int, place: int = 0) -> tuple[Int64, Int64]:
    """Return revolution and angle at time 0 of each spindle (rule S1); where nothing turns, where draws begin.

    Those of other places than the members' (0) are drawn apart.
    """
    if not tables.has_arms:
        return np.zeros(n, np.int64), _first_draws(tables, n, seed, place)
    base = tables.period_ns
    drift = round(array.spindles.drift_ppm * 1000)  # parts in 10⁹
    revolution = np.array([base - base * disk * drift // 10**9 for disk in range(n)], np.int64)
    if 2 * int(revolution[-1]) < base:
        raise DescriptionError(
            Fault(
                "spindles.drift_ppm",
                array.spindles.drift_ppm,
                f"the last of {n} disks would turn twice as fast as the first, or backwards",
                f"use at most {0.5e6 / (n - 1):.3g}",
            )
        )
    if array.spindles.phase == "synchronised":
        return revolution, np.zeros(n, np.int64)
    if array.spindles.phase == "spread":
        return revolution, np.array([int(r) * ((618 * d) % 1000) // 1000 for d, r in enumerate(revolution)], np.int64)
    # a child of its own per purpose: more disks or requests do not change the angles of the first ones
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=_key(0x5B1D, place))))
    return revolution, (rng.random(n) * revolution).astype(np.int64)


def first_draw(tables: DriveTables, seed: int, place: int = 0) -> int:
    """Return where the draws of accesses to the media begin (rule M9); 0 for drives without."""
    if not tables.has_draws:
        return 0
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=_key(0x5EE4, place))))
    return int(rng.integers(0, 1 << 32))


def _first_draws(tables: DriveTables, n: int, seed: int, place: int) -> Int64:
    """Where each drive's draws of wake-up times (rule V2) or delays (rule F19) begin; 0 for drives without."""
    if not tables.n_drawn_times:
        return np.zeros(n, np.int64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=_key(0x3A4E, place))))
    return rng.integers(0, 1 << 32, n)
