"""The commands, gathered: each is loaded when it is called, and the list of all needs none of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from diskmodel.cli.shared.console import say
from diskmodel.cli.shared.status import BAD_INPUT
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import GROUPS
from diskmodel.version import __version__

#: One line of `diskmodel --help` for each command, by purpose. The command `plan` is the function of that name in
#: `diskmodel/cli/plan.py`.
COMMANDS = {
    "Plan and predict": {
        "plan": "find how many disks, which drive and which RAID level",
        "compare": "compare arrays side by side, up to overload",
        "capacity": "find what one array can carry",
        "simulate": "simulate one array under one workload",
        "replay": "replay a trace on arrays, with latency over time",
        "rule": "count disk operations as RAID calculators do",
    },
    "Describe the load and the disk": {
        "array": "turn mdstat, mdadm, storcli, ssacli and their like into an array",
        "pool": "turn zpool status and arcstats into an array",
        "workload": "make a workload from iostat, sar, fio or a block trace",
        "drives": "list the bundled drives, or show one of them",
        "controllers": "list the bundled controllers, or show one of them",
        "measure": "measure this machine's disk",
        "calibrate": "fit a drive to measurements, fio or DiskSpd results, or a trace",
        "validate": "compare a drive with measurements, results or a trace",
        "explain": "find why an array is slower than it should be",
    },
    "Explore": {
        "demo": "measure this machine's disk, calibrate it, plan with it",
        "lab": "explore curves, the moving head and a quiz in the browser",
        "quiz": "write a quiz about disks and arrays, with its solutions",
        "animate": "write a page that animates the disk head during a run",
        "mount": "mount a drive or array as a file with simulated timing",
    },
}
_SHORT_HELP = {name: text for commands in COMMANDS.values() for name, text in commands.items()}

#: What the library calls the type of a value that may be repeated, or that has limits.
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?:\]| range)>")


#: Options as fio, iostat and RAID calculators name them → as they are named here.
_OTHER_NAMES = {
    "--block": ("--bs", "--size", "--block-size", "--blocksize", "--request-size", "--io-size"),
    "--queue-depth": ("--iodepth", "--depth", "--qd", "--outstanding"),
    "--threads": ("--numjobs", "--jobs"),
    "--iops": ("--rate", "--rps", "--ops", "--rate-iops"),
    "--throughput": ("--bandwidth", "--bw", "--mbps", "--speed"),
    "--reads": ("--rw", "--rwmixread", "--read", "--read-ratio", "--mix", "--writes", "--write"),
    "--sequential": ("--seq", "--streaming"),
    "--commits": ("--tps", "--transactions", "--fsyncs"),
    "--machines": ("--vms", "--vm"),
    "--desktops": ("--users", "--vdi"),
    "--level": ("--raid", "--raid-level"),
    "--drive": ("--disk", "--model"),
    "--capacity": ("--space", "--usable"),
    "--out": ("--output",),
}


#: Options of a command that needs no groups in its help.
_FEW = 15

#: A number that every parser reads alike.
_PLAIN_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


class _Conversion:
    """Converts the plain words of a command line itself, and leaves all others to the library.

    The library converts each value with pydantic; to load that takes longer than everything else that `rule` does.
    """

    def __init__(self, library: Callable[[], Any]) -> None:
        self._library = library

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return what a value stands for."""
        kind, is_alone = param.type_descriptor, param.nargs == 1 and not param.multiple
        if "" in (value if isinstance(value, list | tuple) else [value]) and kind.annotation in (Path, list[Path]):
            # Python takes it for the folder that the command runs in
            raise DescriptionError(Fault(_name_of(param), "", "is empty", "name a file"))
        if is_alone and (value is None or (kind.annotation is str and isinstance(value, str))):
            return value
        number = _PLAIN_NUMBER.fullmatch(value) if isinstance(value, str) and is_alone else None
        if number and not kind.is_ranged and (kind.annotation is float or (kind.annotation is int and not number[1])):
            return kind.annotation(value)
        try:
            return self._library().coerce(value, param=param, ctx=ctx)
        except DescriptionError as error:  # of a parser of ours, which does not know the option
            raise DescriptionError([replace(fault, field=_name_of(param)) for fault in error.faults]) from None


def convert_plain_words(params: Iterable[Any]) -> None:
    """Let options and arguments convert plain words without pydantic."""
    for param in params:
        if library := getattr(param, "get_runtime_param", None):
            vars(param).setdefault("get_runtime_param", partial(_Conversion, library))


def _name_of(param: Any) -> str:
    """Return the name of an option or argument as the help shows it."""
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar or param.name)


class Command(TyperCommand):
    """A command that reports a wrong option as the descriptions do: its value, the rule and the fix."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line; the library's own sentences about types are for programmers."""
        convert_plain_words(self.get_params(ctx))
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if (fault := self._fault(error)) is None:
                raise
        except DescriptionError as error:
            fault = error.faults[0]
        except Exception as error:  # the library does not publish the classes of unknown options and missing values
            if not hasattr(error, "option_name"):
                raise
            fault = self._unknown(ctx, error) if hasattr(error, "possibilities") else self._wrongly_used(error)
        say(f"error: {fault}", "red")
        raise typer.Exit(BAD_INPUT)

    def _unknown(self, ctx: Any, error: Any) -> Fault:
        """Return the fault of an option that the command does not have: one of another name, or of another program."""
        known = {name for param in self.params for name in param.opts}
        meant = [ours for ours, others in _OTHER_NAMES.items() if error.option_name in others and ours in known]
        near = meant or get_close_matches(error.option_name, known, n=1, cutoff=0.7)
        fix = f"did you mean {near[0]}?" if near else f"{ctx.command_path} --help lists its options"
        return Fault(error.option_name, None, f"is not an option of {ctx.info_name}", fix)

    def _wrongly_used(self, error: Any) -> Fault:
        """Return the fault of an option without its value, with what its help says of that, or of a switch with one."""
        (param,) = [param for param in self.params if error.option_name in [*param.opts, *param.secondary_opts]]
        if getattr(param, "is_flag", False):
            return Fault(error.option_name, None, "takes no value", "write it alone, or leave it out")
        return Fault(error.option_name, None, "needs a value", f"its help: {getattr(param, 'help', '').rstrip('.')}")

    @staticmethod
    def _fault(error: Any) -> Fault | None:
        """Return the fault of a value of the wrong type or range; None for any other mistake."""
        from pydantic import ValidationError

        from diskmodel.faults import faults_of

        if not isinstance(error.__cause__, ValidationError) or error.param is None:
            return None
        (first, *_), item = faults_of(error.__cause__), error.__cause__.errors()[0]
        fix = "write digits only" if "without quotes" in first.fix else first.fix
        return Fault(_name_of(error.param), item.get("input"), first.rule, fix)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options by their groups (`diskmodel.options`); those without one come last."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *GROUPS, "Options")}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                is_argument = param.param_type_name == "argument"
                title = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or "Options"
                found[title].append(record)
        if sum(map(bool, found.values())) <= 3 or sum(map(len, found.values())) <= _FEW:
            options = [record for title, records in found.items() if title != "Arguments" for record in records]
            found = {"Arguments": found["Arguments"], "Options": options}
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the types of values as users know them: `<path>` for `<list[Path]>`."""
        super().format_help(ctx, formatter)
        text = _TYPE.sub(lambda found: f"<{found[1].lower()}>".ljust(len(found[0])), formatter.getvalue())
        formatter.buffer = [text]


class _Commands(Mapping[str, Any]):
    """The commands by name; each is made of its module when it is first asked for."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_SHORT_HELP)

    def __len__(self) -> int:
        return len(_SHORT_HELP)


@cache
def _command(name: str) -> Any:
    short_help = _SHORT_HELP[name]  # a KeyError where there is no such command
    function = getattr(import_module(f"diskmodel.cli.{name}"), name)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, cls=Command, short_help=short_help)(function)
    return typer.main.get_command(alone)


class CommandsByPurpose(TyperGroup):
    """The commands in `--help`, grouped by purpose."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words before the command."""
        convert_plain_words(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each purpose, with its commands in one column."""
        widest = max(map(len, _SHORT_HELP))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, text in commands.items()])


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
