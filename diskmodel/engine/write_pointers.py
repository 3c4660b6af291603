"""Host-managed shingled disks: which workloads write their zones in order, as such a disk requires (rule N3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.drive import Drive, WriteZones
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import Int64, Op
from diskmodel.units import pretty_bytes
from diskmodel.workload import Sequential, Stream, TraceWorkload, Workload, ZoneWrite

_FIX = (
    "let a stream write sequentially (sizes of which a zone is a multiple, no reads) or with addresses zone_write, or "
    "write only to conventional zones"
)


def refuse_misplaced_writes(array: Array, drive: Drive, zones: WriteZones, workload: Workload | TraceWorkload) -> None:
    """Refuse writes to a drive's zones that are not at their write pointers: the drive would fail them.

    Raises
    ------
    CoverageError
        With every stream that has such writes, or the first such row of a trace.
    """
    faults = [*_of_caches(array, drive, workload)]
    if isinstance(workload, TraceWorkload):
        capacity = array.usable_bytes
        rows = workload.requests(capacity_bytes=capacity, n=len(workload.trace))
        row = first_misplaced(zones, rows.op, rows.offset, rows.length)
        if row is not None:
            rule = f"is not at a write pointer of {drive.name}, whose zones of {pretty_bytes(zones.size_bytes)} are "
            where = f"write of {int(rows.length[row]):,} bytes at {int(rows.offset[row]):,}"
            faults.append(
                Fault(f"trace[{row}]", where, rule + "written in order", "use a trace of writes to such a drive")
            )
    else:
        faults += _of_streams(array, drive, zones, workload)
    if faults:
        raise CoverageError(faults)


def first_misplaced(zones: WriteZones, op: NDArray[np.uint8], offset: Int64, length: Int64) -> int | None:
    """Return the first write that neither begins a zone nor continues it, or that ends in another; None: there is none.

    The first write to a zone may be anywhere in it: what was written before is unknown.
    """
    rows = np.flatnonzero((op == Op.WRITE) & (offset + length > zones.first_byte))
    first, end = offset[rows], offset[rows] + length[rows]
    zone = first // zones.size_bytes
    is_bad = (end - 1) // zones.size_bytes != zone
    order = np.argsort(zone, kind="stable")
    later, before = order[1:], order[:-1]
    is_known = zone[later] == zone[before]
    is_bad[later] |= is_known & (first[later] != end[before]) & (first[later] % zones.size_bytes != 0)
    bad = np.flatnonzero(is_bad)
    return int(rows[bad[0]]) if len(bad) else None


class WritePointers:
    """Where the next write of each zone has to begin, as far as it is known."""

    def __init__(self, zones: WriteZones) -> None:
        self._zones = zones
        self._next: dict[int, int] = {}

    def take(self, offset: int, length: int) -> bool:
        """Return whether a write is in order, and move its zone's pointer behind it."""
        zone, end = offset // self._zones.size_bytes, offset + length
        if end <= self._zones.first_byte:
            return True
        is_whole = (end - 1) // self._zones.size_bytes == zone
        is_next = offset % self._zones.size_bytes == 0 or self._next.get(zone, offset) == offset
        if is_whole and is_next:
            self._next[zone] = end
        return is_whole and is_next


def zone_messages(array: Array, workload: Workload | TraceWorkload) -> tuple[str, ...]:
    """Return what of writes at write pointers is left out and may change the answer; nothing for other drives."""
    zones = array.drive.zones_in_order
    if zones is None or isinstance(workload, TraceWorkload):
        return ()
    capacity = array.usable_bytes
    n_open = {
        stream: _n_open(stream, workload, capacity)
        for stream in workload.streams
        if _end(stream, workload, capacity) > zones.first_byte and stream.write_ratio
    }
    found = []
    if (n := sum(n_open.values())) > zones.max_open:
        found.append(
            f"the workload writes to {n:,} zones at once, and the drive keeps {zones.max_open} open: it closes "
            "and opens others meanwhile, and what that takes is left out"
        )
    tables = array.drive_tables()
    buffer_bytes = tables.buffer_sectors * array.drive.sector_bytes
    # a zone gets a second write while its first one still waits
    is_joined = any(n > 1 and n * stream.mean_size_bytes < buffer_bytes for stream, n in n_open.items())
    if is_joined and not tables.write_room_sectors:
        found.append(
            "writes to a zone are joined in the drive's buffer, however many there are. Real drives join fewer: for "
            "one that was measured, this would predict 4.5 times its rate at 4 KiB (cache.write_room limits it)"
        )
    return tuple(found)


def _of_caches(array: Array, drive: Drive, workload: Workload | TraceWorkload) -> Iterator[Fault]:
    has_writes = isinstance(workload, TraceWorkload) or workload.has_writes
    for field, cache in (
        ("controller.write_cache", array.controller.write_cache),
        ("host.page_cache", array.host.page_cache),
    ):
        if cache is not None and has_writes:
            rule = f"writes in an order of its own, and the zones of {drive.name} are written in order"
            yield Fault(field, "", rule, "leave it out")


def _of_streams(array: Array, drive: Drive, zones: WriteZones, workload: Workload) -> Iterator[Fault]:
    capacity = array.usable_bytes
    written = []
    for index, stream in enumerate(workload.streams):
        if not stream.write_ratio or _end(stream, workload, capacity) <= zones.first_byte:
            continue
        if why := _disorder(stream, zones, workload, capacity):
            rule = f"{why}, and the zones of {drive.name} are written in order, at their write pointers"
            yield Fault(f"streams.{index}.addresses", stream.addresses.pattern, rule, _FIX)
        first = workload.space(stream, capacity).first_byte
        written.append((first // zones.size_bytes, _end(stream, workload, capacity), index))
    for (_, end, _), (zone, _, index) in pairwise(sorted(written)):
        if zone * zones.size_bytes < end:
            rule = "writes to zones that another stream writes to as well: a zone has one writer"
            yield Fault(f"streams.{index}.span", workload.streams[index].name, rule, "give each stream its own zones")


def _disorder(stream: Stream, zones: WriteZones, workload: Workload, capacity: int) -> str:
    """Return why a stream does not write zones in order; "" where it does."""
    addresses, space = stream.addresses, workload.space(stream, capacity)
    if isinstance(addresses, ZoneWrite):
        if addresses.zone_bytes == zones.size_bytes:
            return ""
        return f"writes zones of {addresses.zone_bytes:,} bytes where the drive's have {zones.size_bytes:,}"
    if not isinstance(addresses, Sequential) or addresses.mean_run is not None or stream.excerpts is not None:
        return "writes anywhere"
    if stream.read_ratio > 0:
        return "leaves out what it reads"
    size = space.largest_bytes
    sizes = {share.size_bytes for share in stream.sizes}
    if len(sizes) > 1 or zones.size_bytes % size or space.first_byte % size or size % space.alignment_bytes:
        return "has writes that end in another zone than they begin in"
    if addresses.n_readers > 1 and space.span_bytes // addresses.n_readers < zones.size_bytes + size:
        return f"has {addresses.n_readers} writers that share zones"
    return ""


def _n_open(stream: Stream, workload: Workload, capacity: int) -> int:
    """Return how many zones a stream writes to at once."""
    addresses = stream.addresses
    if isinstance(addresses, ZoneWrite):
        return min(addresses.n_open, addresses.n_zones(workload.space(stream, capacity)))
    return addresses.n_readers if isinstance(addresses, Sequential) else 0


def _end(stream: Stream, workload: Workload, capacity: int) -> int:
    space = workload.space(stream, capacity)
    return space.first_byte + space.span_bytes
