"""Write the slides when the site is built: one page a lesson with its question, its first picture and its exercise.

And a plan of 50 minutes for each lesson, from its prediction, its live experiment and its exercise.
"""

import html
import re
import textwrap
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
STYLE = """
:root { --ink: #1d2433; --soft: #566073; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; font: 22px/1.4 system-ui, sans-serif; color: var(--ink); background: #eef1f6; }
section { background: #fff; width: min(100%, 60rem); min-height: 33.7rem; margin: 1rem auto;
  padding: 2rem 2.4rem; border-top: .5rem solid var(--accent); display: grid;
  grid-template-rows: auto auto 1fr auto; gap: .8rem; break-after: page; }
h1 { margin: 0; font-size: 2rem; line-height: 1.15; }
p { margin: 0; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; justify-content: center; }
.pictures img { flex: 1 1 20rem; min-width: 0; max-width: 100%; max-height: 20rem; }
footer { border-top: 1px solid #c9d0dc; padding-top: .6rem; color: var(--soft); font-size: .85em; }
code { font-size: .9em; }
@page { size: A4 landscape; margin: 0; }
@media print { body { background: #fff; font-size: 18px; } section { width: 100%; min-height: 100vh; margin: 0; } }
@media (max-width: 40rem) { body { font-size: 17px; } section { padding: 1rem; } h1 { font-size: 1.5rem; } }
"""


def slides() -> str:
    """Return the page with all slides."""
    made = "\n".join(_slide(path) for path in sorted((HERE / "course").glob("[0-9]*.md")))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>diskmodel: slides of the course</title>"
        f'<link rel="icon" href="data:,"><style>{STYLE}</style></head><body><main>\n{made}\n</main></body></html>\n'
    )


def plans() -> str:
    """Return the page with a plan of 50 minutes for each lesson, as Markdown."""
    made = "\n".join(_plan(path) for path in sorted((HERE / "course").glob("[0-9]*.md")))
    return (
        "---\nsearch:\n  exclude: true\n---\n\n# Fifty minutes a lesson\n\n"
        "A plan for each lesson. Whoever has 90 minutes takes the [longer "
        "one](teaching.md#a-session-of-90-minutes).\n\n" + made
    )


def _plan(path: Path) -> str:
    text, number = path.read_text(), path.name[:2]
    title = re.search(r"^title: \"(.*)\"$", text, re.MULTILINE)
    exercise = re.search(r'^!!! question "(.*)"$', text, re.MULTILINE)
    predicted, live = (
        [tomllib.loads(block) for block in re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
        for kind in ("predict", "lab")
    )
    if not (title and exercise and predicted and live):
        raise ValueError(f"{path.name}: a lesson has a title, a prediction, a live experiment and an exercise")
    # figures of the page take its place there
    asked = predicted[0]["question"].replace("{given}", "…")
    labs = "; ".join(f"[{one['title']}](../lab/index.html#{one['state']})" for one in live)
    rows = (
        (5, f"Everybody predicts, in the page: {asked}"),
        (
            10,
            "The code and its output, with the [slide](slides.html): who was near, and what did the others leave out?",
        ),
        (15, f"In pairs, each guess before the slider moves: {labs}"),
        (10, f"Alone, then together: {exercise[1]}"),
        (
            10,
            f"By number, on paper: [a drawn exercise](exercises/lesson-{number}.html#student=1) with its solution",
        ),
    )
    lines = "".join(f"| {minutes} | {what.replace('|', '/')} |\n" for minutes, what in rows)
    table = f"<div data-search-exclude markdown>\n\n| minutes | |\n|--:|---|\n{lines}\n</div>\n"
    return f"## [{title[1]}]({path.name})\n\n{table}"


def _slide(path: Path) -> str:
    text = path.read_text()
    title = re.search(r"^title: \"(.*)\"$", text, re.MULTILINE)
    opening = re.search(r"^# .*?\n\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    exercise = re.search(r'^!!! question "(.*)"\n\n?((?: {4}.*\n)+)', text, re.MULTILINE)
    if not (title and opening and exercise):
        raise ValueError(f"{path.name}: a lesson has a title, an opening paragraph and an exercise")
    pictures = re.findall(r"!\[(.*?)\]\((pictures/\w+\.svg)\)", text)[:2]
    shown = "".join(f'<img src="{source}" alt="{html.escape(about)}">' for about, source in pictures)
    asked = f"{exercise[1]} {' '.join(textwrap.dedent(exercise[2]).split())}"
    return (
        f"<section><h1>{_inline(title[1])}</h1><p>{_inline(' '.join(opening[1].split()))}</p>"
        f'<div class="pictures">{shown}</div><footer><strong>Exercise.</strong> {_inline(asked)}</footer></section>'
    )


def _inline(text: str) -> str:
    """Return a line of Markdown as HTML: code, emphasis, and the words of links."""
    made = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", html.escape(text, quote=False))
    made = re.sub(r"`([^`]+)`", r"<code>\1</code>", made)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"<em>\1</em>", made)


def made(root: Path) -> dict[str, str]:
    """Return the slides and the plans of the course by their places."""
    return {"course/plans.md": plans(), "course/slides.html": slides()}
