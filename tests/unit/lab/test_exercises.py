"""Drawn exercises: another one for each number, answers that the worked solution reaches, grading, sealed solutions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import nbformat
import pytest

from diskmodel.analytic.mechanics import parity_write_operations
from diskmodel.errors import DescriptionError
from diskmodel.lab.exercises import LESSONS, Drawn, check, drawn_exercise, grade
from diskmodel.lab.exercises.grading import is_right
from diskmodel.lab.exercises.notebook import notebook, otter_test
from diskmodel.lab.exercises.sealed import derived, seal, unseal
from diskmodel.lab.exercises.sheet import TITLES, class_page
from diskmodel.lab.site.tables import page_offers
from diskmodel.layout.md import parity
from tests.unit.cli.commands import run
from tests.unit.lab.site.node import find_node

COURSE = Path(__file__).parents[3] / "docs/course"
ALL = range(1, len(LESSONS) + 1)
SEEDS = range(12)


def test_every_lesson_has_exercises_and_its_title() -> None:
    titles = [
        found[1]
        for path in sorted(COURSE.glob("[0-9]*.md"))
        if (found := re.search(r'^title: "\d+\. (.*)"$', path.read_text(), re.MULTILINE))
    ]
    assert list(TITLES) == titles
    assert len(LESSONS) == len(titles)


@pytest.mark.parametrize("lesson", ALL)
def test_the_worked_solution_comes_to_the_models_answer(lesson: int) -> None:
    for seed in SEEDS:
        task = Drawn(lesson, 0, seed).task()
        assert task.answer > 0
        assert abs(task.by_hand - task.answer) <= task.within * task.answer + 1e-9, task
        assert is_right(lesson, 0, seed, task.by_hand)
        assert not is_right(lesson, 0, seed, 1.2 * task.answer + 1)
        assert len(task.steps) >= 3
        assert "nan" not in task.question


@pytest.mark.parametrize("lesson", ALL)
def test_students_have_different_exercises_and_each_the_same_one_again(lesson: int) -> None:
    questions = {Drawn(lesson, 0, seed).task().question for seed in range(30)}
    assert len(questions) >= 20
    assert drawn_exercise(lesson, 1, 5) == drawn_exercise(lesson, 1, 5)
    assert drawn_exercise(lesson, 1, 5)["question"] != drawn_exercise(lesson, 0, 5)["question"]
    assert "answer" not in Drawn(lesson, 0, 5).to_dict()


@pytest.mark.parametrize("lesson", ALL)
def test_a_link_has_settings_that_the_lab_knows(lesson: int) -> None:
    offers = page_offers()
    listed = {"drive": "drives", "level": "levels", "scheduler": "schedulers", "pattern": "patterns"}
    for seed in SEEDS:
        for key, value in parse_qsl(Drawn(lesson, 0, seed).task().link):
            if key in listed:
                assert value in {one["value"] for one in offers[listed[key]]}, (key, value)
            else:
                assert key in {*offers["defaults"], "tab", "scene"} or key.startswith(("need_", "log_")), key


def test_operations_of_a_write_are_those_that_the_layout_plans() -> None:
    assert parity.__name__ == "diskmodel.layout.md.parity"
    for seed in SEEDS:
        task = Drawn(5, 0, seed).task()
        strips = int(re.findall(r"writes (\d+) whole", task.question)[0])
        disks = int(re.findall(r"of (\d+) disks", task.question)[0])
        n_parity = 1 if "RAID 5" in task.question else 2
        assert task.answer == min(parity_write_operations(strips, disks, n_parity))


@pytest.mark.parametrize(("lesson", "number", "seed"), [(0, 0, 1), (16, 0, 1), (1, 1000, 1), (1, 0, -1), (1, 0, 2**32)])
def test_what_is_out_of_range_is_refused(lesson: int, number: int, seed: int) -> None:
    with pytest.raises(DescriptionError, match="must be"):
        Drawn(lesson, number, seed).task()


def test_answers_are_graded() -> None:
    right = [Drawn(10, number, 7).task().answer for number in range(3)]
    found = grade({"lesson": 10, "seed": 7, "answers": [right[0], None, 2 * right[2]]})
    assert (found.points, found.of) == (1, 3)
    assert found.remarks[0].endswith("right")
    assert found.remarks[1].startswith("no answer: not right, it is")
    # rounded to three digits
    assert grade({"lesson": 10, "seed": 7, "answers": [float(f"{value:.3g}") for value in right]}).points == 3
    check(10, 7, right)
    check(10, 7, right[1:], first=1)
    with pytest.raises(AssertionError, match="exercise 2"):
        check(10, 7, [right[0], 2 * right[1]])
    for wrong in ({}, {"lesson": 1, "seed": "7", "answers": []}, {"lesson": True, "seed": 1, "answers": []}):
        with pytest.raises(DescriptionError, match="hand in"):
            grade(wrong)


def test_a_sealed_text_is_opened_by_its_key_only() -> None:
    key = derived("geheim", "lesson 1")
    sealed = seal("seek 4.2 ms, ½ turn " * 9, key, "17")
    assert unseal(sealed, key, "17") == "seek 4.2 ms, ½ turn " * 9
    assert unseal(sealed, derived("Geheim", "lesson 1"), "17") is None
    assert unseal(sealed, key, "18") is None
    assert "seek" not in sealed


def test_a_page_of_a_class_has_no_answer_in_the_open_where_there_is_a_key() -> None:
    page = class_page(10, range(1, 4), 2, key="geheim")
    data = json.loads(re.findall(r"^const DATA = (.*);$", page, re.MULTILINE)[0])
    assert set(data["students"]) == {"1", "2", "3"}
    assert '"solutions"' not in page
    assert "geheim" not in page
    own = data["students"]["2"]
    assert own["exercises"][1] == Drawn(10, 1, 2).to_dict()
    opened = unseal(own["sealed"], derived("geheim", "lesson 10"), "2")
    assert opened is not None
    assert json.loads(opened)[1] == Drawn(10, 1, 2).solution()
    assert '"solutions"' in class_page(10, [1], 1)
    assert '"solutions":' not in class_page(10, [1], 1, with_solutions=False)
    find_node()


def test_a_notebook_is_nbgraders_and_its_tests_pass_with_right_answers() -> None:
    made = nbformat.reads(notebook(10, 7, 2), as_version=4)
    nbformat.validate(made)
    graded = [cell for cell in made.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [cell.metadata["nbgrader"]["points"] for cell in graded] == [1, 1]
    names = [cell.metadata["nbgrader"]["grade_id"] for cell in made.cells if "nbgrader" in cell.metadata]
    assert len(names) == len(set(names))
    space: dict[str, object] = {}
    for cell in made.cells:
        if cell.cell_type == "code" and cell not in graded:
            exec(cell.source, space)
    for number, cell in enumerate(graded):
        with pytest.raises(AssertionError, match="has no answer"):
            exec(cell.source, space)
        space[f"answer_{number + 1}"] = Drawn(10, number, 7).task().answer
        exec(cell.source, space)


def test_otters_test_is_a_doctest() -> None:
    space: dict[str, object] = {}
    exec(otter_test(10, 1), space)
    test = space["test"]
    assert isinstance(test, dict)
    assert (space["OK_FORMAT"], test["name"], test["points"]) == (True, "q1", 1)
    code = test["suites"][0]["cases"][0]["code"]
    own = {"student": 7, "answer_1": Drawn(10, 0, 7).task().answer}
    for line in code.splitlines():
        assert line.startswith(">>> ")
        exec(line[4:], own)


def test_the_command_writes_grades_and_refuses(tmp_path: Path) -> None:
    page, made, tests = tmp_path / "class.html", tmp_path / "lesson.ipynb", tmp_path / "tests"
    done = run("quiz", "--lesson", "10", "--students", "1:3", "--key", "geheim", "--out", page)
    assert done.exit_code == 0, done.stderr
    assert f"{page}#student=1" in done.stderr.replace("\n", "")
    assert run("quiz", "--lesson", "10", "--out", made, "--otter", tests, "--questions", "2").exit_code == 0
    assert sorted(path.name for path in tests.iterdir()) == ["q1.py", "q2.py"]
    shown = json.loads(run("quiz", "--lesson", "10", "--seed", "7", "--questions", "2", "--json").stdout)
    assert shown["exercises"] == [drawn_exercise(10, number, 7) for number in range(2)]
    bare = run("quiz", "--lesson", "10", "--seed", "7")
    assert "Solutions" not in bare.stdout
    assert "--lesson 10 --seed 7 --solutions" in " ".join(bare.stderr.split())
    assert "Solutions" in run("quiz", "--lesson", "10", "--seed", "7", "--solutions").stdout
    handed = tmp_path / "answers.json"
    answers = [one["answer"] for one in shown["exercises"]]
    handed.write_text(json.dumps({"lesson": 10, "seed": 7, "answers": [answers[0], 1e9]}))
    graded = run("quiz", "--grade", handed)
    assert "number 7, lesson 10: 1 of 2" in graded.stdout
    assert json.loads(run("quiz", "--grade", handed, "--json").stdout)["grades"][0]["points"] == 1
    handed.write_text("[1]")
    for wrong in (
        ["--grade", handed],
        ["--key", "x"],
        ["--lesson", "3", "--faults"],
        ["--lesson", "3", "--key", "x"],
        ["--lesson", "3", "--students", "5:1", "--out", page],
        ["--lesson", "3", "--students", "1:9999", "--out", page],
    ):
        assert run("quiz", *wrong).exit_code == 2, wrong
