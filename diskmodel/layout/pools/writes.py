"""How a pool of OpenZFS writes: log blocks, transaction groups, and where they go (rules X9 to X16 and X26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: A transaction group is written so long after the last one was begun (`zfs_txg_timeout`), ns, or when so much is
#: dirty: a share of the most dirty data (`zfs_dirty_data_sync_percent`).
GROUP_NS = 5_000_000_000
GROUP_SHARE = 0.20
#: The most dirty data (`zfs_dirty_data_max`) is a tenth of the memory, at most so many bytes: a server has 40 GiB.
DIRTY_BYTES = 4 << 30
#: Shares of it from which writes are delayed (`zfs_delay_min_dirty_percent`), and between which a drive is given more
#: writes of a group at once (`zfs_vdev_async_write_active_min_dirty_percent` and its most).
DELAY_SHARE, MORE_FROM_SHARE, MORE_TO_SHARE = 0.60, 0.30, 0.60
#: Delay of a write half-way between where delays begin and the most dirty data (`zfs_delay_scale`), and the longest one
#: (`zfs_delay_max_ns`), ns.
DELAY_NS, LONGEST_DELAY_NS = 500_000, 100_000_000
#: Writes of a group that a drive is given at once (`zfs_vdev_async_write_min_active`, `_max_active`).
ACTIVE_GROUP_WRITES = (2, 10)
#: Records of a group whose places have been chosen and that are not written yet, of each vdev: the tenfold of the most
#: writes that a drive is given (`zfs_vdev_queue_depth_pct`). It decides how long aggregated writes are: at half,
#: 200 KiB with records of 8 KiB, and not 400.
ALLOCATED = 100
#: So many when a group begins (`zfs_vdev_def_queue_depth`); each that ends lets one more out. With 100 from the
#: beginning the first 98 become one command, and stay together for the whole group.
ALLOCATED_FIRST = 32
#: Longest block of the intent log (`zil_maxblocksize`), and what it and each record in it have as a header, bytes
#: (`zil_chain_t`, `lr_write_t`).
LOG_BLOCK_BYTES, LOG_HEADER_BYTES = 128 << 10, 192
#: From this length on a write goes to its place at once, and the log only points there (`zfs_immediate_write_sz`),
#: bytes.
DIRECT_BYTES = 32 << 10
#: How long a block of the log waits for others, in percent of the time that one takes (`zfs_commit_timeout_pct`), and
#: for how many blocks it is remembered that commits overlapped (`ZIL_BURSTS`).
LOG_WAIT_PERCENT, LOG_BURSTS = 10, 8
#: Records that an indirect block points to: 128 KiB of pointers of 128 bytes, and as much is dirty.
POINTERS = 1024
INDIRECT_BYTES = 128 << 10
#: Bytes of a pointer after compression (lz4): a checksum of 32 bytes and a place and a time of 6 each do not compress.
POINTER_BYTES = 44
#: Copies of indirect blocks, and of the pool's own metadata (`redundant_metadata`).
INDIRECT_COPIES, METADATA_COPIES = 2, 3
#: Blocks above the file in its data set, from its dnode up: six levels, and the data set's own (`DN_MAX_OBJECT`,
#: `objset_phys_t`).
ABOVE_FILE = 7
#: Rounds of metadata behind the data of a group, each waiting for the one before (passes over the pool's own objects,
#: until none changes any more), the objects that are written in each, and their bytes after compression. Measured:
#: groups without data of programs wrote 86 to 88 blocks of 4 KiB on every geometry, copies included (zfs-txgs.csv):
#: three passes, as OpenZFS usually takes, over ten objects, of which seven are as above. At half, RAID-Z2 of 6 with one
#: writer makes 4 % fewer writes to its disks.
ROUNDS, OBJECTS, OBJECT_BYTES = 3, 10, 4 << 10
#: Places in which the objects of a round lie, in turn (`spa_allocators`). With one, a mirror makes one write of each
#: copy of a round.
ALLOCATORS = 4
#: What a write may skip to include another one where only padding lies between (`zfs_vdev_write_gap_limit`), bytes.
WRITE_GAP_BYTES = 4 << 10
#: Vdevs whose labels are written at the end of a group (`SPA_SYNC_MIN_VDEVS`).
LABELED_VDEVS = 3


class WriteTables(NamedTuple):
    """How a pool writes, in whole numbers.

    Attributes
    ----------
    is_logged : bool
        Whether writes that must be safe wait for the intent log; not where `sync` is disabled.
    group_ns : int
        Time from the beginning of one transaction group's writing to the next (rule X11).
    dirty_group, dirty_most, delay_from, more_from, more_to : int
        Sectors of dirty data: of a group that is written before its time, the most, and the others as above.
    delay_ns, longest_delay_ns : int
    active_least, active_most : int
        Writes of a group that a drive is given at once (rule X14).
    allocated, allocated_first : int
        Writes of a group that are out at once, of each vdev, at most and when it begins (rule X12).
    turn_blocks : int
        Blocks that a vdev is given before it is the turn of the next (rule X13).
    n_records : int
        Records that the metaslabs have room for.
    log_block, log_header : int
        Bytes of the longest block of the log, and of a header.
    direct_from : int
        Sectors from which a write goes to its place at once; 0: never (rule X10).
    log_wait_percent, log_bursts : int
    has_special : bool
        Whether there is a special vdev, which has all metadata (rule X26).
    log_slab, metadata_slab, slabs_apart : int
        Metaslabs of the log and of the first copy of metadata, and between one copy and the next.
    pointers, indirect_blocks, indirect_copies : int
    indirect : int
        Sectors that are dirty with an indirect block.
    record_ns : int
        What the processor does for a record of a group; -1: as much as for a request.
    above_file : int
    rounds, objects, object_blocks, object_copies : int
    allocators : int
        Places in which the objects of a round lie (rule X13).
    gather_gap : int
        Sectors of padding between two writes that become one (rule X14).
    label_first, label_last, label_apart, label_sectors : int
        Where the first of two labels at the beginning of a disk is written, and at its end; sectors between the two,
        and of a write.
    labeled_vdevs : int
    """

    is_logged: bool
    group_ns: int
    dirty_group: int
    dirty_most: int
    delay_from: int
    more_from: int
    more_to: int
    delay_ns: int
    longest_delay_ns: int
    active_least: int
    active_most: int
    allocated: int
    allocated_first: int
    turn_blocks: int
    n_records: int
    log_block: int
    log_header: int
    direct_from: int
    log_wait_percent: int
    log_bursts: int
    has_special: bool
    log_slab: int
    metadata_slab: int
    slabs_apart: int
    pointers: int
    indirect: int
    record_ns: int
    indirect_blocks: int
    indirect_copies: int
    above_file: int
    rounds: int
    allocators: int
    objects: int
    object_blocks: int
    object_copies: int
    gather_gap: int
    label_first: int
    label_last: int
    label_apart: int
    label_sectors: int
    labeled_vdevs: int

    def above(self, record: int) -> Iterator[tuple[int, int]]:
        """Yield the indirect blocks above a record: how many of their kind there could be, and which one it is."""
        level, number = self.n_records, record
        while level > 1:
            level = -(-level // self.pointers)
            number //= self.pointers
            yield level, number

    def active_writes(self, dirty: int) -> int:
        """Return how many writes of a group a drive is given at once (rule X14)."""
        if dirty <= self.more_from:
            return self.active_least
        if dirty >= self.more_to:
            return self.active_most
        more = (dirty - self.more_from) * (self.active_most - self.active_least) // (self.more_to - self.more_from)
        return self.active_least + more

    def dirty_at(self, delay_ns: float) -> float:
        """Return how much is dirty where writes wait so long behind each other, sectors (rule X15)."""
        delay = min(delay_ns, self.longest_delay_ns)
        return (self.delay_ns * self.delay_from + delay * self.dirty_most) / max(self.delay_ns + delay, 1)

    def delay_of(self, dirty: int) -> int:
        """Return how long a write waits behind the one before it, ns (rule X15)."""
        if dirty <= self.delay_from:
            return 0
        if dirty >= self.dirty_most:
            return self.longest_delay_ns
        return min(self.delay_ns * (dirty - self.delay_from) // (self.dirty_most - dirty), self.longest_delay_ns)
