"""Options that several commands share, declared once so that they mean the same everywhere."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from diskmodel.limits import MAX_SEED
from diskmodel.options import ARRAY_GROUP, LOAD, OUTPUT, SEARCH_GROUP, Option

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output and nothing else.", rich_help_panel=OUTPUT),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback if diskmodel itself fails.", rich_help_panel=OUTPUT)
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_SEED,
        help="Seed of all random numbers; the same seed gives the same answer.",
        rich_help_panel=SEARCH_GROUP,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="auto, native or simpy; auto takes the native kernel where it can.", rich_help_panel=SEARCH_GROUP
    ),
]
ArrayText = Annotated[str, typer.Argument(metavar="ARRAY", help='A TOML file, or words: "8x generic-15k raid5".')]
ArrayTexts = Annotated[
    list[str], typer.Argument(metavar="ARRAY…", help='TOML files, or words: "8x generic-15k raid5".')
]
OtherDrive = Annotated[
    str | None,
    typer.Option(
        help="Drive instead of the array's: a profile, or a name in the catalogue.", rich_help_panel=ARRAY_GROUP
    ),
]
OtherDrives = Annotated[
    str | None,
    typer.Option(
        help="Drive instead of the arrays': a profile, or a name in the catalogue.", rich_help_panel=ARRAY_GROUP
    ),
]
WorkloadFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--workload",
        "-w",
        help="Workload: a TOML file, or output of iostat, sar or fio, or a trace; may be repeated: loads side by side.",
        rich_help_panel=LOAD,
    ),
]
Percentile = Annotated[
    str | None,
    typer.Option(
        help='Percentile of a recorded load: of the time ("95", the default) or "95% of requests".',
        rich_help_panel=LOAD,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        help="Device to use, when the recording has several; of fio's results, the job.", rich_help_panel=LOAD
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of a recording, instead of recognizing it: iostat-text, msr, and so on.",
        rich_help_panel=LOAD,
    ),
]
QueueDepth = Annotated[
    int | None,
    typer.Option(
        "--queue-depth",
        "--clients",
        help="Outstanding requests of a closed workload, one for each of its clients; instead of its own.",
        rich_help_panel=LOAD,
    ),
]
Uploads = Annotated[
    str | None,
    typer.Option(
        help="Instead of --iops, to an erasure code: objects of --block per second to an object store like MinIO, "
        "for example 15/s.",
        rich_help_panel=LOAD,
    ),
]
OnlyRunNoise = Annotated[
    bool,
    typer.Option(
        "--only-run-noise",
        help="Intervals of the noise of the run alone, as if all else were known.",
        rich_help_panel=SEARCH_GROUP,
    ),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Print all remarks, not only the three that change most.", rich_help_panel=OUTPUT),
]
Plot = Annotated[Path | None, typer.Option(help="Write a plot to this file, .png or .svg.", rich_help_panel=OUTPUT)]
HeatMap = Annotated[
    Path | None,
    typer.Option(
        help="Write response times over time to this file, and where the time of each went: .png, .svg, or .html, a "
        "page in which a band can be marked.",
        rich_help_panel=OUTPUT,
    ),
]
RequestRange = Annotated[
    str | None,
    typer.Option(
        "--requests",
        metavar="A:B",
        help="Use only requests A (from 0) to B (excluded) of a trace: numbers or percentages.",
    ),
]

#: Values of declared options by key, None where an option was not given; instead of a group of them (`asks`).
Asked = dict[str, Any]

_KINDS: dict[str, Any] = {"text": str, "texts": list[str], "count": int, "switch": bool}


def asks(**groups: tuple[Option, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command declared options (`diskmodel.options`).

    Parameters
    ----------
    groups : tuple of Option
        By a parameter of the command. In its place the command line has these options, and the command gets their
        values as a dict by key, None where an option was not given.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            parameters += [parameter_of(option) for option in groups[name]] if name in groups else [parameter]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            asked = {name: {option.key: given.pop(option.key) for option in group} for name, group in groups.items()}
            command(**given, **asked)

        vars(run)["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def parameter_of(option: Option) -> inspect.Parameter:
    """Return the parameter of a command from which the library makes the option."""
    names = f"{option.name}/--no-{option.name.removeprefix('--')}" if option.kind == "switch" else option.name
    kind: Any = _KINDS[option.kind]
    annotation: Any = Annotated[
        kind | None, typer.Option(names, min=option.least, help=option.help, rich_help_panel=option.group)
    ]
    return inspect.Parameter(option.key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
