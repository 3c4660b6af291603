"""What a pool is taken to have where nobody says so: its records, and what an answer leaves out."""

from __future__ import annotations

from typing import Any

from diskmodel.layout.description import Layout

#: `volblocksize` of OpenZFS since 2.2, bytes: of volumes that virtual machines have as disks. Requests at random that
#: are no larger are those of such a machine or of a database, for which records of that size are recommended.
VOLUME_RECORD_BYTES = 16 << 10


def record_of_volumes(layout: Layout, *, longest_bytes: int) -> dict[str, Any]:
    """Return the record of a pool that is asked at random for no more than `longest_bytes`; none where one is given.

    With 0 nothing is asked at random.

    Examples
    --------
    >>> record_of_volumes(Layout.parse({"level": "raidz2", "disks": 6}), longest_bytes=8 << 10)
    {'record_bytes': 16384}
    >>> record_of_volumes(Layout.parse({"level": "raidz2", "disks": 6}), longest_bytes=64 << 10)
    {}
    """
    if layout.record_bytes is not None or not 0 < longest_bytes <= VOLUME_RECORD_BYTES:
        return {}
    is_too_small = layout.block_bytes > VOLUME_RECORD_BYTES or (
        layout.special is not None and layout.special.small_blocks_bytes >= VOLUME_RECORD_BYTES
    )
    return {} if is_too_small else {"record_bytes": VOLUME_RECORD_BYTES}


def left_out(layout: Layout, array: Any, *, has_writes: bool, has_syncs: bool) -> tuple[str, ...]:
    """Return what an answer about a pool leaves out, under a load that writes, or syncs."""
    cache = array.controller.read_cache
    served = "" if cache is not None else "no read is served by the cache of OpenZFS (ARC), "
    if cache is not None and cache.size_bytes is not None:
        served = "all of the size of the cache of OpenZFS (ARC) is for data, "
    if layout.cache is not None:
        served += "reads of cache devices do not wait for what is fed to them, "
    found = [f"{served}all metadata is in memory, and the files were written in order into an empty pool"]
    if has_writes:
        found.append(
            "free space of the pool is in one piece, as after a few writes: the more a pool is filled and fragmented, "
            "the slower it writes"
        )
        if not array.host.submission_ns:
            found.append(
                "the processor's time for each write is not counted: where thousands of small records are written in a "
                "second it limits a pool (host.submission)"
            )
        if layout.sync == "disabled" and has_syncs:
            found.append("sync = disabled: writes that were to be safe are not; a power cut loses the last seconds")
    return tuple(found)
