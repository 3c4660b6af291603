"""`diskmodel plan` for a file with volumes."""

from pathlib import Path

import pytest

from diskmodel.plan import ServerPlan
from tests.unit.cli.commands import EXAMPLES, answer, refusal, run, write

SMALL = """
name = "small server"

[[volumes]]
name = "data"
capacity = "100 GB"
workload = { size = "8 KiB", read_ratio = 0.8, rate = "100/s" }
objective = { latency = { p99 = "60 ms" } }

[[volumes]]
name = "scratch"
capacity = "50 GB"
workload = { size = "8 KiB", rate = "100/s" }
objective = { latency = { p99 = "60 ms" } }

[candidates]
drives = ["generic-15k"]
levels = ["raid1"]

[search]
requests = 30000
max_requests = 60000
max_requests_at_answer = 60000
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "plan.toml", SMALL)


def test_both_arrangements_are_answered_and_the_saved_question_gives_the_same(file: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.toml"
    found = answer("plan", "--nominal", file, "--level", "raid10", "--max-disks", 6, "--save", saved)
    assert found["best"] == "shared"
    apart, shared = found["arrangements"]
    assert (apart["disks"], shared["disks"]) == (8, 4)
    (array,) = shared["arrays"]
    assert {item["volume"] for item in array["sharing"]} == {"data", "scratch"}
    assert array["result"]["best"]["streams"]["data"]["latency_ms"]["p99"] > 0
    assert ServerPlan.load(saved).candidates.max_disks == 6
    again = answer("plan", "--nominal", saved)
    assert again["arrangements"] == found["arrangements"]
    text = run("plan", "--nominal", saved).stdout
    assert text.startswith("One array for all: 4 disks")
    assert "Apart they take 8 disks: data 4, scratch 4." in text


def test_a_report_is_written(file: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert run("plan", "--nominal", file, "--report", report).exit_code == 0
    assert "small server" in report.read_text(encoding="utf-8")


def test_no_arrangement_ends_with_status_3(file: Path) -> None:
    file.write_text(SMALL.replace('capacity = "100 GB"', 'capacity = "100 TB"'))  # needs no simulation
    assert "no arrangement meets every objective" in run("plan", "--nominal", file).stderr
    assert answer("plan", "--nominal", file, status=3)["best"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--iops", 5, "--p99", "5ms"), "--iops=5.0: describes one workload, and the plan has volumes"),
        (("--from", "preset:log"), "--from='preset:log': is for a plan with one workload"),
        (("--waterfall", "w.svg"), "is for a plan with one workload"),
        (("--max-disks", 0), "--max-disks"),
    ],
)
def test_options_of_one_workload_are_refused(words: tuple[object, ...], said: str, file: Path) -> None:
    assert said in refusal("plan", file, *words)


def test_the_example_is_a_plan() -> None:
    plan = ServerPlan.load(EXAMPLES / "plan-server.toml")
    assert set(plan.arrangements) == {"apart", "shared"}
