"""The import graph: no circles, and the layers of CONTRIBUTING.md (contracts in pyproject.toml)."""

from __future__ import annotations

import ast
import graphlib
import re
import tomllib
from importlib import import_module
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


#: Exceptions of each contract of what a station may not know; lower a number when you remove one.
EXCEPTIONS = {
    "a drive uses no pool": 0,
    "a drive uses no Linux md": 0,
    "Linux md uses no pool": 0,
    "a pool uses no Linux md": 0,
    "a controller uses no pool": 0,
    "the layout uses no pool": 0,
    "the steady start uses no pool": 0,
    "a plan uses no pool": 0,
}


#: Modules that other packages import past the face of their own package (`__init__`). The number may only fall: what
#: others need of a package belongs on its face.
MOST_PAST_FACES = 60


def past_faces(imports: dict[str, set[str]]) -> set[str]:
    """Return the modules inside a package that modules outside of it import."""

    def package(module: str) -> str:
        return ".".join(module.split(".")[:2])

    return {
        found
        for module, all_found in imports.items()
        for found in all_found
        if found.count(".") > 1 and package(found) != package(module)
    }


def test_no_more_modules_are_imported_past_the_face_of_their_package(imports: dict[str, set[str]]) -> None:
    found = past_faces(imports)
    assert len(found) <= MOST_PAST_FACES, "import what others need from the package itself"
    inside = next(iter(found))
    assert past_faces({"diskmodel.planted.one": {inside}}) == {inside}
    assert past_faces({f"{inside}_planted": {inside}}) == set()


FACES = sorted(
    path
    for product in ("diskmodel", "calibrate")
    for path in (ROOT / product).rglob("__init__.py")
    if "face(\n" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", FACES, ids=lambda path: path.parent.name)
def test_a_face_has_what_type_checkers_see_of_it(path: Path) -> None:
    package = ".".join(path.parent.relative_to(ROOT).parts)
    body = ast.parse(path.read_text(encoding="utf-8")).body
    seen = {
        (name.name, str(node.module).removeprefix(f"{package}."))
        for checked in body
        if isinstance(checked, ast.If)
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    table = next(node.value for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    assert isinstance(table, ast.Call)
    homes: dict[str, str] = ast.literal_eval(table.args[1])
    assert {(name, home) for home, names in homes.items() for name in names.split()} == seen
    assert [name for name, _ in seen if not hasattr(import_module(package), name)] == []


@pytest.fixture(scope="module")
def nevers() -> dict[str, dict[str, list[str]]]:
    """Return the contracts of what a station may not know, by name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {one["name"].removeprefix("Never: "): one for one in contracts if one["name"].startswith("Never: ")}


def breaches(imports: dict[str, set[str]], never: dict[str, list[str]]) -> set[str]:
    """Return the imports that a contract forbids, as it would write an exception."""

    def is_in(module: str, packages: list[str]) -> bool:
        return any(f"{module}.".startswith(f"{package}.") for package in packages)

    return {
        f"{module} -> {found}"
        for module, all_found in imports.items()
        for found in all_found
        if is_in(module, never["source_modules"]) and is_in(found, never["forbidden_modules"])
    }


def test_exceptions_of_nevers_only_become_fewer(nevers: dict[str, dict[str, list[str]]]) -> None:
    assert {name: len(never.get("ignore_imports", [])) for name, never in nevers.items()} == EXCEPTIONS


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_a_never_is_kept_and_a_new_breach_is_found(
    name: str, nevers: dict[str, dict[str, list[str]]], imports: dict[str, set[str]]
) -> None:
    never = nevers[name]
    assert breaches(imports, never) <= set(never.get("ignore_imports", []))
    source, forbidden = never["source_modules"][0], never["forbidden_modules"][-1]
    planted = imports | {f"{source}.planted": {f"{forbidden}.planted"}}
    assert f"{source}.planted -> {forbidden}.planted" in breaches(planted, never)


def test_nevers_name_modules_that_exist(nevers: dict[str, dict[str, list[str]]], imports: dict[str, set[str]]) -> None:
    """A module that was moved would no longer be watched."""
    named = {
        module for never in nevers.values() for key in ("source_modules", "forbidden_modules") for module in never[key]
    }
    assert named <= set(imports)
    # the lists of all kinds know each of them: layouts, their keys, their tables
    lists = "kinds|keys|volumes"
    of_layout = {module for module in imports if re.fullmatch(rf"diskmodel\.layout\.(?!pools|{lists})\w+", module)}
    assert of_layout == set(nevers["the layout uses no pool"]["source_modules"])


def test_the_page_of_the_architecture_has_the_nevers_and_their_exceptions() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+?) \| (\d+)\b[^|]*\|", text, re.MULTILINE))
    assert {name: int(rows[name]) for name in EXCEPTIONS} == EXCEPTIONS
