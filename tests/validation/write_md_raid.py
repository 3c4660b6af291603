"""Writes the table of docs/explanation/validation-md-raid.md: `python -m tests.validation.write_md_raid`."""

from __future__ import annotations

from pathlib import Path

from tests.validation import md_raid

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-md-raid.md"
BEGIN, END = "<!-- table: tests/validation/write_md_raid.py -->\n", "<!-- end of table -->"


def line(row: dict[str, str]) -> str:
    setup = md_raid.setup_of(row)
    figures = md_raid.simulated(setup)[0][md_raid.DIRECTIONS[row["dir"]]]
    cells = [f"{row['level']} × {row['disks']}", row["pattern"], row["queue_depth"], row["dir"]]
    for name in ("iops", "mean_ms", "p99_ms"):
        measured, value = float(row[name]), getattr(figures, name)
        cells.append(f"{measured:.4g} | {value:.4g} | {value / measured - 1:+.1%}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    text = PAGE.read_text()
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    titles = "| array | pattern | depth | | IOPS measured | model | | mean ms | model | | p99 ms | model | |"
    rule = "|---|---|---|---|" + "--:|--:|--:|" * 3
    PAGE.write_text(head + "\n".join(["", titles, rule, *map(line, md_raid.rows()), "", ""]) + tail)


if __name__ == "__main__":
    main()
