"""A layout in whole numbers, as the engines read it: what all kinds of volumes have.

Each kind has a record of its own (`single/tables.py`, `md/tables.py`, `pools/tables.py`), listed in `volumes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import Family
from diskmodel.layout.md.fields import ReadPolicy
from diskmodel.layout.passes import Rebuild, SyncAction
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.layout.md.tables import MdTables

#: "nearest" applies to RAID 1; "idle-or-nearest" and "lowest" are its meanings for near and far copies; "least-loaded"
#: is what OpenZFS does.
CopyPolicy = ReadPolicy | Literal["idle-or-nearest", "lowest", "least-loaded"]


@dataclass(frozen=True, kw_only=True)
class LayoutTables:
    """What every layout has, in sectors.

    Attributes
    ----------
    kind : str
        Which record it is.
    family : "concat", "copies", "parity" or "pool"
        Disks end to end; strips with `copies` copies (1: RAID 0); rows with parity; vdevs of OpenZFS.
    n_disks, n_spares : int
    strip : int
        Sectors of a strip, or of a record of a pool.
    member : int
        Sectors of each disk that are used for data (whole strips).
    data_offset : int
        First sector of data on each disk.
    copies : int
    n_groups, n_data, n_parity : int
        Parity groups, and the strips of one of their rows; of a pool the vdevs, and the columns of a full record.
    read_policy : str
        Which copy serves a read.
    failed : tuple of int
    capacity : int
        Sectors that the host sees.
    sync_action : "none", "recover", "check" or "resync"
        Which pass over the members goes on; the other fields of a rebuild describe it.
    rebuild_disk : int
        Failed disk that is rebuilt onto the spare (disk number n_disks), or -1.
    rebuild_window : int
        Sectors of one rebuild step; of a pool what a record takes of a disk in the mean, of dRAID of all disks of its
        vdev.
    rebuild_front : int
        Sectors of the disk's data area already rebuilt at time 0; of a pool whole windows of records, of all vdevs.
    has_strips : bool
        Whether strips lie on the disks; records otherwise, which are written elsewhere each time, in groups.
    own_start : str
        Function of the engine that says in which state runs of such a volume begin, "module:function", imported when it
        is called; empty where that is what drives, controller and host hold.
    """

    kind: ClassVar[str]
    has_strips: ClassVar[bool] = True
    own_start: ClassVar[str] = ""

    n_disks: int
    n_spares: int
    strip: int
    member: int
    data_offset: int
    copies: int
    n_groups: int
    n_data: int
    n_parity: int
    read_policy: CopyPolicy
    failed: tuple[int, ...]
    capacity: int
    sync_action: SyncAction | Literal["none"] = "none"
    rebuild_disk: int = -1
    rebuild_window: int = 0
    rebuild_front: int = 0

    @property
    def other_places(self) -> tuple[int, ...]:
        """Sectors of data before a file that is not the first one, where its place decides which disks are read."""
        return ()

    if TYPE_CHECKING:

        @property
        def family(self) -> Family:
            """How blocks lie on the disks."""

    @property
    def md(self) -> MdTables | None:
        """The tables of Linux md; None: of another kind."""
        return None

    @property
    def has_rows(self) -> bool:
        """Whether rows of strips have parity."""
        return self.family == "parity"

    @property
    def is_striped(self) -> bool:
        """Whether blocks go round the disks, and not from one disk's end to the next one's beginning."""
        return self.family != "concat"

    @property
    def unit(self) -> int:
        """Sectors of the host that lie next to each other on a disk: a strip, or all of a disk."""
        return self.strip if self.is_striped else self.member

    @property
    def copies_written(self) -> int:
        """Copies of a strip that a write goes to."""
        return self.copies if self.family == "copies" else 1

    @property
    def logs_stripes(self) -> bool:
        """Whether stripes are in a log before they are on the members (rules Y13 and Y16)."""
        return False

    @property
    def pieces_of_each(self) -> int:
        """Disks that a strip of data is written to: its own, those of its copies and its parity."""
        return self.copies_written + self.n_parity

    @property
    def window_disks(self) -> int:
        """Disks that a window of a rebuild is of: 1, or those of a vdev of dRAID."""
        return 1

    @property
    def rebuilt_at_once(self) -> int:
        """Disks that a pass over the members goes through at once."""
        return 1

    @property
    def has_new_disk(self) -> bool:
        """Whether disk `n_disks`, of its own, takes what a rebuild writes: none does where a spare is distributed."""
        return self.rebuild_disk >= 0

    @property
    def rebuild_end(self) -> int:
        """Sectors that a pass over the members goes through of a disk; of a pool what is stored, of all vdevs.

        Of dRAID they are those of `window_disks`.
        """
        return self.member

    @property
    def held_in_memory(self) -> int:
        """Sectors of writes that it keeps in memory before the disks have to take any."""
        return 0

    def takes_flushes(self, *, does_below: bool) -> bool:
        """Return whether a host that wants its writes safe waits for anything, over what does or does not (rule Y2)."""
        return does_below


def used_sectors(layout: Layout, disk_sectors: int, sector_bytes: int) -> int:
    """Return the sectors of each disk that are used.

    Raises
    ------
    DescriptionError
        When a disk has fewer.
    """
    if layout.member_bytes is None:
        return disk_sectors
    used = sectors_of(layout.member_bytes, sector_bytes, "layout.member_bytes")
    if used > disk_sectors:
        rule = f"the disk has {disk_sectors * sector_bytes} bytes"
        raise fault("layout.member_bytes", used * sector_bytes, rule, "use less")
    return used


def lost_disk(layout: Layout, rebuild: Rebuild) -> int:
    """Return the disk that is rebuilt; -1 where the pass goes through all disks."""
    if rebuild.action != "recover":
        return -1
    return layout.failed[0] if rebuild.disk is None else rebuild.disk


def sectors_of(size_bytes: int, sector_bytes: int, field: str) -> int:
    if size_bytes % sector_bytes:
        nearest = max(round(size_bytes / sector_bytes), 1) * sector_bytes
        raise fault(field, size_bytes, f"must be a multiple of the sector size {sector_bytes}", f"try {nearest}")
    return size_bytes // sector_bytes


def fault(field: str, value: int, rule: str, fix: str) -> DescriptionError:
    return DescriptionError(Fault(field, value, rule, fix))
