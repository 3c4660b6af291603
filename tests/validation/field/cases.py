"""The measurements, and which scenario belongs to each of their rows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
FIELD = ROOT / "examples" / "field"
MEASUREMENTS = ROOT / "tests" / "data" / "field-measurements.toml"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in _read(MEASUREMENTS)["case"]}
_SCENARIOS = _read(FIELD / "scenarios.toml")
RUNS: list[dict[str, Any]] = _SCENARIOS["run"]
#: What else their descriptions allow.
CHOICES: list[dict[str, Any]] = _SCENARIOS["choice"]
#: What was chosen with a case's figures in view.
NOTES: dict[str, str] = {item["case"]: item["text"] for item in _SCENARIOS["note"]}


def row_of(run: dict[str, Any]) -> dict[str, Any]:
    """The measured row that a run belongs to."""
    row: dict[str, Any] = CASES[run["case"]]["rows"][run["row"]]
    return row


def label_of(row: dict[str, Any]) -> str:
    """Return what distinguishes a row from the others of its case."""
    names = ("device", "drive", "engine", "pattern", "block", "order", "threads", "readahead_sectors", "note")
    parts = [f"{name} {row[name]}" if isinstance(row[name], int) else str(row[name]) for name in names if name in row]
    if "writes_min" in row:
        parts.append(f"beside {row['writes_min']} to {row['writes_max']} writes")
    return ", ".join(parts)
