"""What a file system writes for a file to be safe: its journal, and when a sync commits that."""

from __future__ import annotations

from typing import Literal

from diskmodel.records import StreamRule, Sync

FileSystem = Literal["none", "ext4", "xfs"]
FileState = Literal["overwrite", "append", "unwritten"]

BLOCK_BYTES = 4096
#: A smaller journal holds no commit of many writers, and mkfs makes none.
LEAST_JOURNAL_BYTES = 1 << 20
#: Journal of ext4, blocks, by the blocks that the file system has fewer of: `ext2fs_default_journal_size`.
_EXT4_JOURNALS = (
    (1 << 15, 1 << 10),
    (1 << 18, 1 << 12),
    (1 << 19, 1 << 13),
    (1 << 22, 1 << 14),
    (1 << 23, 1 << 15),
    (1 << 24, 1 << 16),
    (1 << 25, 1 << 17),
)
_EXT4_LARGEST_JOURNAL = 1 << 18
#: Log of XFS: a share of the file system, from 64 MiB on (mkfs.xfs since 5.15).
_XFS_LOG_SHARE = 2048
_XFS_LEAST_LOG_BYTES = 64 << 20
_XFS_LARGEST_LOG_BYTES = 2 << 30
#: Most of the file system that the journal takes.
_LARGEST_SHARE = 8
#: Resolution of a file's times: the tick of a kernel with HZ = 250, as Debian and Ubuntu have it. At a quarter of it
#: (HZ = 1000) fsyncs that follow each other within 4 ms commit more often; on hard disks none do.
TICK_NS = 4_000_000
#: Blocks before the one that makes a commit of ext4 valid, as its journal has them in the traces of flush.md: the
#: descriptor and the file's inode; for new blocks also the bitmap and the descriptor of their group.
_EXT4_BODY = {"overwrite": 2, "unwritten": 2, "append": 4}
#: What each file adds where several are appended to: a block of its extents. They grow side by side, in pieces, and an
#: inode holds four of them; a file that grows alone has fewer.
_EXT4_MORE = {"overwrite": 0, "unwritten": 0, "append": 1}
#: What each further file adds to a record of the log of XFS, where it logs no blocks but what changed in them.
_XFS_MORE_BYTES = 1024


def journal_bytes(file_system: FileSystem, capacity_bytes: int) -> int:
    """Return how large mkfs makes the journal on so many bytes."""
    if file_system == "ext4":
        n_blocks = capacity_bytes // BLOCK_BYTES
        wanted = next((size for below, size in _EXT4_JOURNALS if n_blocks < below), _EXT4_LARGEST_JOURNAL) * BLOCK_BYTES
    else:
        wanted = min(max(capacity_bytes // _XFS_LOG_SHARE, _XFS_LEAST_LOG_BYTES), _XFS_LARGEST_LOG_BYTES)
    return min(wanted, capacity_bytes // _LARGEST_SHARE) // BLOCK_BYTES * BLOCK_BYTES


def sync_rule(sync: str, file_system: FileSystem, file: FileState) -> Sync:
    """Return what follows a write, besides a commit of the journal (rules Y1 and Y7)."""
    if sync == "none":
        return Sync.NONE
    if sync != "dsync":
        return Sync.FLUSH
    if file_system == "none":
        return Sync.DSYNC
    return Sync.FILE_DSYNC if file == "overwrite" else Sync.FLUSH


def journal_rule(
    sync: str, file_system: FileSystem, file: FileState, capacity_bytes: int, *, is_alone: bool
) -> dict[str, int]:
    """Return the fields of a `StreamRule` that describe the journal; none where no sync commits it (rule Y7).

    `is_alone`: no other file grows beside this one. The journal lies in the middle of the file system, where mkfs puts
    it, and that is all of the array.
    """
    commits = sync == "fsync" or (sync != "none" and file != "overwrite")
    if file_system == "none" or not commits:
        return {}
    is_ext4 = file_system == "ext4"
    n_body = _EXT4_BODY[file] + (0 if is_alone else _EXT4_MORE[file])
    found = StreamRule(
        "",
        journal_first_byte=capacity_bytes // 2 // BLOCK_BYTES * BLOCK_BYTES,
        journal_bytes=journal_bytes(file_system, capacity_bytes),
        journal_body_bytes=n_body * BLOCK_BYTES if is_ext4 else 0,
        journal_more_bytes=_EXT4_MORE[file] * BLOCK_BYTES if is_ext4 else _XFS_MORE_BYTES,
        journal_block_bytes=BLOCK_BYTES,
        journal_tick_ns=TICK_NS if file == "overwrite" else 0,
    )
    return {name: value for name, value in vars(found).items() if name.startswith("journal_")}
