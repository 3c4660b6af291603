"""Write-intent bitmaps of Linux md: which there may be, how often, and how many writes wait for them in long runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import SOMETIMES, USUALLY, Change, Ladder, changed, on_array
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits
from diskmodel.workload import Workload

_MIB = 1 << 20
#: Flush of flash that takes longest of those that are tried, ns; of disks those that are longer are.
_SLOWEST_OF_FLASH = 5e6
#: Flush of a drive with capacitors at most, ns: one command that the drive does not queue.
_COMMAND = 0.1e6
#: Arrays from which `mdadm` makes a bitmap by itself.
_USUAL_BITMAP_BYTES = 100e9
#: How long a bit stays after the last write to its chunk, s: until the second of the wake-ups every 5 s (mdadm(8)).
_STAYS_S = 7.5
#: Time of a write of flash whose buffer is not safe, ns. At half or double, chunks are a third shorter or longer.
_WRITE_NS = 0.1e6
#: Requests of a run, and steps after which what is sought is known to a thousandth.
_RUN, _TIMES = 3_000, 24

#: Bitmaps that are tried: by `mdadm` itself, of an older one, and on drives whose flush takes its time.
BITMAPS: dict[str, dict[str, Any]] = {
    "chunks of 64 MiB": {"chunk_bytes": 64 * _MIB},
    "chunks of 4 MiB": {"chunk_bytes": 4 * _MIB},
    "on drives whose flush takes 0.1 ms": {"chunk_bytes": 64 * _MIB, "flush_ns": 100_000},
    "on drives whose flush takes 1 ms": {"chunk_bytes": 64 * _MIB, "flush_ns": 1_000_000},
    "on drives whose flush takes 5 ms": {"chunk_bytes": 64 * _MIB, "flush_ns": 5_000_000},
    "on disks that take 20 ms to empty their buffers": {"chunk_bytes": 64 * _MIB, "flush_ns": 20_000_000},
    "on disks that take 80 ms to empty them": {"chunk_bytes": 64 * _MIB, "flush_ns": 80_000_000},
}
#: Of those, what differs in the time of a flush.
FLUSHED = Ladder(
    lambda fields: fields.get("flush_ns", math.nan),
    lambda fields, ns: fields | {"flush_ns": ns},
    lambda fields: f"on drives whose flush takes {in_digits(fields['flush_ns'] / 1e6, 2)} ms",
)


def bitmaps_prior(array: Array) -> float:
    """Return how often there is a bitmap that nobody described: `mdadm` makes one for each array of 100 GB and more.

    Source: mdadm(8), `--bitmap`.
    """
    is_usual = not array.is_hardware and array.layout.disks * array.drive.capacity_bytes >= _USUAL_BITMAP_BYTES
    return USUALLY if is_usual else SOMETIMES


def with_bitmap(array: Array, workload: AnyWorkload, fields: dict[str, Any]) -> Change | None:
    """Return the change to an array with a bitmap; None where it cannot have one, has one, or is not written to."""
    layout = array.layout
    is_open = layout.kind.is_redundant and layout.has_strips and layout.bitmap is None
    if not is_open or not workload.has_writes:
        return None
    flush_ns = fields.get("flush_ns", 0)
    if flush_ns and not _may_flush(array, flush_ns):
        return None
    long_run = {"chunk_bytes": _chunk_of_a_run(array, workload, fields["chunk_bytes"], flush_ns)}
    return on_array(array, workload, layout=changed(layout, bitmap=fields | long_run))


def _may_flush(array: Array, flush_ns: float) -> bool:
    """Whether the flush before a write of the bitmap may take so long: disks empty their buffers, flash programs pages.

    Linux md sends it before each such write (`md_super_write` of md.c). A named drive with capacitors has no slow ones:
    one with SATA reports its safe cache, and a flush of that is a command and no more.
    """
    drive = array.drive
    if drive.has_arms:
        return array.has_drive_write_cache and flush_ns > _SLOWEST_OF_FLASH
    if not drive.has_flushes_of_its_own or flush_ns > _SLOWEST_OF_FLASH:
        return False
    is_safe = drive.buffered_writes() is not None
    return drive.is_typical or (drive.is_flushed and (not is_safe or flush_ns <= _COMMAND))


def _chunk_of_a_run(array: Array, workload: AnyWorkload, chunk_bytes: int, flush_ns: float) -> int:
    """Return the length of chunks of which a short run finds as many without a bit as the long run does, bytes.

    A run begins without any bit. A bit stays for seconds after the last write to its chunk, in which flash writes to
    most chunks of an array, so that in the long run hardly a write waits for one. Disks write to few of them.
    """
    layout, drive = array.layout, array.drive
    if drive.has_arms or not isinstance(workload, Workload) or workload.is_open:
        return chunk_bytes
    covered_bytes = array.usable_bytes / (1 if layout.kind.keeps_copies else max(layout.data_strips, 1))
    write_ratio = float(np.mean([stream.write_ratio for stream in workload.streams]))
    write_ns = (drive.buffered_writes() or (_WRITE_NS, 0.0))[0]

    n_writes = _RUN * write_ratio
    # as it is when a load begins all writes wait: then more bits stay, the fewer wait the more writes there are
    waiting = 1.0
    for _ in range(_TIMES):
        per_s = workload.queue_depth * write_ratio * 1e9 / (write_ns + waiting * (write_ns + flush_ns))
        waiting = math.exp(-_STAYS_S * per_s * chunk_bytes / covered_bytes)
    low, high = 1.0, float(_RUN * _RUN)
    for _ in range(_TIMES):
        n_chunks = math.sqrt(low * high)
        is_more = n_chunks / n_writes * -math.expm1(-n_writes / n_chunks) > waiting
        low, high = (low, n_chunks) if is_more else (n_chunks, high)
    return max(round(covered_bytes / n_chunks / chunk_bytes), 1) * chunk_bytes
