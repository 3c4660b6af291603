"""Drives at places of their own beside the members of an array: those of a log, a special vdev, cache devices."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import DriveTables, KernelTables, VirtualTables
from diskmodel.engine.steady.start import EMPTY, Start
from diskmodel.engine.turns import first_draw, spindles
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import AuxiliaryDevice, LogDevice
from diskmodel.layout.md import BLOCK_BYTES, JOURNAL_FIRST_BYTES, journal_bytes
from diskmodel.layout.pools import ClassTables, class_tables, slabs_of_a_drive
from diskmodel.loading import dataclass
from diskmodel.queue import Queue, QueueTables
from diskmodel.records import Int64

#: Numbers of places, and numbers of devices that each has room for, behind those that an array counts beside its disks.
LOG, SPECIAL, CACHE = 1, 2, 3
_FIRST_DEVICE, _DEVICES_OF_A_PLACE = 8, 16
#: A device of which only two figures are known, as a drive: bytes of its sectors, its sectors, those of labels at its
#: end, and commands that it takes at a time: more than a pool ever has for it.
_SECTOR_BYTES, _SECTORS, _LABELS, _DEPTH = 512, 1 << 32, 1024, 1 << 16


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """Drives of one kind at a place of their own, which the reference engine makes as it makes those of a scenario.

    Attributes
    ----------
    drive : DriveTables
    queue, drive_queue : Queue
        Above each drive, and its own.
    depth : int
    revolution_ns, phase_ns, first_draw
        As of a scenario, of these drives.
    first_device : int
        Number of the first of them in the order of events.
    takes_flushes : bool
    classes : ClassTables or None
        None: all that comes is given to the drive in order.
    first_sector, n_sectors : int
        What of each drive is used.
    slab_sectors : int
        What of that is written in order before it begins again.
    start : Start
        What they hold when the run begins.
    """

    drive: DriveTables
    queue: Queue
    drive_queue: Queue
    depth: int
    revolution_ns: Int64
    phase_ns: Int64
    first_draw: int
    first_device: int
    takes_flushes: bool
    classes: ClassTables | None
    first_sector: int
    n_sectors: int
    slab_sectors: int
    start: Start = EMPTY

    @property
    def n_devices(self) -> int:
        """Drives at this place."""
        return len(self.revolution_ns)


@dataclass(frozen=True, eq=False)
class AuxiliaryTables:
    """Drives at a place of their own as the kernel takes them.

    Attributes
    ----------
    drive, drive_queue, depth, first_device, takes_flushes, classes, first_sector, n_sectors, slab_sectors,
    revolution_ns, phase_ns, first_draw
        As of `Auxiliary`.
    """

    drive: KernelTables
    drive_queue: QueueTables
    depth: int
    first_device: int
    takes_flushes: bool
    classes: ClassTables | None
    first_sector: int
    n_sectors: int
    slab_sectors: int
    revolution_ns: Int64
    phase_ns: Int64
    first_draw: int

    @classmethod
    def of(cls, drives: Auxiliary | None) -> Self | None:
        """Return the tables of the drives of a place; None where there are none."""
        if drives is None:
            return None
        assert isinstance(drives.drive, KernelTables)
        return cls(
            drive=drives.drive,
            drive_queue=QueueTables.of(drives.drive_queue),
            depth=drives.depth,
            first_device=drives.first_device,
            takes_flushes=drives.takes_flushes,
            classes=drives.classes,
            first_sector=drives.first_sector,
            n_sectors=drives.n_sectors,
            slab_sectors=drives.slab_sectors,
            revolution_ns=drives.revolution_ns,
            phase_ns=drives.phase_ns,
            first_draw=drives.first_draw,
        )


def log_of(array: Array, n_members: int, seed: int) -> Auxiliary | None:
    """Return the drives of a log, or of a journal, beside so many members; None where there are none of its own.

    Raises
    ------
    DescriptionError
        When the drive is too small.
    """
    log = array.layout.log
    if log is None:
        return None
    if log.drive is None:
        return _of_figures(log, LOG, n_members)
    if array.layout.has_strips:
        return _of_journal(array, log, n_members, seed)
    # its blocks come round within the first metaslab
    return _of_drives(array, log.card.of_a_log(), LOG, n_members, 1, seed, "layout.log", n_slabs=1)


def _of_journal(array: Array, log: LogDevice, n_members: int, seed: int) -> Auxiliary:
    """Return the drive of a journal of Linux md, which is written in order from its beginning."""
    tables = array.auxiliary_tables(log.card.of_a_log())
    n_bytes = journal_bytes(log) // BLOCK_BYTES * BLOCK_BYTES
    return _placed(array, tables, LOG, n_members, 1, seed, (JOURNAL_FIRST_BYTES, n_bytes, 1), classes=None)


def special_of(array: Array, n_members: int, seed: int) -> Auxiliary | None:
    """Return the drives of the special vdev of a pool beside so many members; None where it has none.

    Raises
    ------
    DescriptionError
        When the drive is too small.
    """
    special = array.layout.special
    if special is None:
        return None
    if special.drive is None:
        # all of its devices are written at once
        return _of_figures(special, SPECIAL, n_members)
    return _of_drives(array, special.card, SPECIAL, n_members, special.devices, seed, "layout.special")


def cache_of(array: Array, n_members: int, seed: int) -> Auxiliary | None:
    """Return the drives of the cache devices of a pool beside so many members; None without any."""
    cache = array.layout.cache
    if cache is None or cache.drive is None:
        return None
    tables = array.auxiliary_tables(cache.card.of_a_log())
    first, slab, slabs = slabs_of_a_drive(cache.card.capacity_bytes)
    n_bytes = max(min(slab * slabs, cache.size_bytes), array.layout.pool_record_bytes + tables.sector_bytes)
    classes = class_tables(tables.sector_bytes, rotates=tables.has_arms)
    return _placed(array, tables, CACHE, n_members, cache.count, seed, (first, n_bytes, 1), classes)


def _of_drives(
    array: Array, drive: Any, place: int, n_members: int, n: int, seed: int, field: str, n_slabs: int | None = None
) -> Auxiliary:
    """Return so many drives with the metaslabs of a vdev, or with the first ones."""
    tables = array.auxiliary_tables(drive)
    sector = tables.sector_bytes
    first, slab, all_slabs = slabs_of_a_drive(drive.capacity_bytes)
    if not all_slabs:
        raise DescriptionError(Fault(field, drive.name, "has no room for a metaslab", "use a larger drive"))
    slabs = all_slabs if n_slabs is None else min(n_slabs, all_slabs)
    classes = class_tables(sector, rotates=tables.has_arms)
    return _placed(array, tables, place, n_members, n, seed, (first, slab, slabs), classes)


def _placed(
    array: Array,
    tables: DriveTables,
    place: int,
    n_members: int,
    n: int,
    seed: int,
    room: tuple[int, int, int],
    classes: ClassTables | None,
) -> Auxiliary:
    """Return so many drives, of which is used from a byte on so many slabs of some length."""
    first, slab, slabs = room
    sector = tables.sector_bytes
    revolution, phase = spindles(array, tables, n, seed, place)
    return Auxiliary(
        drive=tables,
        queue=Queue(),
        drive_queue=tables.own_queue(),
        depth=tables.queue_depth,
        revolution_ns=revolution,
        phase_ns=phase,
        first_draw=first_draw(tables, seed, place),
        first_device=_first_device(place, n_members),
        takes_flushes=tables.takes_flushes,
        classes=classes,
        first_sector=first // sector,
        n_sectors=slabs * slab // sector,
        slab_sectors=slab // sector,
    )


def _first_device(place: int, n_members: int) -> int:
    return n_members + _FIRST_DEVICE + (place - 1) * _DEVICES_OF_A_PLACE


def _of_figures(device: AuxiliaryDevice, place: int, n_members: int) -> Auxiliary:
    """Return a device of which two figures are known as a virtual disk: one write after another passes its link."""
    assert device.figures is not None
    write_ns, bytes_per_s = device.figures
    rate = max(round(bytes_per_s), 1)
    tables = VirtualTables(
        sector_bytes=_SECTOR_BYTES,
        n_sectors=_SECTORS,
        read_overhead_ns=0,
        write_overhead_ns=0,
        read_copy_bytes_per_s=rate,
        write_copy_bytes_per_s=rate,
        read_latency_ns=write_ns,
        write_latency_ns=write_ns,
        wake_ns=np.zeros(0, np.int64),
        is_batched=False,
        queue_depth=_DEPTH,
    )
    nothing = np.zeros(1, np.int64)
    return Auxiliary(
        drive=tables,
        queue=Queue(),
        drive_queue=tables.own_queue(),
        depth=_DEPTH,
        revolution_ns=nothing,
        phase_ns=nothing,
        first_draw=0,
        first_device=_first_device(place, n_members),
        takes_flushes=False,
        classes=None,
        first_sector=0,
        n_sectors=_SECTORS - _LABELS,
        slab_sectors=_SECTORS - _LABELS,
    )
