"""Drives at a place of their own beside the members of an array, each behind a queue as a member is (rule X16)."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name

from diskmodel.engine.auxiliary import Auxiliary
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Device, ScanLimits
from diskmodel.engine.reference.flushing import BlockFlushes
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import WRITE


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
        self.flushes = [BlockFlushes(clock, device, self._number) for device in self.devices]
        self.n_commands = 0
        #: Where the next write in order goes, from the first sector on.
        self.next = 0

    @property
    def takes_flushes(self) -> bool:
        """Whether what they have answered may be lost in a power cut before a flush."""
        return self.tables.takes_flushes

    def _number(self) -> int:
        self.n_commands += 1
        return self.n_commands - 1

    def append(self, n_bytes: int, room_bytes: int, done: Callable[[Command], None]) -> None:
        """Write so many bytes to the first drive behind the last, and keep room for some more."""
        sector_bytes = self.tables.drive.sector_bytes
        n, room = -(-n_bytes // sector_bytes), -(-room_bytes // sector_bytes)
        if self.next + room > self.tables.n_sectors:
            self.next = 0
        lba = self.tables.first_sector + self.next
        self.next += room
        device = self.devices[0]
        device.submit(Command(self._number(), device.index, WRITE, lba, n, self.clock.now, done))
