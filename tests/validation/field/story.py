"""Rerun a story from the field: `python -m tests.validation.field.story NAME` prints its table and draws it.

With `--pages` the pages of all stories (or of those named) under `docs/how-to/field-stories/` are written.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from tests.validation.field.cases import ROOT
from tests.validation.field.scenarios import QUANTITIES, command, simulated
from tests.validation.field.stories import STORIES, Story

PAGES = ROOT / "docs" / "how-to" / "field-stories"

#: Simulated figures, by line and quantity.
Figures = list[dict[str, float]]


def figures_of(story: Story) -> Figures:
    """Run a story."""
    found = []
    for line in story.lines:
        print(f"{story.name}: {line.label}", file=sys.stderr)
        result = simulated(line.run)
        found.append({name: QUANTITIES[name](result, line.run) for _, name in story.columns})
    return found


def table_of(story: Story, figures: Figures) -> str:
    """The figures as text, with the author's next to ours."""
    has_author = any(line.author for line in story.lines)
    head = [""]
    for heading, _ in story.columns:
        head += [heading, "author"] if has_author else [heading]
    rows = [head]
    for line, ours in zip(story.lines, figures, strict=True):
        row = [line.label]
        for _, name in story.columns:
            row += [f"{ours[name]:.4g}", line.author.get(name, "")] if has_author else [f"{ours[name]:.4g}"]
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "".join(
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        + "\n"
        for row in rows
    )


def drawing_of(story: Story, figures: Figures) -> str:
    """SVG of each column: ours as bars, the author's figures (or their range) as marks."""
    with matplotlib.rc_context({"svg.hashsalt": "diskmodel", "svg.fonttype": "none"}):
        n = len(story.columns)
        figure = Figure(figsize=(3.4 * n + 2, 0.4 * len(story.lines) + 1.2), layout="constrained")
        axes = figure.subplots(1, n, squeeze=False, sharey=True)[0]
        for axis, (heading, name) in zip(axes, story.columns, strict=True):
            axis.barh(range(len(figures)), [ours[name] for ours in figures], color="tab:blue", height=0.6)
            for y, line in enumerate(story.lines):
                ends = [float(part) for part in line.author.get(name, "").split(" to ") if part]
                axis.plot(ends, [y] * len(ends), "o-", color="tab:orange", markersize=6)
            axis.set_xlabel(heading)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].set_yticks(range(len(figures)), [line.label for line in story.lines])
        axes[0].invert_yaxis()
        has_author = any(line.author for line in story.lines)
        figure.suptitle("bars: diskmodel; dots: the author" if has_author else "diskmodel", fontsize=9)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def page_of(story: Story, figures: Figures) -> str:
    """The page of a story."""
    commands = "".join(f"    {command(line.run)}\n" for line in story.lines)
    return (
        f"# {story.title}\n\n{story.question}\n\n    make story NAME={story.name}\n\n"
        f"prints this table and draws it into `out/story-{story.name}.svg`; "
        "see also [the other field measurements](../../explanation/validation-field.md).\n\n"
        f"```text\n{table_of(story, figures)}```\n\n![{story.title}]({story.name}.svg)\n\n{story.answer}\n\n"
        f"Each line is a run that you can change and repeat:\n\n{commands}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command. Exit status 0, or 2 for an unknown story."""
    parser = argparse.ArgumentParser(prog="story", description="Rerun a story from the field.")
    parser.add_argument("name", nargs="*", choices=[*STORIES, []], help=", ".join(STORIES))
    parser.add_argument("--pages", action="store_true", help="write the pages of the documentation")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the drawing")
    chosen = parser.parse_args(arguments)
    if not chosen.name and not chosen.pages:
        parser.error(f"which story? {', '.join(STORIES)}")
    folder = PAGES if chosen.pages else chosen.out
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen.name or STORIES:
        story = STORIES[name]
        figures = figures_of(story)
        print(f"{story.question}\n\n{table_of(story, figures)}\n{story.answer}\n")
        drawing = folder / (f"{name}.svg" if chosen.pages else f"story-{name}.svg")
        drawing.write_text(drawing_of(story, figures), encoding="utf-8")
        print(f"written: {drawing}")
        if chosen.pages:
            (folder / f"{name}.md").write_text(page_of(story, figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
