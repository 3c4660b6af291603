"""Block ↔ place is a bijection, on every catalogue drive and on random ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.drive import Hdd, catalogue
from diskmodel.drive.geometry import angle_of, lba_of, place_of
from diskmodel.drive.mechanics import Mechanics
from diskmodel.drive.zones import Zone

HDDS = {name: drive for name, drive in catalogue().items() if isinstance(drive, Hdd)}


@pytest.mark.parametrize("name", HDDS)
@given(fractions=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50))
@settings(max_examples=20, deadline=None)
def test_round_trip_on_every_catalogue_drive(name: str, fractions: list[float]) -> None:
    tables = HDDS[name].tables()
    inside = (np.array(fractions) * tables.n_sectors).astype(np.int64)
    edges = np.concatenate([tables.zone_first_lba[:-1], tables.zone_first_lba[1:] - 1, [tables.n_sectors - 1]])
    blocks = np.concatenate([inside, edges])
    cylinder, head, sector = place_of(tables, blocks)
    np.testing.assert_array_equal(lba_of(tables, cylinder, head, sector), blocks)
    assert cylinder.max() < tables.n_cylinders
    assert head.max() < tables.heads * tables.actuators
    angle, per_track = angle_of(tables, blocks)
    assert ((angle >= 0) & (angle < per_track) & (sector < per_track)).all()


@st.composite
def small_drives(draw: st.DrawFn) -> Hdd:
    heads, actuators = draw(st.integers(1, 3)), draw(st.sampled_from([1, 2]))
    zones: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 3))):
        per_track = draw(st.integers(2, 12))
        zones.append(
            {
                "cylinders": draw(st.integers(1, 4)),
                "sectors_per_track": per_track,
                "track_skew": draw(st.integers(0, 15)),
                "cylinder_skew": draw(st.integers(0, 15)),
                "start_skew": draw(st.integers(0, 15)),
                "spare_sectors_per_track": (spare := draw(st.integers(0, per_track - 1))),
                "spare_sectors_per_cylinder": draw(st.integers(0, heads * (per_track - spare) - 1)),
            }
        )
    per_zone = [z["cylinders"] * Zone.parse(z).sectors_per_cylinder(heads) for z in zones]
    half = sum(per_zone) - draw(st.integers(0, per_zone[-1] - 1))
    blocks = half * actuators - (draw(st.integers(0, actuators - 1)) if half * actuators > 1 else 0)
    return Hdd.parse(
        {
            "kind": "hdd",
            "name": "random",
            "capacity_bytes": blocks * 512,
            "rpm": 7200,
            "heads": heads * actuators,
            "actuators": actuators,
            "zones": zones,
            "seek": {"kind": "curve", "a": "1 ms", "b_ns_per_root": 0},
        }
    )


@given(drive=small_drives())
@settings(max_examples=300, deadline=None)
def test_all_blocks_and_all_places_of_random_drives(drive: Hdd) -> None:
    tables = drive.tables()
    blocks = np.arange(tables.n_sectors)
    places = np.column_stack(place_of(tables, blocks))
    assert len(np.unique(places, axis=0)) == tables.n_sectors
    np.testing.assert_array_equal(lba_of(tables, *places.T), blocks)
    # the other way round: what lba_of gives for all places is each block once, and -1
    found: list[int] = []
    for zone in range(tables.n_zones):
        cylinders = np.arange(tables.zone_first_cylinder[zone], tables.zone_first_cylinder[zone + 1])
        heads = np.arange(tables.heads * tables.actuators)
        grid = np.meshgrid(cylinders, heads, np.arange(tables.sectors_per_track[zone]), indexing="ij")
        found += lba_of(tables, *(axis.ravel() for axis in grid)).tolist()
    assert sorted(block for block in found if block >= 0) == blocks.tolist()


@given(
    tracks=st.integers(1_000, 600_000),
    heads=st.integers(1, 20),
    rpm=st.sampled_from([4200, 5400, 5900, 7200, 10000, 15000]),
    outer=st.floats(20e6, 300e6),
    ratio=st.floats(0.3, 1.0),
    n_zones=st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_derived_geometry_is_consistent(
    tracks: int, heads: int, rpm: int, outer: float, ratio: float, n_zones: int
) -> None:
    drive = Hdd.parse(
        {
            "kind": "hdd",
            "name": "derived",
            "capacity_bytes": round(tracks * heads * outer * 60 / rpm) // 512 * 512,
            "rpm": rpm,
            "heads": heads,
            "outer_bytes_per_s": outer,
            "inner_bytes_per_s": outer * ratio,
            "n_zones": n_zones,
            "seek": {"kind": "curve", "a": "1 ms", "b_ns_per_root": 10},
        }
    )
    tables = drive.tables()
    last = tables.n_sectors - 1
    cylinder, head, sector = place_of(tables, last)
    assert cylinder == tables.n_cylinders - 1, "the last block lies in the last cylinder"
    assert lba_of(tables, cylinder, head, sector) == last
    assert (np.diff(tables.sectors_per_track) <= 0).all()


@given(drive=small_drives())
@settings(max_examples=100, deadline=None)
def test_mechanics_place_blocks_where_the_geometry_does(drive: Hdd) -> None:
    tables = drive.tables()
    mechanics = Mechanics(tables)
    blocks = np.arange(min(tables.n_sectors, tables.n_sectors_per_actuator))
    places, (angles, _) = place_of(tables, blocks), angle_of(tables, blocks)
    track = np.array([places.cylinder * tables.heads + places.head]).ravel()
    for block in blocks.tolist():
        place = mechanics.place(block)
        assert place[1:] == (places.cylinder[block], places.head[block], places.sector[block])
        assert mechanics.angle_index(place) == angles[block]
        left = int((track[block:] == track[block]).sum())
        if track[block] != track[-1]:  # the last track may be used in part, and then more is left than there are blocks
            assert mechanics.left_on_track(place) == left
