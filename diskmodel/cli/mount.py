"""`diskmodel mount`: present a described drive or array as a file that responds in real time."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, cast

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.options import Debug, Json, Seed
from diskmodel.cli.shared.status import ends_well
from diskmodel.signals import TERMINATIONS

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.mount import DataKind, Served, Stopper

#: What ends a mount in the usual way.
_ENDINGS = (signal.SIGINT, *TERMINATIONS)


@ends_well
def mount(
    description: Annotated[
        str,
        typer.Argument(
            metavar="DESCRIPTION", help="Drive or array: a TOML file, or the name of a drive in the catalogue."
        ),
    ],
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Empty directory in which the file `disk` appears.")
    ],
    data: Annotated[
        str, typer.Option(help="Where to keep the data: sparse-file, memory, or zero (nowhere: reads return zeros).")
    ] = "sparse-file",
    data_folder: Annotated[Path | None, typer.Option(help="Directory for the sparse file.")] = None,
    size: Annotated[str | None, typer.Option(help='Present only the first part of the drive, such as "4 GiB".')] = None,
    time_scale: Annotated[float, typer.Option(help="Real seconds per simulated second; 2 runs at half speed.")] = 1.0,
    realtime: Annotated[
        bool, typer.Option("--realtime/--no-realtime", help="Run with real-time priority, where that is allowed.")
    ] = True,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Present a drive or an array as a file that responds in real time, until Ctrl-C. Needs Linux with FUSE.

    The host in the description is ignored, because this machine is the host.
    """
    from diskmodel.cli.measure import parse_bytes
    from diskmodel.mount import serve

    array = _described(description)
    size_bytes = None if size is None else parse_bytes("size", size)

    def report_ready(file: Path, n_bytes: int) -> None:
        for line in _how_to_use(array, file, n_bytes, cast("DataKind", data), data_folder):
            say(line)

    with _stopped_by_signals() as stopper:
        served = serve(
            array,
            directory,
            stopper,
            data=cast("DataKind", data),
            data_folder=data_folder,
            size_bytes=size_bytes,
            time_scale=time_scale,
            is_realtime=realtime,
            seed=seed,
            on_ready=report_ready,
        )
    if as_json:
        print_json({**asdict(served), "n_requests": served.n_requests, "iops": served.iops})
    else:
        show(*_lines(served))


def _described(description: str) -> Array:
    """Return the array in a file, or an array of one disk for the name or file of a drive.

    Raises
    ------
    DescriptionError
        With every fault.
    """
    from diskmodel.array import Array
    from diskmodel.description import read_toml
    from diskmodel.drive import load_drive

    if (description.endswith(".toml") or os.path.isfile(description)) and "drive" in read_toml(description):
        return Array.load(description)
    drive = load_drive(description)
    return Array.parse({"name": drive.name, "drive": drive, "layout": {"level": "jbod", "disks": 1}}, description)


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[Stopper]:
    """Yield a stopper that Ctrl-C, SIGTERM and SIGHUP trigger: the normal end of a mount."""
    from diskmodel.mount import Stopper

    stopper = Stopper()

    def stop(signum: int, frame: FrameType | None) -> None:
        stopper.stop()

    before = {ending: signal.signal(ending, stop) for ending in _ENDINGS}
    # the handler above runs only between bytecodes; this wakes the server while native code runs
    wakeup = signal.set_wakeup_fd(stopper.wakeup_fd, warn_on_full_buffer=False)
    try:
        yield stopper
    finally:
        signal.set_wakeup_fd(wakeup)
        for ending, handler in before.items():
            signal.signal(ending, handler)
        stopper.close()


def _how_to_use(array: Array, file: Path, n_bytes: int, data: DataKind, folder: Path | None) -> list[str]:
    from diskmodel.mount import describe

    name = array.name or array.drive.name
    return [
        f"{file}: {name}, {array.layout.level} of {array.layout.disks}, {n_bytes} bytes; data {describe(data, folder)}",
        f"  fio --name=random --filename={file} --direct=1 --ioengine=libaio --rw=randread --bs=4k --iodepth=8"
        " --time_based --runtime=20",
        f"  diskmodel measure {file} --quick --out measured.json",
        f"  losetup --find --show --direct-io=on {file}    (for a block device; run losetup -d before you stop)",
        "ready; press Ctrl-C to stop",
    ]


def _lines(served: Served) -> list[str]:
    how = "unmounted by another program" if served.is_unmounted else "stopped and unmounted"
    late = tuple(ns / 1e3 for ns in (served.late_p50_ns, served.late_p99_ns, served.late_max_ns))
    lines = [
        f"{how}: {served.n_reads:,} reads, {served.n_writes:,} writes, {served.n_flushes:,} flushes in "
        f"{served.busy_s:.1f} s, {served.iops:.1f} IOPS, at most {served.most_outstanding} outstanding",
    ]
    if served.n_requests:
        lines.append(f"  completed late by {late[0]:.1f} µs (p50), {late[1]:.1f} µs (p99), {late[2]:.1f} µs (max)")
    if not served.is_realtime:
        lines.append("  without real-time priority, which makes completions later; run as root to get it")
    if served.n_data_errors:
        lines.append(f"  {served.n_data_errors} failed with an I/O error: their data could not be stored")
    return lines
