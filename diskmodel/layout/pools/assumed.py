"""The records that a pool has where nobody says which."""

from __future__ import annotations

from typing import Any

from diskmodel.layout.description import Layout

#: `volblocksize` of OpenZFS since 2.2, bytes: of volumes that virtual machines have as disks. Requests at random that
#: are no larger are those of such a machine or of a database, for which records of that size are recommended.
VOLUME_RECORD_BYTES = 16 << 10


def record_of_volumes(layout: Layout, *, longest_bytes: int) -> dict[str, Any]:
    """Return the record of a pool that is asked at random for no more than `longest_bytes`; none where one is given.

    Examples
    --------
    >>> record_of_volumes(Layout.parse({"level": "raidz2", "disks": 6}), longest_bytes=8 << 10)
    {'record_bytes': 16384}
    >>> record_of_volumes(Layout.parse({"level": "raidz2", "disks": 6}), longest_bytes=64 << 10)
    {}
    """
    if not layout.kind.is_pool or layout.record_bytes is not None or longest_bytes > VOLUME_RECORD_BYTES:
        return {}
    is_too_small = layout.block_bytes > VOLUME_RECORD_BYTES or (
        layout.special is not None and layout.special.small_blocks_bytes >= VOLUME_RECORD_BYTES
    )
    return {} if is_too_small else {"record_bytes": VOLUME_RECORD_BYTES}
