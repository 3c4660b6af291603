"""The quiz: choices without gaps, answers that come from runs, and that agree with what is known otherwise."""

import itertools
import math

import pytest

from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.lab.quiz import Quiz, _ratio, quiz_tables
from diskmodel.lab.quiz_questions import QUESTIONS
from tests.unit.lab.serving import ask, serving
from tests.unit.lab.site.node import in_node

SEEDS = range(30)


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_choices_cover_everything_once(number: int) -> None:
    for seed in SEEDS:
        asked = Quiz(number, seed).dilemma()
        ranges = asked.ranges()
        assert ranges[0][0] == -math.inf
        assert ranges[-1][1] == math.inf
        assert all(before[1] == after[0] for before, after in itertools.pairwise(ranges))
        assert len(asked.choice_texts()) == len(set(asked.choice_texts())) == len(ranges)
        assert len(asked.settings) == len(asked.names)
        assert (asked.unit == "times") == (len(asked.settings) == 2)


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_the_answer_is_the_models(number: int) -> None:
    quiz = Quiz(number, 5)
    revealed = quiz.reveal(0)
    asked = quiz.dilemma()
    for settings, run in zip(asked.settings, revealed["runs"], strict=True):
        result = simulate(settings.array(), settings.workload(), seed=settings.seed, n_requests=30_000)
        figure = {
            "iops": result.iops.mean,
            "p99_ms": result.latency.quantiles_ns["p99"] / 1e6,
            "back_end_per_host": result.back_end_per_host,
        }[asked.figure]
        # another length, for open arrivals, moves a percentile
        assert run["value"] == pytest.approx(figure, rel=0.35 if settings.arrivals == "rate" else 1e-9)
    value = revealed["answer"]["value"]
    holding = [n for n, (low, high) in enumerate(asked.ranges()) if low <= value < high]
    assert set(holding) <= set(revealed["right"])
    verdicts = [
        quiz.reveal(choice)["is_right"] for choice in (holding[0], (revealed["right"][-1] + 1) % len(asked.ranges()))
    ]
    assert verdicts == [True, False]


def test_the_cost_of_a_write_is_the_one_that_counting_gives() -> None:
    number = next(n for n in range(len(QUESTIONS)) if Quiz(n, 0).dilemma().figure == "back_end_per_host")
    # a mirror: 2; read old data and parities, write new ones; or read the other data of the row instead
    counted = {("raid10", 8): 2, ("raid5", 3): 3, ("raid5", 4): 4, ("raid5", 8): 4, ("raid6", 4): 4, ("raid6", 8): 6}
    seen = set()
    for seed in SEEDS:
        settings = Quiz(number, seed).dilemma().settings[0]
        case = (settings.level, settings.disks)
        if case not in seen:
            assert Quiz(number, seed).reveal(0)["answer"]["value"] == pytest.approx(counted[case], abs=0.01), case
        seen.add(case)
    assert seen == set(counted)


def test_seeds_change_the_questions_and_repeat_them() -> None:
    texts = {tuple(Quiz(n, seed).to_dict()["question"] for n in range(len(QUESTIONS))) for seed in SEEDS}
    assert len(texts) > 10
    assert Quiz(3, 7).to_dict() == Quiz(3, 7).to_dict()
    assert "why" not in Quiz(3, 7).to_dict()


@pytest.mark.parametrize(("number", "seed"), [(-1, 0), (10_000, 0), (0, -1), (0, 2**32)])
def test_numbers_out_of_range(number: int, seed: int) -> None:
    with pytest.raises(DescriptionError):
        Quiz(number, seed).dilemma()


def test_over_http() -> None:
    with serving() as lab:
        status, question = ask(lab + "quiz/2?seed=4")
        assert (status, question) == (200, Quiz(2, 4).to_dict())
        status, revealed = ask(lab + "quiz/2", {"seed": 4, "choice": 1})
        assert (status, revealed) == (200, Quiz(2, 4).reveal(1))
        for body in ({"seed": 4}, {"seed": 4, "choice": 99}, {"choice": "first"}, {"choice": 1.5}, {"choice": True}):
            assert ask(lab + "quiz/2", body)[0] == 422, body
        assert ask(lab + "quiz/2?seed=x")[0] == 422
        assert ask(lab + "quiz/10000")[0] == 422


def test_the_page_asks_the_same_questions() -> None:
    cases = [(number, seed) for seed in (0, 7, 2**32 - 1, 123_456) for number in range(12)]
    main = """async (modules, { tables, cases }) => cases.map(([number, seed]) => {
      const { setting, question, choices } = modules["questions.js"].asked(tables, number, seed);
      return { number, seed, setting, question, choices };
    })"""
    found = in_node(main, {"tables": quiz_tables(), "cases": cases})
    assert found == [Quiz(number, seed).to_dict() for number, seed in cases]
    assert all(len(one["asked"]) == math.prod(one["sizes"]) for one in quiz_tables())


def test_the_page_accepts_the_same_choices() -> None:
    """An interval that overlaps two choices makes both right; a ratio has the errors of both runs."""
    runs = [[400.0, 390.0, 410.0], [600.0, 570.0, 630.0]]
    main = """async (modules, { asked, runs }) => {
      const points = [...runs];
      return modules["questions.js"].revealed({ point: () => ({ iops: points.shift() }) }, asked, 3);
    }"""
    one = {
        "settings": [{}, {}],
        "figure": "iops",
        "borders": [0.9, 1.15, 1.5, 2.0],
        "names": ["a", "b"],
        "unit": "times",
    }
    found = in_node(main, {"asked": one, "runs": runs})
    low, value, high = _ratio([(400.0, 390.0, 410.0), (600.0, 570.0, 630.0)])
    assert found["answer"] == {"value": value, "low": pytest.approx(low), "high": pytest.approx(high)}
    assert (found["right"], found["is_right"]) == ([2, 3], True)
