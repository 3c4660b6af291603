"""A fault at every call of every way to write: the old file or the new one is there, never less, and it is reported."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calibrate.measure import find_program

ROOT = Path(__file__).parents[2]
SHIM = ROOT / "tests" / "trust" / "injection" / "shim.c"
OLD = '{"format": "old"}\n'
#: Written fast and in one piece, and in pieces through a compressor; the other writers are in the slow tier.
QUICK = ("write_text", "trace-gz")


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes calls fail."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)
    return library


def table(shim: Path, folder: Path, *words: str) -> dict[str, Any]:
    """What every fault at every call of Python's writers came to."""
    command = [sys.executable, "-m", "tests.trust.injection.writers", str(folder), *words]
    environment = os.environ | {"LD_PRELOAD": str(shim), "INJECT_FOLDER": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any]) -> None:
    assert {name: row["problems"] for name, row in found.items() if row["problems"]} == {}
    # open and close of file and folder, write, two fsyncs and a rename are there at least, or nothing was injected
    assert all(row["calls"] >= 7 for name, row in found.items() if name != "append")


def test_python_writers(shim: Path, tmp_path: Path) -> None:
    check(table(shim, tmp_path, *QUICK))


@pytest.mark.slow
@pytest.mark.long
def test_all_python_writers(shim: Path, tmp_path: Path) -> None:
    check(table(shim, tmp_path))


def test_a_writer_that_does_not_sync_is_found(shim: Path, tmp_path: Path) -> None:
    """The proof that a power cut is simulated: without fsync the file is there, and its content is gone."""
    found = table(shim, tmp_path, "write_text", "--no-fsync")
    lost = {name for name, row in found.items() if row["problems"]}
    assert lost == {"write_text, old, power-kept", "write_text, none, power-kept"}


def bench(shim: Path, folder: Path, scratch: Path, at: int, how: str) -> subprocess.CompletedProcess[str]:
    """The micro-benchmark with a fault at a call on the folder of its result."""
    words = ["raw", scratch, "--out", folder / "m.json", "--size", "16M", "--seconds", 5, "--requests", 20]
    environment = os.environ | {
        "LD_PRELOAD": str(shim),
        "INJECT_FOLDER": str(folder),
        "INJECT_AT": str(at),
        "INJECT_HOW": how,
        "INJECT_REPORT": str(scratch) + ".calls",
    }
    command = [str(find_program()), *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("how", [str(errno.ENOSPC), str(errno.EIO), "kill", "power-kept", "power-undone"])
def test_the_benchmark(shim: Path, tmp_path: Path, how: str) -> None:
    folder, scratch = tmp_path / "out", tmp_path / "scratch"
    folder.mkdir()
    path = folder / "m.json"
    done = bench(shim, folder, scratch, 0, how)
    if done.returncode == 2 and "direct I/O" in done.stderr:
        pytest.skip("no direct I/O in the folder for temporary files")
    path.write_text(OLD)
    assert bench(shim, folder, scratch, 0, how).returncode == 0
    n_calls = int(Path(f"{scratch}.calls").read_text())
    n_failed = 0
    for at in range(1, n_calls + 1):
        for left in folder.iterdir():
            left.unlink()
        path.write_text(OLD)
        done = bench(shim, folder, scratch, at, how)
        text = path.read_text()
        assert text == OLD or json.loads(text)["state"] == "complete", f"call {at}"
        if how.isdecimal():
            assert os.listdir(folder) == ["m.json"], f"call {at} left something"
        if done.returncode == 0:  # a file that is synced may be closed in any way
            assert text != OLD
            continue
        assert done.returncode == (2 if how.isdecimal() else -signal.SIGKILL), done.stderr
        assert not how.isdecimal() or "cannot be written" in done.stderr, done.stderr
        n_failed += 1
    # a trial file, then the file, its data, its mode, file and folder on the medium, and the new name
    assert n_failed >= 6


@pytest.mark.parametrize("at", [1, 25])
def test_an_error_of_the_device_is_reported_and_what_was_measured_is_kept(shim: Path, tmp_path: Path, at: int) -> None:
    target, out = tmp_path / "target", tmp_path / "m.json"
    target.write_bytes(os.urandom(16 << 20))
    environment = os.environ | {
        "LD_PRELOAD": str(shim),
        "INJECT_FOLDER": str(target),
        "INJECT_CALL": "preadv2",
        "INJECT_AT": str(at),
        "INJECT_HOW": str(errno.EIO),
    }
    for words in (["raw", "--requests=50"], ["--seconds=3", "--experiments=cache_hit,random_reads"]):
        command = [str(find_program()), *words[:1], str(target), *words[1:], f"--out={out}", "--engine=threads"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 2 and "direct I/O" in done.stderr:
            pytest.skip("no direct I/O in the folder for temporary files")
        assert done.returncode == 1, done.stderr
        assert "Input/output error" in done.stderr
        found = json.loads(out.read_text())
        assert found["state"] == "partial"
        assert found["experiments"][0]["is_partial"] is True
        assert found["experiments"][0]["samples"]["n"] == at - 1
