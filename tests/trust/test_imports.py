"""The import graph: no circles, and the layers of CONTRIBUTING.md (contracts in pyproject.toml)."""

from __future__ import annotations

import graphlib
import re
import tomllib
from pathlib import Path

import grimp
import pytest
from importlinter import cli

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Modules that each module imports when it runs, also inside functions."""
    graph = grimp.build_graph("diskmodel", "calibrate", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle; empty without any."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others(imports: dict[str, set[str]]) -> None:
    assert len(imports) > 300
    assert circle(imports) == []


def test_a_circle_is_found(imports: dict[str, set[str]]) -> None:
    planted = imports | {"diskmodel.errors": imports["diskmodel.errors"] | {"diskmodel.engine.simulate"}}
    assert {"diskmodel.errors", "diskmodel.engine.simulate"} <= set(circle(planted))


def test_contracts_are_kept() -> None:
    assert cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, verbose=False) == 0


def test_every_package_has_a_layer() -> None:
    """A new package without a layer could import anything."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {name for layer in contracts[0]["layers"] for name in re.split(r"\s*[|:]\s*", layer)}
    children = {path.stem for path in (ROOT / "diskmodel").glob("*.py")} - {"__init__"}
    children |= {path.parent.name for path in (ROOT / "diskmodel").glob("*/__init__.py")}
    assert {f"diskmodel.{name}" for name in children} | {"calibrate"} == layered
