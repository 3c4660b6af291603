"""SIGTERM and Ctrl-C end every command within a second, and leave no half-written file."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from diskmodel.cli.app import COMMANDS
from tests.unit.cli.commands import EXAMPLES

EVIDENCE = EXAMPLES / "measured" / "depths.json"
ARRAY, OTHER, LOAD = EXAMPLES / "raid5.toml", EXAMPLES / "raid10.toml", ("-w", EXAMPLES / "oltp.toml")

#: Command → its words; OUT is a folder of the test's own. Most would run for many seconds.
WORDS: dict[str, tuple[object, ...]] = {
    "plan": ("plan", EXAMPLES / "plan-oltp.toml", "--report", "OUT/report.html"),
    "plan, in processes": ("plan", EXAMPLES / "plan-oltp.toml", "--engine", "simpy", "--report", "OUT/report.html"),
    "compare": ("compare", ARRAY, OTHER, *LOAD, "--plot", "OUT/plot.svg"),
    "capacity": ("capacity", ARRAY, "--plot", "OUT/plot.svg"),
    "simulate": ("simulate", ARRAY, *LOAD, "--requests", 3_000_000),
    "simulate, streamed": ("simulate", ARRAY, *LOAD, "--requests", 90_000_000, "--keep", "histogram"),
    "simulate, in Python": ("simulate", ARRAY, *LOAD, "--requests", 500_000, "--engine", "simpy"),
    "replay": ("replay", ARRAY, "--trace", EXAMPLES / "trace.csv", "--engine", "simpy", "--plot", "OUT/plot.svg"),
    "rule": ("rule", "--level", "raid5", "--disks", 5, "--per-disk-iops", 140, "--reads", "70%"),
    "array": ("array", EXAMPLES / "pool" / "zpool-status.txt"),
    "pool": ("pool", EXAMPLES / "pool" / "zpool-status.txt"),
    "workload": ("workload", EXAMPLES / "trace.csv", "--out", "OUT/load.toml"),
    "drives": ("drives",),
    "controllers": ("controllers",),
    "measure": ("measure", "OUT/disk", "--out", "OUT/measured.json", "--size", "64 MiB", "--quick"),
    "calibrate": ("calibrate", EVIDENCE, "--out", "OUT/drive.toml", "--report", "OUT/fit.html"),
    "explain": ("explain", EXAMPLES / "measured" / "slow-raid6.json", "--array", ARRAY, "--report", "OUT/why.html"),
    "validate": ("validate", "generic-10k", EVIDENCE),
    "demo": ("demo", "--out", "OUT/demo", "--plan", EXAMPLES / "plan-oltp.toml"),
    "lab": ("lab", "--no-browser", "--port", 0),
    "quiz": ("quiz", "--out", "OUT/quiz.html"),
    "animate": ("animate", ARRAY, *LOAD, "--out", "OUT/page.html"),
}

#: Those that may be done before the signal comes.
SHORT = (
    "rule",
    "drives",
    "controllers",
    "quiz",
    "calibrate",
    "validate",
    "array",
    "pool",
    "workload",
    "replay",
    "animate",
    "compare",
    "capacity",
)
#: Those of the others that work as `simulate` or `plan, in processes` do.
ALIKE = ("plan", "simulate, streamed", "simulate, in Python", "explain")
#: Processor time from the signal to the end, s: a second on each of two cores, which runs and searches use at once. A
#: busy machine adds to the wall time, not to this.
MOST_CORE_S = 2.0
#: Processor time after which a command has loaded its modules, s; it takes 0.6 on an idle machine.
START_CORE_S = 1.0


@dataclass
class Ended:
    """How a command ended that was sent a signal."""

    status: int
    core_s: float
    output: str


def test_every_command_is_here() -> None:
    # tests/mount has the one that needs a file system
    assert {str(words[0]) for words in WORDS.values()} == {name for own in COMMANDS.values() for name in own} - {
        "mount"
    }


@pytest.mark.parametrize("name", WORDS)
def test_a_signal_ends_it(name: str, tmp_path: Path) -> None:
    endings = {signal.SIGINT: 130, signal.SIGTERM: 143}
    if name in (*SHORT, *ALIKE):
        # most have no work of their own that a signal could meet: they get one of the two, in turn
        ending = list(endings)[(*SHORT, *ALIKE).index(name) % 2]
        endings = {ending: endings[ending]}
    running = {ending: _start(WORDS[name], tmp_path / ending.name) for ending in endings}
    try:
        for ending, process in running.items():
            ended = _ended(process, ending)
            # some are done before it; the lab's ordinary end is a signal, unless it is still starting
            is_done = name in (*SHORT, "lab") and ended.status == 0
            # before its first line and after its last one the signal itself ends it: 130 and 143 to shells, too
            assert is_done or ended.status in (endings[ending], -ending), ended
            assert ended.core_s < MOST_CORE_S, ended
            assert "Traceback" not in ended.output
            assert "panicked" not in ended.output
            _check_files(tmp_path / ending.name)
    finally:
        for process in running.values():
            _kill(process)


#: Ends itself when it has started a process, which has not been sent yet what to do; Ctrl-C reaches that one, too.
MEANWHILE = """
import os, signal, sys
from multiprocessing import util
from diskmodel.cli import main

ending = int(sys.argv.pop())

def started(program, words, passed, start=util.spawnv_passfds):
    pid = start(program, words, passed)
    if any("spawn_main" in str(word) for word in words):
        if ending == signal.SIGINT:
            os.kill(pid, ending)
        os.kill(os.getpid(), ending)
    return pid

util.spawnv_passfds = started
main()
"""


@pytest.mark.parametrize(("ending", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_a_process_starts(ending: signal.Signals, status: int) -> None:
    """The process that starts then says nothing of its own."""
    words = ["plan", EXAMPLES / "plan-oltp.toml", "--engine", "simpy", str(ending.value)]
    command = [sys.executable, "-c", MEANWHILE, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr


def _start(words: tuple[object, ...], out: Path) -> subprocess.Popen[str]:
    out.mkdir()
    texts = [str(word).replace("OUT", str(out)) for word in words]
    command = [sys.executable, "-m", "diskmodel", *texts]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=out)


def _ended(process: subprocess.Popen[str], ending: signal.Signals) -> Ended:
    """Send a signal to a command in the middle of its work, and wait for its end."""
    _until(process, lambda: _catches(process.pid))
    # it has loaded its modules and works, or waits: for a program that it has started, or for requests
    _until(process, lambda: _works(process.pid))
    before = _core_s_with_children(process.pid)
    process.send_signal(ending)
    assert process.stderr is not None
    with process.stderr:
        output = process.stderr.read()
    if process.returncode is not None:
        return Ended(process.returncode, 0.0, output)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(process.returncode, used.ru_utime + used.ru_stime - before, output)


def _kill(process: subprocess.Popen[str]) -> None:
    """End what a failed test has left running, with its own processes; nothing where it has ended."""
    if process.poll() is None:
        for child in _children(process.pid):
            os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait()


def _until(process: subprocess.Popen[str], is_reached: Callable[[], bool]) -> None:
    for _ in range(1200):
        if process.poll() is not None or is_reached():
            return
        time.sleep(0.05)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _core_s(pid: int) -> float:
    """Processor time of a process so far, s."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _core_s_with_children(pid: int) -> float:
    """Processor time of a process, of the children that it waited for and of those that run, s: what `wait4` counts."""
    fields = _stat(pid)
    if not fields:
        return 0.0
    waited_for = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return _core_s(pid) + waited_for + sum(map(_core_s_with_children, _children(pid)))


def _children(pid: int) -> list[int]:
    try:
        lists = [of_thread.read_text() for of_thread in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # a thread or the process has ended
        return []
    return [int(child) for children in lists for child in children.split()]


def _catches(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGHUP - 1) & 1)


def _works(pid: int) -> bool:
    return _core_s(pid) > START_CORE_S or bool(_children(pid)) or _is_waiting(pid)


def _is_waiting(pid: int) -> bool:
    """Whether it has done nothing for half a second, after it had begun."""
    before = _core_s(pid)
    time.sleep(0.5)
    return before > 0.5 and _core_s(pid) == before


def _check_files(out: Path) -> None:
    """Every file is whole: none is left over, and each can be read."""
    for path in out.rglob("*"):
        assert not path.name.startswith("."), path
        assert path.suffix != ".part", path
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".toml":
            tomllib.loads(path.read_text())
        elif path.suffix in (".html", ".svg"):
            # whole, or not there: the last thing that a command does may be done before the signal comes
            assert path.read_text().rstrip().endswith(f"</{path.suffix[1:]}>"), path
        elif path.is_file():
            assert path.name == "disk", path
