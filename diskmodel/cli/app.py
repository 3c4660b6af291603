"""The commands, gathered."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

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
    quiz,
    replay,
    rule,
    simulate,
    validate,
    workload,
)
from diskmodel.cli.shared.console import say
from diskmodel.cli.shared.status import BAD_INPUT
from diskmodel.errors import Fault
from diskmodel.version import __version__

#: What the library calls the type of a value that may be repeated, or that has limits.
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?:\]| range)>")


#: Options as fio, iostat and RAID calculators name them → as they are named here.
_OTHER_NAMES = {
    "--block": ("--bs", "--size", "--block-size", "--blocksize", "--request-size", "--io-size"),
    "--queue-depth": ("--iodepth", "--depth", "--qd", "--outstanding", "--threads", "--numjobs"),
    "--iops": ("--rate", "--rps", "--ops", "--rate-iops"),
    "--reads": ("--rw", "--rwmixread", "--read", "--read-ratio", "--mix", "--writes"),
    "--level": ("--raid", "--raid-level"),
    "--drive": ("--disk", "--model"),
    "--capacity": ("--space", "--usable"),
    "--out": ("--output",),
}


class Command(TyperCommand):
    """A command that reports a wrong option as the descriptions do: its value, the rule and the fix."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line; the library's own sentences about types are for programmers."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if (fault := self._fault(error)) is None:
                raise
        except Exception as error:  # the library does not publish the class of an unknown option
            if not hasattr(error, "possibilities"):
                raise
            fault = self._unknown(ctx, error)
        say(f"error: {fault}", "red")
        raise typer.Exit(BAD_INPUT)

    def _unknown(self, ctx: Any, error: Any) -> Fault:
        """Return the fault of an option that the command does not have: one of another name, or of another program."""
        known = {name for param in self.params for name in param.opts}
        meant = [ours for ours, others in _OTHER_NAMES.items() if error.option_name in others and ours in known]
        near = meant or get_close_matches(error.option_name, known, n=1, cutoff=0.7)
        fix = f"did you mean {near[0]}?" if near else f"{ctx.command_path} --help lists its options"
        return Fault(error.option_name, None, f"is not an option of {ctx.info_name}", fix)

    @staticmethod
    def _fault(error: Any) -> Fault | None:
        """Return the fault of a value of the wrong type or range; None for any other mistake."""
        from pydantic import ValidationError

        from diskmodel.faults import faults_of

        if not isinstance(error.__cause__, ValidationError) or error.param is None:
            return None
        (first, *_), item = faults_of(error.__cause__), error.__cause__.errors()[0]
        name = error.param.opts[0] if error.param.param_type_name == "option" else error.param.human_readable_name
        fix = "write digits only" if "without quotes" in first.fix else first.fix
        return Fault(name, item.get("input"), first.rule, fix)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the types of values as users know them: `<path>` for `<list[Path]>`."""
        super().format_help(ctx, formatter)
        text = _TYPE.sub(lambda found: f"<{found[1].lower()}>".ljust(len(found[0])), formatter.getvalue())
        formatter.buffer = [text]


class CommandsByPurpose(TyperGroup):
    """The commands in `--help`, grouped by purpose."""

    sections: ClassVar[dict[str, list[str]]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each purpose, with its commands in one column."""
        widest = max(len(name) for names in self.sections.values() for name in names)
        for title, names in self.sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), command.short_help or "") for name, command in commands if command]
                )


app = typer.Typer(
    name="diskmodel",
    cls=CommandsByPurpose,
    help="How many disks do we need, and RAID 5 or RAID 10? Measure a disk, calibrate a model of it, predict arrays.",
    epilog="Exit status: 0 success, 1 a bug in diskmodel, 2 bad input, 3 the answer is no "
    "(infeasible, unstable, not converged).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


#: One line of `diskmodel --help` for each command, by purpose.
_COMMANDS = {
    "Plan and predict": (
        (plan.plan, "find how many disks, which drive and which RAID level"),
        (compare.compare, "compare arrays side by side, up to overload"),
        (simulate.simulate, "simulate one array under one workload"),
        (replay.replay, "replay a trace on arrays, with latency over time"),
        (rule.rule, "count disk operations as RAID calculators do"),
    ),
    "Describe the load and the disk": (
        (workload.workload, "make a workload from iostat, sar, fio or a block trace"),
        (drives.drives, "list the bundled drives, or show one of them"),
        (measure.measure, "measure this machine's disk"),
        (calibrate.calibrate, "fit a drive to measurements, fio results or a trace"),
        (validate.validate, "compare a drive with measurements, fio results or a trace"),
    ),
    "Explore": (
        (demo.demo, "measure this machine's disk, calibrate it, plan with it"),
        (lab.lab, "explore curves, the moving head and a quiz in the browser"),
        (quiz.quiz, "write a quiz about disks and arrays, with its solutions"),
        (animate.animate, "write a page that animates the disk head during a run"),
        (mount.mount, "mount a drive or array as a file with simulated timing"),
    ),
}
for _section, _members in _COMMANDS.items():
    for _command, _help in _members:
        _name = app.command(cls=Command, short_help=_help)(_command).__name__
        CommandsByPurpose.sections.setdefault(_section, []).append(_name)
