"""A recorded trace as a workload that replays it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diskmodel.errors import DescriptionError, Fault
from diskmodel.formats.detect import check_kind, detect_evidence
from diskmodel.formats.trace.columns import FUA_WRITE
from diskmodel.formats.trace.reader import Trace, load_trace
from diskmodel.records import Op
from diskmodel.workload import Timing, TraceWorkload


def load_replay(
    path: str | Path,
    *,
    format: str | None = None,
    device: str | None = None,
    timing: Timing = "original",
    speed_up: float = 1.0,
    queue_depth: int = 1,
    wraps: bool = False,
    name: str | None = None,
    with_flushes: bool = True,
) -> tuple[TraceWorkload, Trace]:
    """Return a trace as a workload whose first request comes at time 0, and the trace as it was read.

    Parameters
    ----------
    path : str or Path
    format : str, optional
        One of `diskmodel.formats.detect.KINDS`, or the name of a trace format; recognized by content when left out.
    device : str, optional
        Of a trace of several devices; "all" or nothing: their requests together.
    with_flushes : bool
        Replay the flushes of the trace, and its writes past the caches of drives as such.
    timing, speed_up, queue_depth, wraps, name
        As in `TraceWorkload.from_arrays`; the name is the file's when left out.

    Raises
    ------
    DescriptionError
        When the file is of a kind that does not record single requests.
    FormatError
        When it cannot be read.
    """
    if format is None:
        kind = detect_evidence(path)
        if not kind.startswith("trace:"):
            rule = f"is {kind}, which does not record single requests"
            raise DescriptionError(Fault("trace", str(path), rule, "name a block trace"))
    trace = load_trace(
        path,
        format=None if format is None else check_kind(format).removeprefix("trace:"),
        device=None if device == "all" else device,
        with_flushes=with_flushes,
    )
    rows = trace.requests
    is_fua = rows.op == FUA_WRITE
    workload = TraceWorkload.from_arrays(
        rows.time_ns - rows.time_ns[0],
        np.where(is_fua, Op.WRITE, rows.op),
        rows.offset_bytes,
        rows.length_bytes,
        is_fua=is_fua,
        timing=timing,
        speed_up=speed_up,
        queue_depth=queue_depth,
        wraps=wraps,
        name=Path(path).name if name is None else name,
    )
    return workload, trace
