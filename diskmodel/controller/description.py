"""Description of the RAID controller: caches and the link to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from diskmodel.controller.files import known_names
from diskmodel.description import Description, Reader
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Length, Nanoseconds, PerSecond, Ratio

#: Memory that a controller takes for dirty data at least. What three controllers hold and write of 4 KiB follows from
#: lines of 64 KiB, the usual default strip (docs/decisions/0010-lines-of-a-controllers-cache.md). At half or double, a
#: disk behind them writes up to 50 % more or less, and a burst of small writes finds twice or half as much room.
LINE_BYTES = 64 << 10

#: Destages that a controller has outstanding on a disk at once, where nobody says how many. Smart Arrays can be set to
#: 2, 4, 8, 16 or 32 commands on a drive, and choose themselves as delivered; other makers print nothing. Six explains
#: the arrays that were measured best (docs/decisions/0022-six-destages.md); with eight nearly all are too fast.
DESTAGES = 6
#: How many times as many they may be, or as few: of what controllers can be set to.
DESTAGES_FACTOR = 4


class ReadCache(Description):
    """Read cache, with a given hit ratio or as a real cache whose hit ratio is a result.

    Attributes
    ----------
    hit_ratio : float or None
        Probability that a read hits, whatever its address.
    size_bytes : int or None
        Size of a real cache; of a pool of OpenZFS what its ARC has for data.
    policy : "lru", "2q", "arc" or "zfs-arc"
        Of a pool always "zfs-arc".
    block_bytes : int
        Unit in which a real cache keeps data; of a pool its records.
    """

    hit_ratio: Ratio | None = None
    size_bytes: Bytes | None = Field(default=None, gt=0)
    policy: Literal["lru", "2q", "arc", "zfs-arc"] = "lru"
    block_bytes: Length = Field(default=4096, gt=0)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which cache has a field."""
        real = Reader("a cache with a size", lambda array: array.controller.read_cache.size_bytes is not None)
        return {"policy": real, "block_bytes": real}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.hit_ratio is None) == (self.size_bytes is None):
            raise ValueError("must have either hit_ratio or size; give one of them")
        return self


class WriteCache(Description):
    """Write-back cache, as a rule behind a battery.

    Attributes
    ----------
    size_bytes : int
        Dirty data it can hold.
    high_ratio : float
        Destaging starts when more than this share of the cache waits to be written.
    low_ratio : float or None
        Destaging stops when no more than this share waits. None: the same as `high_ratio`, so that what exceeds the
        mark is destaged as it comes instead of in bursts.
    block_bytes : int
        Unit in which data is kept and coalesced.
    line_bytes : int
        Memory that dirty data takes at least: so much of the address space, aligned, is kept together, whatever part of
        it is dirty.
    destage_depth : int or None
        Destages outstanding at once on each disk, on average over the disks of a parity group. None: nobody says;
        six, or what the drive's queue takes if that is less, and predictions draw between two and 24.
    protected : bool
        A battery or flash keeps what it holds in a power cut, so that it answers flushes at once. False: a flush waits
        until all of it is on the disks.
    """

    size_bytes: Bytes = Field(gt=0)
    high_ratio: Ratio = 0.5
    low_ratio: Ratio | None = None
    block_bytes: Length = Field(default=4096, gt=0)
    line_bytes: Length = Field(default=LINE_BYTES, gt=0)
    destage_depth: int | None = Field(default=None, ge=1, le=4096)
    protected: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.low_ratio is not None and self.low_ratio > self.high_ratio:
            raise ValueError(f"low_ratio={self.low_ratio}: is above high_ratio={self.high_ratio}; lower it")
        if self.size_bytes < self.block_bytes:
            raise ValueError(f"size_bytes={self.size_bytes}: is less than one block; raise it")
        return self

    def destages(self, drive_depth: int) -> int:
        """Return the destages outstanding at once on a disk that takes `drive_depth` commands (rule K9)."""
        return self.destage_depth or min(DESTAGES, drive_depth)


class Controller(Description):
    """Caches, link and cost per command between the host and the disks.

    Attributes
    ----------
    name : str
        Of a controller that was measured, as the catalogue has it.
    read_cache : ReadCache or None
    write_cache : WriteCache or None
        None: writes go through to the disks.
    hit_ns : int
        Time to serve a cache hit or to accept a write into the cache, without the link.
    link_bytes_per_s : float or None
        Rate of the link to the host, shared by all transfers; None: not modeled.
    command_ns : int
        Time of the controller's processor for each host request, one at a time.
    most_iops : float or None
        Requests a second that it lets pass, such as the limit of a cloud's instance. None: any number.
    read_ahead_bytes : int
        Length of read-ahead for a sequential reader; 0: off. Needs a real read cache.
    volume_depth : int or None
        Requests of the host that it works on at once for one volume; the others wait, in the order in which they came.
        None: any number.
    linux_md : bool
        No controller but Linux md as `mdadm` creates an array: with a write-intent bitmap from 100 GB on. A bitmap of
        the array's file is kept.
    """

    name: str = ""
    read_cache: ReadCache | None = None
    write_cache: WriteCache | None = None
    hit_ns: Nanoseconds = 30_000
    link_bytes_per_s: BytesPerSecond | None = None
    command_ns: Nanoseconds = 0
    most_iops: PerSecond | None = None
    read_ahead_bytes: Length = 0
    volume_depth: int | None = Field(default=None, ge=1, le=65_536)
    linux_md: bool = False

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return what else an array needs for a field to be read."""

        def has_hits(array: Any) -> bool:
            own = array.controller
            return own.read_cache is not None or own.write_cache is not None or array.layout.is_cached_in_memory

        def is_hit(array: Any) -> bool:
            return array.controller.read_cache.size_bytes is not None or not array.host.is_buffered

        def is_md(array: Any) -> bool:
            # one of the catalogue says what it is, whatever it is before
            return bool(array.controller.name) or array.layout.bitmap is not None

        return {
            "name": Reader("one of the catalogue (diskmodel controllers)", lambda array: array.controller.is_known),
            "linux_md": Reader("redundant levels of Linux md from 100 GB on", is_md),
            "hit_ns": Reader("a controller with a cache, or a pool", has_hits),
            "read_cache": Reader("direct I/O draws hits, or a cache with a size", is_hit),
        }

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.read_ahead_bytes and (self.read_cache is None or self.read_cache.size_bytes is None):
            raise ValueError("read_ahead_bytes: needs a read_cache with a size; add one, or leave it out")
        if self.linux_md and (self.has_real_cache or self.volume_depth is not None):
            raise ValueError("linux_md: has neither caches nor a volume_depth; remove these, or linux_md")
        read, write = self.read_cache, self.write_cache
        if read and read.size_bytes and write and read.block_bytes != write.block_bytes:
            raise ValueError("write_cache.block_bytes: must equal read_cache.block_bytes; make them equal")
        return self

    @property
    def is_measured(self) -> bool:
        """Whether it is one of the catalogue of which somebody measured what it does with requests, and with writes."""
        return self.is_known and (self.write_cache is None or self.write_cache.destage_depth is not None)

    @property
    def is_known(self) -> bool:
        """Whether its name is one of the catalogue: a name of one's own makes nothing of it measured."""
        return bool(self.name) and self.name in known_names()

    @property
    def gap_ns(self) -> int:
        """Least time between two requests that it lets pass (rule K17)."""
        return round(NS_PER_S / self.most_iops) if self.most_iops else 0

    @property
    def has_real_cache(self) -> bool:
        """Whether the controller caches blocks, so that the hit ratio is a result."""
        return self.write_cache is not None or (self.read_cache is not None and self.read_cache.size_bytes is not None)
