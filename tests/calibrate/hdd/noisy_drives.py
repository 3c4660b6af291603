"""Drives of known parameters on a busy machine, any number of draws.

`python -m tests.calibrate.hdd.noisy_drives 0 20` draws twenty of each.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrate.evidence.measurement import Measurement
from calibrate.hdd.rotation import find_rotation
from calibrate.hdd.stages import HddFit, drive_of, fit_mechanics
from calibrate.measure import load
from diskmodel.drive import Hdd, load_drive
from tests.calibrate.hdd.noisy_device import HEAVY, MODERATE, QUIET, Noise, NoisyDevice
from tests.mount.test_known_truth import DRIVES
from tests.mount.truth import rates, seeks
from tests.unit.cli.commands import write

NOISES = {"quiet": QUIET, "moderate": MODERATE, "heavy": HEAVY}
SECONDS = 180.0


@dataclass(frozen=True)
class Outcome:
    """Errors of one measurement: of the revolution, of each zone's rate (ratios), of the overhead, and of each seek as
    a share of what is allowed (5 % or 0.1 ms)."""

    rotation_ratio: float
    overhead_ns: float
    zone_ratios: list[float]
    seek_shares: list[float]
    are_heads_right: bool
    is_streaming: bool


def measured(name: str, noise: Noise, seed: int, folder: Path) -> tuple[Hdd, Measurement]:
    """A drive of the loop and its measurement."""
    truth = load_drive(write(folder / "truth.toml", DRIVES[name]))
    assert isinstance(truth, Hdd)
    device = NoisyDevice(truth, noise, seconds=SECONDS, seed=seed)
    device.measure()
    return truth, load(device.write(folder / "m.json"))


def fitted(measurement: Measurement) -> tuple[HddFit, Hdd]:
    """Mechanics and profile, the queue left out."""
    rotation = find_rotation(measurement)
    assert rotation is not None
    fit = fit_mechanics(measurement, rotation)
    return fit, drive_of(fit, capacity_bytes=measurement.size_bytes, name="fitted")


def outcome_of(name: str, noise: Noise, seed: int, folder: Path) -> Outcome:
    """How far one calibration is from the truth."""
    truth, measurement = measured(name, noise, seed, folder)
    fit, found = fitted(measurement)
    a, b = truth.tables(), found.tables()
    return Outcome(
        rotation_ratio=b.revolution_ns / a.revolution_ns - 1.0,
        overhead_ns=float(b.read_overhead_ns - a.read_overhead_ns),
        zone_ratios=[got / true - 1.0 for _, true, got in rates(a, b)],
        seek_shares=[(got - true) / max(0.05 * true, 100_000.0) for _, true, got in seeks(a, b)],
        are_heads_right=fit.n_heads == truth.heads,
        is_streaming=fit.tracks.is_streaming,
    )


def _table(first: int, last: int) -> Iterator[str]:
    yield "| host | drive | zone rate, worst | drives' worst on average | zones above 2 % | seek, worst of allowed "
    yield "| overhead, worst | rotation, worst | heads right |\n|---|---|---|---|---|---|---|---|---|\n"
    for label, noise in NOISES.items():
        for name in DRIVES:
            with tempfile.TemporaryDirectory() as folder:
                found = [outcome_of(name, noise, seed, Path(folder)) for seed in range(first, last)]
            zones = np.abs([outcome.zone_ratios for outcome in found])
            yield (
                f"| {label} | {name} | {zones.max():.2%} | {zones.max(axis=1).mean():.2%} "
                f"| {(zones > 0.02).mean():.1%} "
                f"| {max(max(map(abs, o.seek_shares)) for o in found):.2f} "
                f"| {max(abs(o.overhead_ns) for o in found) / 1e3:.0f} µs "
                f"| {max(abs(o.rotation_ratio) for o in found) * 1e6:.1f} ppm "
                f"| {sum(o.are_heads_right for o in found)} of {len(found)} |\n"
            )


if __name__ == "__main__":
    for line in _table(int(sys.argv[1]), int(sys.argv[2])):
        sys.stdout.write(line)
        sys.stdout.flush()
