"""The teacher's kit: the grader finds the mistakes of simulators, and slides have every lesson."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_pictures import load

ROOT = Path(__file__).parents[2]
GRADER = ROOT / "examples/assignment/grade.py"
PROGRAM = ROOT / "examples/hundred_lines.py"
#: Mistakes that students make, and tasks that must notice them.
MISTAKES = {
    "no skew": ("(track * self.skew + sector)", "sector", {1, 2}),
    "a seek by tracks": ("abs(track // heads - self.track // heads)", "abs(track - self.track)", {0, 1, 3, 4}),
    "linear seek": ("distance**0.5", "distance", {0}),
    "SPTF without rotation": ("return move + self.wait_ns(command[0], self.env.now + move)", "return move", {4}),
    "time stands still while the arm moves": ("yield self.env.timeout(self.move_ns(lba))", "pass", {0, 3}),
    "the platter waits": ("(self.disk.angle_ns(self.disk.index(lba)) - at_ns)", "self.disk.revolution_ns // 2", {0, 2}),
}


def graded(path: Path, *more: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, str(GRADER), str(path), *more], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, [
        line for line in done.stdout.splitlines() if " of " in line and not line.startswith("   " * 5)
    ]


def test_the_hundred_lines_get_all_points() -> None:
    status, lines = graded(PROGRAM, "--seed", "5")
    assert status == 0
    assert lines[-1].startswith("100.0 of 100")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_costs_points_where_it_is(mistake: str, tmp_path: Path) -> None:
    old, new, tasks = MISTAKES[mistake]
    text = PROGRAM.read_text()
    assert text.count(old) == 1, "the program has changed"
    wrong = tmp_path / "wrong.py"
    wrong.write_text(text.replace(old, new))
    status, lines = graded(wrong, "--seed", "5")
    assert status == 3
    lost = {
        i for i, line in enumerate(lines[:-1]) if float(line.split(" of ")[0]) < float(line.split(" of ")[1].split()[0])
    }
    assert lost >= tasks, lines


def test_what_cannot_be_run_gets_no_points_and_a_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("from dataclasses import dataclass\nclass Disk: pass\n")
    status, lines = graded(broken)
    assert (status, lines[-1].split()[0]) == (3, "0.0")
    assert graded(tmp_path / "nothing.py")[0] == 2


def test_slides_have_every_lesson() -> None:
    made = load(ROOT / "docs/slides_page.py").slides()
    lessons = sorted((ROOT / "docs/course").glob("[0-9]*.md"))
    assert made.count("<section>") == made.count("Exercise.") == len(lessons)
    assert made.count("<img src=") >= len(lessons)
    assert "](" not in made
    assert "**" not in made


def test_every_lesson_has_a_plan_of_fifty_minutes() -> None:
    made = load(ROOT / "docs/slides_page.py").plans()
    lessons = sorted((ROOT / "docs/course").glob("[0-9]*.md"))
    plans = made.split("\n## ")[1:]
    assert len(plans) == len(lessons)
    for plan, lesson in zip(plans, lessons, strict=True):
        assert f"]({lesson.name})" in plan.splitlines()[0]
        assert sum(map(int, re.findall(r"^\| (\d+) \|", plan, re.MULTILINE))) == 50
        assert f"exercises/lesson-{lesson.name[:2]}.html#student=1" in plan
        assert "../lab/index.html#" in plan


def test_drawn_exercises_are_linked_from_their_lesson() -> None:
    hook = load(ROOT / "docs/exercise_pages.py")
    for lesson in sorted((ROOT / "docs/course").glob("[0-9]*.md")):
        page = hook.with_forms(lesson.read_text(), lesson.stem)
        assert f"exercises/lesson-{lesson.name[:2]}.html#student=1" in page
    place, page = hook.with_students(10)
    assert place == "exercises/lesson-10.html"
    assert page.count('"exercises":') == len(hook.STUDENTS)
