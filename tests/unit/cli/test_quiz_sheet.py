"""`diskmodel quiz`: the questions of the lab, with their solutions, as a page and as JSON."""

import json
from pathlib import Path

from typer.testing import CliRunner

from diskmodel.cli.app import app
from diskmodel.lab.quiz import Quiz


def test_a_sheet_has_the_questions_and_on_other_pages_the_solutions(tmp_path: Path) -> None:
    sheet, bare = tmp_path / "sheet.html", tmp_path / "bare.html"
    done = CliRunner().invoke(app, ["quiz", "--seed", "7", "--questions", "2", "--out", str(sheet), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    text = sheet.read_text()
    for number, one in enumerate(document["questions"]):
        quiz = Quiz(number, 7)
        revealed = quiz.reveal(one["right"][0])
        assert revealed["is_right"]
        assert (one["question"], one["answer"]) == (quiz.to_dict()["question"], revealed["answer"])
        assert text.count(one["question"]) == 2
    assert text.index("Solutions of quiz 7") > text.index(document["questions"][1]["question"])
    assert text.count('class="right"') == sum(len(one["right"]) for one in document["questions"])
    assert "<script" not in text
    done = CliRunner().invoke(app, ["quiz", "--seed", "7", "--questions", "2", "--no-solutions", "--out", str(bare)])
    assert done.exit_code == 0
    assert "Solutions" not in bare.read_text()


def test_a_terminal_shows_solutions_only_where_they_are_asked_for_and_below_all_questions() -> None:
    asked = ["quiz", "--seed", "7", "--questions", "2"]
    questions = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["questions"]
    bare = CliRunner().invoke(app, asked)
    assert bare.exit_code == 0
    assert "diskmodel quiz --seed 7 --questions 2 --solutions" in bare.stderr
    assert "Solutions" not in bare.stdout
    assert "a) " in bare.stdout
    solved = CliRunner().invoke(app, [*asked, "--solutions"]).stdout
    assert solved.startswith(bare.stdout)
    below = solved.removeprefix(bare.stdout)
    for one in questions:
        right = " or ".join("abcdef"[n] for n in one["right"])
        assert f"{one['number'] + 1}. {right}: " in below
        assert one["why"].split(".")[0] in " ".join(below.split())
