"""Tables of a flash drive for the engines: integers only, computed once from the description.

Fields `Beside` are those that the kernel gets in another record, or not at all (`diskmodel/schema.py`).
"""

from __future__ import annotations

from typing import ClassVar

from diskmodel.drive.flash.ftl import FtlTables
from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.whole_numbers import Int64
from diskmodel.loading import dataclass
from diskmodel.schema import Beside

#: Memory of the place of a unit, and of the unit in a slot, in the kernel.
_PLACE_BYTES = 4


@dataclass(frozen=True, eq=False)
class FlashTables(DriveTables):
    """Geometry, times and electronics of a flash drive.

    Dies are numbered channel first: die `d` is connected to channel ``d % channels``.

    Attributes
    ----------
    sector_bytes, n_sectors : int
    channels, dies_per_channel : int
    page_bytes, pages_per_block, blocks_per_die : int
        Units that a die senses or programs at a time (all its planes together) and that it erases at a time.
        `blocks_per_die` includes over-provisioning.
    mapping_bytes : int
        Unit of the address translation; a smaller write reads the rest first.
    read_ns, program_ns, erase_ns : int
        Times of a die for a page, a page, a block.
    channel_bytes_per_s, interface_bytes_per_s : int
    read_overhead_ns, write_overhead_ns : int
        Command processing, one command at a time.
    read_latency_ns, write_latency_ns : int
        Fixed parts of a command that overlap with other commands (firmware pipeline, host interface).
    read_delay_ns, write_delay_ns : int64, shape (n,)
        Equally likely further parts, of which each command draws one; none for n = 0.
    write_buffer_bytes : int
        0: writes complete when their pages are programmed.
    queue_depth : int
    ftl : FtlTables
        The small drive on which garbage collection is simulated.
    flush_ns : int
        Time of a flush (rule F20).
    suspend_ns : int64, shape (n,)
        Equally likely times until a program or an erase is suspended for a read (rule F21), ascending; n = 0: reads
        wait for its end.
    batch_ns, batch_units, batch_room_units : int
        How long the drive takes no writes when it has copied so many units, beyond those that it still has room for
        (rule F24); 0 ns: it always takes them.
    pace_units : int
        Units that the drive lets in ahead of the pace of its cleaning (rule F25); 0: as many as it has room for.
    read_beside_writes_ns : int
        What a read takes longer while the drive is written (rule F26).
    program_beside_reads_ns : int
        What a program takes longer while the drive is read (rule F27).
    has_volatile_cache : bool
        Whether it reports a cache that loses writes with the power (rule Y2).
    """

    sector_bytes: int
    n_sectors: int
    channels: int
    dies_per_channel: int
    page_bytes: int
    pages_per_block: int
    blocks_per_die: Beside[int]
    mapping_bytes: int
    read_ns: int
    program_ns: int
    erase_ns: int
    channel_bytes_per_s: int
    interface_bytes_per_s: int
    read_overhead_ns: int
    write_overhead_ns: int
    read_latency_ns: int
    write_latency_ns: int
    read_delay_ns: Int64
    write_delay_ns: Int64
    suspend_ns: Int64
    write_buffer_bytes: int
    queue_depth: Beside[int]
    ftl: FtlTables
    flush_ns: int = 0
    batch_ns: int = 0
    batch_units: int = 1
    batch_room_units: int = 1
    pace_units: int = 0
    read_beside_writes_ns: int = 0
    program_beside_reads_ns: int = 0
    has_volatile_cache: bool = True

    kind: ClassVar[str] = "flash"
    devices: ClassVar[str] = "diskmodel.engine.reference.flash_disk:flash_drives"
    held: ClassVar[str] = "diskmodel.engine.steady.drives.flash:FlashDrives"
    has_pages: ClassVar[bool] = True

    @property
    def n_drawn_times(self) -> int:
        """Times of reads and of writes beyond those of every command."""
        return len(self.read_delay_ns) + len(self.write_delay_ns)

    @property
    def state_bytes(self) -> int:
        """Where each unit of the model of its blocks is, and the unit in each slot."""
        return 2 * _PLACE_BYTES * self.ftl.model_units

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of its interface."""
        return self.interface_bytes_per_s

    @property
    def takes_flushes(self) -> bool:
        """Whether a host that wants its writes safe sends flushes (rule Y2)."""
        return self.buffer_sectors > 0 and self.has_volatile_cache

    @property
    def mean_latency_ns(self) -> tuple[float, float]:
        """Mean latency of a read and of a write, delays included."""
        read, write = (
            float(delay_ns.mean()) if len(delay_ns) else 0.0 for delay_ns in (self.read_delay_ns, self.write_delay_ns)
        )
        return self.read_latency_ns + read, self.write_latency_ns + write

    @property
    def n_dies(self) -> int:
        """Number of dies, which work in parallel."""
        return self.channels * self.dies_per_channel

    @property
    def sectors_per_unit(self) -> int:
        """Sectors of a mapping unit."""
        return self.mapping_bytes // self.sector_bytes

    @property
    def units_per_page(self) -> int:
        """Mapping units of a page."""
        return self.page_bytes // self.mapping_bytes

    @property
    def buffer_units(self) -> int:
        """Room of the write buffer (rule F8), also where it is not used."""
        return max(self.write_buffer_bytes // self.mapping_bytes, self.units_per_page)

    @property
    def buffer_sectors(self) -> int:
        """Room for writes that are not programmed; 0: none waits."""
        return self.buffer_units * self.sectors_per_unit if self.write_buffer_bytes else 0
