"""Writes the tables of docs/explanation/validation/pools.md: `python -m tests.validation.zfs.write_pools [which]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.validation.zfs import in_order, pool_writes, pools, test_in_order, test_pool_writes, test_pools

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "pools.md"
BEGIN, END = "<!-- table: tests/validation/zfs/write_pools.py -->\n", "<!-- end of table -->"
BEGIN_WRITES = "<!-- table of writes: tests/validation/zfs/write_pools.py -->\n"
END_WRITES = "<!-- end of table of writes -->"
BEGIN_ORDER = "<!-- table in order: tests/validation/zfs/write_pools.py -->\n"
END_ORDER = "<!-- end of table in order -->"


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


def ordered() -> list[str]:
    titles = "| run | requests a second measured | model | | member reads or writes an operation | model | |"
    lines = [
        line(
            row["run"],
            test_in_order.is_outside(row),
            in_order.measured(row),
            in_order.simulated(row["run"]),
            ("iops", "per_op"),
        )
        for row in in_order.rows()
    ]
    return [titles, "|---|" + "--:|" * 6, *lines]


def put(text: str, begin: str, end: str, lines: list[str]) -> str:
    start = text.index(begin) + len(begin)
    return text[:start] + "\n".join(["", *lines, "", ""]) + text[text.index(end, start) :]


def main() -> None:
    text, only = PAGE.read_text(), sys.argv[1:]
    if not only:
        text = put(text, BEGIN, END, reads())
    if "order" not in only:
        text = put(text, BEGIN_WRITES, END_WRITES, writes())
    if "writes" not in only:
        text = put(text, BEGIN_ORDER, END_ORDER, ordered())
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
