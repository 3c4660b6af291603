"""`diskmodel explain`, as scripts and people call it."""

from pathlib import Path

import pytest

from tests.unit.cli.commands import EXAMPLES, answer, refusal, run

RESULT = EXAMPLES / "measured" / "slow-raid6.json"
ARRAY = ("--array", "8x seagate-exos-x18 raid6")


@pytest.mark.slow
def test_it_names_the_cause_and_what_decides(tmp_path: Path) -> None:
    report = tmp_path / "why.html"
    found = answer("explain", RESULT, *ARRAY, "--report", report)
    first = found["causes"][0]
    assert first["cause"] == "member-failed"
    assert first["check"].startswith("cat /proc/mdstat")
    assert found["expected"]["slow-raid6.json, read-1024k-4"]["iops"]["low"] > 300
    assert "<svg" in report.read_text(encoding="utf-8")


def test_a_healthy_result_needs_no_explanation() -> None:
    done = run(
        "explain",
        EXAMPLES.parent / "tests" / "data" / "hgst-behind-p420i.fio.json",
        "--device",
        "randread-4-1",
        "--array",
        "hitachi-travelstar-7k500",
    )
    assert done.exit_code == 0
    assert done.stdout.startswith("nothing to explain: 75.6 IOPS measured")


def test_bad_input_is_refused(tmp_path: Path) -> None:
    assert "array" in refusal("explain", RESULT)
    assert "nonexistent" in refusal("explain", tmp_path / "nonexistent.json", *ARRAY)
    assert "html" in refusal("explain", RESULT, *ARRAY, "--report", tmp_path / "why.pdf")
    assert "is no job" in refusal("explain", RESULT, *ARRAY, "--device", "other")
