"""`diskmodel measure`, `calibrate`, `validate` and `demo`: evidence in, drives out, every way of ending."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrate.evidence.requests import RequestTrace
from diskmodel.array import Array
from diskmodel.drive import load_drive
from tests.calibrate.trace.traced_drive import TracedDrive
from tests.unit.cli.commands import EXAMPLES, answer, process, refusal, run, write

HARD_DISK = TracedDrive()
SCORES = {"n", "measured_mean_ms", "predicted_mean_ms", "mean_error_ratio", "demerit_ms", "demerit_ratio", "mae_ms"}


def written(path: Path, trace: RequestTrace) -> Path:
    rows = zip(trace.is_write, trace.lba, trace.n_blocks, trace.response_ms, trace.pause_ms, strict=True)
    lines = [f"{'W' if w else 'R'} Hit {lba} {n} {1e3 * ms:.3f} {1e3 * gap:.3f}\n" for w, lba, n, ms, gap in rows]
    return write(path, "".join(lines))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trace of a hard disk of 7213.7 rpm."""
    return written(tmp_path_factory.mktemp("trace") / "disk.trace", HARD_DISK.trace(2500, seed=5))


@pytest.fixture(scope="module")
def profile(trace: Path) -> tuple[Path, dict[str, object]]:
    """A drive calibrated from the first 2000 requests, and what was printed."""
    out = trace.with_name("drive.toml")
    return out, answer("calibrate", trace, "--requests", "0:2000", "--out", out)


@pytest.fixture
def direct_io(tmp_path: Path) -> None:
    try:
        os.close(os.open(tmp_path / "probe", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
        (tmp_path / "probe").unlink()
    except OSError as error:
        pytest.skip(f"no direct I/O in the folder for temporary files: {error}")


def test_calibration_of_a_trace(profile: tuple[Path, dict[str, dict[str, dict[str, float]]]]) -> None:
    path, printed = profile
    assert printed["converged"] is True
    assert printed["kind"] == "hdd"
    assert {"demerit_ratio", "mean_error_ratio"} <= set(printed["held_out"])
    row = printed["parameters"]["rpm"]
    assert set(row) >= {"value", "stderr", "unit", "identified"}
    assert row["value"] == pytest.approx(7213.7, rel=1e-4)
    drive = load_drive(path)
    assert drive.kind == "hdd"
    assert drive.rpm == pytest.approx(7213.7, rel=1e-4)


def test_validation_on_the_other_part(trace: Path, profile: tuple[Path, object]) -> None:
    found = answer("validate", profile[0], trace, "--requests", "2000:2500")
    assert {*SCORES, "correlation", "reads", "writes"} <= set(found)
    assert set(found["reads"]) >= SCORES
    assert found["n"] == 500 == found["reads"]["n"] + found["writes"]["n"]
    assert abs(found["mean_error_ratio"]) < 0.05
    assert "500" in run("validate", profile[0], trace, "--requests", "2000:2500").stdout
    assert answer("validate", profile[0], trace, "--requests", "80%:") == found


def test_validation_of_a_drive_of_the_catalogue(trace: Path) -> None:
    found = answer("validate", "generic-7k2", trace, "--requests", "0:300")
    assert found["n"] == 300
    assert found["demerit_ms"] > 0


def test_a_calibrated_drive_simulates(profile: tuple[Path, object]) -> None:
    words = ("simulate", EXAMPLES / "single-disk.toml", "-w", EXAMPLES / "random-read.toml", "--requests", 500)
    assert answer(*words, "--drive", profile[0])["stable"] is True


def test_a_clock_without_a_revolution_exits_with_3(tmp_path: Path) -> None:
    true = HARD_DISK.trace(450, seed=6)
    noise = np.random.default_rng(3).uniform(0, 40, len(true))
    noisy = RequestTrace(true.is_write, true.lba, true.n_blocks, true.response_ms, true.pause_ms + noise)
    evidence = written(tmp_path / "noisy.trace", noisy)
    found = answer("calibrate", evidence, "--out", tmp_path / "d.toml", status=3)
    assert found["converged"] is False
    assert found["parameters"]["revolution"]["identified"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--requests", "5"), "must be A:B"),
        (("--requests", "-5:9"), "must be A:B"),
        (("--requests", "101%:"), "must be A:B"),
        (("--requests", "9:3"), "contains none of the 2500 requests"),
        (("--requests", "50%:40%"), "contains none of the 2500 requests"),
        (("--requests", "2500:"), "contains none of the 2500 requests"),
        (("--requests", "0:100"), "at least 400 requests"),
    ],
)
def test_ranges_without_requests_are_refused(trace: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refusal("calibrate", trace, "--out", tmp_path / "d.toml", *words)
    assert not (tmp_path / "d.toml").exists()


def test_files_that_are_not_evidence_are_refused(trace: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "d.toml")
    job = write(tmp_path / "job.fio", "[global]\nrw=randread\n[a]\nbs=4k\n")
    assert "has no response times" in refusal("calibrate", job, *out)
    assert "belongs to no measurement, recording or trace" in refusal(
        "calibrate", write(tmp_path / "t.txt", "hello there\n"), *out
    )
    assert "has more than one trace" in refusal("calibrate", trace, trace, *out)
    assert "nowhere" in refusal("calibrate", tmp_path / "nowhere", *out)
    assert "its directory does not exist" in refusal("calibrate", trace, "--out", tmp_path / "no" / "d.toml")
    assert "Missing argument" in refusal("validate", "generic-7k2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--quick", "--thorough"), "contradicts"),
        (("--engine", "steam"), "use auto, io_uring or threads"),
        (("--size", "1 parsec"), "unknown unit 'parsec'"),
        (("--experiments", "phrenology"), "phrenology"),
    ],
)
def test_measurements_that_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refusal("measure", tmp_path, "--out", tmp_path / "m.json", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("direct_io")
def test_measurement(tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    words = ("measure", tmp_path, "--out", out, "--seconds", 1, "--size", "32 MiB", "--experiments", "random_reads")
    found = answer(*words)
    assert {"out", "complete", "nature", "size_bytes", "findings", "experiments"} <= set(found)
    assert found["complete"] is True
    assert found["size_bytes"] == 32 << 20
    assert sum(item["rows"] for item in found["experiments"]) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]
    assert "only applies to a trace" in refusal("calibrate", out, "--out", tmp_path / "d.toml", "--requests", "0:9")


@pytest.mark.usefixtures("direct_io")
def test_interrupted_demo_leaves_no_scratch_file(tmp_path: Path) -> None:
    words = ("demo", "--out", tmp_path / "out", "--plan", EXAMPLES / "plan-oltp.toml")
    running = subprocess.Popen(
        [sys.executable, "-m", "diskmodel", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    out = tmp_path / "out"
    deadline = time.monotonic() + 60
    while not (out.is_dir() and list(out.iterdir())):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, output = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in output
    assert {path.name for path in out.iterdir()} <= {"this-machine.json"}


@pytest.mark.slow
@pytest.mark.usefixtures("direct_io")
def test_demo(tmp_path: Path) -> None:
    done = process("demo", "--out", "out", "--plan", EXAMPLES / "plan-oltp.toml", "--seconds", 20, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} >= {"this-machine.json", "latency-against-load.png", "plan.html"}
    for output in ("$ diskmodel measure out", "$ diskmodel calibrate out/this-machine.json", "$ diskmodel plan "):
        assert output in done.stdout
    for level in ("raid10", "raid5", "raid6"):
        assert done.stdout.count(level) >= 3
    assert "Seagate Exos 10E2400" in done.stdout
    assert "rule of thumb" in done.stdout
    assert (out / "latency-against-load.png").read_bytes().startswith(b"\x89PNG")
    assert ("held-out data: random reads" in done.stdout) == ("repeatability:" in done.stdout)


def test_demo_needs_a_plan_before_it_measures(tmp_path: Path) -> None:
    assert "does not exist" in refusal("demo", "--out", tmp_path / "out", "--plan", tmp_path / "none.toml")
    assert not (tmp_path / "out").exists()


def small_plan(folder: Path) -> Path:
    text = """
workload = { size = "8 KiB", read_ratio = 0.7, rate = "100/s" }
objective = { iops = 100, utilization_ceiling = "90%" }
candidates = { drives = ["generic-5k4"], levels = ["raid10"], max_disks = 12 }
search = { requests = 1000, max_requests = 1000 }
"""
    return write(folder / "plan.toml", text)


def test_demo_without_a_disk_to_measure_plans_all_the_same(tmp_path: Path) -> None:
    words = ("demo", "--out", tmp_path / "out", "--plan", small_plan(tmp_path), "--target", tmp_path / "no" / "disk")
    done = run(*words, "--json")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert found["measurement"] is None
    assert found["calibration"] is None
    assert len(found["plan"]["candidates"]) == 3
    assert "--target names another place" in done.stderr


def test_demo_leaves_out_a_drive_that_the_model_does_not_describe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diskmodel.cli import demo

    odd = {"converged": False, "message": "misses by 60 %", "kind": "flash", "parameters": {}, "held_out": {}}
    monkeypatch.setattr(demo, "_measure", lambda *_: {"nature": "undecided"})
    monkeypatch.setattr(demo, "fit", lambda *_, **__: (odd, load_drive("generic-sas-ssd")))
    found = answer("demo", "--out", tmp_path / "out", "--plan", small_plan(tmp_path))
    assert found["calibration"]["converged"] is False
    assert {item["drive"] for item in found["plan"]["candidates"]} == {load_drive(name).name for name in demo.BUNDLED}


ARRAY = """
drive = "generic-7k2"
drive_write_cache = true
layout = { level = "raid5", disks = 4, strip = "64 KiB", bitmap = {} }
"""


@pytest.fixture(scope="module")
def my_array(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an array."""
    return write(tmp_path_factory.mktemp("inside") / "my-array.toml", ARRAY)


@pytest.fixture(scope="module")
def inside(my_array: Path) -> tuple[Path, dict[str, Any]]:
    """A disk fitted inside an array to its reads one at a time, and what was printed."""
    folder = my_array.parent
    reads = json.loads((EXAMPLES / "measured" / "raid5-reads.json").read_text())
    evidence = write(folder / "reads.json", json.dumps(reads | {"jobs": reads["jobs"][:1]}))
    out = folder / "disk.toml"
    return out, answer("calibrate", evidence, "--array", my_array, "--capacity", "2TB", "--out", out)


@pytest.mark.slow
def test_a_disk_inside_an_array(inside: tuple[Path, dict[str, Any]]) -> None:
    out, printed = inside
    assert printed["converged"] is True
    assert printed["array"]["layout"]["disks"] == 4
    assert printed["residuals"][0]["measured_iops"] == pytest.approx(113.96)
    found = Array.load(out.with_name("disk-array.toml"))
    assert found.drive == load_drive(out)
    assert found.drive.capacity_bytes == 2 * 10**12
    assert found.layout == Array.load(out.with_name("my-array.toml")).layout
    assert found.drive_write_cache is True


@pytest.mark.slow
def test_an_array_is_validated(inside: tuple[Path, dict[str, Any]]) -> None:
    out, _ = inside
    printed = answer("validate", out.with_name("disk-array.toml"), out.with_name("reads.json"))
    assert abs(printed["mean_error_ratio"]) < 0.1


def test_a_trace_is_not_of_an_array(my_array: Path, trace: Path, tmp_path: Path) -> None:
    assert "is a trace" in refusal("calibrate", trace, "--array", my_array, "--out", tmp_path / "disk.toml")
    assert "is a trace" in refusal("validate", my_array, trace)


def test_a_place_for_an_array_needs_an_array(trace: Path, tmp_path: Path) -> None:
    words = ("calibrate", trace, "--array-out", tmp_path / "a.toml", "--out", tmp_path / "disk.toml")
    assert "array_out" in refusal(*words)


def test_iostat_is_not_evidence_of_an_array(my_array: Path, tmp_path: Path) -> None:
    words = ("calibrate", EXAMPLES / "measured" / "iostat.txt", "--array", my_array, "--out", tmp_path / "disk.toml")
    assert "no response times to fit" in refusal(*words)


@pytest.mark.parametrize(
    ("evidence", "capacity", "message"),
    [
        (
            "depths.json",
            "1MB",
            "capacity='1 MB': is less than the 1,073,741,824 bytes that were measured; give the drive's",
        ),
        ("raid5-reads.json", "1MB", "capacity='1 MB': is less than the 50,000,000,000 bytes that were measured"),
        ("raid5-reads.json inside", "1MB", "capacity='1 MB': is less than the smallest hard disk has"),
        # not a whole number of sectors
        ("raid5-reads.json inside", "4001 MB", "50,000,000,000 bytes that fio measured: 3 of them in raid5 hold"),
    ],
)
def test_a_capacity_without_room_for_what_was_measured(
    tmp_path: Path, evidence: str, capacity: str, message: str
) -> None:
    array = write(tmp_path / "three.toml", 'drive = "generic-7k2"\n[layout]\nlevel = "raid5"\ndisks = 3\n')
    name, *inside = evidence.split()
    words = ["calibrate", EXAMPLES / "measured" / name, "--capacity", capacity, "--out", tmp_path / "disk.toml"]
    found = refusal(*words, *(["--array", array] if inside else []))
    assert message in found
    assert not (tmp_path / "disk.toml").exists()


def test_fio_results_without_a_job_say_how_to_get_some(tmp_path: Path) -> None:
    empty = write(tmp_path / "fio.json", '{"fio version": "fio-3.36", "jobs": []}')
    message = refusal("calibrate", empty, "--out", tmp_path / "disk.toml")
    assert "jobs: holds no job; run fio again with --output-format=json" in message
