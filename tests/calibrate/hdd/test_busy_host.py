"""Known truth on a busy machine: measured in simulated time by the program's plan, with late completions and stalls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.hdd.angles import Pairs, Skews
from calibrate.hdd.sequential import Stretches, find_stretches
from calibrate.hdd.zones import likeliest_zones
from tests.calibrate.hdd.noisy_device import HEAVY, MODERATE
from tests.calibrate.hdd.noisy_drives import measured, outcome_of
from tests.mount.test_known_truth import DRIVES


def holds_the_tolerances(name: str, seed: int, folder: Path) -> None:
    found = outcome_of(name, MODERATE, seed, folder)
    assert abs(found.rotation_ratio) < 2e-5
    assert abs(found.overhead_ns) < 20_000
    assert found.are_heads_right
    assert found.is_streaming
    assert np.abs(found.zone_ratios).max() < 0.02, found.zone_ratios
    assert np.abs(found.seek_shares).max() < 1.0, found.seek_shares


@pytest.mark.parametrize("name", DRIVES)
def test_a_moderately_busy_machine_does_not_show(name: str, tmp_path: Path) -> None:
    holds_the_tolerances(name, 101, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 206))
@pytest.mark.parametrize("name", DRIVES)
def test_whatever_is_drawn(name: str, seed: int, tmp_path: Path) -> None:
    holds_the_tolerances(name, seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DRIVES)
def test_a_very_busy_machine_moves_no_zone(name: str, tmp_path: Path) -> None:
    found = outcome_of(name, HEAVY, 300, tmp_path)
    assert found.are_heads_right
    assert np.abs(found.zone_ratios).max() < 0.02, found.zone_ratios


def test_the_reported_error_of_a_slope_is_of_the_size_of_the_actual_one(tmp_path: Path) -> None:
    truth, measurement = measured("7k2", MODERATE, 7, tmp_path)
    tables = truth.tables()
    runs = find_stretches(measurement, float(tables.revolution_ns), 512)
    assert len(runs) >= 58
    zone = np.searchsorted(tables.zone_first_lba, runs.sector, side="right") - 1
    skew = ((tables.heads - 1) * tables.track_skew + tables.cylinder_skew) / tables.heads / tables.sectors_per_track
    true = ((1.0 + skew) / tables.sectors_per_track)[zone]
    off = runs.turns_per_sector / true - 1.0
    # a run may lie across a border of zones
    assert np.quantile(np.abs(off), 0.9) < 0.003
    assert np.mean(np.abs(off) < 3 * np.hypot(runs.stderr_ratio, 5e-4)) > 0.85


def test_zones_are_whole_numbers_that_fall_and_noise_makes_none() -> None:
    rng = np.random.default_rng(5)
    sector = np.sort(rng.uniform(0.0, 3e6, 120))
    true = np.select([sector < 1e6, sector < 2e6], [600.0, 571.0], 540.0)
    distance = rng.integers(60, 300, 120).astype(np.float64)
    late = rng.exponential(0.004, 120) - rng.exponential(0.004, 120)
    late[::10] = rng.uniform(-0.5, 0.5, 12)
    phase = np.mod(distance / true + np.where(rng.random(120) < distance / true, 0.15, 0.0) + late, 1.0)
    pairs = Pairs(sector, distance, phase, 0.004)
    edges, found = likeliest_zones(
        pairs, Stretches.none(), true, skew_turns=0.15, skews=Skews(0.15, 0.15, 0.5), n_sectors=3_000_000
    )
    assert len(found) == 3
    assert np.abs(found / [600.0, 571.0, 540.0] - 1.0).max() < 0.01
    assert np.abs(edges - [0.0, 1e6, 2e6, 3e6]).max() < 1.5e5
    alone = likeliest_zones(
        pairs.rows(true == 571.0), Stretches.none(), true, skew_turns=0.15, skews=None, n_sectors=3_000_000
    )
    assert len(alone[1]) == 1
