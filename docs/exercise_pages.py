"""Predictions, exercises and live experiments of the lessons, from blocks of TOML between their paragraphs.

    ```predict
    question = "How many random blocks does the disk read in a second?"
    unit = "a second"
    answer = '(\\d+) IOPS'
    ```

`answer` is a pattern that is found exactly once in the output which the page shows; its group is the answer. The
tests run the page's code and compare its output, so an answer cannot be older than the model. `given` is a pattern,
too: what it finds takes the place of {given} in the question. A prediction is kept in the reader's browser and
compared behind the output; an `exercise` is checked, with `within` as its relative tolerance and `hint` for whoever
is wrong. A block `lab` has the controls (`only`) and the settings (`state`) of a live experiment.
"""

import html
import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from diskmodel.lab.exercises import LESSONS
from diskmodel.lab.exercises.sheet import class_page

#: Numbers with an exercise of their own on the site; a class writes its own page.
STUDENTS = range(1, 31)
COURSE = Path(__file__).parent / "course"
_BLOCK = re.compile(r"^( *)```(predict|exercise|lab|progress)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"^( *)```text\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_KEYS = {
    "predict": {"question", "unit", "answer"},
    "exercise": {"question", "unit", "answer", "within", "hint"},
    "lab": {"only", "state", "title"},
    "progress": set(),
}


def parts(markdown: str, name: str) -> list[tuple[re.Match[str], str, dict[str, Any]]]:
    """Return the blocks of a page: where, which kind, and their contents with the answer as a number.

    Raises
    ------
    ValueError
        When a block lacks a key or has another, or its answer is not exactly once in the page's output.
    """
    found = []
    for match in _BLOCK.finditer(markdown):
        kind, data = match[2], tomllib.loads(textwrap.dedent(match[3]))
        if data.keys() - {"given"} != _KEYS[kind]:
            raise ValueError(f"{name}: a block {kind} has the keys {', '.join(sorted(_KEYS[kind]))}")
        if "answer" in data:
            data["number"] = float(_shown(markdown, data["answer"], name).replace(",", ""))
        if "given" in data:
            data["question"] = data["question"].replace("{given}", _shown(markdown, data["given"], name))
        found.append((match, kind, data))
    return found


def _shown(markdown: str, pattern: str, name: str) -> str:
    """Return what the group of a pattern matches in the output of the page."""
    outputs = (textwrap.dedent(output[2]) for output in _OUTPUT.finditer(markdown))
    shown = [found for output in outputs for found in re.findall(pattern, output, re.MULTILINE)]
    if len(shown) != 1:
        raise ValueError(f"{name}: {pattern}: is {len(shown)} times in the output of the page, not once")
    return str(shown[0])


def with_forms(markdown: str, name: str) -> str:
    """Return the page with its blocks as HTML, and a place behind the output where a prediction is compared."""
    blocks = parts(markdown, name)
    inserted = []
    for match, kind, data in blocks:
        inserted.append((match.start(), match.end(), textwrap.indent(_html(kind, data, name), match[1])))
        if kind == "predict":
            output = next(one for one in _OUTPUT.finditer(markdown) if re.search(data["answer"], one[2]))
            place = f'\n\n{output[1]}<p class="ask-compare" data-for="{name}" role="status"></p>\n'
            inserted.append((output.end(), output.end(), place))
    for start, end, text in sorted(inserted, reverse=True):
        markdown = markdown[:start] + text + markdown[end:]
    return markdown


def _html(kind: str, data: dict[str, Any], name: str) -> str:
    if kind == "progress":
        total = sum("```exercise" in path.read_text() for path in COURSE.glob("[0-9]*.md"))
        return f'<p class="ask-progress" data-total="{total}" role="status"></p>'
    if kind == "lab":
        return _lab(data)
    label = "Predict" if kind == "predict" else "Check"
    attributes = {
        "data-id": name,
        "data-kind": kind,
        "data-answer": f"{data['number']:.10g}",
        "data-within": f"{data.get('within', 0):g}",
        "data-unit": data["unit"],
        "data-hint": data.get("hint", ""),
    }
    listed = " ".join(f'{key}="{html.escape(value)}"' for key, value in attributes.items())
    field = f"{kind}-{name}"
    more = ""
    if kind == "exercise" and name[:2].isdigit():
        more = (
            f'<p>One more, drawn for you: <a href="{drawn_page(int(name[:2]))}#student=1">exercises by number</a>, '
            "with worked solutions.</p>"
        )
    return (
        f'<form class="ask" {listed}><p><label for="{field}">{html.escape(data["question"])}</label></p>'
        f'<p><input id="{field}" type="number" step="any" inputmode="decimal" required> {html.escape(data["unit"])} '
        f'<button type="submit" class="md-button">{label}</button></p>'
        f'<p class="ask-said" role="status"></p></form>{more}'
    )


def _lab(data: dict[str, Any]) -> str:
    state, title = html.escape(data["state"]), html.escape(data["title"])
    only = f"?only={html.escape(data['only'])}" if data["only"] else ""
    kind = re.search(r"tab=(\w+)", data["state"])
    return (
        f'<iframe class="live-lab live-{kind[1] if kind else "curves"}" src="../lab/index.html{only}#{state}" '
        f'title="{title}" loading="lazy"></iframe>\n'
        f'<p><a href="../lab/index.html#{state}" target="_blank">Open it in the lab</a></p>'
    )


def drawn_page(lesson: int) -> str:
    """Return the address of a lesson's drawn exercises, from the lessons."""
    return f"exercises/lesson-{lesson:02}.html"


def drawn_pages() -> dict[str, str]:
    """Return a page of drawn exercises for each lesson by its place in the course."""
    return dict(map(with_students, range(1, len(LESSONS) + 1)))


def with_students(lesson: int) -> tuple[str, str]:
    """Return the place in the course of a lesson's drawn exercises, and the page."""
    return drawn_page(lesson), class_page(lesson, STUDENTS, 1, lab="../../lab/index.html")


def made(root: Path) -> dict[str, str]:
    """Return the drawn exercises by their places."""
    return {f"course/{name}": page for name, page in drawn_pages().items()}


def written(markdown: str, place: str) -> str:
    """Return a page of the course with forms and live experiments instead of its blocks."""
    return with_forms(markdown, Path(place).stem) if place.startswith("course/") else markdown
