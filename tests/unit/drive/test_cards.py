"""Cards of the kinds of drives: each kind answers all that others ask, and what others ask for is known."""

from __future__ import annotations

import ast
import inspect
import math
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import Drive, Hdd, catalogue, load_drive
from diskmodel.drive.card import Card
from diskmodel.drive.parse import KINDS, parse_drive
from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.tables_card import DriveTables
from diskmodel.engine.boundary import missing_drive
from diskmodel.uncertainty.spread import spread_of

ROOT = Path(__file__).parents[3]
VIRTUAL = {"name": "v", "capacity": "1 GB", "read_overhead": "20 us", "write_overhead": "20 us"}
#: One drive of each kind.
DRIVES: dict[str, Drive] = {drive.kind: drive for drive in catalogue().values()} | {
    "virtual": parse_drive({"kind": "virtual"} | VIRTUAL),
    "cluster": Array("ceph 3 nodes, 1x samsung-pm983-1920 each").drive,
    "cached": Array("2x generic-7k2 raid1, cached by micron-7450-pro-1920 (bcache writeback)").drive,
}


def test_each_kind_is_tried() -> None:
    assert set(DRIVES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_answers_everything(kind: str) -> None:
    drive = DRIVES[kind]
    for card, asked in ((Card, drive), (DriveTables, drive.tables())):
        for name, value in inspect.getmembers(card):
            if isinstance(value, property):
                getattr(asked, name)
    assert drive.sequential_bytes_per_s > 0
    assert drive.accepted_commands == drive.tables().queue_depth
    assert drive.arms == drive.tables().arms
    # a volume's rate is what was bought: its latency moves
    slower = DrivePerturbation(speed=-0.1, read_time=0.1)
    assert drive.perturbed(slower) != drive.perturbed(DrivePerturbation())
    assert drive.facts()
    assert drive.has_arms is (drive.period_ns is not None) is math.isfinite(drive.spindle_rpm)


@pytest.mark.parametrize("kind", KINDS)
def test_each_engine_and_the_formulas_have_it(kind: str) -> None:
    tables = DRIVES[kind].tables()
    if tables.own_engine:
        assert callable(resolve_name(tables.own_engine))
        assert not tables.devices
    else:
        assert callable(resolve_name(tables.devices))
        assert missing_drive(tables) is None
    formula = DRIVES[kind].formula
    assert not formula or callable(resolve_name(formula))


def test_the_class_of_each_drive_of_the_catalogue_has_spreads() -> None:
    assert {name for name, drive in catalogue().items() if spread_of(drive.spread_class, "tail") is None} == set()


def asked_deviations() -> set[str]:
    """Return the names of deviations in calls outside of the kinds: `deviating("…")` and helpers that take them."""
    found = set()
    for path in (ROOT / "diskmodel").rglob("*.py"):
        if "drive" in path.relative_to(ROOT / "diskmodel").parts[:1]:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            if name in ("deviating", "_deviating", "_of_writes"):
                assert isinstance(node, ast.Call)
                found |= {
                    arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                }
    return found


def test_deviations_that_are_asked_for_are_known_and_the_other_way_round() -> None:
    assert asked_deviations() == {name for kind in KINDS.values() for name in kind.deviations}


def test_a_drive_that_cannot_deviate_so_says_none() -> None:
    array = Array("generic-7k2", "raid1", 2)
    assert array.drive.deviating("throttled", 0.5) is None
    assert DRIVES["virtual"].deviating("shingled") is None


@pytest.mark.parametrize("name", [name for name, one in catalogue().items() if isinstance(one, Hdd)])
def test_parts_of_sectors_leave_the_tracks_of_every_disk_where_they_are(name: str) -> None:
    drive = load_drive(name)
    other = drive.deviating("emulated-sectors")
    assert other is not None
    own, found = drive.tables(), other.tables()
    assert np.array_equal(own.sectors_per_track, found.sectors_per_track)
    assert np.array_equal(own.seek_ns, found.seek_ns)
