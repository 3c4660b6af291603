"""The commands, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

import diskmodel
from diskmodel.cli import (
    animate,
    calibrate,
    compare,
    demo,
    drives,
    lab,
    measure,
    mount,
    plan,
    rule,
    simulate,
    validate,
    workload,
)

app = typer.Typer(
    name="diskmodel",
    help="How many disks do we need, and RAID 5 or RAID 10? Measure a disk, calibrate a model of it, predict arrays.",
    epilog="Exit status: 0 done, 1 a fault of diskmodel itself, 2 bad input, 3 an honest no "
    "(infeasible, unstable, not converged).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(diskmodel.__version__)
        raise typer.Exit()


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


#: What `diskmodel --help` says of each command.
_COMMANDS = (
    (demo.demo, "all of it: this machine's disk measured, calibrated, planned with"),
    (rule.rule, "count disk operations as RAID calculators do"),
    (drives.drives, "the bundled drives, or one of them"),
    (simulate.simulate, "one array under one workload"),
    (compare.compare, "arrays side by side, up to overload"),
    (plan.plan, "how many disks, of which kind, in which level"),
    (animate.animate, "a run as a page on which the head moves"),
    (lab.lab, "sliders, live curves, the moving head and a quiz, in the browser"),
    (measure.measure, "what this machine's disk does"),
    (calibrate.calibrate, "a drive from measurements, fio results or a trace"),
    (validate.validate, "a drive against measurements, fio results or a trace"),
    (mount.mount, "a drive or array nobody has bought yet, as a file that answers in real time"),
    (workload.workload, "a workload from iostat, sar, fio or a block trace"),
)
for _command, _help in _COMMANDS:
    app.command(short_help=_help)(_command)
