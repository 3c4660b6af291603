"""Description of the cache devices of a pool (L2ARC), and their tables (rule X27)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from pydantic import Field, SerializeAsAny, model_validator

from diskmodel.description import Description
from diskmodel.layout.pools import l2arc
from diskmodel.layout.pools.l2arc import CacheDeviceTables, L2arcTables
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Length, Nanoseconds

#: What may be given of a device that is no drive.
FIGURES = ("page_bytes", "dies", "read_ns", "command_ns", "latency_ns", "bytes_per_s")


class CacheDevice(Description):
    """Cache devices of a pool (L2ARC): drives of one kind, or figures of flash drives, as far as they read.

    Attributes
    ----------
    drive : Drive or None
        The drive, which is simulated like those of the array; None: its figures are given.
    size_bytes : int
        Of each device.
    count : int
        Devices; records are divided among them.
    page_bytes, dies : int
        What a die reads at a time, and dies that work at once in each device.
    read_ns : int
        Time of a page in its die.
    command_ns : int
        Time of a command, one after the other.
    latency_ns : int
        What a command takes beyond that, beside other commands.
    bytes_per_s : float
        What comes out of each device in a second: at least 4 MB/s, so that a record of 16 MiB takes no more than 4 s.
    """

    drive: SerializeAsAny[Description] | None = None

    size_bytes: Bytes = Field(gt=0, le=1 << 60)
    count: int = Field(default=1, ge=1, le=64)
    page_bytes: Length | None = Field(default=None, ge=512, le=1 << 30)
    dies: int | None = Field(default=None, ge=1, le=1 << 14)
    read_ns: Nanoseconds | None = Field(default=None, gt=0, le=NS_PER_S)
    command_ns: Nanoseconds | None = Field(default=None, le=NS_PER_S)
    latency_ns: Nanoseconds | None = Field(default=None, le=NS_PER_S)
    bytes_per_s: BytesPerSecond | None = Field(default=None, ge=4e6)

    @model_validator(mode="after")
    def _check_is_one(self) -> Self:
        given = [name for name in FIGURES if getattr(self, name) is not None]
        if self.drive is not None and given:
            raise ValueError(f"{given[0]}: is given beside a drive, which has its own; remove one of them")
        missing = [name for name in ("page_bytes", "dies", "read_ns", "bytes_per_s") if name not in given]
        if self.drive is None and missing:
            raise ValueError(f"{missing[0]}: is missing; give it, or name a drive")
        return self

    @property
    def card(self) -> Any:
        """Its drive, as everybody asks drives: a layout stands below them."""
        return self.drive

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields without an effect: who reads those of a drive is known of the array's own alone."""
        return Description.unread(self.model_copy(update={"drive": None}), whole, path)

    @property
    def all_bytes(self) -> int:
        """Size of all devices."""
        return self.size_bytes * self.count


def slots_of(device: CacheDevice, record_bytes: int, arc_bytes: int) -> int:
    """Return the records that the devices can hold: as many as fit, but no more than the ARC keeps headers of."""
    return min(device.all_bytes // record_bytes, most_headers(arc_bytes))


def most_headers(arc_bytes: int) -> int:
    """Return the records on cache devices of which an ARC keeps headers."""
    return int(arc_bytes * l2arc.HEADERS_RATIO) // l2arc.HEADER_BYTES


def l2arc_tables(device: CacheDevice, record_bytes: int, arc_bytes: int) -> L2arcTables:
    """Return the devices in whole numbers."""
    feed = max(l2arc.FEED_BYTES // record_bytes, 1)
    return L2arcTables(
        slots=slots_of(device, record_bytes, arc_bytes),
        feed=feed,
        headroom=l2arc.HEADROOM * feed,
        feed_ns=l2arc.FEED_NS,
        busy_feed_ns=l2arc.BUSY_FEED_NS,
        devices=device.count,
        figures=_figures(device, record_bytes),
    )


def _figures(device: CacheDevice, record_bytes: int) -> CacheDeviceTables | None:
    if device.drive is not None or device.bytes_per_s is None:
        return None
    assert device.page_bytes is not None
    assert device.dies is not None
    assert device.read_ns is not None
    sent_ns = -(-record_bytes * NS_PER_S // round(device.bytes_per_s))
    command_ns = device.command_ns or 0
    return CacheDeviceTables(
        dies=device.dies,
        pages=-(-record_bytes // device.page_bytes),
        sense_ns=device.read_ns,
        send_ns=max(sent_ns, command_ns, 1),
        latency_ns=command_ns + (device.latency_ns or 0),
    )
