"""Event adapter of the intent log of a pool: who waits, and which blocks are written for them (rule X10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from diskmodel.engine.reference.clock import ARRIVE, COMPLETE, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.raid import Raid
from diskmodel.layout.pool import width_of
from diskmodel.layout.pool_space import Space, write_pieces
from diskmodel.records import WRITE
from diskmodel.units import NS_PER_S

# behind the arrivals of the same instant and device number
_LAST = (1 << 63) - 1


@dataclass
class Burst:
    """Blocks of the log that are written together, and who waits for them."""

    n_bytes: int = 0
    #: Records that are written to their places with it.
    n_records: int = 0
    waiting: list[Callable[[Command], None]] = field(default_factory=list)
    issued_ns: int = 0
    out: int = 0
    vdevs: set[int] = field(default_factory=set)
    #: The command that ended it.
    last: Command | None = None


class IntentLog:
    """The log of a pool: those who wait share its blocks."""

    def __init__(self, clock: Clock, raid: Raid, space: Space, sector_bytes: int) -> None:
        self.clock, self.raid, self.space = clock, raid, space
        pool = raid.tables.pool
        assert pool is not None
        self.pool, self.tables = pool, pool.writes
        self.block_bytes = pool.block * sector_bytes
        self.device = len(raid.devices) + 4
        self.open: Burst | None = None
        #: Bursts that are being written, the first of which ends first.
        self.written: deque[Burst] = deque()
        #: For so many bursts it is remembered that commits overlapped.
        self.n_parallel = 0
        #: What a burst takes: a mean in which the latest counts an eighth.
        self.latency_ns = 0
        #: When the log's own device can be sent the next block.
        self.device_free_ns = 0

    def commit(self, n_bytes: int, records: Sequence[int], done: Callable[[Command], None]) -> None:
        """Call `done` when so many bytes, headers included, are in the log, and these records at their places."""
        if self.open is not None:
            self.n_parallel = self.tables.log_bursts
        else:
            self.open = Burst()
            if self.written:
                self.n_parallel = max(self.n_parallel, self.tables.log_bursts // 2)
            wait = self.latency_ns * self.tables.log_wait_percent // 100 if self.n_parallel else 0
            self.clock.at(self.clock.now + wait, ARRIVE, self.device, _LAST, self._issue)
        self.open.n_bytes += n_bytes
        self.open.n_records += len(records)
        self.open.waiting.append(done)

    def _issue(self) -> None:
        burst, self.open = self.open, None
        assert burst is not None
        self.n_parallel = max(self.n_parallel - 1, 0)
        burst.issued_ns = self.clock.now
        self.written.append(burst)
        tables = self.tables
        n = max(-(-burst.n_bytes // (tables.log_block - tables.log_header)), 1)
        blocks = -(-(-(-burst.n_bytes // n) + tables.log_header) // self.block_bytes)
        burst.out = n + burst.n_records
        for _ in range(burst.n_records):
            self._write(burst, *self.space.for_record(), self.pool.record // self.pool.block)
        if tables.log_device_ns:
            self._to_device(burst, n, blocks * self.block_bytes)
            return
        for _ in range(n):
            self._write(burst, *self.space.for_log(blocks), blocks)

    def _write(self, burst: Burst, vdev: int, first: int, blocks: int) -> None:
        burst.vdevs.add(vdev)
        pieces = write_pieces(self.raid.tables, vdev, first, blocks)
        self.raid.start(pieces, [], lambda _, last: self._block_written(burst, last))

    def _to_device(self, burst: Burst, n: int, n_bytes: int) -> None:
        """One block after the other passes the link of the log's own device, and then takes its time (rule X16)."""
        for _ in range(n):
            sent_ns = n_bytes * NS_PER_S // self.tables.log_device_bytes_per_s
            self.device_free_ns = max(self.clock.now, self.device_free_ns) + sent_ns
            done_ns = self.device_free_ns + self.tables.log_device_ns
            self.clock.at(done_ns, COMPLETE, self.device, _LAST, lambda: self._on_device(burst))

    def _on_device(self, burst: Burst) -> None:
        burst.out -= 1
        if not burst.out:
            self._safe(burst, Command(0, 0, WRITE, 0, 0, self.clock.now, lambda _: None))

    def _block_written(self, burst: Burst, last: Command) -> None:
        burst.out -= 1
        if burst.out:
            return
        disks = self._flushed_disks(burst)
        if not disks:
            self._safe(burst, last)
            return
        burst.out = len(disks)

        def flushed() -> None:
            burst.out -= 1
            if not burst.out:
                self._safe(burst, last)

        for disk in disks:
            self.raid.flushes[disk].flush(flushed)

    def _flushed_disks(self, burst: Burst) -> list[int]:
        """Disks of the vdevs that were written to, where disks take flushes."""
        if not self.raid.flushes:
            return []
        width, failed = width_of(self.raid.tables), self.raid.tables.failed
        disks = [disk for vdev in sorted(burst.vdevs) for disk in range(vdev * width, (vdev + 1) * width)]
        return [disk for disk in disks if disk not in failed]

    def _safe(self, burst: Burst, last: Command) -> None:
        """A burst is safe; those who wait go on when all bursts before it are, too."""
        burst.last = last
        self.latency_ns = (self.latency_ns * 7 + self.clock.now - burst.issued_ns) // 8
        while self.written and self.written[0].last is not None:
            ended = self.written.popleft()
            for done in ended.waiting:
                assert ended.last is not None
                done(ended.last)
