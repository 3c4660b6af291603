"""The real micro-benchmark on small scratch files: results, safety, clean-up, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from calibrate.evidence.measurement import FLUSH
from calibrate.measure import MeasurementProgress, find_program, load, measure
from diskmodel.errors import MeasurementError

SIZE = 64 << 20
FAST = ("cache_hit", "seek_profile", "random_reads")


@pytest.fixture(scope="module", autouse=True)
def _needs_direct_io(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("probe") / "file"
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError as error:
        pytest.skip(f"no direct I/O in the folder for temporary files: {error}")


def written_file(path: Path, size: int = SIZE) -> bytes:
    content = np.random.default_rng(7).bytes(size)
    with path.open("wb") as file:
        file.write(content)
        os.fsync(file.fileno())
    return content


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(find_program()), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def refusal(*arguments: object) -> dict[str, str]:
    done = run(*arguments, "--progress", "json")
    assert done.returncode == 2, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def test_a_scratch_file_is_measured_and_gone(tmp_path: Path) -> None:
    out = tmp_path / "out" / "m.json"
    out.parent.mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    reports: list[MeasurementProgress] = []
    found = measure(scratch, out, seconds=2, size_bytes=SIZE, experiments=FAST, on_progress=reports.append)
    assert found.is_complete
    assert found.size_bytes == SIZE
    assert found.target["kind"] == "scratch file"
    assert [e.name for e in found.experiments] == list(FAST)
    assert names(scratch) == []
    assert names(out.parent) == ["m.json"]
    assert {"experiment", "done"} <= {report.event for report in reports}
    for experiment in found.experiments:
        rows = experiment.samples
        # How many there are depends on the disk and on what else the machine does.
        assert len(rows) > 0
        assert (rows.latency_ns > 0).all()
        assert (rows.offset_bytes + rows.length_bytes <= SIZE).all()
        assert (rows.op == 0).all()
        assert sum(len(r.samples) for r in experiment.runs) == len(rows)
    reads = found.experiment("random_reads")
    assert reads is not None
    assert {r.queue_depth for r in reads.runs} == {1, 2, 4, 8, 16, 32}
    for one in reads.runs:
        assert (np.diff(one.samples.completion_ns) >= 0).all()
        assert one.summary["mean_ns"] == pytest.approx(one.samples.latency_ns.mean(), abs=0.1)


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_never_more_outstanding_than_the_depth(tmp_path: Path, engine: str) -> None:
    out = tmp_path / "m.json"
    done = run("raw", tmp_path / "s", "--out", out, "--size", SIZE, "--depth", 8, "--seconds", 0.3, "--engine", engine)
    if done.returncode == 2 and "io_uring" in done.stderr:
        pytest.skip("the kernel refuses io_uring")
    assert done.returncode == 0, done.stderr
    rows = load(out).experiments[0].samples
    assert len(rows) > 100
    times = np.concatenate([rows.issue_ns, rows.completion_ns])
    # Of events at one instant completions come first: engines refill only after a completion.
    order = np.lexsort((np.repeat([1, -1], len(rows)), times))
    outstanding = np.cumsum(np.repeat([1, -1], len(rows))[order])
    assert outstanding.max() == 8


def test_an_existing_file_is_only_read(tmp_path: Path) -> None:
    target = tmp_path / "data"
    content = written_file(target)
    before = target.stat()
    found = measure(target, tmp_path / "m.json", seconds=1, experiments=("cache_hit", "random_reads"))
    assert found.target["kind"] == "file"
    assert not found.target["is_writable"]
    assert target.read_bytes() == content
    assert target.stat().st_mtime_ns == before.st_mtime_ns


def test_writing_to_an_existing_file_needs_its_name(tmp_path: Path) -> None:
    target = tmp_path / "data"
    content = written_file(target)
    out = tmp_path / "m.json"
    with pytest.raises(MeasurementError, match="allow-target"):
        measure(target, out, seconds=1, write=True)
    with pytest.raises(MeasurementError, match="allow-target"):
        measure(target, out, seconds=1, write=True, allow_target=str(target) + "x")
    assert target.read_bytes() == content
    assert not out.exists()
    found = measure(target, out, seconds=2, write=True, allow_target=str(target), experiments=("write_settle",))
    assert set(found.experiments[0].samples.op.tolist()) == {0, 2}
    assert target.read_bytes() != content


def test_writing_experiments_run_on_a_scratch_file_when_asked(tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    chosen = ("write_settle", "write_cache", "flushes", "mixed_read_write")
    found = measure(tmp_path / "s", out, seconds=4, size_bytes=SIZE, write=True, experiments=chosen)
    assert [e.skipped for e in found.experiments] == [None] * 4
    flushes = found.experiment("flushes")
    assert flushes is not None
    before, run = flushes.runs
    assert before.samples.op.tolist() == [FLUSH]
    is_flush = run.samples.op == FLUSH
    assert run.samples.length_bytes[is_flush].tolist() == [0] * is_flush.sum()
    # no writes, a flush, one write, a flush, two writes …
    assert np.diff(np.flatnonzero(is_flush)[:7]).tolist() == [2, 3, 5, 9, 17, 33]
    assert {row["writes_before"] for row in flushes.summary["by_writes_before"]} >= {1, 2, 4}
    with pytest.raises(MeasurementError, match="no request was recorded: it writes"):
        measure(tmp_path / "s", out, seconds=3, size_bytes=SIZE, experiments=chosen)
    unasked = load(out)
    assert not unasked.is_complete
    assert all("--write" in (e.skipped or "") for e in unasked.experiments)


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "sparse"
    with target.open("wb") as file:
        file.truncate(SIZE)
    assert "sparse" in refusal(target, "--out", tmp_path / "m.json")["rule"]


def test_a_reserved_but_unwritten_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "reserved"
    with target.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE)
    assert "not written" in refusal(target, "--out", tmp_path / "m.json")["rule"]


def test_memory_is_refused(tmp_path: Path) -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("there is no /dev/shm")
    assert "tmpfs" in refusal("/dev/shm", "--out", tmp_path / "m.json")["rule"]


def test_a_small_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "small"
    written_file(target, 1 << 20)
    assert "too small" in refusal(target, "--out", tmp_path / "m.json")["rule"]
    assert refusal(tmp_path / "new", "--size", "1M", "--out", tmp_path / "m.json")["field"] == "size"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("/dev/null",), "target"),
        (("no/such/folder/file",), "target"),
        ((".", "--experiments", "levitation"), "experiments"),
        ((".", "--seconds", "-1"), "seconds"),
        ((".", "--size", "1000T"), "size"),
    ],
)
def test_bad_input_names_its_field(tmp_path: Path, arguments: tuple[str, ...], field: str) -> None:
    reported = refusal(*arguments[:1], "--out", tmp_path / "m.json", *[f"{x}" for x in arguments[1:]])
    assert reported["field"] == field
    assert reported["fix"]


def test_an_unwritable_result_is_reported_before_measuring(tmp_path: Path) -> None:
    assert refusal(tmp_path, "--out", tmp_path / "no" / "m.json")["field"] == "out"
    assert refusal(tmp_path, "--out", tmp_path)["field"] == "out"
    target = tmp_path / "data"
    content = written_file(target)
    assert "target" in refusal(target, "--out", target)["rule"]
    assert target.read_bytes() == content


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_a_valid_partial_result_that_can_be_resumed(tmp_path: Path, which: signal.Signals) -> None:
    out, scratch = tmp_path / "m.json", tmp_path / "s"
    command = [
        find_program(),
        scratch,
        "--out",
        out,
        "--size",
        SIZE,
        "--progress",
        "json",
        "--seconds",
        6,
        "--max-rows",
        300_000,
    ]
    command += ["--experiments", "cache_hit,random_reads"]
    with subprocess.Popen([str(x) for x in command], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            report = json.loads(line)
            if report["event"] == "experiment" and report["experiment"] == "random_reads":
                break
        time.sleep(0.3)
        process.send_signal(which)
        process.stderr.read()
    assert process.returncode == 130
    assert names(tmp_path) == ["m.json"]
    partial = load(out)
    assert not partial.is_complete
    assert [e.is_partial for e in partial.experiments] == [False, True]
    assert len(partial.experiments[1].samples) > 0

    with pytest.raises(MeasurementError, match="settings"):
        measure(scratch, out, mode="default", seconds=5, size_bytes=SIZE, max_rows=300_000, resume=True)
    whole = measure(
        scratch,
        out,
        mode="default",
        seconds=6,
        size_bytes=SIZE,
        max_rows=300_000,
        experiments=("cache_hit", "random_reads"),
        resume=True,
    )
    assert whole.is_complete
    assert [e.is_partial for e in whole.experiments] == [False, False]
    kept, again = whole.experiments
    assert kept.samples.latency_ns.tolist() == partial.experiments[0].samples.latency_ns.tolist()
    assert (kept.epoch, again.epoch) == (0, 1)


def test_ctrl_c_in_python_stops_the_program(tmp_path: Path) -> None:
    out = tmp_path / "m.json"

    def interrupt(report: MeasurementProgress) -> None:
        if report.details.get("experiment") == "random_reads":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path / "s", out, seconds=20, size_bytes=SIZE, experiments=FAST, on_progress=interrupt)
    assert names(tmp_path) == ["m.json"]
    assert not load(out).is_complete


def test_the_same_seed_reads_the_same_places(tmp_path: Path) -> None:
    offsets = []
    for seed in (1, 1, 2):
        out = tmp_path / f"m{len(offsets)}.json"
        run("raw", tmp_path / "s", "--out", out, "--size", SIZE, "--requests", 200, "--seed", seed)
        offsets.append(load(out).experiments[0].samples.offset_bytes.tolist())
    assert offsets[0] == offsets[1] != offsets[2]


def test_a_raw_job_mixes_as_asked(tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    job = ("raw", tmp_path / "s", "--out", out, "--size", SIZE, "--seconds", 0.5, "--depth", 4, "--length", "8K")
    assert run(*job, "--read-fraction", 0.7).returncode == 2
    assert run(*job, "--read-fraction", 0.7, "--write").returncode == 0
    rows = load(out).experiments[0].samples
    assert set(rows.length_bytes.tolist()) == {8192}
    share = float((rows.op == 0).mean())
    assert abs(share - 0.7) < 5 * (0.7 * 0.3 / len(rows)) ** 0.5
