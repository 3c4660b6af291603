"""A calibrated drive against the virtual drive that was measured: how far is each parameter from the truth?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibrate.closed_loop import mean_response, scenario_of
from diskmodel.drive import Hdd, HddTables

QUEUE_DEPTHS = (1, 2, 4, 8, 16, 32)
_PAGE = 4096


@dataclass(frozen=True)
class Errors:
    """Distance of a fitted drive from the true one.

    Attributes
    ----------
    rotation_ratio : float
        Of the revolution.
    seek_excess : float
        Greatest error of a seek as a share of what is allowed (5 % or 0.1 ms, whichever is more).
    seek_rows : list of (share of the stroke, true ns, fitted ns)
    zone_ratio : float
        Greatest error of the rate of a zone; `zone_rows` has (first byte, true, fitted) in bytes per second.
    overhead_ns : float
    iops_ratio : dict of queue depth to relative error
    """

    rotation_ratio: float
    seek_excess: float
    seek_rows: list[tuple[float, float, float]]
    zone_ratio: float
    zone_rows: list[tuple[float, float, float]]
    overhead_ns: float
    iops_ratio: dict[int, float]

    def __str__(self) -> str:
        lines = [
            f"rotation {self.rotation_ratio:+.6%}",
            f"overhead {self.overhead_ns / 1e3:+.1f} µs",
            f"zone rates at most {self.zone_ratio:.2%} off",
            "iops " + ", ".join(f"{depth}: {error:+.2%}" for depth, error in self.iops_ratio.items()),
            f"seeks at most {self.seek_excess:.2f} of what is allowed off (share of the tracks, ms true, ms fitted):",
            *(f"  {share:9.6f} {true / 1e6:8.3f} {found / 1e6:8.3f}" for share, true, found in self.seek_rows),
        ]
        return "\n".join(lines)


def errors(true: Hdd, fitted: Hdd, *, seed: int = 11) -> Errors:
    """How far `fitted` is from `true`, everywhere."""
    a, b = true.tables(), fitted.tables()
    rows = seeks(a, b)
    allowed = [max(0.05 * right, 100_000.0) for _, right, _ in rows]
    zones = rates(a, b)
    return Errors(
        rotation_ratio=b.revolution_ns / a.revolution_ns - 1.0,
        seek_excess=max(abs(y - x) / most for (_, x, y), most in zip(rows, allowed, strict=True)),
        seek_rows=rows,
        zone_ratio=max(abs(y / x - 1.0) for _, x, y in zones),
        zone_rows=zones,
        overhead_ns=float(b.read_overhead_ns - a.read_overhead_ns),
        iops_ratio=_iops(true, fitted, seed),
    )


def seeks(a: HddTables, b: HddTables) -> list[tuple[float, float, float]]:
    """Seeks from both edges and the middle over tracks by the true geometry, and the same places in the fitted one."""
    n = len(a.seek_ns)
    rows = []
    distances = np.unique(np.concatenate([[1, 2, 3, 5], np.geomspace(8, n - 1, 24).astype(int)]))
    for distance in distances:
        for start in (0, (n - 1 - distance) // 2, n - 1 - distance):
            there = np.array([start, start + distance], np.int64)
            lba = _first_lba(a, there)
            away = float(np.diff(_cylinder(b, lba))[0])
            found = float(np.interp(away, np.arange(len(b.seek_ns)), b.seek_ns))
            rows.append((distance / (n - 1), float(a.seek_ns[distance]), found))
    return rows


def _first_lba(tables: HddTables, cylinder: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.interp(cylinder, tables.zone_first_cylinder, tables.zone_first_lba))


def _cylinder(tables: HddTables, lba: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.interp(lba, tables.zone_first_lba, tables.zone_first_cylinder))


def rates(a: HddTables, b: HddTables) -> list[tuple[float, float, float]]:
    """Sequential rate of each true zone, head and cylinder switches included, and what the fit gives for the same
    blocks. (Where one zone ends and the next begins is another question: at the border both are right.)"""
    rows = []
    edges = np.minimum(np.asarray(a.zone_first_lba, np.float64), b.n_sectors)
    for first, last in pairwise(edges.tolist()):
        if last - first > 0.001 * a.n_sectors:
            size = (last - first) * a.sector_bytes
            rows.append((first * a.sector_bytes, size / _seconds(a, first, last), size / _seconds(b, first, last)))
    return rows


def _seconds(tables: HddTables, first: float, last: float) -> float:
    """Time to read from one sector to another, from zones and skews."""
    heads = int(tables.heads)
    total = 0.0
    for zone, per_track in enumerate(tables.sectors_per_track):
        low, high = max(first, tables.zone_first_lba[zone]), min(last, tables.zone_first_lba[zone + 1])
        skew = (heads - 1) * int(tables.track_skew[zone]) + int(tables.cylinder_skew[zone])
        turns_per_track = 1.0 + skew / heads / int(per_track)
        total += max(high - low, 0.0) / int(per_track) * turns_per_track * tables.revolution_ns / 1e9
    return total


def _iops(true: Hdd, fitted: Hdd, seed: int) -> dict[int, float]:
    """Random 4 KiB reads over the whole drive, predicted by both."""
    first, second = scenario_of(true), scenario_of(fitted)
    span = min(true.capacity_bytes, fitted.capacity_bytes)

    def mean(scenario: object, depth: int) -> float:
        return mean_response(
            scenario,
            length=_PAGE,
            queue_depth=depth,
            n=30_000,
            seed=seed,
            span_bytes=span,  # type: ignore[arg-type]
        )

    return {depth: mean(first, depth) / mean(second, depth) - 1.0 for depth in QUEUE_DEPTHS}
