"""Writes the table of docs/explanation/validation/pools.md: `python -m tests.validation.zfs.write_pools`."""

from __future__ import annotations

from pathlib import Path

from tests.validation.zfs import pools
from tests.validation.zfs.test_pools import reason

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "pools.md"
BEGIN, END = "<!-- table: tests/validation/zfs/write_pools.py -->\n", "<!-- end of table -->"
FIGURES = ("iops", "p99_ms", "reads_per_op")


def line(row: dict[str, str]) -> str:
    measured, model = pools.measured(row), pools.simulated(row["run"], row["source"])
    cells = [row["run"] + ("" if reason(row["run"]) is None else " *")]
    for name in FIGURES:
        was, value = getattr(measured, name), getattr(model, name)
        cells.append(f"{was:.4g} | {value:.4g} | {value / was - 1:+.1%}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    text = PAGE.read_text()
    titles = "| run | IOPS measured | model | | p99 ms | model | | member reads an operation | model | |"
    start = text.index(BEGIN) + len(BEGIN)
    lines = [line(row) for row in pools.rows()]
    table = ["", titles, "|---|" + "--:|" * 9, *lines, "", ""]
    PAGE.write_text(text[:start] + "\n".join(table) + text[text.index(END, start) :])


if __name__ == "__main__":
    main()
