"""Writes the tables of docs/explanation/validation/pools.md: `python -m tests.validation.zfs.write_pools [writes]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.validation.zfs import pool_writes, pools, test_pool_writes, test_pools

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "pools.md"
BEGIN, END = "<!-- table: tests/validation/zfs/write_pools.py -->\n", "<!-- end of table -->"
BEGIN_WRITES = "<!-- table of writes: tests/validation/zfs/write_pools.py -->\n"
END_WRITES = "<!-- end of table of writes -->"


def line(name: str, is_outside: bool, measured: object, model: object, figures: tuple[str, ...]) -> str:
    cells = [name + (" *" if is_outside else "")]
    for figure in figures:
        was, value = getattr(measured, figure), getattr(model, figure)
        cells.append(f"{was:.4g} | {value:.4g} | {value / was - 1:+.1%}")
    return "| " + " | ".join(cells) + " |"


def reads() -> list[str]:
    titles = "| run | IOPS measured | model | | p99 ms | model | | member reads an operation | model | |"
    lines = [
        line(
            row["run"],
            test_pools.reason(row["run"]) is not None,
            pools.measured(row),
            pools.simulated(row["run"], row["source"]),
            ("iops", "p99_ms", "reads_per_op"),
        )
        for row in pools.rows()
    ]
    return [titles, "|---|" + "--:|" * 9, *lines]


def writes() -> list[str]:
    titles = "| run | IOPS measured | model | | mean ms | model | | member writes an operation | model | |"
    lines = [
        line(
            row["run"],
            test_pool_writes.is_outside(row),
            pool_writes.measured(row),
            pool_writes.simulated(row["run"], row["source"]),
            ("iops", "mean_ms", "writes_per_op"),
        )
        for row in pool_writes.rows()
    ]
    return [titles, "|---|" + "--:|" * 9, *lines]


def put(text: str, begin: str, end: str, lines: list[str]) -> str:
    start = text.index(begin) + len(begin)
    return text[:start] + "\n".join(["", *lines, "", ""]) + text[text.index(end, start) :]


def main() -> None:
    text = PAGE.read_text()
    if "writes" not in sys.argv[1:]:
        text = put(text, BEGIN, END, reads())
    PAGE.write_text(put(text, BEGIN_WRITES, END_WRITES, writes()))


if __name__ == "__main__":
    main()
