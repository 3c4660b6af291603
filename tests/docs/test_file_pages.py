"""The reference of the project's own files: complete, and its schemas hold for every description there is."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import jsonschema
import pytest
from jsonschema.validators import validator_for

from diskmodel import Array, PlanDescription, Workload, catalogue, load_drive
from diskmodel.description import Description
from tests.docs.test_pictures import DOCS, load

HOOK = load(DOCS / "file_pages.py")
PAGE = HOOK.page()
SCHEMAS = {name: json.loads(text) for name, text in HOOK.schemas().items()}
EXAMPLES = {
    "raid5": (Array, "array"),
    "raid10": (Array, "array"),
    "single-disk": (Array, "array"),
    "oltp": (Workload, "workload"),
    "random-read": (Workload, "workload"),
    "plan-oltp": (PlanDescription, "plan"),
    "plan-sizing-10000": (PlanDescription, "plan"),
}


def subclasses(kind: type[Description]) -> set[type[Description]]:
    return {kind}.union(*(subclasses(one) for one in kind.__subclasses__()))


def test_every_field_of_every_table_has_a_row() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
    kinds = subclasses(Description)
    assert {"Array", "Hdd", "Flash", "Virtual", "Workload", "Stream", "Layout", "Controller", "PlanDescription"} <= set(
        sections
    )
    for name, text in sections.items():
        rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        assert rows in [list(kind.model_fields) for kind in kinds if kind.__name__ == name], name


def test_no_part_of_a_docstring_becomes_a_heading() -> None:
    lines = PAGE.splitlines()
    assert not [above for above, line in itertools.pairwise(lines) if above.strip() and line.startswith("--")]


def test_links_between_tables_lead_somewhere() -> None:
    page = PAGE
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= headings


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_fit_their_schema(name: str) -> None:
    kind, schema = EXAMPLES[name]
    data = kind.load(Path("examples") / f"{name}.toml").to_dict()
    jsonschema.validate(data, SCHEMAS[f"{schema}.json"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | {"color": "red"}, SCHEMAS[f"{schema}.json"])


def test_bundled_drives_fit_their_schema() -> None:
    schemas = {"hdd": "hard-disk.json", "flash": "flash.json", "cloud": "cloud-volume.json"}
    # `jsonschema.validate` would check the schema itself for every drive
    checks = {kind: validator_for(SCHEMAS[name])(SCHEMAS[name]) for kind, name in schemas.items()}
    for check in checks.values():
        check.check_schema(check.schema)
    for name in catalogue():
        drive = load_drive(name)
        checks[drive.kind].validate(drive.to_dict())
