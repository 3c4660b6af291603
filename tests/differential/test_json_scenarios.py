"""The scenarios that the kernel's own tests read as JSON are those that Python hands over now."""

from __future__ import annotations

import json

import pytest

from tests.differential.json_scenarios import FOLDER, SEEDS, path_of, scenario_json


@pytest.mark.parametrize("name", SEEDS)
def test_kept_scenario_is_what_python_hands_over(name: str) -> None:
    kept = json.loads(path_of(name).read_text())
    assert kept == json.loads(json.dumps(scenario_json(SEEDS[name]))), (
        "renew: python -m tests.differential.json_scenarios"
    )


def test_no_other_file_is_kept() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(SEEDS)
