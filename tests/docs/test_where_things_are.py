"""The addresses in CONTRIBUTING.md are right: what the table names is there and does what the question asks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.layout.md import parity
from diskmodel.result import latency

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "diskmodel" / "engine" / "kernel" / "src"
ROW = re.compile(r"^\| ([^|]+\?) \| `([^`|]+)` `([^`|]+)` \| (?:`([^`|]+)` `([^`|]+)` )?\|$", re.MULTILINE)
#: Question → (Python file, its name there, Rust file, its name there); "" for the latter two without a Rust twin.
TABLE = {question: tuple(rest) for question, *rest in ROW.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}


class Reached(Exception):
    """The code that the table names has been called."""


def python_names(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, kinds)}


def rust_file(path: str) -> Path:
    return (ROOT if path.startswith("calibrate/") else KERNEL) / path


def answer(word: str) -> tuple[str, ...]:
    (found,) = (addresses for question, addresses in TABLE.items() if word in question)
    return found


def test_every_row_of_the_table_is_read() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
    assert len(TABLE) == sum(line.startswith("|") and "? |" in line for line in lines) >= 8


@pytest.mark.parametrize("question", TABLE)
def test_the_named_code_exists_and_is_used(question: str) -> None:
    path, name, rust_path, rust_name = TABLE[question]
    assert name in python_names(ROOT / path)
    room = path.split("/")[0]
    uses = (len(re.findall(rf"\b{name}\b", each.read_text("utf-8"))) for each in (ROOT / room).rglob("*.py"))
    assert sum(uses) > 1, f"{name} is defined and never used"
    if rust_path:
        assert re.search(rf"\b(?:fn|struct) {rust_name}\b", rust_file(rust_path).read_text("utf-8"))


@pytest.mark.parametrize("question", [question for question in TABLE if "rule" in question])
def test_both_engines_cite_the_rules(question: str) -> None:
    path, _, rust_path, _ = TABLE[question]
    for rule in re.findall(r"\b[A-Z]\d+\b", question):
        assert all(rule in cited(text) for text in ((ROOT / path).read_text("utf-8"), (KERNEL / rust_path).read_text()))


def cited(text: str) -> set[str]:
    """Return the rules that a source cites; "L6 to L10" cites all of them."""
    found = set()
    for listing in re.findall(r"\brules? ([A-Z]\d+(?:(?:, | and | to )[A-Z]\d+)*)", text):
        for letter, first, last in re.findall(r"([A-Z])(\d+)(?: to [A-Z](\d+))?", listing):
            found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def test_rule_q8_is_implemented_at_these_two_places_only() -> None:
    path, _, rust_path, _ = answer("mq-deadline")
    heads = {source: source.read_text("utf-8").split("\n\n")[0] for source in (ROOT / "diskmodel").rglob("queue/*.*")}
    assert {source for source, head in heads.items() if "(rule Q8)" in head} == {ROOT / path, KERNEL / rust_path}


@pytest.mark.parametrize(("level", "disks"), [("raid6", 6), ("raid5", 4)])
def test_writes_to_parity_go_through_the_named_function(
    level: str, disks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name, *_ = answer("RAID 6")
    assert Path(parity.__file__) == ROOT / path

    def reached(*_: object) -> None:
        raise Reached

    monkeypatch.setattr(parity, name, reached)
    array = Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": disks}})
    reads, writes = (Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": share}) for share in (1.0, 0.0))
    simulate(array, reads, n_requests=5, engine="simpy")
    with pytest.raises(Reached):
        simulate(array, writes, n_requests=5, engine="simpy")


def test_the_interval_of_p99_comes_from_the_named_function(monkeypatch: pytest.MonkeyPatch) -> None:
    _, name, *_ = answer("p99")
    monkeypatch.setattr(latency, name, lambda responses, levels, **_: {level: (level, 2 * level) for level in levels})
    assert latency.Latency.of(np.arange(1, 5001)).run_ends_ns["p99"] == (0.99, 1.98)
