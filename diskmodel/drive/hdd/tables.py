"""Tables of a hard disk for the engines: integers only, computed once from the description.

Fields `Beside` are those that the kernel gets in another record, or not at all (`diskmodel/schema.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from diskmodel.drive.media_cache.tables import MediaCacheTables
from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.whole_numbers import PPM, Int64
from diskmodel.loading import dataclass
from diskmodel.queue import Queue
from diskmodel.schema import Beside


@dataclass(frozen=True, eq=False)
class HddTables(DriveTables):
    """Geometry, mechanics and electronics of a hard disk.

    Blocks are laid out by zone from the outer edge inwards, in a zone by cylinder, in a cylinder by head, on a track by
    sector. A drive with two actuators is two such spindle halves: block `lba` belongs to actuator
    `lba // n_sectors_per_actuator`, and the geometry below describes one half (its heads, its cylinders, its zones).

    The first sector of track (cylinder, head) is `skew` sectors after the index mark, where
    ``skew = start_skew + cylinder_in_zone * ((heads - 1) * track_skew + cylinder_skew) + head * track_skew``;
    sector `s` therefore begins at the fraction ``((skew + s) mod sectors_per_track) / sectors_per_track`` of the
    revolution.

    Attributes
    ----------
    sector_bytes : int
    n_sectors : int
        Blocks of the whole drive.
    n_sectors_per_actuator : int
        `n_sectors` with one actuator; with two, the last actuator may have one block less.
    heads : int
        Surfaces of one actuator.
    actuators : int
    revolution_ns : int
    zone_first_lba, zone_first_cylinder : int64, shape (n_zones + 1,)
        The last entry is the end: blocks of one actuator, and cylinders.
    sectors_per_track, start_skew, track_skew, cylinder_skew : int64, shape (n_zones,)
        In sectors.
    spare_sectors_per_track, spare_sectors_per_cylinder : int64, shape (n_zones,)
        Sectors that store no blocks: the last ones of each track, and of each cylinder as many more.
    seek_ns : int64, shape (n_cylinders,)
        Time of a read seek by distance; entry 0 is 0.
    write_seek_ns : int64, shape (n_cylinders,), optional
        The same of a write; None where writes seek as reads do, so that both share a table.
    seek_inward_ns : int
        By how much a seek inward takes longer than one outward.
    head_switch_ns, write_settle_ns : int
        Time to change the surface within a cylinder; extra time of a write after any seek or head switch.
    read_overhead_ns, write_overhead_ns : int
        Command processing before the arm may move, one command at a time, overlapped with the arm's earlier work.
    completion_overhead_ns, write_completion_overhead_ns : int
        Time of reads and of writes after the media transfer, which occupies neither arm nor processor.
    prefill_sectors : int
        Part of a write that must be in the buffer before the head may write.
    interface_bytes_per_s : int
    buffer_full_ppm : int
        Part of a read's media time that must pass before the drive begins to send its data, in parts per million.
    zero_latency : bool
        Whether a track is read from wherever the head arrives.
    zero_latency_ppm : int
        Share of the accesses that do so, where some do, in parts per million.
    retry_ppm : int
        Share of the accesses to the media that are delayed, in parts per million.
    retry_ns : int64, shape (n,)
        Equally likely delays; none for n = 0.
    cache_segments, segment_sectors, read_ahead_sectors : int
        Segments of the buffer, length of each (at least 1) and of read-ahead; 0 where there is no cache or no
        read-ahead.
    read_ahead_in_track, read_on_arrival : bool
        Whether read-ahead stops at the end of the track; whether a read caches what passes before its first block.
    read_ahead_in_own_track, reads_whole_track : bool
        Whether read-ahead stops there only behind reads within one track; whether it goes round to the first block.
    writes_drop_all, keeps_writes : bool
        Whether a write drops every segment; whether written data becomes a segment.
    dirty_sectors : int
        Room for writes that are not on the media; 0: none waits.
    queue_depth : int
    weighed_commands, weighed_writes : int
        Numbers of oldest ready commands, and of oldest waiting writes of an arm, among which its scheduler chooses.
    overdue_ns : int
        Wait after which a command is taken next; 0: none is.
    scheduler : str
    age_ns, miss_margin_ns, miss_ratio, age_weight, committed : int, int, float, float, int
        Tunables of the scheduler.
    write_room_sectors : int
        Least room of a write in the buffer, at most `dirty_sectors`.
    write_zone_sectors, conventional_sectors : int
        Length of the zones that the host writes in order, and where they begin; a length of 0: no such zones.
    media_cache : MediaCacheTables, optional
        Of each arm.
    destages_in_order : bool
        Whether the arm takes buffered writes and commands in the order in which they became ready.
    is_protected : bool
        Whether what the buffer holds survives a power cut.
    has_fua : bool
        Whether the host has a single write pass the buffer.
    """

    sector_bytes: int
    n_sectors: int
    n_sectors_per_actuator: int
    heads: int
    actuators: int
    revolution_ns: Beside[int]
    zone_first_lba: Int64
    zone_first_cylinder: Int64
    sectors_per_track: Int64
    start_skew: Int64
    track_skew: Int64
    cylinder_skew: Int64
    spare_sectors_per_track: Int64
    spare_sectors_per_cylinder: Int64
    seek_ns: Int64
    write_seek_ns: Int64 | None
    seek_inward_ns: int
    head_switch_ns: int
    write_settle_ns: int
    read_overhead_ns: int
    write_overhead_ns: int
    completion_overhead_ns: int
    write_completion_overhead_ns: int
    prefill_sectors: int
    interface_bytes_per_s: int
    buffer_full_ppm: int
    zero_latency: bool
    zero_latency_ppm: int
    retry_ppm: int
    retry_ns: Int64
    cache_segments: int
    segment_sectors: int
    read_ahead_sectors: int
    read_ahead_in_track: bool
    read_on_arrival: bool
    read_ahead_in_own_track: bool
    reads_whole_track: bool
    writes_drop_all: bool
    keeps_writes: bool
    dirty_sectors: int
    queue_depth: Beside[int]
    weighed_commands: int
    weighed_writes: int
    scheduler: Beside[str]
    age_ns: Beside[int]
    miss_margin_ns: Beside[int]
    miss_ratio: Beside[float]
    age_weight: Beside[float]
    committed: Beside[int]
    write_room_sectors: int = 0
    write_zone_sectors: Beside[int] = 0
    conventional_sectors: Beside[int] = 0
    media_cache: MediaCacheTables | None = None
    destages_in_order: bool = False
    overdue_ns: int = 0
    is_protected: bool = False
    has_fua: bool = False

    kind: ClassVar[str] = "hdd"
    devices: ClassVar[str] = "diskmodel.engine.reference.hdd:hard_disks"
    held: ClassVar[str] = "diskmodel.engine.steady.drives.hdd:HardDisks"

    @property
    def arms(self) -> int:
        """Arms, each over its own half of the blocks where there are two."""
        return self.actuators

    @property
    def arm_sectors(self) -> int:
        """Blocks of one arm."""
        return self.n_sectors_per_actuator

    @property
    def period_ns(self) -> int:
        """Time of a revolution."""
        return self.revolution_ns

    def track_sectors(self, lba: int) -> int:
        """Return the blocks of the track that a block is on."""
        zone = int(np.searchsorted(self.zone_first_lba, lba % self.n_sectors_per_actuator, side="right")) - 1
        return int(self.blocks_per_track[min(zone, self.n_zones - 1)])

    def own_queue(self) -> Queue:
        """Return the scheduler of its own command queue."""
        names = ("scheduler", "age_ns", "miss_margin_ns", "miss_ratio", "age_weight", "committed")
        return Queue.parse({name: getattr(self, name) for name in names}, "drive.queue")

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of its interface."""
        return self.interface_bytes_per_s

    @property
    def n_cylinders(self) -> int:
        """Cylinders of one actuator."""
        return len(self.seek_ns)

    @property
    def n_zones(self) -> int:
        """Number of zones of one actuator."""
        return len(self.sectors_per_track)

    @cached_property
    def blocks_per_track(self) -> Int64:
        """Sectors of a track that store blocks, by zone."""
        return self.sectors_per_track - self.spare_sectors_per_track

    @cached_property
    def blocks_per_cylinder(self) -> Int64:
        """Sectors of a cylinder that store blocks, by zone."""
        return self.heads * self.blocks_per_track - self.spare_sectors_per_cylinder

    @property
    def buffer_sectors(self) -> int:
        """Room for writes that are not on the media; 0: none waits."""
        return self.dirty_sectors

    @property
    def has_write_back(self) -> bool:
        """Whether the buffer takes writes."""
        return self.dirty_sectors > 0

    def without_write_back(self) -> HddTables:
        """Return the tables of the same disk with its write-back cache switched off."""
        return replace(self, dirty_sectors=0, write_room_sectors=0)

    def beside(self, n_sectors: int) -> HddTables:
        """Return the tables of what is left of the buffer beside so many sectors that wait, and stay."""
        dirty = self.dirty_sectors - n_sectors
        return replace(self, dirty_sectors=dirty, write_room_sectors=min(self.write_room_sectors, dirty))

    def with_fua(self, is_used: bool) -> HddTables:
        """Return the tables of the same disk whose host has single writes pass its buffer, where it has one."""
        return replace(self, has_fua=is_used and self.dirty_sectors > 0)

    def burst_write_ns(self, n_bytes: float, are_safe: bool) -> tuple[float, float] | None:
        """Return the times of a write that the buffer takes; None with a media cache, full or of no constant speed."""
        if self.media_cache is not None or not self.dirty_sectors or (are_safe and not self.is_protected):
            return None
        transfer_ns = n_bytes / self.interface_bytes_per_s * 1e9 if self.interface_bytes_per_s else 0.0
        return self.write_overhead_ns + self.write_completion_overhead_ns, transfer_ns

    @cached_property
    def longest_seek_ns(self) -> int:
        """Longest seek; every run asks whether it fits."""
        columns = (self.seek_ns, self.write_seek_ns)
        longest = max(int(seeks.max()) for seeks in columns if seeks is not None)
        return longest + abs(self.seek_inward_ns)

    @property
    def has_draws(self) -> bool:
        """Whether accesses to the media draw what happens to them (rule M9)."""
        return self.retry_ppm > 0 or (self.zero_latency and self.zero_latency_ppm < PPM)
