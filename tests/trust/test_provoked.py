"""What goes wrong on real machines, provoked: nothing is lost or left half, and the message says what it was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from calibrate.measure import load
from diskmodel.errors import OutputError
from diskmodel.output import write_text
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.trial.simulated import Simulated
from tests.mount.mounting import mounted

ROOT = Path(__file__).parents[2]


def diskmodel(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "diskmodel", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def small_disk(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A file system of 64 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("file systems may not be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_disk_full(small_disk: Path) -> None:
    """The old answer stays, no half of the new one is left, and the message names the place and the reason."""
    kept = small_disk / "profile.toml"
    write_text(kept, "rpm = 7200\n")
    with pytest.raises(OutputError, match="the disk is full"):
        write_text(kept, "x" * 200_000)
    assert kept.read_text() == "rpm = 7200\n"
    assert os.listdir(small_disk) == ["profile.toml"]
    (small_disk / "filler").write_bytes(bytes(60_000))
    found = diskmodel("drives", "generic-7k2", "--plot", small_disk / "plot.svg")
    assert found.returncode == 2, found.stderr
    assert "the disk is full" in found.stderr


def test_disk_full_while_measuring(small_disk: Path, tmp_path: Path) -> None:
    """Neither the scratch file nor the result fits: an error of one line, nothing left behind."""
    found = diskmodel(
        "measure", tmp_path / "scratch", "--size", "64 MiB", "--seconds", 2, "--out", small_disk / "m.json"
    )
    assert found.returncode in (0, 2)
    if found.returncode == 0:
        assert load(small_disk / "m.json").experiments
    else:
        assert "the disk is full" in found.stderr
        assert os.listdir(small_disk) == []
    assert not (tmp_path / "scratch").exists()


def test_permission_denied(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can switch to a user without write permission")
    place = tmp_path / "mine"
    place.mkdir(mode=0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder.owner() == "root" and "pytest" in str(folder):
            folder.chmod(0o755)
    code = (
        "import os\n"
        "from diskmodel.output import write_text\n"
        "os.setuid(65534)\n"
        f"write_text({str(place / 'p.toml')!r}, 'x')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert "OutputError" in done.stderr
    assert "permission denied" in done.stderr
    assert os.listdir(place) == []


class DiesOnce(Simulated):
    """An evaluation whose worker is killed the first time; a file records that it has happened."""

    def __init__(self, flag: str) -> None:
        super().__init__()
        object.__setattr__(self, "flag", flag)

    def __call__(self, *args: object, **options: object):  # type: ignore[no-untyped-def,override]
        flag = Path(self.flag)  # type: ignore[attr-defined]
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(*args, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_killed_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan whose worker process is killed ends with the answer that it would have had."""
    plan = PlanDescription.load(ROOT / "examples/plan-oltp.toml")
    few = plan.model_copy(
        update={
            "search": plan.search.model_copy(update={"requests": 1000, "max_requests": 1000}),
            "candidates": plan.candidates.model_copy(update={"drives": plan.candidates.drives[2:], "max_disks": 20}),
        }
    )
    expected = run_plan(few, with_relaxations=False).to_dict()
    monkeypatch.setattr(
        "diskmodel.plan.run.pool.local_pool",
        lambda *_: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    )
    found = run_plan(few, evaluate=DiesOnce(str(tmp_path / "died")), with_relaxations=False).to_dict()
    assert (tmp_path / "died").exists()
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


@pytest.mark.slow
def test_device_that_vanishes_during_a_measurement(tmp_path: Path) -> None:
    """What was measured before is there and said to be partial; the program neither hangs nor crashes."""
    out = tmp_path / "m.json"
    with mounted("generic-7k2", tmp_path / "place", "--size", "2 GiB") as mount:
        timer = threading.Timer(8, mount.process.kill)
        timer.start()
        try:
            found = diskmodel("measure", mount.file, "--out", out, "--quick", timeout=120)
        finally:
            timer.cancel()
            mount.process.wait()
            mount.status = -9
    assert found.returncode == 3, found.stderr
    assert "ended early" in found.stdout
    assert "incomplete" in found.stderr
    measured = load(out)
    assert not measured.is_complete
    assert {"io_error"} <= {warning["code"] for warning in measured.warnings}
    whole = [item for item in measured.experiments if item.skipped is None and not item.is_partial]
    assert whole
    assert len(whole[0].samples) > 0


def test_interrupted_plan_leaves_no_half_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    question = ["examples/plan-oltp.toml", "--sensitivity", "--report", str(report)]
    words = [sys.executable, "-m", "diskmodel", "plan", *question]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.5)  # it takes three seconds and more
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode in (130, -signal.SIGINT), said  # a shell reports both as 130
    assert os.listdir(tmp_path) == []


STEPPING_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static long started;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    struct timespec now;
    real(CLOCK_MONOTONIC, &now);
    if (!started) started = now.tv_sec;
    int found = real(clock, time);
    if (clock == CLOCK_REALTIME && now.tv_sec >= started + 2) time->tv_sec -= 3600;
    return found;
}
"""


def test_clock_that_jumps_back_during_a_measurement(tmp_path: Path) -> None:
    """Latencies come from a clock that cannot be set; a change of the other one is reported."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a clock that jumps")
    (tmp_path / "clock.c").write_text(STEPPING_CLOCK)
    library = tmp_path / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"], check=True)
    words = ("--size", "64 MiB", "--seconds", 5, "--experiments", "random_reads", "--out", tmp_path / "m.json")
    found = diskmodel("measure", tmp_path / "scratch", *words, env={**os.environ, "LD_PRELOAD": str(library)})
    assert found.returncode == 0, found.stderr
    measured = load(tmp_path / "m.json")
    assert "clock_step" in {warning["code"] for warning in measured.warnings}
    (reads,) = (item for item in measured.experiments if item.skipped is None)
    assert (reads.samples.latency_ns > 0).all()
    assert reads.samples.latency_ns.max() < 60e9
