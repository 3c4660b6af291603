"""What commands read: arrays, workloads and ranges of requests, with the options that change them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.workload import TraceWorkload, Workload


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
    path: Path,
    queue_depth: int | None = None,
    *,
    level: str | None = None,
    device: str | None = None,
    format: str | None = None,
    notes: list[str] | None = None,
) -> Workload:
    """Return the workload in a file or recording, with another number of outstanding requests where one is given.

    Raises
    ------
    DescriptionError
        With every fault of the file, or when an option does not apply to it: a depth without a closed stream, a
        percentile or a device for a description.
    FormatError
        When the file is neither a description nor a known recording.

    What had to be assumed of a recording goes to standard error, and into `notes`.
    """
    from diskmodel.cli.shared.console import say
    from diskmodel.formats import find_workload
    from diskmodel.workload import Workload

    is_recorded = path.suffix != ".toml" or format is not None
    refuse_unused(path if is_recorded else None, level=level, device=device, format=format)
    if is_recorded:
        found = find_workload(path, level="95" if level is None else level, device=device, format=format)
        workload = Workload.parse(found.workload, str(path))
        for note in found.notes:
            say(f"{path.name}: {note}")
        if notes is not None:
            notes += found.notes
    else:
        workload = Workload.load(path)
    return workload if queue_depth is None else workload.with_queue_depth(queue_depth)


def read_replay(
    path: Path,
    replay: str,
    queue_depth: int | None = None,
    *,
    level: str | None = None,
    device: str | None = None,
    format: str | None = None,
    wraps: bool = False,
) -> TraceWorkload:
    """Return the trace in a file, at its own times ("original"), sped up ("2x") or at a fixed queue depth ("closed").

    Raises
    ------
    DescriptionError
        When `replay` is none of these, or an option does not apply to it.
    FormatError
        When the file is not a trace.
    """
    from diskmodel.cli.shared.console import say
    from diskmodel.formats.replaying import load_replay

    if level is not None:
        raise DescriptionError(
            Fault("level", level, "does not apply to a replay, only to a recorded load", "leave it out")
        )
    factor = re.fullmatch(r"(\d+(?:\.\d+)?)x", replay)
    if replay not in ("original", "closed") and factor is None:
        raise DescriptionError(
            Fault("replay", replay, "is not a way to replay", "use original, closed, or a factor such as 2x or 0.5x")
        )
    if replay != "closed" and queue_depth is not None:
        fix = "use --replay closed, or leave it out"
        raise DescriptionError(Fault("queue_depth", queue_depth, "only applies to a closed replay", fix))
    workload, trace = load_replay(
        path,
        format=format,
        device=device,
        timing="scaled" if factor else "closed" if replay == "closed" else "original",
        speed_up=float(factor[1]) if factor else 1.0,
        queue_depth=queue_depth or 1,
        wraps=wraps,
        name=f"{path.name}, {replay}",
    )
    for note in trace.notes:
        say(f"{path.name}: {note}")
    return workload


def refuse_unused(recorded: Path | None, **given: float | str | None) -> None:
    """Refuse options that only apply to a recorded load, where there is none.

    Raises
    ------
    DescriptionError
        With every such option that was given.
    """
    if recorded is not None:
        return
    rule = "only applies to a recorded load (iostat, sar, a trace)"
    fix = "give one with --workload, or leave it out"
    faults = [Fault(name, value, rule, fix) for name, value in given.items() if value is not None]
    if faults:
        raise DescriptionError(faults)


def refuse_wrap(wrap: bool) -> None:
    """Refuse --wrap where nothing is replayed.

    Raises
    ------
    DescriptionError
        When it was given.
    """
    if wrap:
        raise DescriptionError(Fault("wrap", wrap, "only applies to a replayed trace", "add --replay, or leave it out"))


def request_range(text: str | None) -> Callable[[int], tuple[int, int]]:
    """Return a function from n requests to the first and the end of the range "A:B", in numbers or percentages.

    Raises
    ------
    DescriptionError
        When the text has another form; from the returned function, when the range contains no request.
    """
    found = _RANGE.fullmatch("0:" if text is None else text)
    if found is None:
        rule = "must be A:B, each a whole number or a percentage up to 100 %, or left out"
        raise DescriptionError(Fault("requests", text, rule, "write for example 0:10000 or 50%:"))
    first, last = found["first"] or "0", found["last"] or "100%"

    def of(n: int) -> tuple[int, int]:
        a, b = (_place(end, n) for end in (first, last))
        if a >= min(b, n):
            rule = f"contains none of the {n} requests"
            raise DescriptionError(Fault("requests", text, rule, f"choose a part of 0:{n} with B above A"))
        return a, min(b, n)

    return of


_RANGE = re.compile(r"(?P<first>\d{1,18}|(?:\d{1,2}|100)%)?:(?P<last>\d{1,18}|(?:\d{1,2}|100)%)?", re.ASCII)


def _place(end: str, n: int) -> int:
    return n * int(end[:-1]) // 100 if end.endswith("%") else int(end)
