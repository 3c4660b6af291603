"""A flash drive from its data sheet: what no sheet prints follows from what every one does.

A sheet of a data-center drive prints its rates in order, its random reads and its random writes in the steady state.
These determine the model's parallelism, program time, overheads and over-provisioning, given the times of TLC flash.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Nanoseconds, PerSecond

#: What sheets call random: operations of 4 KiB.
_OPERATION_BYTES = 4096
#: Pages of a die with all its planes, and the bus of a channel, as the catalogue's drives have them. Half or double
#: changes the time that a read waits for a transfer of a program by 14 µs.
_PAGE_BYTES = 32 << 10
_CHANNEL_BYTES_PER_S = 1.2e9
#: Sensing a page of TLC flash, ns: makers of dies print 45 to 65 µs. Half or double: reads take 30 µs less or 60 more.
_READ_NS = 60_000
_ERASE_NS = 6_000_000
_PAGES_PER_BLOCK = 1024
#: Dies on a channel before there are more channels.
_MOST_PER_CHANNEL = 4
_CHANNELS = 8
#: Part of their rate that dies reach under random reads with 256 outstanding, as sheets measure: some have none to do.
_REACHED_RATIO = 0.85
#: Latency of a read and of a write of 4 KiB alone where a sheet prints none, ns: as data-center drives of 2019 to 2023
#: on NVMe, and on SATA what the sheet of the Intel DC S4600 prints. Of SATA drives 102 to 128 us and 37 to 79 us were
#: measured (docs/explanation/validation/flash.md). At half, single requests are twice as many.
_TYPICAL_READ_NS, _TYPICAL_WRITE_NS = 80_000, 15_000
_SATA = {"read_latency_ns": 110_000, "write_latency_ns": 52_000}
#: Command processing of writes, as part of the time that programming takes when nothing is copied: a drive that was
#: just erased writes at random as fast as in order (7450 PRO: 353,000/s, 1,400 MB/s printed).
_COMMANDS_RATIO = 0.8
#: Mean time until a program is suspended for a read, ns. Reads beside writes of six models of data-center drives give
#: 70, 95, 95, 95, 120 and 160 µs by p95 and p99 (docs/explanation/validation/flash.md): about their middle, the time of
#: one pulse of a program, which is not interrupted (G. Wu, X. He, "Reducing SSD read latency via NAND flash program and
#: erase suspension", FAST 2012). At half or double, p99 of reads beside writes is off by 40 %.
SUSPEND_NS = 100_000
#: By how much less greedy cleaning of blocks of the model's size writes than the form for large ones, for each unit of
#: write amplification above 1: 5 % less at 7.8, 1 % at 2.5 (tests/theory/test_flash_write_amplification.py).
_GREEDY_GAIN = 0.0072
#: Write amplification that stands for none: with 1 there would be no bound on the spare.
_LEAST_AMPLIFICATION = 1.02
_WRITE_BUFFER_BYTES = 8 << 20
#: Over-provisioning of consumer drives: 1,024 GiB are 9.95 % more than 1,000 GB, and the fixed cache and blocks in
#: reserve take a third of that. At half or double, steady random writes over the whole drive are a half or 1.8 times
#: as many.
_CONSUMER_SPARE = 0.07


class FlashSheet(Description):
    """What the data sheet of a flash drive prints.

    Attributes
    ----------
    sequential_read_bytes_per_s, sequential_write_bytes_per_s : float
    random_reads_per_s, random_writes_per_s : float
        Of 4 KiB, queued deep; writes in the steady state, over the whole drive.
    read_latency_ns, write_latency_ns : int
        Of one operation of 4 KiB alone. Default: those of data-center drives (`usual_of`).
    sustained_write_bytes_per_s : float, optional
        Of a consumer drive: writes in order when its cache of one bit a cell (SLC) is full. The rates of writes above
        are then those of that cache, as such sheets print them.
    cache_bytes, fixed_cache_bytes : int
        That cache in an empty drive, and what of it a full drive has.
    bits_per_cell : int
        Of the flash behind it: a byte in the cache takes so many of unused space.
    """

    sequential_read_bytes_per_s: BytesPerSecond
    sequential_write_bytes_per_s: BytesPerSecond
    random_reads_per_s: Annotated[PerSecond, Field(ge=100)]
    random_writes_per_s: Annotated[PerSecond, Field(ge=100)]
    read_latency_ns: Nanoseconds = _TYPICAL_READ_NS
    write_latency_ns: Nanoseconds = _TYPICAL_WRITE_NS
    sustained_write_bytes_per_s: BytesPerSecond | None = None
    cache_bytes: Bytes = 0
    fixed_cache_bytes: Bytes = 0
    bits_per_cell: Annotated[int, Field(ge=2, le=5)] = 3

    @model_validator(mode="after")
    def _cached(self) -> Self:
        if self.cache_bytes and self.sustained_write_bytes_per_s is None:
            raise ValueError("cache_bytes: is of use with the rate behind it; add sustained_write")
        if self.fixed_cache_bytes > self.cache_bytes:
            raise ValueError(
                f"fixed_cache_bytes={self.fixed_cache_bytes}: is more than cache_bytes={self.cache_bytes}; lower it"
            )
        return self

    @property
    def is_of_cache(self) -> bool:
        """Whether its rates of writes are those of a cache, or of a burst."""
        return self.sustained_write_bytes_per_s is not None

    def cache_room_bytes(self, unused_bytes: int) -> int:
        """Return how large the cache is in a drive with so much space that holds no data."""
        return self.fixed_cache_bytes + min(
            self.cache_bytes - self.fixed_cache_bytes, unused_bytes // self.bits_per_cell
        )


def usual_of(bus: str) -> Mapping[str, Any]:
    """Return the latencies of a drive on this bus whose sheet prints none, where they are not the defaults."""
    return _SATA if "SATA" in bus else {}


def derived(sheet: FlashSheet) -> Mapping[str, Any]:
    """Return the fields of a flash drive that reproduces its sheet.

    Notes
    -----
    Dies, each of which senses a page in 60 µs, are as many as the random reads need. The program time is what they may
    take for the sequential writes. The steady random writes leave each die `1 / A` of its time for what the host
    writes, so that `A`, the write amplification, follows from the ratio of the two rates, and the over-provisioning
    from `1 - 1/A = x = exp(-(1 - x) (1 + spare))` (P. Desnoyers, ACM TOS 10(2), 2014). Of a consumer drive the program
    time is that behind the cache, and the over-provisioning what such drives have.
    """
    channels = _CHANNELS
    needed = sheet.random_reads_per_s * _READ_NS / NS_PER_S / _REACHED_RATIO
    while needed > channels * _MOST_PER_CHANNEL:
        channels *= 2
    per_channel = max(math.ceil(needed / channels), 1)
    n_dies = channels * per_channel
    page_ns = _PAGE_BYTES / _CHANNEL_BYTES_PER_S * NS_PER_S
    erase_ns = _ERASE_NS / _PAGES_PER_BLOCK
    program_ns = _program_ns(sheet.sustained_write_bytes_per_s or sheet.sequential_write_bytes_per_s, n_dies)
    operations = _PAGE_BYTES // _OPERATION_BYTES
    # a page that is cleaned is read once, whatever of it is valid
    steady_ns = n_dies * operations / sheet.random_writes_per_s * NS_PER_S
    amplification = max(steady_ns / (page_ns + program_ns + erase_ns + _READ_NS), _LEAST_AMPLIFICATION)
    spare = spare_of(amplification / (1 - _GREEDY_GAIN * (amplification - 1)))
    if sheet.sustained_write_bytes_per_s is not None:
        spare = _CONSUMER_SPARE  # the random writes of such a sheet are those of the cache
    in_order_ns = _OPERATION_BYTES / sheet.sequential_write_bytes_per_s * NS_PER_S
    write_overhead_ns = min(_COMMANDS_RATIO * in_order_ns, 0.9 * NS_PER_S / sheet.random_writes_per_s)
    if sheet.sustained_write_bytes_per_s is not None:
        write_overhead_ns = NS_PER_S / sheet.random_writes_per_s / 1.02
    read_overhead_ns = NS_PER_S / sheet.random_reads_per_s / 1.02
    moved_ns = _OPERATION_BYTES / sheet.sequential_read_bytes_per_s * NS_PER_S
    sensed_ns = _READ_NS + _OPERATION_BYTES / _CHANNEL_BYTES_PER_S * NS_PER_S
    return {
        "channels": channels,
        "dies_per_channel": per_channel,
        "page_bytes": _PAGE_BYTES,
        "pages_per_block": _PAGES_PER_BLOCK,
        "read_ns": _READ_NS,
        "program_ns": round(program_ns),
        "erase_ns": _ERASE_NS,
        "channel_bytes_per_s": _CHANNEL_BYTES_PER_S,
        "interface_bytes_per_s": sheet.sequential_read_bytes_per_s * 1.004,
        "read_overhead_ns": round(read_overhead_ns),
        "write_overhead_ns": round(write_overhead_ns),
        "read_latency_ns": max(round(sheet.read_latency_ns - sensed_ns - moved_ns - read_overhead_ns), 0),
        "write_latency_ns": max(round(sheet.write_latency_ns - moved_ns - write_overhead_ns), 0),
        "write_buffer_bytes": _WRITE_BUFFER_BYTES,
        "over_provisioning_ratio": spare,
        "suspend_ns": SUSPEND_NS,
    }


def cached_program_ns(sheet: FlashSheet, n_dies: int) -> int:
    """Return the time of a program with one bit a cell that makes the rate of writes in order that a sheet prints."""
    return round(_program_ns(sheet.sequential_write_bytes_per_s, n_dies))


def _program_ns(write_bytes_per_s: float, n_dies: int) -> float:
    """Return the program time with which dies reach a rate of writes in order."""
    page_ns = _PAGE_BYTES / _CHANNEL_BYTES_PER_S * NS_PER_S
    per_page_ns = n_dies * _PAGE_BYTES / write_bytes_per_s * NS_PER_S
    return max(per_page_ns - page_ns - _ERASE_NS / _PAGES_PER_BLOCK, page_ns)


def spare_of(amplification: float) -> float:
    """Return the over-provisioning with which uniform random writes have this write amplification, above 1.

    Examples
    --------
    >>> round(spare_of(4.0), 3)
    0.151
    """
    x = 1 - 1 / amplification
    return -math.log(x) / (1 - x) - 1
