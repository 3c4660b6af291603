"""The rooms of `calibrate` depend on each other in one direction only, imports inside functions included."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "calibrate"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py"
}
#: What a room shows at its face, which `__getattr__` finds.
FACES = {".".join(path.relative_to(PACKAGE.parent).parent.parts) for path in PACKAGE.rglob("*/__init__.py")}


def imports_of(path: Path) -> set[str]:
    """Modules and faces of the package that a module imports anywhere in its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & (MODULES.keys() | FACES)


def rooms(depth: int) -> dict[str, set[str]]:
    """Rooms, as the first `depth` parts of a module's name, with the rooms that they import."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        room = _room(name, depth)
        graph.setdefault(room, set()).update({_room(other, depth) for other in imports_of(path)} - {room})
    return graph


def _room(name: str, depth: int) -> str:
    parts = name.split(".")
    return ".".join(parts[:depth]) if len(parts) > depth else name


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: imports_of(path) & MODULES.keys() for name, path in MODULES.items()}
    assert set(TopologicalSorter(graph).static_order()) == MODULES.keys()


def test_no_room_imports_itself_through_others() -> None:
    order = list(TopologicalSorter(rooms(2)).static_order())
    assert order.index("calibrate.evidence") < order.index("calibrate.score") < order.index("calibrate.hdd")
    assert order.index("calibrate.hdd") < order.index("calibrate.fit")


def test_no_room_of_the_trace_fit_imports_itself_through_others() -> None:
    order = list(TopologicalSorter(rooms(3)).static_order())
    assert order.index("calibrate.trace.geometry") < order.index("calibrate.trace.engine")
