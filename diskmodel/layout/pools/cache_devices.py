"""Description of the cache devices of a pool (L2ARC), and their tables (rule X27)."""

from __future__ import annotations

from pydantic import Field

from diskmodel.description import Description
from diskmodel.layout.pools import l2arc
from diskmodel.layout.pools.l2arc import L2arcTables
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Length, Nanoseconds


class CacheDevice(Description):
    """Cache devices of a pool (L2ARC), as far as they read: flash drives of one kind.

    Attributes
    ----------
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

    size_bytes: Bytes = Field(gt=0, le=1 << 60)
    count: int = Field(default=1, ge=1, le=64)
    page_bytes: Length = Field(ge=512, le=1 << 30)
    dies: int = Field(ge=1, le=1 << 14)
    read_ns: Nanoseconds = Field(gt=0, le=NS_PER_S)
    command_ns: Nanoseconds = Field(default=0, le=NS_PER_S)
    latency_ns: Nanoseconds = Field(default=0, le=NS_PER_S)
    bytes_per_s: BytesPerSecond = Field(ge=4e6)

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
    sent_ns = -(-record_bytes * NS_PER_S // round(device.bytes_per_s))
    return L2arcTables(
        slots=slots_of(device, record_bytes, arc_bytes),
        feed=feed,
        headroom=l2arc.HEADROOM * feed,
        feed_ns=l2arc.FEED_NS,
        busy_feed_ns=l2arc.BUSY_FEED_NS,
        devices=device.count,
        dies=device.dies,
        pages=-(-record_bytes // device.page_bytes),
        sense_ns=device.read_ns,
        send_ns=max(sent_ns, device.command_ns, 1),
        latency_ns=device.command_ns + device.latency_ns,
    )
