"""A load on drives of which only a part is in use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from diskmodel.errors import DescriptionError, Fault
from diskmodel.workload.description import Workload
from diskmodel.workload.trace import TraceWorkload


def reach_bytes(load: Workload | TraceWorkload, capacity_bytes: int) -> int:
    """Return where the last place of a load ends on an array of `capacity_bytes`."""
    if isinstance(load, TraceWorkload):
        trace = load.trace
        end = int((trace.offset + trace.length).max()) if len(trace) else 0
        return min(end, capacity_bytes) if load.wraps else end
    spaces = [load.space(stream, capacity_bytes) for stream in load.streams]
    return max(space.first_byte + space.span_bytes for space in spaces)


def on_used(loads: Sequence[Workload], used_ratios: Iterable[float | None]) -> list[Workload]:
    """Return loads whose places are what of all arrays is in use, where they do not say which they are.

    Examples
    --------
    >>> on_used([Workload.parse({"size": "4 KiB", "iops": 100})], [0.6, None])[0].span_ratio
    0.6
    """
    ratio = min((ratio for ratio in used_ratios if ratio is not None), default=None)
    if ratio is None:
        return [*loads]
    return [
        load.model_copy(update={"span_ratio": ratio}) if (load.span_bytes, load.span_ratio) == (None, None) else load
        for load in loads
    ]


def check_used(load: Workload | TraceWorkload, used_ratio: float, capacity_bytes: int) -> None:
    """Refuse a load that reaches beyond what of an array is in use.

    Raises
    ------
    DescriptionError
        When it does.
    """
    reach = reach_bytes(load, capacity_bytes)
    # regions end at whole requests
    if reach <= math.ceil(used_ratio * capacity_bytes) + load.longest_request_bytes:
        return
    least = math.ceil(1000 * reach / capacity_bytes) / 10
    fix = f"write {min(least, 100):g}%, or lower the load's span to {used_ratio:.0%} of the array"
    rule = f"is less than the {least:g}% that the load reaches"
    raise DescriptionError(Fault("used", f"{used_ratio:.1%}", rule, fix))
