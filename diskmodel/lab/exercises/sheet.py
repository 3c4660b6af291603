"""Drawn exercises on a page for a class: each student's behind a link, solutions behind the teacher's key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from diskmodel.errors import in_page
from diskmodel.lab.exercises.drawn import Drawn
from diskmodel.lab.exercises.sealed import ROUNDS, derived, seal
from diskmodel.version import __version__

#: Question of each lesson, for headings; a test compares them with the lessons' own titles.
TITLES = (
    "Why is random I/O slow?",
    "Why is the outside faster?",
    "What does a scheduler gain, and who starves?",
    "Why does latency rise so suddenly?",
    "What does a write cost in RAID?",
    "What does a cache save?",
    "Who gets the 120 MB/s?",
    "What is different about flash?",
    "How many disks, and how do you defend the answer?",
    "What happens when a disk fails?",
    "Why is p99 another question than the mean?",
    "How do you know that a model is right?",
    "Why does a database wait for the platter?",
    "What does a pool of ZFS cost?",
    "What is a cloud disk?",
)


def class_page(
    lesson: int,
    students: Sequence[int],
    n_exercises: int,
    *,
    key: str | None = None,
    with_solutions: bool = True,
    lab: str = "",
) -> str:
    """Return a page with the exercises of students; `#student=17` in its address shows those of number 17.

    Parameters
    ----------
    lesson : int
    students : sequence of int
        Their numbers, which are the seeds.
    n_exercises : int
        For each student.
    key : str, optional
        Solutions are sealed with it: `#student=17&key=KEY` shows them.
    with_solutions : bool
        Without a key the page checks answers, and shows the worked solutions of whoever asks for them.
    lab : str
        Address of the lab, for the links of exercises; "": without links.

    Raises
    ------
    DescriptionError
        When the lesson or a number is out of range.
    """
    opened = None if key is None else derived(key, f"lesson {lesson}")
    data: dict[str, Any] = {"lesson": lesson, "rounds": ROUNDS, "lab": lab, "students": {}}
    for seed in students:
        drawn = [Drawn(lesson, number, seed) for number in range(n_exercises)]
        one: dict[str, Any] = {"exercises": [exercise.to_dict() for exercise in drawn]}
        solutions = [exercise.solution() for exercise in drawn]
        if opened is not None:
            one["sealed"] = seal(json.dumps(solutions), opened, str(seed))
        elif with_solutions:
            one["solutions"] = solutions
        data["students"][str(seed)] = one
    loader = PackageLoader("diskmodel.lab", "templates")
    environment = Environment(loader=loader, autoescape=select_autoescape(["j2"]), finalize=in_page)
    # "<" cannot end the script early
    text = Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))
    template = environment.get_template("class_page.html.j2")
    return template.render(lesson=lesson, title=TITLES[lesson - 1], data=text, version=__version__)
