"""`diskmodel demo`: the whole way, from this machine's disk to the number of disks to buy."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.calibrate import fit, lines, table_of
from diskmodel.cli.measure import measured_lines, run_measurement, summary
from diskmodel.cli.plan import answer, ask, write_files
from diskmodel.cli.shared.console import print_json, say, show, show_command
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import BAD_INPUT, ends_well
from diskmodel.errors import DescriptionError, Fault, InputError

if TYPE_CHECKING:
    from diskmodel.plan import PlanResult

#: Drives to plan with, besides the measured one: a nearline disk, a disk of 10,000 rpm and a flash drive that are sold.
BUNDLED = ("seagate-exos-x24", "seagate-exos-10e2400-2400", "micron-7450-pro-1920")
PLAN = Path("examples/plan-oltp.toml")


@ends_well
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the results; created if necessary.")] = Path(
        "out"
    ),
    target: Annotated[
        Path | None, typer.Option(help="Disk to measure, see `diskmodel measure`; default: a scratch file in --out.")
    ] = None,
    plan: Annotated[Path, typer.Option(help="Plan to answer, see `diskmodel plan`.")] = PLAN,
    seconds: Annotated[
        float | None, typer.Option(help="Seconds for the measurement; default: as with --quick.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure this machine's disk, calibrate a model of it, and plan arrays with it and with bundled drives.

    Each step is a command that you can run yourself; it is printed before its output.
    """
    if not plan.is_file():
        rule = "does not exist"
        raise DescriptionError(
            Fault("plan", str(plan), rule, "go to the project's directory, or name a plan with --plan")
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as failed:
        reason = (failed.strerror or "cannot be created").lower()
        raise DescriptionError(Fault("out", str(out), reason, "name another place")) from None
    step, began = _Steps(is_silent=as_json), time.monotonic()
    found: dict[str, Any] = {"measurement": None, "calibration": None, "plan": None}
    profile, error = None, None
    try:
        found["measurement"] = _measure(step, target or out, out / "this-machine.json", seconds)
        found["calibration"] = _calibrate(step, out / "this-machine.json", out / "this-machine.toml")
        if found["calibration"]["converged"]:
            profile = str(out / "this-machine.toml")
    except InputError as refused:
        error = refused
        say(f"error: {refused}", "red")
        say("Continuing with the bundled drives; --target names another place to measure.", "yellow")
    drives = [*([profile] if profile else []), *BUNDLED]
    found["plan"] = _plan(step, plan, drives, out).to_dict()
    if as_json:
        print_json(found)
    say(f"done in {time.monotonic() - began:.0f} s; everything is in {out}")
    if error is not None:
        raise typer.Exit(BAD_INPUT)


class _Steps:
    """Prints each step: its command first, then its answer."""

    def __init__(self, *, is_silent: bool) -> None:
        self._is_silent = is_silent

    def begin(self, *words: str | Path) -> None:
        """Print the command of this step."""
        command = shlex.join(["diskmodel", *map(str, words)])
        if self._is_silent:
            say(f"$ {command}")
        else:
            show_command(command)

    def answer(self, *parts: Any) -> None:
        """Print an answer for people."""
        if not self._is_silent:
            show(*parts)


def _measure(step: _Steps, target: Path, out: Path, seconds: float | None) -> dict[str, Any]:
    words: list[str | Path] = ["measure", target, "--out", out, "--quick"]
    step.begin(*words, *([] if seconds is None else ["--seconds", f"{seconds:g}"]))
    measured = run_measurement(target, out, mode="quick", seconds=seconds)
    step.answer(*measured_lines(measured))
    return summary(measured)


def _calibrate(step: _Steps, evidence: Path, out: Path) -> dict[str, Any]:
    step.begin("calibrate", evidence, "--out", out)
    printed, drive = fit([evidence], None, seed=0)
    drive.save(out)
    step.answer(*lines(printed), table_of(printed["parameters"]))
    if not printed["converged"]:
        say(f"no: the fit did not converge: {printed['message']}; planning without this disk", "bold yellow")
    return printed


def _plan(step: _Steps, plan: Path, drives: list[str], out: Path) -> PlanResult:
    from diskmodel.plan import plan_table
    from diskmodel.plan.show.table import explanation

    plot, report = out / "latency-against-load.png", out / "plan.html"
    options = [word for drive in drives for word in ("--drive", drive)]
    step.begin("plan", plan, *options, "--explain", "--plot", plot, "--report", report)
    result = answer(ask({"drive": drives}, plan)[0])
    step.answer(plan_table(result), explanation(result))
    write_files(result, report, plot)
    return result
