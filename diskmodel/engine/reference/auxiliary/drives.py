"""Drives at a place of their own beside the members of an array, each behind a queue as a member is (rule X16)."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import NamedTuple

from diskmodel.engine.auxiliary import Auxiliary
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Device, ScanLimits
from diskmodel.engine.reference.flushing import BlockFlushes
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import READ, WRITE

#: What OpenZFS keeps of a drive, bytes: a label, of which there are two before what is used and two behind it; and room
#: for the first two and to boot from.
LABEL_BYTES, LABELS_BEFORE_BYTES = 256 << 10, 4 << 20


class Free(NamedTuple):
    """Something that is written: of which kind, in which slab, from which of how many parts of it on."""

    kind: int = 0
    slab: int = 0
    part: tuple[int, int] = (0, 1)


class AuxiliaryDrives:
    """The drives of a place.

    Parameters
    ----------
    clock : Clock
    tables : Auxiliary
    scan : ScanLimits, optional
        What a pool gives to its disks of a scan, of which these drives have none.

    Raises
    ------
    CoverageError
        When this engine has no such kind of drive.
    """

    def __init__(self, clock: Clock, tables: Auxiliary, scan: ScanLimits | None = None) -> None:
        self.clock, self.tables = clock, tables
        drive = tables.drive
        if not drive.devices:
            rule = f"simulates no drives of the kind {drive.kind}"
            raise CoverageError(Fault("engine", "simpy", rule, "use engine native, or another kind of drive"))
        self.devices: list[Device] = resolve_name(drive.devices)(clock, tables, drive)
        for number, device in enumerate(self.devices):
            device.index = tables.first_device + number
            device.merge_border = drive.arm_sectors
            if (classes := tables.classes) is not None:
                device.gather_gap, device.gather_limit = classes.read_gap, classes.longest
                device.most_active, device.most_ahead = classes.most, classes.most_ahead
                device.scan = scan
        #: Of each drive, whether it takes any or not.
        self.flushes = [BlockFlushes(clock, device, self._number) for device in self.devices]
        self.n_commands = 0
        #: Where the next write of each kind goes, from where its kind begins on.
        self.next: dict[int, int] = {}

    @property
    def takes_flushes(self) -> bool:
        """Whether what they have answered may be lost in a power cut before a flush."""
        return self.tables.takes_flushes

    def _number(self) -> int:
        self.n_commands += 1
        return self.n_commands - 1

    @property
    def n_slabs(self) -> int:
        """Whole slabs of a drive."""
        return max(self.tables.n_sectors // self.tables.slab_sectors, 1)

    def _free(self, free: Free, room: int) -> int:
        """Return the next sector for what has so much room: behind the last of its kind, or where its kind begins."""
        slab = self.tables.slab_sectors
        part, of = free.part
        begin, at = slab // of * part, self.next.get(free.kind, 0)
        if begin + at + room > slab:
            at = 0
        self.next[free.kind] = at + room
        return self.tables.first_sector + free.slab * slab + begin + at

    def _sectors(self, n_bytes: int) -> int:
        return -(-n_bytes // self.tables.drive.sector_bytes)

    def append(
        self,
        free: Free,
        n_bytes: int,
        room_bytes: int,
        done: Callable[[Command], None],
        *,
        is_of_group: bool = False,
    ) -> int:
        """Write so many bytes behind the last of their kind to every drive, and keep room for some more.

        Returns how many commands have to end for that; `done` is called with each.
        """
        lba = self._free(free, self._sectors(room_bytes))
        return self._write(lba, self._sectors(n_bytes), done, is_of_group=is_of_group)

    def write_label(self, number: int, n_bytes: int, done: Callable[[Command], None]) -> int:
        """Write the label with this number to every drive: two before what is used, and two behind it."""
        tables = self.tables
        apart, before = self._sectors(LABEL_BYTES), self._sectors(LABELS_BEFORE_BYTES)
        # the second half of a label has the ring of what is written
        first = max(tables.first_sector - before + apart // 2, 0)
        base = first if number < 2 else tables.first_sector + tables.n_sectors
        return self._write(base + number % 2 * apart, self._sectors(n_bytes), done, is_of_group=False)

    def read(self, number: int, at: int, n_bytes: int, done: Callable[[Command], None]) -> int:
        """Read so many bytes of one drive, of all of which it is full those at a place; returns how many commands."""
        n = self._sectors(n_bytes)
        lba = self.tables.first_sector + at % max(self.tables.n_sectors // n, 1) * n
        return self._send(self.devices[number], READ, lba, n, done)

    def append_to(self, number: int, n_bytes: int, done: Callable[[Command], None]) -> int:
        """Write so many bytes to one drive behind the last ones, when nobody waits; returns how many commands."""
        n = self._sectors(n_bytes)
        return self._send(self.devices[number], WRITE, self._free(Free(number), n), n, done, is_of_group=True)

    def _write(self, lba: int, n: int, done: Callable[[Command], None], *, is_of_group: bool) -> int:
        return sum(self._send(device, WRITE, lba, n, done, is_of_group=is_of_group) for device in self.devices)

    def _send(
        self, device: Device, op: int, lba: int, n: int, done: Callable[[Command], None], *, is_of_group: bool = False
    ) -> int:
        border, out = self.tables.drive.arm_sectors, 0
        while n:
            take = min(n, (lba // border + 1) * border - lba)
            command = Command(self._number(), device.index, op, lba, take, self.clock.now, done)
            command.is_of_group = is_of_group
            device.submit(command)
            out += 1
            lba, n = lba + take, n - take
        return out
