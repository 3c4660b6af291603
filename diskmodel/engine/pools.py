"""What is asked of a pool of OpenZFS and cannot be answered, and what an answer leaves out."""

from __future__ import annotations

import math

from diskmodel.array import Array
from diskmodel.engine.scenario import not_in_a_pool
from diskmodel.layout.pools import HEADER_BYTES
from diskmodel.records import Run
from diskmodel.units import NS_PER_S, in_digits, in_hours_or_days, nominal_bytes, pretty_bytes
from diskmodel.workload import SortedBatches, Strided, TraceWorkload, Workload

#: Share of the ARC that headers of records on cache devices take from which on an answer says so.
HEADERS_SHOWN = 0.05
#: Share of hits from which on cache devices count as full: the last records come onto them after a long time only.
NEARLY_ALL = 0.95
#: Places at some distance from each other, of which OpenZFS may read ahead, too.
_APART = (Strided, SortedBatches)


def refuse_on_pools(array: Array, workload: Workload | TraceWorkload) -> None:
    """Refuse loads that are not modeled on pools: places apart, in order, which OpenZFS may take for a stream.

    Raises
    ------
    CoverageError
    """
    if not array.layout.reads_between or not isinstance(workload, Workload):
        return
    if any(isinstance(stream.addresses, _APART) and stream.kind == "requests" for stream in workload.streams):
        raise not_in_a_pool("workload.addresses", "requests at equal distances or in sorted batches")


def pool_messages(array: Array, workload: Workload | TraceWorkload) -> tuple[str, ...]:
    """Return what an answer leaves out of what the kind of volume does."""
    has_syncs = any(stream.has_syncs for stream in getattr(workload, "streams", ()))
    return array.layout.left_out(array, has_writes=workload.has_writes, has_syncs=has_syncs)


def cache_device_messages(
    array: Array, workload: Workload | TraceWorkload, run: Run, *, is_steady: bool
) -> tuple[str, ...]:
    """Return when cache devices have the hits of a run, and what their headers take of the ARC; nothing without any."""
    tables = array.tables().pool
    l2arc, device, read = None if tables is None else tables.l2arc, array.layout.cache, array.controller.read_cache
    if l2arc is None or device is None or read is None or read.size_bytes is None:
        return ()
    record = array.layout.pool_record_bytes
    found = []
    if is_steady and isinstance(workload, Workload) and run.l2arc_hits:
        per_s = min(l2arc.feed_per_s, _entering_per_s(run, is_closed=bool(workload.queue_depth)))
        found.append(
            "the hits of the cache devices are those of devices that have long been in use: from empty it takes about "
            f"{in_hours_or_days(l2arc.slots / per_s / 3600)} of this load, which feeds them "
            f"{in_digits(per_s * record / 1e6)} MB/s"
        )
    gib = l2arc.slots * HEADER_BYTES / 2**30
    headers = f"{in_digits(gib, 2)} GiB of the ARC's {pretty_bytes(read.size_bytes)}"
    if l2arc.slots * record < device.all_bytes - record:
        found.append(
            f"of the {nominal_bytes(device.all_bytes)} of cache devices only {nominal_bytes(l2arc.slots * record)} are "
            f"used: headers of their records take {headers}, and OpenZFS allows no more; use larger records, more "
            "memory, or smaller devices"
        )
    elif l2arc.slots * HEADER_BYTES > HEADERS_SHOWN * read.size_bytes:
        found.append(f"headers of the records on cache devices take {headers}")
    return tuple(found)


def _entering_per_s(run: Run, *, is_closed: bool) -> float:
    """Return the records that enter the ARC in a second and are not on the L2ARC, on average while that fills.

    With clients that wait the disks are as busy from the beginning as at the end. At a given rate most records are new
    at first, and few at the end: that of places that are all alike is the mean.
    """
    per_s = (run.l2arc_hits + run.l2arc_misses) * NS_PER_S / max(run.end_ns, 1)
    found = min(run.l2_hit_ratio, NEARLY_ALL)
    return per_s * ((1 - found) if is_closed else found / -math.log1p(-found))
