"""Where commands write, and what they refuse to overwrite."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from diskmodel.workload import Workload
from tests.unit.cli.commands import EXAMPLES, process, refusal, run, write

IOSTAT = EXAMPLES / "measured" / "iostat.txt"


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    iostat = write(tmp_path / "i.txt", IOSTAT.read_text())
    array = write(tmp_path / "r.toml", (EXAMPLES / "raid5.toml").read_text())
    load = write(tmp_path / "w.toml", (EXAMPLES / "oltp.toml").read_text())
    os.symlink(tmp_path, tmp_path / "elsewhere")
    for words in (
        ("workload", iostat, "--out", iostat),
        ("workload", iostat, "--out", tmp_path / "elsewhere" / "i.txt"),
        ("animate", array, "--workload", load, "--out", array),
        ("animate", array, "--workload", load, "--out", load),
        ("calibrate", iostat, "--out", iostat),
    ):
        before = {path: path.read_bytes() for path in (iostat, array, load)}
        assert "would be overwritten" in refusal(*words), words
        assert before == {path: path.read_bytes() for path in before}, words


def test_a_file_that_is_replaced_is_named(tmp_path: Path) -> None:
    out = tmp_path / "w.toml"
    first, second = (run("workload", IOSTAT, "--out", out) for _ in range(2))
    said = f"{out.name} exists: the result will replace it"
    assert "will replace" not in first.stderr
    assert said in "".join(second.stderr.split("\n"))


def test_devices_pipes_and_links_stay(tmp_path: Path) -> None:
    victim = write(tmp_path / "victim.toml", "kept")
    os.symlink(victim, tmp_path / "link.toml")
    os.mkfifo(tmp_path / "fifo.toml")
    null = os.lstat("/dev/null")
    for out in ("/dev/null", tmp_path / "link.toml", tmp_path / "fifo.toml"):
        assert "not a regular file" in refusal("workload", IOSTAT, "--out", out)
    assert os.lstat("/dev/null").st_ino == null.st_ino
    assert victim.read_text() == "kept"
    os.symlink(victim, tmp_path / "link.svg")
    assert "not a regular file" in refusal("drives", "generic-10k", "--plot", tmp_path / "link.svg")
    assert victim.read_text() == "kept"


def test_standard_output_is_a_dash(tmp_path: Path) -> None:
    done = process("workload", IOSTAT, "--out", "-")
    assert done.returncode == 0, done.stderr
    assert Workload.parse(tomllib.loads(done.stdout)).streams
    assert "requests per second" in done.stderr
    assert "which the document of --json takes" in refusal("workload", IOSTAT, "--out", "-", "--json")
    assert "is read back" in refusal("measure", tmp_path, "--out", "-")


@pytest.mark.parametrize("name", ["fifo", "/proc/kmsg", "/dev/zero"])
@pytest.mark.parametrize("command", ["workload", "simulate", "validate"])
def test_what_never_ends_is_not_read(tmp_path: Path, name: str, command: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    path = tmp_path / name
    words = {
        "workload": ("workload", path),
        "simulate": ("simulate", path, "--workload", EXAMPLES / "oltp.toml"),
        "validate": ("validate", "generic-10k", path),
    }[command]
    done = process(*words)
    assert done.returncode == 2
    assert "not a file that can be read to its end" in done.stderr or "made up by the kernel" in done.stderr


@pytest.mark.parametrize("words", [("drives",), ("--version",), ("--help",), ("drives", "generic-10k", "--json")])
def test_nobody_reads(words: tuple[str, ...]) -> None:
    read, end = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "diskmodel", *words]
    done = subprocess.run(command, stdout=end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(end)
    assert (done.returncode, done.stderr) == (141, "")


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    evil = "\\u001b]0;title\\u0007"
    array = (EXAMPLES / "raid5.toml").read_text()
    array = f'name = "{evil}"\n' + "\n".join(line for line in array.splitlines() if not line.startswith("name"))
    path = write(tmp_path / "a.toml", array)
    load = EXAMPLES / "random-read.toml"
    done = run("simulate", path, "--workload", load, "--requests", 300)
    assert done.exit_code in (0, 3), done.stderr
    assert "\\x1b]0;title" in done.stdout
    for text in (done.stdout, done.stderr, refusal("workload", tmp_path / "\x1b]0;title\x07")):
        assert "\x1b" not in text
        assert "\x07" not in text


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    array = tmp_path / "a.toml"
    array.write_bytes(b"\xef\xbb\xbf" + (EXAMPLES / "raid5.toml").read_bytes())
    iostat = tmp_path / "i.txt"
    iostat.write_bytes(b"\xef\xbb\xbf" + IOSTAT.read_bytes())
    load = EXAMPLES / "random-read.toml"
    assert run("simulate", array, "--workload", load, "--requests", 300).exit_code == 0
    assert run("workload", iostat).exit_code == 0


def test_true_is_no_number(tmp_path: Path) -> None:
    text = 'drive = "generic-15k"\n[layout]\nlevel = "jbod"\ndisks = true\n'
    reported = refusal("simulate", write(tmp_path / "a.toml", text), "--workload", EXAMPLES / "oltp.toml")
    assert "disks: is true or false where a number or a text is required" in reported


def test_figures_beyond_reason_are_bad_input() -> None:
    load = EXAMPLES / "random-read.toml"
    reported = refusal("simulate", EXAMPLES / "single-disk.toml", "--workload", load, "--precision", "1e-300")
    assert "precision=1e-300: must be at least 1e-06" in reported
    words = ("--level", "raid5", "--read-fraction", 0.5)
    assert "must be at most 1e+15" in refusal("rule", *words, "--iops", "1e308", "--per-disk-iops", 100)
    assert "beyond all bounds" in refusal("rule", *words, "--iops", "1e15", "--per-disk-iops", "1e-300")


def test_remarks_of_numpy_are_not_for_users() -> None:
    code = (
        "import sys, numpy\n"
        "from diskmodel.cli import main\n"
        "sys.argv = ['diskmodel', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    numpy.log(numpy.zeros(1)), numpy.zeros(1) / 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
