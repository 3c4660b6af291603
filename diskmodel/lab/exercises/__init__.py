"""Drawn exercises of the course: for each lesson, for each student another one, with worked solutions and grading."""

from diskmodel.lab.exercises.drawn import LESSONS, Drawn, drawn_exercise, solved_lesson
from diskmodel.lab.exercises.grading import Grade, check, grade

__all__ = ["LESSONS", "Drawn", "Grade", "check", "drawn_exercise", "grade", "solved_lesson"]
