"""Drawn exercises as a notebook that nbgrader collects and grades, and as tests for Otter."""

from __future__ import annotations

import json
from typing import Any

from diskmodel.lab.exercises.drawn import Drawn

_SCHEMA = 3


def notebook(lesson: int, seed: int, n_exercises: int) -> str:
    """Return a notebook in the form of nbgrader's source: a cell for each answer, and a test cell worth a point.

    The first cell has the seed: students write their own number there, and `exercise(n)` shows what is drawn for it.
    The tests compare with what diskmodel draws and simulates for it.
    """
    Drawn(lesson, n_exercises - 1, seed).task()
    cells = [
        _markdown("start", f"# Exercises of lesson {lesson}\n\nWrite your number, then run the cells."),
        _code("number", f"student = {seed}", {"grade": False, "solution": True, "locked": False}),
        _code(
            "shown",
            "from diskmodel.lab.exercises import Drawn, check\n\n\n"
            f"def exercise(n):\n    one = Drawn({lesson}, n - 1, student).to_dict()\n"
            '    print(one["question"], f"({one[\'unit\']})")',
            {"grade": False, "solution": False, "locked": True},
        ),
    ]
    for number in range(n_exercises):
        n = number + 1
        cells += [
            _code(f"show-{n}", f"exercise({n})", {"grade": False, "solution": False, "locked": True}),
            _code(f"answer-{n}", f"answer_{n} = None", {"grade": False, "solution": True, "locked": False}),
            _code(f"test-{n}", _test(lesson, n), {"grade": True, "solution": False, "locked": True, "points": 1}),
        ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1) + "\n"


def otter_test(lesson: int, number: int) -> str:
    """Return the test file of one exercise, from 1 on, in the form that Otter reads (`q1.py`)."""
    code = "".join(
        f"{'>>>' if not line.startswith(' ') else '...'} {line}\n" for line in _test(lesson, number).splitlines()
    )
    case = {"code": code, "hidden": False, "locked": False}
    test = {"name": f"q{number}", "points": 1, "suites": [{"cases": [case], "scored": True, "type": "doctest"}]}
    return f"OK_FORMAT = True\n\ntest = {test!r}\n"


def _test(lesson: int, n: int) -> str:
    return f"from diskmodel.lab.exercises import check\ncheck({lesson}, student, [answer_{n}], first={n - 1})"


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(name: str, text: str, kind: dict[str, Any]) -> dict[str, Any]:
    about = {"grade_id": name, "schema_version": _SCHEMA, "task": False, "cell_type": "code", **kind}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"nbgrader": about},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }
