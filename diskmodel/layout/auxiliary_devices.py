"""Devices of another class beside the disks of an array, each for something of its own: a log, or a pool's metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from diskmodel.description import Description
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Nanoseconds, Ratio

#: The least journal, bytes: some hundred of the largest batches of stripes.
MIN_JOURNAL_BYTES = 4 << 20
#: Fields of a log's device that only journals have.
ONLY_OF_JOURNALS = ("flush_ns", "size_bytes", "mode")
#: The most devices of the mirror of a special vdev: no more than anybody has.
MAX_SPECIAL_DEVICES = 8


class AuxiliaryDevice(Description):
    """A device of its own, whose buffer answers writes: one after another passes its link (rules X16, X26, Y13).

    Attributes
    ----------
    write_ns : int
        Time of a write: of an SSD with power-loss protection, or of memory with a battery, it is safe when it ends.
    bytes_per_s : float
        What it can take in a second.
    """

    write_ns: Nanoseconds = Field(gt=0)
    bytes_per_s: BytesPerSecond = 500e6


class LogDevice(AuxiliaryDevice):
    """A device of its own for a log: the intent log of a pool (SLOG), or the journal of an array of Linux md.

    Attributes
    ----------
    write_ns, bytes_per_s
        As of every device of its own.
    flush_ns : int
        Journals: time of a flush, where what the device has answered is not safe from a power cut before one. 0: Linux
        need not flush it.
    size_bytes : int or None
        Journals: room. None: 40 GiB, four times the most that Linux md lets stripes fill before it frees their room.
    mode : "write-through" or None
        Journals: when a write ends: "write-through" (md's, unless it is changed): when it is on the members, too.
        "write-back" is not modeled.
    """

    flush_ns: Nanoseconds = 0
    size_bytes: Bytes | None = Field(default=None, ge=MIN_JOURNAL_BYTES, le=1 << 50)
    mode: Literal["write-through", "write-back"] | None = None


class SpecialVdev(AuxiliaryDevice):
    """The special vdev of a pool of OpenZFS: a mirror of equal devices that has all metadata (rule X26).

    Attributes
    ----------
    write_ns, bytes_per_s
        Of each of its devices, as of every device of its own. All of them are written at once.
    devices : int
        Devices of the mirror. One alone would lose the pool with it, and is refused.
    size_bytes : int or None
        Room of each device. None: not known, and taken to be enough for the metadata of all records.
    mttf_hours, ure_per_bit : float or None
        Mean time to failure of a device, and unreadable bits per bit read, for the chance of data loss: the pool is
        lost with its special vdev. None: those of usual drives.
    used_ratio : float or None
        Share of the pool's space that is in use, whose metadata must have room. None: as the layout's `rebuild` says,
        or 80 %.
    small_blocks_bytes : int
        Records up to this length would lie there, too (`special_small_blocks`). Modeled is what is less than a record
        of the pool, so that none does.
    """

    devices: int = Field(default=2, ge=2, le=MAX_SPECIAL_DEVICES)
    size_bytes: Bytes | None = Field(default=None, gt=0, le=1 << 50)
    mttf_hours: float | None = Field(default=None, gt=0)
    ure_per_bit: float | None = Field(default=None, ge=0, lt=1)
    used_ratio: Ratio | None = None
    small_blocks_bytes: Bytes = Field(default=0, le=16 << 20)


@dataclass(frozen=True)
class AuxiliaryDeviceTables:
    """A device of its own in whole numbers.

    Attributes
    ----------
    write_ns : int
        What a write takes when it has passed the link.
    bytes_per_s : int
        What passes the link in a second.
    """

    write_ns: int
    bytes_per_s: int


def auxiliary_device_tables(device: AuxiliaryDevice) -> AuxiliaryDeviceTables:
    """Return a device of its own as the engines read it."""
    return AuxiliaryDeviceTables(device.write_ns, max(round(device.bytes_per_s), 1))


class DeviceQueue:
    """Writes that wait for a device of its own: one after another passes its link."""

    def __init__(self, tables: AuxiliaryDeviceTables) -> None:
        self.tables = tables
        #: When the device can be sent the next write.
        self.free_ns = 0

    def end_of(self, n_bytes: int, now_ns: int) -> int:
        """Return when a write of so many bytes ends that comes now."""
        self.free_ns = max(now_ns, self.free_ns) + n_bytes * NS_PER_S // self.tables.bytes_per_s
        return self.free_ns + self.tables.write_ns
