"""Event adapter of the intent log of a pool: who waits, and which blocks are written for them (rule X10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives, Free
from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.flushing import BlockFlushes
from diskmodel.engine.reference.pools.members import Members
from diskmodel.engine.reference.processors import Processors
from diskmodel.layout.pools import Lengths, Space, vdevs_of, width_of, write_pieces

#: Stands for the log's own drives among the vdevs that a block was written to.
OWN = -1


class Entry(NamedTuple):
    """What one write takes in the log: bytes, its header included, and records that go to their places with it."""

    n_bytes: int
    n_records: int = 0


@dataclass
class Block:
    """A block of the log, and who waits for it."""

    length: int
    used: int
    #: Records that are written to their places with it.
    n_records: int = 0
    waiting: list[Callable[[Command], None]] = field(default_factory=list)
    issued_ns: int = 0
    #: When a processor has made it, once it has begun; and whether it is being written.
    made_ns: int | None = None
    is_begun: bool = False
    out: int = 0
    #: What it was written to and what blocks before it leave to be flushed with it.
    vdevs: set[int] = field(default_factory=set)
    #: The last command of its writes.
    written: Command | None = None
    is_flushing: bool = False
    is_safe: bool = False


class IntentLog:
    """The log of a pool: those who wait share its blocks."""

    def __init__(
        self,
        clock: Clock,
        raid: Members,
        space: Space,
        processors: Processors,
        work_ns: Sequence[int],
        sector_bytes: int,
        drives: AuxiliaryDrives | None = None,
    ) -> None:
        self.clock, self.raid, self.space = clock, raid, space
        self.processors = processors
        #: What a processor does for a block, and for a record that is written with it.
        self.block_ns, self.record_ns = work_ns
        self.vdevs = vdevs_of(raid.tables)
        pool = self.vdevs.pool
        self.pool, self.tables = pool, pool.writes
        self.block_bytes = pool.block * sector_bytes
        self.device = len(raid.devices) + 4
        self.lengths = Lengths(self.tables)
        self.open: Block | None = None
        #: Blocks that are being written, the first of which ends first.
        self.written: deque[Block] = deque()
        #: For so many bursts it is remembered that commits overlapped.
        self.n_parallel = 0
        #: What a block takes: a mean in which the latest counts an eighth.
        self.latency_ns = 0
        #: The log's own drives, if it has any.
        self.drives = drives

    def commit(self, entries: Sequence[Entry], done: Callable[[Command], None]) -> None:
        """Call `done` when these entries are in the log, and their records at their places."""
        if self.open is not None:
            self.n_parallel = self.tables.log_bursts
        elif self.written:
            self.n_parallel = max(self.n_parallel, self.tables.log_bursts // 2)
        self.lengths.come(sum(entry.n_bytes for entry in entries))
        before = self.open
        for entry in entries:
            self._enter(entry)
        block = self.open
        assert block is not None
        if block is not before:
            wait = self.latency_ns * self.tables.log_wait_percent // 100 if self.n_parallel else 0
            self.clock.at(self.clock.now + wait, ARRIVE, self.device, LAST, lambda: self._timed(block))
        block.waiting.append(done)

    def _enter(self, entry: Entry) -> None:
        """Give an entry room in the open block, or in others behind it."""
        header = self.tables.log_header
        left = entry.n_bytes - header
        while True:
            block = self.open
            if block is None:
                block = self.open = Block(self.lengths.next, header)
            room = block.length - block.used
            if self.lengths.is_full(room, left):
                self.lengths.within_burst(is_parallel=self.n_parallel > 0)
                self._issue(block)
                continue
            now = min(left, room - header)
            block.used += header + now
            left -= now
            if not left:
                break
            self.lengths.left -= now
        block.n_records += entry.n_records
        self.lengths.left -= header + now

    def _timed(self, block: Block) -> None:
        """A block has waited long enough, and its burst ends, unless it was full before."""
        if self.open is not block:
            if block.made_ns == self.clock.now and not block.is_begun:
                self._write_block(block)
            return
        if block.made_ns is None and self._make(block):
            return
        self.n_parallel = max(self.n_parallel - 1, 0)
        self.lengths.burst_ended()
        self._issue(block)

    def _make(self, block: Block) -> bool:
        """A processor makes a block, in which there is room meanwhile; False where that takes no time (rule X17)."""
        block.issued_ns = self.clock.now
        work_ns = self.block_ns + self.record_ns * block.n_records
        if not work_ns:
            return False
        block.made_ns = self.processors.take_at_once(self.clock.now, work_ns)
        self.clock.at(block.made_ns, ARRIVE, self.device, LAST, lambda: self._timed(block))
        return True

    def _issue(self, block: Block) -> None:
        """The open block is closed, and written when it has been made."""
        waits = block.made_ns is None and self._make(block)
        self.open = None
        self.written.append(block)
        if not waits and (block.made_ns is None or block.made_ns <= self.clock.now):
            self._write_block(block)

    def _write_block(self, block: Block) -> None:
        block.is_begun = True
        n_blocks = -(-self.lengths.rounded(block.used) // self.block_bytes)
        block.out = 1 + block.n_records
        for _ in range(block.n_records):
            self._write(block, *self.space.for_record(), self.pool.record // self.pool.block)
        n_allocated = -(-block.length // self.block_bytes)
        if self.drives is not None:
            # one block behind the other (rule X16)
            n_bytes, room_bytes = n_blocks * self.block_bytes, n_allocated * self.block_bytes
            block.vdevs.add(OWN)
            out = self.drives.append(Free(), n_bytes, room_bytes, lambda last: self._part_written(block, last))
            block.out += out - 1
        else:
            self._write(block, *self.space.for_log(n_allocated), n_blocks)

    def _write(self, block: Block, vdev: int, first: int, blocks: int) -> None:
        block.vdevs.add(vdev)
        pieces = write_pieces(self.vdevs, vdev, first, blocks)
        self.raid.start(pieces, [], lambda _, last: self._part_written(block, last))

    def _part_written(self, block: Block, last: Command) -> None:
        block.out -= 1
        if not block.out:
            block.written = last
            self._flush_in_order()

    def _flush_in_order(self) -> None:
        """Blocks that are written are flushed, each when all before it are written; or with the one behind them."""
        for number, block in enumerate(self.written):
            if block.written is None:
                return
            if block.is_flushing:
                continue
            block.is_flushing = True
            if not block.waiting and number + 1 < len(self.written):
                self.written[number + 1].vdevs |= block.vdevs
                block.vdevs.clear()
            self._flush(block)
            if block.is_safe:
                # those who waited have gone on, and blocks have left
                self._flush_in_order()
                return

    def _flush(self, block: Block) -> None:
        flushes = self._flushes(block)
        if not flushes:
            self._safe(block)
            return
        block.out = len(flushes)

        def flushed() -> None:
            block.out -= 1
            if not block.out:
                self._safe(block)

        for drive in flushes:
            drive.flush(flushed)

    def _flushes(self, block: Block) -> list[BlockFlushes]:
        """Flushes of the disks of the vdevs that were written to, and of the log's own drive, where these take any."""
        own = self.drives.flushes if self.drives is not None and self.drives.takes_flushes else []
        own = own if OWN in block.vdevs else []
        if not self.raid.flushes:
            return own
        width, failed = width_of(self.vdevs), self.vdevs.failed
        vdevs = sorted(block.vdevs - {OWN})
        disks = [disk for vdev in vdevs for disk in range(vdev * width, (vdev + 1) * width)]
        return [*(self.raid.flushes[disk] for disk in disks if disk not in failed), *own]

    def _safe(self, block: Block) -> None:
        """A block is safe; those who wait go on when all blocks before it are, too."""
        block.is_safe = True
        self.latency_ns = (self.latency_ns * 7 + self.clock.now - block.issued_ns) // 8
        while self.written and self.written[0].is_safe:
            ended = self.written.popleft()
            for done in ended.waiting:
                assert ended.written is not None
                done(ended.written)
