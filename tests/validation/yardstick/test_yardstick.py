"""The yardstick asks what its version says, keeps what diskmodel answers today, and scores what it is given."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from diskmodel.errors import FormatError
from diskmodel.workload import Workload
from tests.validation.yardstick import page, predictors, questions
from tests.validation.yardstick.__main__ import main
from tests.validation.yardstick.answers import Answer, read, text_of
from tests.validation.yardstick.questions import Question
from tests.validation.yardstick.score import interval_score, score

#: Version → hash of what it asks for: who changes a question counts the version up.
FINGERPRINTS = {1: "63c655316699bcde"}
#: Questions that are answered anew here, each in less than a second.
SAMPLE = {
    "linux-md": "single of 1, randread, depth 1",
    "flushes": "raw_c00_rand_fds1_j2",
    "openzfs": "mir2_r8_randread8k_j1 (first)",
}


@pytest.fixture(scope="module")
def asked() -> dict[str, Question]:
    return {item.id: item for item in questions.questions()}


def two(asked: dict[str, Question]) -> list[Question]:
    first = next(iter(asked.values()))
    return [
        Question("a", "published", first.array, first.workload, {"iops": 100.0, "mean": 10.0}),
        Question("b", "published", first.array, first.workload, {"iops": 100.0}),
    ]


def test_a_version_asks_always_the_same(asked: dict[str, Question]) -> None:
    assert questions.fingerprint() == FINGERPRINTS[questions.VERSION]
    assert len(asked) == len(questions.questions())
    assert {item.group for item in asked.values()} == set(questions.GROUPS)


@pytest.mark.parametrize("group", SAMPLE)
def test_kept_answers_are_those_of_today(group: str, asked: dict[str, Question]) -> None:
    item = asked[SAMPLE[group]]
    kept = predictors.diskmodel()
    for name, found in predictors.simulated(item).items():
        assert kept[item.id, name].value == pytest.approx(found.value, rel=1e-4)


def test_every_figure_has_an_answer_of_each_predictor(asked: dict[str, Question]) -> None:
    for answers in (found() for found in predictors.PREDICTORS.values()):
        got = score(asked.values(), answers)
        assert got.n_answered == got.n_asked


def test_diskmodel_is_nearer_than_the_others_on_every_group(asked: dict[str, Question]) -> None:
    for group in questions.GROUPS:
        mine = [item for item in asked.values() if item.group == group]
        own, *others = (score(mine, found()) for found in predictors.PREDICTORS.values())
        assert all(own.median_error < other.median_error and own.near > other.near for other in others), group


def test_scores_by_hand(asked: dict[str, Question]) -> None:
    answers = {
        ("a", "iops"): Answer(105.0, 90.0, 120.0),  # near, inside
        ("a", "mean"): Answer(25.0, 20.0, 40.0),  # far, and 10 ms lies outside
    }
    got = score(two(asked), answers)
    assert (got.n_asked, got.n_answered, got.n_intervals, got.n_inside) == (3, 2, 2, 1)
    assert got.median_error == pytest.approx((0.05 + 1.5) / 2)
    assert (got.near, got.far) == (0.5, 0.5)
    inside, outside = math.log(120 / 90), math.log(2) + 40 * math.log(2)
    assert got.interval_score == pytest.approx((inside + outside) / 2)
    assert interval_score(10.0, 0.0, 20.0) == math.inf


def test_answers_are_read_as_they_were_written(tmp_path: Path, asked: dict[str, Question]) -> None:
    first, second, *_ = asked
    answers = {(first, "iops"): Answer(123.45, 100.0, 150.0), (second, "p99"): Answer(9.5)}
    file = tmp_path / "mine.csv"
    file.write_text(text_of(answers))
    assert read(file) == answers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,iops\nx,1\n", "must be id and statistics"),
        ("id,iops\nnobody asked,1\n", "must be that of a question"),
        ("id,iops\nraw_c00_rand_fds1_j2,fast\n", "must be a number above 0"),
        ("id,iops\nraw_c00_rand_fds1_j2,0\n", "must be a number above 0"),
    ],
)
def test_a_wrong_file_of_answers_is_refused(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(FormatError, match=said):
        read(file)
    monkeypatch.setattr("sys.argv", ["yardstick", str(file)])
    assert main() == 2
    assert said in capsys.readouterr().err


def test_own_answers_stand_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,iops\nraw_c00_rand_fds1_j2,216.43\n")
    monkeypatch.setattr("sys.argv", ["yardstick", str(file)])
    assert main() == 0
    assert "| mine | 1 of" in capsys.readouterr().out


def test_the_questions_are_complete_for_a_program_that_knows_nothing_of_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Question]
) -> None:
    file = tmp_path / "questions.json"
    monkeypatch.setattr("sys.argv", ["yardstick", "--questions", str(file)])
    assert main() == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    assert [item["id"] for item in found["questions"]] == list(asked)
    for item in found["questions"][::60]:
        assert found["drives"][item["array"]["drive"]]["kind"] in ("hdd", "flash", "virtual")
        assert Workload.parse(item["workload"]) == asked[item["id"]].workload


def test_the_page_is_what_the_script_writes() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
