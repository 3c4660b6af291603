"""Options that several commands share, declared once so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback if diskmodel itself fails.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random numbers; the same seed gives the same answer.")]
Engine = Annotated[str, typer.Option(help="auto, native or simpy; auto takes the native kernel where it can.")]
ArrayText = Annotated[str, typer.Argument(metavar="ARRAY", help='A TOML file, or words: "8x generic-15k raid5".')]
ArrayTexts = Annotated[
    list[str], typer.Argument(metavar="ARRAY…", help='TOML files, or words: "8x generic-15k raid5".')
]
WorkloadFile = Annotated[
    Path | None,
    typer.Option("--workload", "-w", help="Workload: a TOML file, or output of iostat, sar or fio, or a trace."),
]
Iops = Annotated[str | None, typer.Option("--iops", help="Instead of --workload: requests per second of the host.")]
Reads = Annotated[str | None, typer.Option("--reads", help="Share of reads, 70% or 0.7.")]
Block = Annotated[
    str | None, typer.Option("--block", help="Size of a request, for example 8k (8 KiB, as fio writes it).")
]
Span = Annotated[
    str | None,
    typer.Option("--span", help="Part of the array that holds the data, for example 2TB; default: all of it."),
]
Percentile = Annotated[
    str | None,
    typer.Option(help='Percentile of a recorded load: of the time ("95", the default) or "95% of requests".'),
]
Device = Annotated[
    str | None, typer.Option(help="Device to use, when the recording has several; of fio's results, the job.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="Format of a recording, instead of recognizing it: iostat-text, msr, and so on."),
]
QueueDepth = Annotated[
    int | None,
    typer.Option(
        "--queue-depth",
        "--clients",
        help="Outstanding requests of a closed workload, one for each of its clients; instead of its own.",
    ),
]
Plot = Annotated[Path | None, typer.Option(help="Write a plot to this file, .png or .svg.")]
RequestRange = Annotated[
    str | None,
    typer.Option(
        "--requests",
        metavar="A:B",
        help="Use only requests A (from 0) to B (excluded) of a trace: numbers or percentages.",
    ),
]
