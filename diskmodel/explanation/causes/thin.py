"""First writes to a thin volume, or to one with a snapshot: each finds out where its chunk is, and clears or copies it.

Linux's dm-thin looks up the chunk among its metadata, copies it or fills it with zeros, and only then sends the write
(`process_bio`, `schedule_copy` and `schedule_zero` of dm-thin.c); a snapshot of LVM reads the chunk, writes it to its
other place, and then lets the write go on (`pending_complete` of dm-snap.c). So each write is three accesses.
"""

from __future__ import annotations

from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import Change, Law, is_sequential, with_streams
from diskmodel.explanation.causes.uneven import FLASH_READ_S
from diskmodel.explanation.measured import Measured
from diskmodel.uncertainty import AnyWorkload
from diskmodel.workload import Stream, Workload

#: Turns of a platter that a random access takes with its seek.
_ACCESS = 1.5
#: Turns until the place of a chunk that was just written comes by again.
_AGAIN = 1.0
#: Time of a write of flash that is answered out of no safe buffer, s.
_FLASH_WRITE_S = 30e-6


def first_writes(array: Array, workload: AnyWorkload, chunk_bytes: int) -> Change | None:
    """Return writes that each clear or copy the chunk that they touch; None where nothing of a load does."""
    if workload.has_reads and workload.has_writes:
        return _beside_reads(array, workload, chunk_bytes)

    def whole(stream: Stream) -> dict[str, Any] | None:
        is_small = stream.excerpts is None and max(item.size_bytes for item in stream.sizes) < chunk_bytes
        if stream.read_ratio or not is_small or stream.addresses.pattern == "sequential":
            return None
        return {"sizes": [{"size_bytes": chunk_bytes, "weight": 1.0}], "alignment_bytes": None}

    other = with_streams(workload, whole)
    return None if other is None else Change(array, other, _with_both(array, other))


def _with_both(array: Array, workload: Workload) -> Law | None:
    """Return what the read before a chunk and the write after it add to the time of the chunk.

    A client waits for both; and the members that have them, for those of all clients.
    """
    layout, turn_ns = array.layout, array.drive.period_ns
    if workload.is_open:
        return None
    if turn_ns is None:
        buffered = array.drive.buffered_writes()
        read_ns, write_ns = FLASH_READ_S * 1e9, _FLASH_WRITE_S * 1e9 if buffered is None else float(buffered[0])
        n_busy = 0.0  # of many dies, one has a page to read
    else:
        # a buffer takes the write with the chunk that it is a part of
        read_ns, write_ns = _ACCESS * turn_ns, 0.0 if array.has_drive_write_cache else _AGAIN * turn_ns
        n_busy = 1.0
    members = layout.n_copies if layout.kind.keeps_copies else 1 + layout.parity_strips
    alone_ns = read_ns + write_ns
    busy_ns = n_busy * (read_ns + write_ns * members) / layout.disks
    more_ns = max(alone_ns, workload.queue_depth * busy_ns)

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        if not measured.is_closed or "writes.mean" not in figures:
            return figures
        found = {name: value + more_ns if name.startswith("writes.") else value for name, value in figures.items()}
        if "iops" in figures:
            found["iops"] = figures["iops"] * figures["writes.mean"] / found["writes.mean"]
        return found

    return law


def _beside_reads(array: Array, workload: AnyWorkload, chunk_bytes: int) -> Change | None:
    """Return the same of writes among reads, of disks: each one reads where its chunk is, copies it, and is written.

    Its disks have that much more to do, and what waits for them waits alike.
    """
    turn_ns, layout = array.drive.period_ns, array.layout
    if turn_ns is None or not isinstance(workload, Workload) or workload.is_open or not layout.has_strips:
        return None
    if is_sequential(workload) or workload.mean_size_bytes >= chunk_bytes:
        return None
    members = min(max(chunk_bytes / layout.strip_bytes, 1.0) * layout.disks / max(layout.data_strips, 1), layout.disks)
    each_bytes = chunk_bytes * layout.disks / max(layout.data_strips, 1) / members
    transfer_ns = each_bytes / array.drive.sequential_bytes_per_s * 1e9
    clients = workload.queue_depth

    def law(figures: dict[str, float], measured: Measured) -> dict[str, float]:
        reads, writes = figures.get("reads.mean"), figures.get("writes.mean")
        if not (reads and writes and measured.is_closed and measured.n_requests):
            return figures
        share = measured.n.get("writes", 0.0) / measured.n_requests
        longer = reads + 2 * writes + transfer_ns
        alone = share * longer + (1 - share) * reads
        busy = 1e9 / figures["iops"] + share * (_ACCESS * turn_ns + transfer_ns) * members / layout.disks
        rate = min(clients * 1e9 / alone, 1e9 / busy)
        waits = clients * 1e9 / rate / alone
        found = {"iops": rate}
        for name, value in figures.items():
            part, _, _ = name.partition(".")
            if part in ("reads", "writes"):
                found[name] = value * waits * (longer / writes if part == "writes" else 1.0)
        return figures | found

    return Change(array, workload, law)
