"""`diskmodel animate`: a web page that animates the disk head during a simulated run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, say
from diskmodel.cli.shared.inputs import LoadOptions, read_array, read_workload
from diskmodel.cli.shared.options import ArrayText, Debug, Json, OtherDrive, Seed
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.output import write_text


@ends_well
def animate(
    array: ArrayText,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write; it needs no network.")],
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload",
            "-w",
            help="Workload: a TOML file, or output of iostat, sar or fio, or a trace; not needed with --small-write.",
        ),
    ] = None,
    schedulers: Annotated[str, typer.Option(help="One or two schedulers, shown side by side.")] = "fcfs,sptf",
    requests: Annotated[int, typer.Option(min=1, max=5000, help="Requests to play back.")] = 200,
    disk: Annotated[int, typer.Option(help="Number of the disk to show, from 0.")] = 0,
    small_write: Annotated[
        bool, typer.Option("--small-write", help="Show one small write of a RAID 5 instead: four I/Os on two disks.")
    ] = False,
    drive: OtherDrive = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a page that animates a simulated run: platter, arm, queue, and where the time goes."""
    from diskmodel.errors import DescriptionError, Fault
    from diskmodel.lab import schedulers_page, small_write_page

    check_place(out, "out")
    described = read_array(array, drive)
    if small_write:
        page = small_write_page(described, seed=seed)
    elif workload is None:
        raise DescriptionError(Fault("workload", None, "is missing", "give --workload FILE, or --small-write"))
    else:
        names = [name.strip() for name in schedulers.split(",")]
        page = schedulers_page(
            described, read_workload(LoadOptions(workload)), names, n_requests=requests, disk=disk, seed=seed
        )
    write_text(out, page)
    if as_json:
        print_json({"out": str(out), "bytes": len(page.encode())})
    say(f"wrote {out}: open it in a browser")
