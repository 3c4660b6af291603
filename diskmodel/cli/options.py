"""Options that several commands share, declared once so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a fault of diskmodel itself.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random; the same seed gives the same answer.")]
Engine = Annotated[str, typer.Option(help="auto, native or simpy; auto takes the native kernel where it can.")]
WorkloadFile = Annotated[
    Path, typer.Option("--workload", "-w", help="Workload: a TOML file, or output of iostat, sar or fio, or a trace.")
]
Level = Annotated[
    float | None,
    typer.Option(
        min=0, max=100, help="Percentile of a recorded load over time that the rates stand for; 95 unless given."
    ),
]
Device = Annotated[str | None, typer.Option(help="Which device of a recorded load that holds several.")]
QueueDepth = Annotated[int | None, typer.Option(help="Outstanding requests of a closed workload, instead of its own.")]
Plot = Annotated[Path | None, typer.Option(help="Write a plot there, PNG or SVG by the ending.")]
RequestRange = Annotated[
    str | None,
    typer.Option(
        "--requests",
        metavar="A:B",
        help="Of a trace, only requests A (from 0) to B (excluded): numbers or percentages.",
    ),
]
