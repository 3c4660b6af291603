"""How the command ends: statuses, tracebacks, pipes, signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from diskmodel.cli.shared.status import ends_well
from diskmodel.errors import ConservationError, DescriptionError, Fault, MeasurementError
from diskmodel.plain import plain
from tests.unit.cli.commands import EXAMPLES, process, run


def ending(raised: BaseException, **options: object) -> int:
    @ends_well
    def command(**_: object) -> None:
        raise raised

    with pytest.raises(typer.Exit) as end:
        command(**options)
    return int(end.value.exit_code)


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (DescriptionError(Fault("disks", 0, "must be at least 1", "add one")), 2),
        (MeasurementError(Fault("target", "/dev/x", "is mounted")), 2),
        (ConservationError("a request was lost"), 1),
        (ZeroDivisionError("by zero"), 1),
        (KeyboardInterrupt(), 130),
        (MemoryError("745 GiB"), 2),
    ],
)
def test_status(raised: BaseException, status: int) -> None:
    assert ending(raised) == status


def test_fault_has_field_value_rule_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    ending(DescriptionError(Fault("raid.strip", 6000, "must be a multiple of 512", "try 6144"), "a.toml"))
    assert capsys.readouterr().err == "error: a.toml: raid.strip=6000: must be a multiple of 512; try 6144\n"


def test_own_fault_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    ending(ZeroDivisionError("by\nzero"))
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert "ZeroDivisionError: by zero" in output
    assert "--debug" in output


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    ending(ZeroDivisionError("by zero"), debug=True)
    assert "Traceback" in capsys.readouterr().err


def test_what_is_no_number_is_null() -> None:
    assert plain({"a": float("nan"), "b": [float("inf"), 1.5], "c": (Path("x"), None, True)}) == {
        "a": None,
        "b": [None, 1.5],
        "c": ["x", None, True],
    }


def test_version_and_help() -> None:
    assert process("--version").stdout == "0.1.0\n"
    shown = process("--help")
    assert shown.returncode == 0
    for command in ("rule", "drives", "simulate", "compare", "plan", "measure", "calibrate", "validate", "demo"):
        assert f"\n  {command} " in shown.stdout


def test_usage_errors_end_with_2() -> None:
    assert process("simulate").returncode == 2
    assert process("simulate", "--nonsense").returncode == 2
    assert process("nonsense").returncode == 2


def test_only_the_document_on_standard_output() -> None:
    done = process("simulate", EXAMPLES / "raid5.toml", "-w", EXAMPLES / "oltp.toml", "--requests", 500, "--json")
    assert done.returncode == 0
    assert done.stdout.startswith("{")
    assert done.stdout.endswith("}\n")


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "diskmodel", "drives", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals(number: int, status: int, tmp_path: Path) -> None:
    words = ("simulate", EXAMPLES / "raid5.toml", "-w", EXAMPLES / "oltp.toml", "--engine", "simpy")
    command = [sys.executable, "-m", "diskmodel", *map(str, words), "--requests", "1000000"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_handler(running.pid, signal.SIGHUP)  # the command installs it first, with the others
    time.sleep(1)  # it may be anywhere: loading modules, or simulating
    running.send_signal(number)
    _, output = running.communicate(timeout=60)
    assert running.returncode == status
    assert "Traceback" not in output


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_in_a_finalizer_is_not_lost(name: str, status: int) -> None:
    program = f"""
import os, signal, sys, time, types

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0)

def app(prog_name):
    Finalized()
    time.sleep(30)

sys.modules["diskmodel.cli.app"] = types.SimpleNamespace(app=app)
from diskmodel.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def wait_for_handler(pid: int, number: int) -> None:
    """Until the process catches the signal: a busy machine may take its time to start Python."""
    for _ in range(600):
        caught = next(
            line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")
        )
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.1)
    raise TimeoutError(f"process {pid} does not catch signal {number}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [("drives",), ("drives", "--json"), ("drives", "generic-15k", "--toml")])
def test_a_full_disk_is_no_fault_of_ours(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "diskmodel", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: output: no space left on device; make room, or write elsewhere\n"


def test_public_names_are_there() -> None:
    import diskmodel

    for name in diskmodel.__all__:
        assert getattr(diskmodel, name) is not None
    assert set(diskmodel.__all__) <= set(dir(diskmodel))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = diskmodel.nonsense  # type: ignore[attr-defined]


def test_no_arguments_show_help() -> None:
    assert "Usage" in run().stdout + run().stderr
