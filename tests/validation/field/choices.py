"""What a case's description leaves open: its runs again with other choices, so that their weight can be read."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.validation.field.cases import CHOICES, FIELD, RUNS
from tests.validation.field.outcome import Outcome
from tests.validation.field.scenarios import Run, outcomes_of

Described = dict[str, Any]


def changed(described: Mapping[str, Any], change: Mapping[str, Any]) -> Described:
    """A description with those of its values replaced that `change` names."""
    result = dict(described)
    for key, value in change.items():
        is_part = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = changed(result[key], value) if is_part else value
    return result


def read(path: Path) -> Described:
    """A file of the examples, with its drive in it."""
    described = tomllib.loads(path.read_text(encoding="utf-8"))
    if str(described.get("drive", "")).endswith(".toml"):
        described["drive"] = read(path.parent / described["drive"])
    return described


def runs_of(choice: Mapping[str, Any]) -> list[Run]:
    """The runs that a choice concerns."""
    rows = choice.get("rows")
    return [run for run in RUNS if run["case"] == choice["case"] and (rows is None or run["row"] in rows)]


def chosen(choice: Mapping[str, Any], run: Run) -> tuple[Array, Workload]:
    """Array and workload of a run as the choice has them."""
    array = Array.parse(changed(read(FIELD / f"{run['array']}.toml"), choice.get("array", {})))
    workload = Workload.parse(changed(read(FIELD / f"{run['workload']}.toml"), choice.get("workload", {})))
    return array, workload


def choice_outcomes() -> Iterable[tuple[str, Outcome]]:
    """Text of each choice and the figures of its runs."""
    for choice in CHOICES:
        print(f"{choice['case']}: {choice['text']}", file=sys.stderr)
        for run in runs_of(choice):
            array, workload = chosen(choice, run)
            result = simulate(array, workload, n_requests=run.get("requests", 8000), profile_draws=0)
            for outcome in outcomes_of(run, result):
                yield choice["text"], outcome
