"""Write a page for each drive of the catalogue when the site is built: what it rests on, and how it compares.

What was measured of a drive is taken from the pages that compare predictions with measurements, so that the two agree.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from matplotlib.axes import Axes

from diskmodel.cli.drives import card_rows
from diskmodel.drawing import COLORS, INK, style_for_any_page, svg_of
from diskmodel.drive import catalogue
from diskmodel.drive.catalogue.kinds import by_class
from diskmodel.drive.validated import validation_of

EXPLANATION = Path(__file__).parent / "explanation"
#: The list of all profiles, whose names become links.
INDEX = "explanation/validation-profiles.md"
#: Where the pages of the drives are.
PAGES = "reference/drives"
#: What each drive does with random reads; `python -m tests.docs.drive_rates` writes it.
RATES = Path(__file__).parent / "reference" / "drive-rates.csv"
FIELDS = (("printed", "read in the source"), ("quoted", "quoted from it by others"), ("assumed", "given by nobody"))


def compared() -> dict[str, list[str]]:
    """Return the sections of the page of published arrays by the profile that they are predicted with."""
    text = (EXPLANATION / "validation-arrays.md").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        if named := re.search(r"Profile:\s+`([^`]+)`", section):
            found.setdefault(named[1], []).append(section.strip())
    return found


def ratios(sections: list[str]) -> Iterator[tuple[str, float]]:
    """Yield what was measured, and the prediction over it."""
    for section in sections:
        for what, error in re.findall(r"^\| ([^|]+) \|.*\| ([+-][\d,]+)% \|$", section, re.MULTILINE):
            yield what, 1 + int(error.replace(",", "")) / 100


def picture(sections: list[str]) -> str:
    """Return the drawing of all predictions over what was measured."""
    found = list(ratios(sections))

    def draw(axes: Axes) -> None:
        style_for_any_page(axes)
        axes.axvspan(0.8, 1.2, color=INK, alpha=0.18, linewidth=0)
        axes.axvline(1, color=INK, linewidth=1)
        axes.plot([value for _, value in found], range(len(found)), "o", color=COLORS[0], markersize=5)
        axes.set_yticks(range(len(found)), [what for what, _ in found])
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.set_xlabel("predicted / measured; shaded: within 20 %")

    return svg_of(draw, width=6.4, height=1.0 + 0.26 * len(found))


def page(name: str, sections: list[str]) -> str:
    """Return the page of one drive as Markdown."""
    drive = catalogue()[name]
    lines = [f"# {drive.name}", "", f"`{name}`, as `diskmodel drives {name}` shows it.", "", "| | |", "|---|---|"]
    lines += [f"| {label} | {text.replace('|', '/')} |" for label, text in card_rows(drive, validation_of(name))]
    lines += ["", "## What it rests on", "", "| | figures |", "|---|---|"]
    for key, meaning in FIELDS:
        fields = ", ".join(f"`{field}`" for field in drive.provenance.get(key, ())) or "none"
        lines.append(f"| {key} ({meaning}) | {fields} |")
    lines += ["", "## Predicted and measured", ""]
    if not sections:
        lines.append("[The page of published arrays](ARRAYS) has no measurement that is predicted with this profile.")
    else:
        lines += [f"![What the model predicts over what was measured]({name}.svg)", ""]
        for section in sections:
            title, _, text = section.partition("\n")
            lines += [f"### {title}", text.strip(), ""]
        lines.append("All of them are on [the page of published arrays](ARRAYS).")
    return "\n".join(lines).replace("(ARRAYS)", "(../../explanation/validation-arrays.md)") + "\n"


def rates() -> dict[str, dict[str, str]]:
    """Return rates with the ends of their intervals by the drive's name."""
    with RATES.open(encoding="utf-8", newline="") as file:
        return {row["drive"]: row for row in csv.DictReader(file)}


def list_of_drives() -> str:
    """Return the page with a row for each drive, those that are bought today first."""
    known, drives = rates(), catalogue()
    lines = [
        "# Drives",
        "",
        "Every drive of the catalogue. A click on a head sorts. Rates are random reads of 4 KiB a second anywhere",
        "on the drive, from one client and from 32, as `simulate` predicts them, with the 95 % interval of all that is",
        "not known ([as a file](../drive-rates.csv)). *Measured*: how the profile compares with what was published.",
        "",
        '<div class="sortable" markdown>',
        "",
        "| drive | class | year | TB | reads/s, 1 client | 32 clients | measured |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for title, names in by_class(drives).items():
        for name in names:
            drive = drives[name]
            cells = [f"[{drive.name}]({name}.md)", title, str(drive.year or "–"), f"{drive.capacity_bytes / 1e12:.3g}"]
            for depth in (1, 32):
                value, low, high = (float(known[name][f"iops_{depth}{end}"]) for end in ("", "_low", "_high"))
                cells.append(f"{value:,.0f} ({low:,.0f} … {high:,.0f})")
            cells.append(validation_of(name) or "–")
            lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return "\n".join([*lines, "", "</div>", ""])


def made(root: Path) -> dict[str, str]:
    """Return the list, the pages and their pictures, by their places."""
    found = compared()
    pages = {f"{PAGES}/index.md": without_search(list_of_drives())}
    for name in catalogue():
        sections = found.get(name, [])
        pages[f"{PAGES}/{name}.md"] = without_search(page(name, sections))
        if sections:
            pages[f"{PAGES}/{name}.svg"] = picture(sections)
    return pages


def written(markdown: str, place: str) -> str:
    """Return a page with links of the names in the list of all profiles."""
    if place != INDEX:
        return markdown
    return re.sub(r"^\| `([a-z0-9.-]+)` \|", r"| [`\1`](../reference/drives/\1.md) |", markdown, flags=re.MULTILINE)


def without_search(markdown: str) -> str:
    """Keep all but the names of drives out of the search: their measurements are on a page of validation."""
    markdown = re.sub(r"^(#{2,3} .*)$", r"\1 { data-search-exclude }", markdown, flags=re.MULTILINE)
    hidden = "<div data-search-exclude markdown>\n\n\\g<0>\n</div>\n"
    return re.sub(r"^(?:\|.*\n)+", hidden, markdown, flags=re.MULTILINE)
