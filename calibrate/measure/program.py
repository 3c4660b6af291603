"""Run the micro-benchmark program: find it, forward progress and Ctrl-C, turn its refusals into errors."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Literal

from calibrate.evidence import Measurement, load
from diskmodel.errors import DiskmodelError, Fault, MeasurementError

PROGRAM = "diskmodel-bench"
Mode = Literal["quick", "default", "thorough"]
#: Its exit status when the device or the program itself failed; a result may have been saved, marked as partial.
DEVICE_FAILED = 1
#: Seconds that the program may take to write a partial result after it was asked to stop.
STOP_S = 30.0


@dataclass(frozen=True)
class MeasurementProgress:
    """One report of a running measurement.

    `event` is "experiment", "progress", "skipped", "warning", "error" or "done"; `fraction` (0 to 1) and `remaining_s`
    are given for "progress"; `details` has all keys of the report.
    """

    event: str
    text: str
    elapsed_s: float
    fraction: float | None
    remaining_s: float | None
    details: dict[str, Any]


def find_program() -> Path:
    """Return the path of the micro-benchmark: where this distribution put it, beside the interpreter, or on PATH.

    Raises
    ------
    MeasurementError
        If it is nowhere.
    """
    with contextlib.suppress(PackageNotFoundError):
        for file in files("diskmodel") or []:
            if file.name == PROGRAM and (path := Path(str(file.locate())).resolve()).is_file():
                return path
    beside = Path(sys.executable).parent / PROGRAM
    if beside.is_file():
        return beside
    if on_path := shutil.which(PROGRAM):
        return Path(on_path)
    if not sys.platform.startswith("linux"):
        fix = "measure on a Linux machine (a live system will do), and take the file here to calibrate and plan"
        raise MeasurementError(Fault("program", PROGRAM, "needs Linux, and is not part of diskmodel elsewhere", fix))
    raise MeasurementError(
        Fault("program", PROGRAM, "was not found beside Python or on PATH", "install diskmodel again with pip")
    )


def measure(
    target: str | Path,
    out: str | Path,
    *,
    mode: Mode = "quick",
    seconds: float | None = None,
    size_bytes: int | None = None,
    experiments: Sequence[str] = (),
    write: bool = False,
    allow_target: str | None = None,
    resume: bool = False,
    seed: int | None = None,
    engine: Literal["auto", "io_uring", "threads"] = "auto",
    max_rows: int | None = None,
    on_progress: Callable[[MeasurementProgress], None] | None = None,
) -> Measurement:
    """Measure a disk with direct I/O and write the result to `out` as JSON.

    Parameters
    ----------
    target : path
        A block device or file (only read), or a directory or new path (a scratch file is made and removed again).
    out : path
        The result; replaced in one piece.
    mode : {"quick", "default", "thorough"}
        About one, ten or forty minutes.
    seconds : float, optional
        Time for all experiments together (s, > 0), instead of the mode's.
    size_bytes : int, optional
        Size of a scratch file (bytes, at least 16 MiB; 1 GiB unless given).
    experiments : sequence of str, optional
        Only these.
    write, allow_target
        Allow writing to the scratch file; to an existing target only if `allow_target` repeats it exactly.
    resume : bool
        Go on with an interrupted measurement in `out`.
    on_progress : callable, optional
        Called in this thread with each report.

    Raises
    ------
    MeasurementError
        If the target may not or cannot be measured, or the result not be written.
    KeyboardInterrupt
        After Ctrl-C, once the program has written its partial result and gone.
    DiskmodelError
        If the program failed. Where the device failed, the result has what was measured (`is_complete` is False).
    """
    # it ends when this process ends, however that happens
    command = [str(find_program()), f"--out={out}", "--progress=json", f"--parent={os.getpid()}"]
    command += [] if mode == "default" else [f"--{mode}"]
    options = {
        "--seconds": seconds,
        "--size": size_bytes,
        "--experiments": ",".join(experiments) or None,
        "--allow-target": allow_target,
        "--seed": seed,
        "--engine": engine,
        "--max-rows": max_rows,
    }
    for name, value in options.items():
        command += [] if value is None else [f"{name}={value}"]
    command += ["--write"] * write + ["--resume"] * resume
    # behind this, nothing that the target is called is taken for an option
    command += ["--", str(target)]
    status, faults, chatter, is_saved = _run(command, on_progress)
    if status == 0 or (status == DEVICE_FAILED and is_saved):
        return load(out)
    if status == 130:
        raise KeyboardInterrupt
    if status == 2:
        raise MeasurementError(faults or Fault("arguments", command[1:], chatter.strip() or "were refused"))
    reason = "; ".join(map(str, faults)) or chatter.strip() or f"exit status {status}"
    raise DiskmodelError(f"{PROGRAM} failed: {reason}")


def _run(
    command: list[str], on_progress: Callable[[MeasurementProgress], None] | None
) -> tuple[int, list[Fault], str, bool]:
    """Return exit status, faults reported by the program, other text that it wrote, and whether it saved its result."""
    is_saved = False
    faults: list[Fault] = []
    chatter: list[str] = []
    # A session of its own: Ctrl-C at the terminal reaches it through us, once.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            report = _parse(line)
            if report is None:
                chatter.append(line)
                continue
            is_saved = is_saved or report.event == "done"
            if report.event == "error":
                faults.append(_fault(report))
            if on_progress is not None:
                on_progress(report)
        return process.wait(), faults, "".join(chatter), is_saved
    except BaseException:
        _stop(process)
        raise
    finally:
        if process.stderr is not None:
            process.stderr.close()


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask the program to write what it has and end; kill it if it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        # What it still has to say must not block it: read the pipe to its end.
        with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
            process.communicate(timeout=STOP_S)
    if process.poll() is None:
        process.kill()
        process.wait()


def _parse(line: str) -> MeasurementProgress | None:
    try:
        raw = json.loads(line)
        return MeasurementProgress(
            event=raw["event"],
            text=raw["text"],
            elapsed_s=raw["elapsed_s"],
            fraction=raw.get("fraction"),
            remaining_s=raw.get("remaining_s"),
            details=raw,
        )
    except (json.JSONDecodeError, KeyError, TypeError):
        return None


def _fault(report: MeasurementProgress) -> Fault:
    details = report.details
    if details.get("kind") == "input":
        return Fault(details["field"], details["value"], details["rule"], details.get("fix", ""))
    return Fault(PROGRAM, None, report.text.removeprefix("error: "))
