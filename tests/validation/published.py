"""Published measurements as scenarios; run as a script it writes docs/explanation/validation-published.md."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.workload import Workload

TABLE = Path(__file__).parent.parent / "data" / "published.toml"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-published.md"
N, SEED = 20_000, 1
SINGLE = {"level": "jbod", "disks": 1}
LIMIT = 0.20

INTRODUCTION = """# Comparison with published measurements

Figures printed in reviews, manuals and data sheets, compared with the model's predictions from data-sheet parameters
alone. Nothing is fitted. Sources often omit block size, cache state or depth, so the tolerance is 20 %, and the table
explains larger differences. `python -m tests.validation.published` writes this page from `tests/data/published.toml`;
the test is `tests/validation/test_published.py`.

![The model's figure over the published one, a row for each figure](validation-published.svg)

| | measurement | measured | model | | why it differs |
|--:|---|--:|--:|--:|---|
"""


def cases() -> list[dict[str, Any]]:
    return list(tomllib.loads(TABLE.read_text())["case"])


def _run(case: dict[str, Any], change: dict[str, Any]) -> tuple[float, float, float]:
    """IOPS, mean response in ms, share of adjacent pairs of requests that lie on one disk."""
    fields = {key: case[key] for key in ("drive", "layout", "queue", "drive_write_cache") if key in case}
    array = Array.parse({"layout": SINGLE} | fields | change)
    workload = Workload.parse(case["workload"])
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=N, seed=SEED)
    outcome = run(resolve(array, SEED), requests)
    response_ns = outcome.completions.done_ns - outcome.completions.issue_ns
    disk = requests.offset // array.layout.strip_bytes % array.layout.disks
    return N / outcome.end_ns * 1e9, float(response_ns.mean()) / 1e6, float(np.mean(disk[1:] == disk[:-1]))


def simulated(case: dict[str, Any]) -> float:
    iops, mean_ms, pairs = _run(case, {})
    figure = case.get("figure", "iops")
    if figure == "gain":
        return iops / _run(case, case["against"])[0]
    return {"iops": iops, "mean_ms": mean_ms, "pairs": pairs}[figure]


def line(case: dict[str, Any]) -> str:
    value = simulated(case)
    difference = value / case["measured"] - 1
    unit = {"mean_ms": " ms", "iops": "/s"}.get(case.get("figure", "iops"), "")
    why = case.get("why", "") if abs(difference) > LIMIT else ""
    what = f"{case['what']} ({case['source']})"
    return f"| {case['row']} | {what} | {case['measured']:g}{unit} | {value:.3g}{unit} | {difference:+.0%} | {why} |"


if __name__ == "__main__":
    PAGE.write_text(INTRODUCTION + "\n".join(line(case) for case in cases()) + "\n")
