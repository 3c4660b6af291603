"""Tracks, cylinders, heads and zones, from angles of blocks that were laid out one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibrate.trace.engine.cylinders import MAX_ZONES, zones_of
from calibrate.trace.geometry.agreement import agreed_zones, rebased
from calibrate.trace.geometry.angle_map import AngleMap
from calibrate.trace.geometry.angles import Step, ZoneAngle, fit_steps
from calibrate.trace.geometry.heads import whole_cylinders
from calibrate.trace.geometry.likelihood import zone_likelihood
from calibrate.trace.geometry.staircase import refine_zone
from calibrate.trace.geometry.tracks import agreed_tracks
from diskmodel.drive.zones import Zone

NOISE_TURNS = 0.008


def angles_of(
    x: np.ndarray, spt: int, heads: int, track: int, cylinder: int, left_out: tuple[int, ...] = (), seed: int = 0
) -> np.ndarray:
    """Phasors of blocks x: whole tracks, skews in sectors, one track left out before each of `left_out` (tracks)."""
    k = x // spt
    k = k + np.searchsorted(np.array(left_out), k, side="right")
    skew = (k - k // heads) * track + (k // heads) * cylinder
    turns = ((x % spt) + skew) / spt + np.random.default_rng(seed).normal(0.0, NOISE_TURNS, len(x))
    return np.exp(2j * np.pi * turns)


def blocks(n: int, last: int, seed: int = 1) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).integers(0, last, n)).astype(np.float64)


def rough(first: float, last: float, spt: int, heads: int, track: int, cylinder: int, n: int) -> ZoneAngle:
    """A zone as its rate alone determines it."""
    mean = ((heads - 1) * track + cylinder) / heads
    return ZoneAngle(first, last, 0.0, (1.0 + mean / spt) / spt, n_points=n)


def test_a_zone_comes_back_as_whole_cylinders() -> None:
    spt, heads, track, cylinder = 104, 7, 14, 29
    x = blocks(400, 150_000)
    z = angles_of(x, spt, heads, track, cylinder)
    start = fit_steps(rough(0.0, 150_000.0, spt, heads, track, cylinder, 400), x, z, np.ones(400, dtype=np.bool_))
    found = refine_zone(start, x, z, heads, start.turns_per_block * spt)
    assert found.track.period_blocks == pytest.approx(spt, abs=1e-6)
    assert found.track.turns * spt == pytest.approx(track, abs=1e-6)
    assert found.cylinder.turns * spt == pytest.approx(cylinder - track, abs=0.05)
    assert found.slips == ()
    assert zone_likelihood(found, x, z) > -0.1 * len(x)


def test_tracks_left_out_are_found_where_they_are() -> None:
    spt, heads, track, cylinder = 90, 5, 15, 22
    left_out = (311, 702, 1200)
    x = blocks(600, 140_000)
    z = angles_of(x, spt, heads, track, cylinder, left_out)
    start = rough(0.0, 140_000.0, spt, heads, track, cylinder, 600)
    found = refine_zone(replace(start, track=Step(float(spt), 0.0, track / spt)), x, z, heads, 1.18)
    assert np.array(found.slips) == pytest.approx(np.array(left_out) * spt, abs=4 * 140_000 / 600)
    assert zone_likelihood(found, x, z) > -0.2 * len(x)


def test_an_accidental_line_gives_way_to_tracks_like_those_of_other_zones() -> None:
    spt, heads, track, cylinder = 104, 7, 14, 29
    x = blocks(400, 150_000)
    z = angles_of(x, spt, heads, track, cylinder)
    start = fit_steps(rough(0.0, 150_000.0, spt, heads, track, cylinder, 400), x, z, np.ones(400, dtype=np.bool_))
    astray = replace(start, track=Step(spt * 1.006, 20.0, 0.1), cylinder=Step(spt * 6.91, 0.0, 0.1))
    found = refine_zone(astray, x, z, heads, start.turns_per_block * spt)
    assert found.track.period_blocks == spt
    assert found.cylinder.period_blocks == heads * spt


def test_cylinders_win_over_periods_that_explain_as_much() -> None:
    spt, heads, track, cylinder = 104, 7, 14, 29
    x = blocks(60, 150_000)
    z = angles_of(x, spt, heads, track, cylinder)
    start = fit_steps(rough(0.0, 150_000.0, spt, heads, track, cylinder, 60), x, z, np.ones(60, dtype=np.bool_))
    own = replace(refine_zone(start, x, z, heads, start.turns_per_block * spt), slips=())
    near = replace(own, cylinder=replace(own.cylinder, period_blocks=heads * spt * (1 + 2e-5)))
    assert zone_likelihood(near, x, z) == pytest.approx(zone_likelihood(own, x, z), abs=10.0)
    found = refine_zone(near, x, z, heads, start.turns_per_block * spt)
    assert found.cylinder.period_blocks == pytest.approx(heads * spt, abs=1e-6)


def test_angles_without_structure_leave_the_zone_alone() -> None:
    x = blocks(300, 100_000)
    z = np.exp(2j * np.pi * np.random.default_rng(4).random(300))
    start = rough(0.0, 100_000.0, 100, 6, 12, 20, 300)
    assert refine_zone(start, x, z, 6, 1.13) == start


def test_tracks_agree_across_zones_where_one_alone_went_astray() -> None:
    zones, x, z = drive(5)
    astray = tuple(replace(zone, track=Step(zone.track.period_blocks * 1.06, 0.0, 0.22)) for zone in zones)
    found = agreed_tracks(astray, x, z)
    assert [zone.track.period_blocks for zone in found] == pytest.approx([120.0, 104.0, 88.0], rel=2e-3)


@pytest.mark.parametrize("heads", [2, 5, 8, 15])
def test_heads_are_counted_by_all_zones_together(heads: int) -> None:
    zones, x, z = drive(heads)
    found = whole_cylinders(agreed_tracks(zones, x, z), x, z, None, None)
    assert found is not None
    ratios = [zone.cylinder.period_blocks / zone.track.period_blocks for zone in found]
    assert ratios == pytest.approx([heads] * len(found), abs=0.02)


def test_borders_move_to_where_the_angles_change() -> None:
    zones, x, z = drive(6)
    exact = whole_cylinders(agreed_tracks(zones, x, z), x, z, 6, None)
    assert exact is not None
    by = 1200.0
    shifted = (replace(exact[0], last=exact[0].last - by), rebased(exact[1], exact[1].first - by), exact[2])
    found = agreed_zones(shifted, x, z, 6)
    assert found[1].first == pytest.approx(zones[1].first, abs=2.5 * x.max() / len(x))


def test_a_rebased_zone_has_the_same_angles() -> None:
    zone = ZoneAngle(5000.0, 90_000.0, 0.3, 0.0115, Step(100.0, 37.0, 0.14), Step(700.0, 250.0, 0.1), slips=(2000.0,))
    x = np.linspace(6000.0, 80_000.0, 200)
    assert np.exp(2j * np.pi * rebased(zone, 4000.0).at(x)) == pytest.approx(np.exp(2j * np.pi * zone.at(x)))


def test_cylinders_of_a_profile_begin_with_tracks_where_one_is_left_out_now_and_then() -> None:
    spt, heads = 100, 10
    zone = ZoneAngle(0.0, 400_000.0, 0.0, 1.14 / spt, Step(spt, 0.0, 0.12), Step(spt * 9.98, 0.0, 0.2), 0.9, 500)
    described = zones_of(AngleMap((zone,), 6.0, 0.0, 0.0, 64.0, 0.9, 0.9), 400_000, heads)
    sizes = [Zone.parse(part).sectors_per_cylinder(heads) for part in described]
    assert set(sizes[:-1]) == {heads * spt, (heads - 1) * spt}
    n_short = sum(part["cylinders"] for part, size in zip(described[:-1], sizes, strict=False) if size < heads * spt)
    assert n_short == pytest.approx(0.02 * 400_000 / (9.98 * spt), abs=1)


def test_a_zone_of_no_whole_cylinders_is_still_a_drive_of_few_zones() -> None:
    tracks = Step(323.967, 11.0, 0.18), Step(6 * 323.967, 40.0, 0.2)
    zone = ZoneAngle(0.0, 6_400_000.0, 0.0, 1.213 / 323.967, *tracks, slips=tuple(np.arange(1.0, 29.0) * 2e5))
    described = zones_of(AngleMap((zone,), 6.0, 0.0, 0.0, 64.0, 0.9, 0.9), 6_400_000, 6)
    assert len(described) <= MAX_ZONES
    blocks_in = [z["cylinders"] * Zone.parse(z).sectors_per_cylinder(6) for z in described]
    assert sum(blocks_in) >= 6_400_000


def drive(heads: int) -> tuple[tuple[ZoneAngle, ...], np.ndarray, np.ndarray]:
    """Three zones of 120, 104 and 88 blocks a track, as their rates determine them, with measured angles."""
    zones, xs, zs, first = [], [], [], 0
    for k, spt in enumerate((120, 104, 88)):
        track, cylinder = round(0.13 * spt), round(0.21 * spt)
        length = spt * heads * 200
        x = blocks(500, length, seed=k)
        zs.append(angles_of(x, spt, heads, track, cylinder, seed=k))
        xs.append(x + first)
        zone = rough(float(first), float(first + length), spt, heads, track, cylinder, 500)
        zones.append(fit_steps(zone, xs[-1], zs[-1], np.ones(500, dtype=np.bool_)))
        first += length
    return tuple(zones), np.concatenate(xs), np.concatenate(zs)
