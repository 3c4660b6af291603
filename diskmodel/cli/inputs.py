"""What commands read: arrays, workloads and ranges of requests, with the options that change them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.workload import Workload


def read_array(path: Path, drive: str | None = None) -> Array:
    """The array in a file, with another drive where one is named.

    Raises
    ------
    DescriptionError
        With every fault of the file or the profile.
    """
    from diskmodel.array import Array
    from diskmodel.drive import load_drive

    array = Array.load(path)
    if drive is None:
        return array
    return Array.parse({**dict(array), "drive": load_drive(drive)}, f"{path} with drive {drive}")


def read_workload(
    path: Path, queue_depth: int | None = None, *, level: float | None = None, device: str | None = None
) -> Workload:
    """The workload in a file or in evidence of one, with another number of outstanding requests where one is given.

    Raises
    ------
    DescriptionError
        With every fault of the file, or when an option is given that the file has no use for: a depth without a closed
        stream, a percentile or a device of a description.
    FormatError
        When the file is neither a description nor evidence.
    """
    from diskmodel.formats import load_workload

    refuse_unused(None if path.suffix == ".toml" else path, level=level, device=device)
    workload = load_workload(path, level=95.0 if level is None else level, device=device)
    return workload if queue_depth is None else workload.with_queue_depth(queue_depth)


def refuse_unused(recorded: Path | None, *, level: float | None, device: str | None) -> None:
    """Refuse what only a recorded load can use, where there is none.

    Raises
    ------
    DescriptionError
        With every such option that was given.
    """
    if recorded is not None:
        return
    rule, fix = "is about a recorded load (iostat, sar, a trace)", "give one with --workload, or leave it out"
    faults = [
        Fault(name, value, rule, fix) for name, value in (("level", level), ("device", device)) if value is not None
    ]
    if faults:
        raise DescriptionError(faults)


def request_range(text: str | None) -> tuple[int, int | None]:
    """First request and the one after the last of "A:B"; either may be left out.

    Raises
    ------
    DescriptionError
        When it is something else.
    """
    if text is None:
        return 0, None
    first, colon, last = text.partition(":")
    try:
        a, b = int(first or 0), int(last) if last else None
    except ValueError:
        a, b, colon = 0, None, ""
    if not colon or a < 0 or (b is not None and b <= a):
        rule = "must be A:B with whole numbers, A from 0 and B above A"
        raise DescriptionError(Fault("requests", text, rule, "write for example 0:10000"))
    return a, b
