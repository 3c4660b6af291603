"""Devices of another class beside the disks of an array, each for something of its own: a log, or a pool's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from diskmodel.description import Description
from diskmodel.units import Bytes, BytesPerSecond, Nanoseconds, Ratio, pretty_ns

#: The least journal, bytes: some hundred of the largest batches of stripes.
MIN_JOURNAL_BYTES = 4 << 20
#: Fields of a log's device that only journals have.
ONLY_OF_JOURNALS = ("flush_ns", "size_bytes", "mode")
#: The most devices of the mirror of a special vdev: no more than anybody has.
MAX_SPECIAL_DEVICES = 8


#: What a device of its own takes in a second where only the time of its writes is given.
USUAL_BYTES_PER_S = 500e6


class AuxiliaryDevice(Description):
    """A device of its own: a drive, or two figures of one whose buffer answers writes.

    Attributes
    ----------
    drive : Drive or None
        The drive, which is simulated like those of the array; None: its figures are given.
    write_ns : int or None
        Time of a write: of an SSD with power-loss protection, or of memory with a battery, it is safe when it ends. One
        after another passes its link.
    bytes_per_s : float or None
        What it can take in a second; None: 500 MB/s.
    """

    drive: SerializeAsAny[Description] | None = None
    write_ns: Nanoseconds | None = Field(default=None, gt=0)
    bytes_per_s: BytesPerSecond | None = None

    @model_validator(mode="after")
    def _check_is_one(self) -> Self:
        is_given = self.write_ns is not None or self.bytes_per_s is not None
        if self.drive is not None and is_given:
            raise ValueError("write_ns: is given beside a drive, which has its own; remove one of them")
        if self.drive is None and self.write_ns is None:
            raise ValueError("write_ns: is missing; give it, or name a drive")
        return self

    @property
    def card(self) -> Any:
        """Its drive, as everybody asks drives: a layout stands below them."""
        return self.drive

    @property
    def figures(self) -> tuple[int, float] | None:
        """Time of a write, and what it takes in a second: as given, or of its drive's buffer; None without one."""
        if self.drive is not None:
            found: tuple[int, float] | None = self.card.buffered_writes()
            return found
        assert self.write_ns is not None
        return self.write_ns, USUAL_BYTES_PER_S if self.bytes_per_s is None else self.bytes_per_s

    @property
    def in_words(self) -> str:
        """What it is, for people."""
        return f"writes of {pretty_ns(self.write_ns)}" if self.write_ns is not None else str(self.card.name)

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields without an effect: who reads those of a drive is known of the array's own alone."""
        return Description.unread(self.model_copy(update={"drive": None}), whole, path)


class LogDevice(AuxiliaryDevice):
    """A device of its own for a log: the intent log of a pool (SLOG), or the journal of an array of Linux md.

    Attributes
    ----------
    drive, write_ns, bytes_per_s
        As of every device of its own.
    flush_ns : int
        Journals: time of a flush of a device with figures, where what it has answered is not safe from a power cut
        before one. 0: Linux need not flush it, or it is a drive.
    size_bytes : int or None
        Journals: room. None: that of its drive, up to 40 GiB, four times the most that Linux md lets stripes fill
        before it frees their room.
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
    drive, write_ns, bytes_per_s
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
