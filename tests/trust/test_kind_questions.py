"""Who asks which kind a drive is: only its own folder should, and elsewhere the number may only fall.

A kind of drive is one folder with a card for everybody else. What is counted is `isinstance` of a class of drives, of
their tables or of their running devices, and comparisons of their `kind`, in code outside of `diskmodel/drive`.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

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


def questions(source: str) -> int:
    """Return how many `isinstance` and comparisons of `kind` in a source name a kind."""
    return sum(_names_class(node) or _names_kind(node) for node in ast.walk(ast.parse(source)))


def _names_class(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and any(isinstance(name, ast.Name) and name.id in KINDS for name in ast.walk(node.args[1]))
    )


def _names_kind(node: ast.AST) -> bool:
    """Whether a node compares an attribute `kind`."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    is_of_kind = any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides)
    return is_of_kind and any(isinstance(side, ast.Constant) and side.value in NAMES for side in sides)


@cache
def found() -> Counter[str]:
    """Return the questions by package."""
    counts: Counter[str] = Counter()
    for top in ("diskmodel", "calibrate"):
        for path in (ROOT / top).rglob("*.py"):
            parts = path.relative_to(ROOT).parts
            package = "calibrate" if top == "calibrate" else "/".join(parts[:2])
            if package != "diskmodel/drive":
                counts[package] += questions(path.read_text(encoding="utf-8"))
    return +counts


@pytest.mark.parametrize("package", sorted(MOST))
def test_a_package_asks_no_more_often_than_before(package: str) -> None:
    count = found()[package]
    assert count <= MOST[package], f"{package}: ask the drive itself (diskmodel/drive), not which kind it is"
    assert count == MOST[package], f"{package}: fewer than listed; lower the number in MOST to {count}"


def test_no_other_package_asks() -> None:
    assert set(found()) <= set(MOST)


def test_a_question_is_found() -> None:
    assert questions("isinstance(drive, Hdd)") == questions("isinstance(\n  x.y,\n  Hdd | Flash,\n)") == 1
    assert questions("array.drive.kind == 'hdd'") == 1
    assert questions("isinstance(drive, Profile)") == questions("layout.kind == other.kind") == 0
