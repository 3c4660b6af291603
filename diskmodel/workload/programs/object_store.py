"""Uploads to an object store on an erasure set: what they make each drive do (rule W11).

Every drive of a set gets a fragment of each object, and keeps a file system of its own, so that all do the same.

References
----------
MinIO, `cmd/xl-storage.go`: `CreateFile` writes the fragment with O_DIRECT, then fdatasync; `RenameData` looks for an
older `xl.meta`, writes the new one synced, makes the object's directories, and renames both. `smallFileThreshold` is
128 KiB: smaller fragments are inside of `xl.meta`.
XFS: directories go to one allocation group after the other (`xfs_dialloc_pick_ag`); fdatasync of a new file commits the
journal.
"""

from __future__ import annotations

from typing import Any

#: Objects up to this length are kept inside of the file of their metadata.
INLINE_BYTES = 128 << 10
#: Bytes of the file of an object's metadata, and of every change to a directory or an inode.
BLOCK_BYTES = 4096
#: Places that the file system writes back later: the inodes of the two new directories, which are in different
#: allocation groups, and the directory that the object is in. With two or four of them a drive of 7,200 rpm is busy for
#: 62 or 78 % of the time with 8 uploads a second, not 71 %; with 15 it is 96 to 99 %.
DIRECTORY_WRITES = 3
#: The same without a directory for the data.
INLINE_DIRECTORY_WRITES = 2
#: Names that are looked up and not in memory: the object's in its directory.
LOOKUPS = 1
#: Streams that an upload waits for, one after the other, in their order.
DATA, METADATA = "data", "xl.meta"
AWAITED = (DATA, METADATA)


def uploads(per_s: float, object_bytes: int, data_strips: int) -> dict[str, Any]:
    """Return the fields of the workload of one drive.

    Parameters
    ----------
    per_s : float
        Uploads per second to the set.
    object_bytes : int
        Of each object.
    data_strips : int
        Drives of the set that hold an object without its parity.

    Examples
    --------
    >>> [(one["name"], one["size_bytes"], one["rate_per_s"]) for one in uploads(15, 500_000, 8)["streams"]]
    [('data', 65536, 15), ('xl.meta', 4096, 15), ('directories', 4096, 45), ('lookups', 4096, 15)]
    """
    fragment = -(-object_bytes // data_strips)
    is_inline = object_bytes <= INLINE_BYTES
    safe = {"read_ratio": 0.0, "sync": "fdatasync", "file_system": "xfs", "file": "append", "rate_per_s": per_s}
    metadata = _whole(BLOCK_BYTES + fragment * is_inline)
    files = [] if is_inline else [safe | {"name": DATA, "size_bytes": _whole(fragment)}]
    n_writes = INLINE_DIRECTORY_WRITES if is_inline else DIRECTORY_WRITES
    small = {"size_bytes": BLOCK_BYTES}
    return {
        "name": "uploads",
        "streams": [
            *files,
            safe | {"name": METADATA, "size_bytes": metadata},
            small | {"name": "directories", "read_ratio": 0.0, "rate_per_s": n_writes * per_s},
            small | {"name": "lookups", "read_ratio": 1.0, "rate_per_s": LOOKUPS * per_s},
        ],
    }


def _whole(n_bytes: int) -> int:
    """Return so many bytes in whole blocks."""
    return -(-n_bytes // BLOCK_BYTES) * BLOCK_BYTES
