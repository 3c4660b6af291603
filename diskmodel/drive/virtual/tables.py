"""Tables of a virtual disk for the engines: integers only, computed once from the description.

Fields `Beside` are those that the kernel gets in another record, or not at all (`diskmodel/schema.py`).
"""

from __future__ import annotations

from typing import ClassVar

from diskmodel.drive.tables_card import DriveTables
from diskmodel.drive.whole_numbers import Int64
from diskmodel.loading import dataclass
from diskmodel.schema import Beside


@dataclass(frozen=True, eq=False)
class VirtualTables(DriveTables):
    """Times of a disk behind a hypervisor.

    Attributes
    ----------
    sector_bytes, n_sectors : int
    read_overhead_ns, write_overhead_ns : int
        Processing of a command, one command at a time.
    read_copy_bytes_per_s, write_copy_bytes_per_s : int
        0: copying takes no time.
    read_latency_ns, write_latency_ns : int
        Fixed parts of a command that overlap with other commands.
    wake_ns : int64, shape (n,)
        Equally likely times until an idle host wakes up; none for n = 0.
    is_batched : bool
        Whether all commands that the host processes without a pause complete together.
    queue_depth : int
    """

    sector_bytes: int
    n_sectors: int
    read_overhead_ns: int
    write_overhead_ns: int
    read_copy_bytes_per_s: int
    write_copy_bytes_per_s: int
    read_latency_ns: int
    write_latency_ns: int
    wake_ns: Int64
    is_batched: bool
    queue_depth: Beside[int]

    kind: ClassVar[str] = "virtual"
    devices: ClassVar[str] = "diskmodel.engine.reference.remote.virtual_disk:VirtualDisk.all_of"

    @property
    def n_drawn_times(self) -> int:
        """Times until an idle host wakes up."""
        return len(self.wake_ns)

    @property
    def takes_flushes(self) -> bool:
        """Whether a host that wants its writes safe sends flushes (rule Y2), whatever the hypervisor makes of them."""
        return True
