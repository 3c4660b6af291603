"""What does not need Linux works without what Python has on Linux alone; what needs it says so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from calibrate.measure.program import find_program
from diskmodel.errors import DiskmodelError
from diskmodel.mount.place import check


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.packaging.without_linux", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_plan_is_made_and_its_report_written_over_an_old_one(tmp_path: Path) -> None:
    report = tmp_path / "plan.html"
    report.write_text("old")
    words = (
        "plan --iops 150 --block 8k --reads 70% --p99 60ms --drive generic-7k2 --level raid10 --max-disks 6 --nominal"
    )
    done = run(*words.split(), "--json", "--report", str(report))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["feasible"]
    assert "</html>" in report.read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["plan.html"], "no temporary file is left"


def test_a_time_limit_ends_a_simulation() -> None:
    load = "--iops 100 --reads 70% --block 8k --requests 50000000 --time-limit 1s"
    done = run("simulate", "4x generic-7k2 raid10", *load.split())
    assert done.returncode != 0
    assert "is over while" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")


@pytest.mark.usefixtures("elsewhere")
def test_a_virtual_drive_says_that_it_needs_linux(tmp_path: Path) -> None:
    with pytest.raises(DiskmodelError, match="virtual drives need Linux"):
        check(tmp_path)


@pytest.mark.usefixtures("elsewhere")
def test_the_micro_benchmark_says_that_it_needs_linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("calibrate.measure.program.files", lambda name: [])
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DiskmodelError, match="needs Linux, and is not part of diskmodel elsewhere"):
        find_program()
