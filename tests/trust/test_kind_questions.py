"""Who asks which kind a drive or a volume is: only its own folder should, and elsewhere the number may only fall.

A kind is one folder with a card for everybody else. What is counted of drives is `isinstance` of a class of drives, of
their tables or of their running devices, and comparisons of their `kind`, in code outside of `diskmodel/drive`; of
volumes `is_pool`, `is_distributed`, comparisons of `family` with a family, and `isinstance` of a kind of layout, in
code outside of `diskmodel/layout`.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

#: One worker parses all sources.
pytestmark = pytest.mark.xdist_group("kind questions")

ROOT = Path(__file__).parents[2]
#: Descriptions, tables and running devices of the kinds.
KINDS = {"Hdd", "Flash", "Virtual", "HddTables", "FlashTables", "VirtualTables", "HardDisk", "FlashDisk", "VirtualDisk"}
#: What `kind` says of them.
NAMES = {"hdd", "flash", "virtual"}
#: Questions by package, as they are; lower a number when you remove one. New ones belong in the kind's own folder.
MOST = {
    "diskmodel/cli": 1,
    "diskmodel/lab": 4,
    "diskmodel/plan": 1,
    "calibrate": 7,
}
#: Kinds of volumes, and what a level says of them.
VOLUMES = {"Single", "Md", "Pool"}
FAMILIES = {"concat", "copies", "parity", "pool"}
ASKED = {"is_pool", "is_distributed"}
#: Questions about volumes by package, likewise.
MOST_OF_VOLUMES = {
    "diskmodel/formats": 1,
}


def questions_about_volumes(source: str) -> int:
    """Return how often a source asks which kind a volume is."""
    return sum(map(_asks_about_a_volume, ast.walk(ast.parse(source))))


def _asks_about_a_volume(node: ast.AST) -> bool:
    """Whether a node asks which kind a volume is."""
    is_asked = isinstance(node, ast.Attribute) and node.attr in ASKED
    return is_asked or _names_class(node, VOLUMES) or _names_family(node)


def _names_family(node: ast.AST) -> bool:
    """Whether a node compares an attribute `family` with a family."""
    if not isinstance(node, ast.Compare):
        return False
    is_of_family = any(
        isinstance(side, ast.Attribute) and side.attr == "family" for side in (node.left, *node.comparators)
    )
    named = {part.value for side in node.comparators for part in ast.walk(side) if isinstance(part, ast.Constant)}
    return is_of_family and bool(named & FAMILIES)


def questions(source: str) -> int:
    """Return how many `isinstance` and comparisons of `kind` in a source name a kind."""
    return sum(map(_asks_about_a_drive, ast.walk(ast.parse(source))))


def _asks_about_a_drive(node: ast.AST) -> bool:
    """Whether a node asks which kind a drive is."""
    return _names_class(node) or _names_kind(node)


def _names_class(node: ast.AST, classes: set[str] = KINDS) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and any(isinstance(name, ast.Name) and name.id in classes for name in ast.walk(node.args[1]))
    )


def _names_kind(node: ast.AST) -> bool:
    """Whether a node compares an attribute `kind`."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    is_of_kind = any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides)
    return is_of_kind and any(isinstance(side, ast.Constant) and side.value in NAMES for side in sides)


@cache
def found() -> tuple[Counter[str], Counter[str]]:
    """Return the questions by package, about drives and about volumes; each source is parsed once."""
    drives, volumes = Counter[str](), Counter[str]()
    for top in ("diskmodel", "calibrate"):
        for path in (ROOT / top).rglob("*.py"):
            parts = path.relative_to(ROOT).parts
            package = "calibrate" if top == "calibrate" else "/".join(parts[:2])
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            if package != "diskmodel/drive":
                drives[package] += sum(map(_asks_about_a_drive, nodes))
            if package != "diskmodel/layout":
                volumes[package] += sum(map(_asks_about_a_volume, nodes))
    return +drives, +volumes


@pytest.mark.parametrize("package", sorted(MOST))
def test_a_package_asks_no_more_often_than_before(package: str) -> None:
    count = found()[0][package]
    assert count <= MOST[package], f"{package}: ask the drive itself (diskmodel/drive), not which kind it is"
    assert count == MOST[package], f"{package}: fewer than listed; lower the number in MOST to {count}"


@pytest.mark.parametrize("package", sorted(MOST_OF_VOLUMES))
def test_a_package_asks_about_volumes_no_more_often_than_before(package: str) -> None:
    count, most = found()[1][package], MOST_OF_VOLUMES[package]
    assert count <= most, f"{package}: ask the layout itself (diskmodel/layout/card.py), not which kind it is"
    assert count == most, f"{package}: fewer than listed; lower the number in MOST_OF_VOLUMES to {count}"


def test_no_other_package_asks() -> None:
    drives, volumes = found()
    assert set(drives) <= set(MOST)
    assert set(volumes) <= set(MOST_OF_VOLUMES)


def test_a_question_is_found() -> None:
    assert questions("isinstance(drive, Hdd)") == questions("isinstance(\n  x.y,\n  Hdd | Flash,\n)") == 1
    assert questions("array.drive.kind == 'hdd'") == 1
    assert questions("isinstance(drive, Profile)") == questions("layout.kind == other.kind") == 0


def test_a_question_about_volumes_is_found() -> None:
    assert questions_about_volumes("KINDS[level].is_pool") == questions_about_volumes("isinstance(layout, Pool)") == 1
    assert questions_about_volumes("layout.kind.family in ('copies', 'parity')") == 1
    assert questions_about_volumes("layout.has_rows") == questions_about_volumes("one.family == other.family") == 0
