"""What the cache devices of a pool hold: records, filled from its ARC (rule X27)."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

#: What one feed takes at most, bytes (`l2arc_write_max` since 2.2.7; before 8 MiB), and as much again while the ARC has
#: room (`l2arc_write_boost`). At half, an L2ARC that is fed all the time takes twice as long to be full.
FEED_BYTES = 32 << 20
#: How far from the end of a list of the ARC a feed looks, in times of what it takes (`l2arc_headroom`, doubled by
#: `l2arc_headroom_boost` because the ARC is compressed).
HEADROOM = 16
#: From one feed to the next (`l2arc_feed_secs`), and from one that took more than half of what it may
#: (`l2arc_feed_min_ms`), ns.
FEED_NS, BUSY_FEED_NS = 1_000_000_000, 200_000_000
#: What a record on a cache device takes of the ARC for its header, bytes (the part of `arc_buf_hdr_t` before
#: `b_l1hdr`), and the share of the ARC from which on nothing more is fed (`l2arc_meta_percent`).
HEADER_BYTES, HEADERS_RATIO = 96, 0.33


class CacheDeviceTables(NamedTuple):
    """Cache devices of which figures are known, in whole numbers.

    Attributes
    ----------
    dies, pages : int
        Dies of each, and pages that a record takes.
    sense_ns, send_ns, latency_ns : int
        Time of a page in its die; of a record on the link; and what a read takes beyond these.
    """

    dies: int
    pages: int
    sense_ns: int
    send_ns: int
    latency_ns: int


class L2arcTables(NamedTuple):
    """The cache devices of a pool in whole numbers.

    Attributes
    ----------
    slots : int
        Records that all devices have room for.
    feed, headroom : int
        Records that a feed takes at most, and that it looks at in a list.
    feed_ns, busy_feed_ns : int
    devices : int
    figures : CacheDeviceTables or None
        None: they are drives.
    """

    slots: int
    feed: int
    headroom: int
    feed_ns: int
    busy_feed_ns: int
    devices: int
    figures: CacheDeviceTables | None

    @property
    def feed_per_s(self) -> float:
        """Records that feeds take in a second at most."""
        return self.feed * 1e9 / self.busy_feed_ns


class Region(NamedTuple):
    """Records `first` to `first + n - 1`, of which some are on the L2ARC when a run begins.

    Record `first + b` is number `b · step mod n` of them, and on the L2ARC if that is less than the sum of `ages`;
    `step` and `n` have no divisor in common. `ages` of them are in equal parts of the slots that are taken, the oldest
    first.
    """

    first: int
    n: int
    step: int
    ages: tuple[int, ...]

    def number(self, record: int) -> int:
        """Return which of those that are kept a record is; -1: none of them."""
        behind = record - self.first
        if not 0 <= behind < self.n:
            return -1
        number = behind * self.step % self.n
        return number if number < sum(self.ages) else -1

    def gone(self, n_slots: int, taken: int) -> int:
        """Return how many have made room when so many of the slots that are taken have."""
        n_ages = len(self.ages)
        age = n_slots * n_ages // taken
        part = self.ages[age] * (n_slots * n_ages - age * taken) // taken if age < n_ages else 0
        return sum(self.ages[:age]) + part


class Fed(Protocol):
    """The lists of an ARC, the oldest record of each first."""

    capacity: int
    recent: OrderedDict[int, None]
    frequent: OrderedDict[int, None]


class L2arc:
    """Records on the cache devices. Each that comes takes the place of the oldest one."""

    def __init__(self, tables: L2arcTables, regions: Sequence[Region] = (), taken: int = 0) -> None:
        self.tables = tables
        #: Slots that these regions' records were put on, and how many of them have been taken since.
        self.taken, self.n_retaken = taken, 0
        #: What it holds from the beginning, and how many of each region have made room already.
        self.regions = list(regions)
        self.n_gone = [0] * len(self.regions)
        #: Records of these that have been written since.
        self.written: set[int] = set()
        self.n_free = tables.slots - taken
        #: Those that came since, in order, each with its number; and the number of each that is still valid.
        self.order: deque[tuple[int, int]] = deque()
        self.number: dict[int, int] = {}
        self.n_come = 0

    def __contains__(self, record: int) -> bool:
        return record in self.number or self._is_from_the_beginning(record)

    def insert(self, record: int) -> None:
        """Put a record on the L2ARC that is not there yet."""
        if self.n_free:
            self.n_free -= 1
        elif self.n_retaken < self.taken:
            self.n_retaken += 1
            self.n_gone = [region.gone(self.n_retaken, self.taken) for region in self.regions]
        else:
            gone, number = self.order.popleft()
            if self.number.get(gone) == number:
                del self.number[gone]
        self.n_come += 1
        self.order.append((record, self.n_come))
        self.number[record] = self.n_come

    def invalidate(self, record: int) -> None:
        """A record has been written: what the L2ARC has of it is of no use, but takes its place as before."""
        if self.number.pop(record, None) is None and self._is_from_the_beginning(record):
            self.written.add(record)

    def feed(self, arc: Fed) -> bool:
        """Take what the ARC evicts next; return whether that was more than half of what may be taken."""
        is_warm = len(arc.recent) + len(arc.frequent) >= arc.capacity
        most = min(self.tables.feed * (1 if is_warm else 2), max(self.tables.slots // 4, 1))
        headroom = self.tables.headroom * (1 if is_warm else 2)
        n_fed = 0
        for records in (arc.frequent, arc.recent):
            for passed, record in enumerate(records if is_warm else reversed(records)):
                if passed >= headroom or n_fed == most:
                    break
                if record not in self:
                    self.insert(record)
                    n_fed += 1
        return 2 * n_fed > most

    def _is_from_the_beginning(self, record: int) -> bool:
        if record in self.written:
            return False
        return any(region.number(record) >= n_gone for region, n_gone in zip(self.regions, self.n_gone, strict=True))


class Devices:
    """When reads of cache devices are done of which figures are known."""

    def __init__(self, tables: CacheDeviceTables, devices: int) -> None:
        self.tables, self.devices = tables, devices
        self.die_free = [[0] * tables.dies for _ in range(devices)]
        self.link_free = [0] * devices

    def read(self, record: int, now: int) -> int:
        """Begin to read a record; return when it has come."""
        tables = self.tables
        device, first = record % self.devices, record // self.devices * tables.pages
        free, sensed = self.die_free[device], now
        for page in range(first, first + tables.pages):
            die = page % tables.dies
            free[die] = max(free[die], now) + tables.sense_ns
            sensed = max(sensed, free[die])
        self.link_free[device] = max(self.link_free[device], now) + tables.send_ns
        return max(sensed + tables.send_ns, self.link_free[device]) + tables.latency_ns
