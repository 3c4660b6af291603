"""What the micro-benchmark must not touch, and how it ends when something goes wrong around it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from calibrate.measure import find_program, measure
from diskmodel.errors import MeasurementError
from tests.calibrate.test_measure_program import SIZE, names, refusal, run, written_file

RAW = ("--size", SIZE, "--seconds", 0.2, "--requests", 50)


@pytest.fixture(autouse=True)
def _needs_direct_io(tmp_path: Path) -> None:
    try:
        os.close(os.open(tmp_path / "probe", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
        (tmp_path / "probe").unlink()
    except OSError as error:
        pytest.skip(f"no direct I/O in the folder for temporary files: {error}")


def test_links_in_a_shared_folder_are_not_followed(tmp_path: Path) -> None:
    """Another user occupies the name that the temporary file of the next process would have."""
    victim = tmp_path / "victim"
    victim.write_text("kept")
    shared = tmp_path / "shared"
    shared.mkdir()
    code = (
        "import os, sys\n"
        f"os.symlink({str(victim)!r}, f'{shared}/.m.json.{{os.getpid()}}.part')\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    words = [find_program(), "raw", tmp_path / "scratch", "--out", shared / "m.json", *RAW]
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False)
    assert victim.read_text() == "kept"
    assert done.returncode == 0, done.stderr
    assert json.loads((shared / "m.json").read_text())["state"] == "complete"


@pytest.mark.parametrize("kind", ["link", "fifo", "device", "hard link", "read-only"])
def test_only_an_ordinary_file_is_replaced(tmp_path: Path, kind: str) -> None:
    out, other = tmp_path / "m.json", tmp_path / "other"
    other.write_text("kept")
    match kind:
        case "link":
            out.symlink_to(other)
        case "fifo":
            os.mkfifo(out)
        case "device":
            out = Path("/dev/null")
        case "hard link":
            os.link(other, out)
        case "read-only":
            out.write_text("kept")
            out.chmod(0o444)
    before = os.lstat(out)
    reported = refusal("raw", tmp_path / "scratch", "--out", out, *RAW)
    assert reported["field"] == "out"
    assert os.lstat(out).st_ino == before.st_ino
    assert other.read_text() == "kept"


def test_another_name_of_the_target_is_not_the_result(tmp_path: Path) -> None:
    target = tmp_path / "data"
    content = written_file(target)
    os.link(target, tmp_path / "m.json")
    assert refusal(target, "--out", tmp_path / "m.json", "--quick")["field"] == "out"
    assert target.read_bytes() == content


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """An image and the loop device that it backs."""
    image = tmp_path / "my image.img"
    written_file(image)
    attached = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if attached.returncode != 0:
        pytest.skip("no loop devices here")
    device = attached.stdout.strip()
    yield image, device
    subprocess.run(["losetup", "--detach", device], check=True)


def test_an_image_behind_a_loop_device_is_never_written(tmp_path: Path, loop: tuple[Path, str]) -> None:
    image, device = loop
    before = image.read_bytes()
    out = tmp_path / "m.json"
    other_name = tmp_path / "other name"
    os.link(image, other_name)
    for target in (image, other_name):
        words = (target, "--out", out, "--write", "--allow-target", target, "--experiments", "write_settle")
        reported = refusal(*words, "--seconds", 2)
        assert f"it backs the loop device {Path(device).name}" in reported["rule"]
    assert image.read_bytes() == before
    found = measure(image, out, seconds=1, experiments=("cache_hit",))
    assert not found.target["is_writable"]


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """`kill -9` of `diskmodel measure` must not leave the disk under load."""
    target = tmp_path / "data"
    written_file(target)
    words = [sys.executable, "-m", "diskmodel", "measure", str(target), "--out", str(tmp_path / "m.json"), "--quick"]
    parent = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child = _child_of(parent.pid)
        assert child is not None, "the program was not started"
        time.sleep(0.5)
    finally:
        parent.kill()
        parent.wait()
    assert _is_gone_within(child, 10.0)


def test_a_parent_that_is_gone_already_is_noticed(tmp_path: Path) -> None:
    """The process that started it died before it could ask for the signal."""
    done = run("raw", tmp_path / "s", "--out", tmp_path / "m.json", *RAW, "--parent", 2**22 - 1)
    assert done.returncode == 130
    assert names(tmp_path) == []


def _child_of(pid: int) -> int | None:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(300):
        for word in children.read_text().split():
            if Path(f"/proc/{word}/comm").read_text().startswith("diskmodel-bench"):
                return int(word)
        time.sleep(0.1)
    return None


def _is_gone_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return False


def test_the_list_on_a_full_disk_and_without_a_reader() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([find_program(), "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "panicked" in done.stderr) == (2, False)
    assert "the disk is full" in done.stderr
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([find_program(), "list"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_the_result_on_standard_output_without_a_reader(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    words = [str(word) for word in (find_program(), "raw", tmp_path / "s", "--out", "-", *RAW, "--progress", "none")]
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_result_beyond_the_file_size_limit_is_an_error(tmp_path: Path) -> None:
    """SIGXFSZ ended the program, without a message and with a part of the file left."""
    target, out = tmp_path / "data", tmp_path / "m.json"
    written_file(target)
    out.write_text("old")
    words = [str(word) for word in (find_program(), "raw", target, "--out", out, "--requests", 2000, "--depth", 4)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))  # noqa: E731
    done = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 2, done.stderr
    assert "file-size limit" in done.stderr
    assert out.read_text() == "old"
    assert names(tmp_path) == ["data", "m.json"]


def test_nothing_measured_is_not_complete(tmp_path: Path) -> None:
    assert refusal("raw", tmp_path / "s", "--out", tmp_path / "r.json", "--requests", 0)["field"] == "requests"
    reported = refusal(tmp_path / "s", "--out", tmp_path / "m.json", "--size", SIZE, "--seconds", 0.01)
    assert "no request was recorded" in reported["rule"]
    assert json.loads((tmp_path / "m.json").read_text())["state"] == "partial"


def test_a_target_is_never_taken_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = measure("--write", tmp_path / "m.json", seconds=1, size_bytes=SIZE, experiments=("cache_hit",))
    assert found.target["path"] == "--write"
    assert found.settings["is_writing"] is False
    written_file(tmp_path / "data")
    with pytest.raises(MeasurementError, match="allow-target"):
        measure("data", tmp_path / "m.json", seconds=1, write=True, allow_target="--quick")


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    done = run("raw", tmp_path / "no\x1b]0;title\x07folder" / "s", "--out", tmp_path / "m.json", *RAW)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr
