"""CONTRIBUTING.md, "Add a field of a drive": where its name stands, and what a kernel without it says."""

from __future__ import annotations

import re
from pathlib import Path

from tests.recipes.following import ROOT, answer, copy_of_package, insert

#: A field that came in this way, and the files of each engine in which a rule reads it.
FIELD, USED_BY = (
    "buffer_full_ppm",
    {"diskmodel/engine/reference/hdd.py", "diskmodel/engine/kernel/src/hdd/electronics.rs"},
)

PROGRAM = """
import json
from diskmodel.errors import StaleKernelError
try:
    from diskmodel.engine import native
    said = ""
except StaleKernelError as error:
    said = str(error)
print(json.dumps(said))
"""


def _recipe() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text().split("## Add a field of a drive")[1].split("\n## ")[0]


def test_a_name_stands_where_the_recipe_says_and_nowhere_else() -> None:
    named = set(re.findall(r"`(diskmodel/[\w/]+\.(?:py|rs))`", _recipe())) - {
        "diskmodel/engine/boundary.py",
        "diskmodel/records.py",
    }
    named.add("diskmodel/engine/kernel/src/scenario/hdd_rules.rs")
    sources = [path for folder in ("diskmodel", "calibrate") for path in (ROOT / folder).rglob("*.*")]
    found = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if path.suffix in (".py", ".rs") and FIELD in path.read_text()
    }
    assert found - USED_BY - _analytic(found) == named
    assert len(named) <= 6


def _analytic(paths: set[str]) -> set[str]:
    """Files of what else may look at a drive."""
    return {path for path in paths if path.startswith(("diskmodel/analytic/", "calibrate/"))}


def test_the_compiled_kernel_is_refused_until_it_knows_the_field(tmp_path: Path) -> None:
    folder = copy_of_package(tmp_path)
    assert answer(folder, PROGRAM) == ""
    place = folder / "diskmodel" / "drive" / "hdd" / "tables.py"
    insert(place, '    kind: ClassVar[str] = "hdd"', "    wobble_ns: int = 0")
    said = answer(folder, PROGRAM)
    assert "it does not know HddTables.wobble_ns: int" in said
    assert "`make setup` in a checkout, `pip install --force-reinstall .` otherwise" in said
