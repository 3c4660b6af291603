"""Writes the tables of docs/explanation/validation-md-raid.md: `python -m tests.validation.md.write_md_raid`."""

from __future__ import annotations

from pathlib import Path

from tests.validation.md import md_raid, md_raid_own

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-md-raid.md"
GIVEN, OWN = ("<!-- table: tests/validation/md/write_md_raid.py -->\n", "<!-- own table -->\n")
END = "<!-- end of table -->"
FIGURES = ("iops", "mean_ms", "p99_ms")


def line(row: dict[str, str]) -> str:
    setup = md_raid.setup_of(row)
    figures = md_raid.simulated(setup)[0][md_raid.DIRECTIONS[row["dir"]]]
    cells = [f"{row['level']} × {row['disks']}", row["pattern"], row["queue_depth"], row["dir"]]
    for name in FIGURES:
        measured, value = float(row[name]), getattr(figures, name)
        cells.append(f"{measured:.4g} | {value:.4g} | {value / measured - 1:+.1%}")
    return "| " + " | ".join(cells) + " |"


def own_line(row: dict[str, str]) -> str:
    setup = md_raid_own.setup_of(row)
    array = f"{setup.level} × {setup.disks}" + (f", {setup.failed} lost" if setup.failed else "")
    cells = [array, setup.option or "", setup.pattern, row["queue_depth"], row["dir"]]
    figures = None if setup.option in md_raid_own.UNKNOWN else md_raid_own.simulated(setup)[0]
    for name in FIGURES:
        measured = float(row[name])
        value = figures and getattr(figures[md_raid.DIRECTIONS[row["dir"]]], name)
        cells.append(f"{measured:.4g} | {value:.4g} | {value / measured - 1:+.1%}" if value else f"{measured:.4g} | |")
    return "| " + " | ".join(cells) + " |"


def with_table(text: str, begin: str, first_titles: str, lines: list[str]) -> str:
    """Return the page with this table anew."""
    start = text.index(begin) + len(begin)
    titles = first_titles + " IOPS measured | model | | mean ms | model | | p99 ms | model | |"
    rule = "|" + "---|" * (first_titles.count("|") - 1) + "--:|--:|--:|" * 3
    return text[:start] + "\n".join(["", titles, rule, *lines, "", ""]) + text[text.index(END, start) :]


def main() -> None:
    text = PAGE.read_text()
    text = with_table(text, GIVEN, "| array | pattern | depth | |", [line(row) for row in md_raid.rows()])
    own = [own_line(row) for row in md_raid_own.rows()]
    PAGE.write_text(with_table(text, OWN, "| array | option | pattern | depth | |", own))


if __name__ == "__main__":
    main()
