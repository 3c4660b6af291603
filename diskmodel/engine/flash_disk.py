"""Event adapter of a flash drive: `Dies` decides and returns the times."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from diskmodel.drive.dies import Dies, Served
from diskmodel.drive.processor import WakeTimes, processor_ns
from diskmodel.drive.tables import FlashTables
from diskmodel.engine.clock import Clock
from diskmodel.engine.command import Command
from diskmodel.engine.device import Counters, Device
from diskmodel.queue import Policy, Waiting
from diskmodel.records import WRITE


@dataclass
class Batch:
    """Commands that are answered together, when the last of them is done (rule F19).

    A command can join only before the last one that joined is ready, so nothing joins any more when all are served.
    """

    n_members: int = 0
    done_ns: int = 0
    served: list[Command] = field(default_factory=list)

    def add(self, command: Command, done_ns: int) -> None:
        """One more member has been served."""
        self.served.append(command)
        self.done_ns = max(self.done_ns, done_ns)

    @property
    def is_complete(self) -> bool:
        """All members have been served."""
        return len(self.served) == self.n_members


class FlashDisk(Device):
    """A flash drive (rules F1 to F20)."""

    def __init__(
        self, clock: Clock, index: int, tables: FlashTables, scheduler: Policy, depth: int, first_draw: int = 0
    ) -> None:
        super().__init__(clock, index, scheduler, depth)
        self.tables = tables
        self.dies = Dies(tables)
        self._wake_times = WakeTimes(tables.wake_ns, first_draw)
        self._batch = Batch()
        self._batches: dict[int, Batch] = {}
        self._processor_busy_ns = 0
        copies = tables.read_copy_bytes_per_s or tables.write_copy_bytes_per_s
        self._counts_processor = bool(copies or len(tables.wake_ns) or tables.is_batched)
        self._taken: deque[Command] = deque()
        self._writing: dict[int, Command] = {}

    def overhead_ns(self, command: Command) -> int:
        return processor_ns(self.tables, command.op == WRITE, command.n_sectors)

    def processor_from(self, now: int) -> int:
        if now < self.electronics_free_ns:
            return self.electronics_free_ns
        self._batch = Batch()
        wake_ns = self._wake_times.draw()
        self._processor_busy_ns += wake_ns
        return now + wake_ns

    def positioning(self, now: int) -> Callable[[Waiting], int]:
        return lambda command: 0

    def counters_until(self, end_ns: int) -> Counters:
        # dies are booked ahead: what is booked behind the end of the run is not busy time of the run
        return replace(self.counters, busy_ns=min(self.counters.busy_ns, end_ns))

    def take(self, command: Command, now: int) -> None:
        self._taken.append(command)
        self._processor_busy_ns += command.overhead_ns
        if self.tables.is_batched:
            self._batch.n_members += 1
            self._batches[command.seq] = self._batch
        if command.ready_ns > now:
            self.wake(command.ready_ns)

    def dispatch(self, now: int) -> None:
        dies, taken = self.dies, self._taken
        dies.advance(now)
        while taken and taken[0].ready_ns <= now:
            command = taken.popleft()
            if command.op == WRITE:
                self._writing[command.seq] = command
                self._written(dies.write(now, command.seq, command.lba, command.n_sectors))
            else:
                self._done(command, dies.read(now, command.lba, command.n_sectors), self.tables.read_latency_ns)
        self._written(dies.settle(now))
        change_ns = dies.next_change_ns()
        if change_ns is not None:
            self.wake(change_ns)
        busy_ns = dies.busy_ns // self.tables.n_dies
        self.counters.busy_ns = max(busy_ns, self._processor_busy_ns) if self._counts_processor else busy_ns

    def _written(self, served: list[tuple[int, Served]]) -> None:
        for seq, service in served:
            self._done(self._writing.pop(seq), service, self.tables.write_latency_ns)

    def _done(self, command: Command, service: Served, latency_ns: int) -> None:
        command.overhead_ns += latency_ns
        command.transfer_ns = service.transfer_ns
        command.is_hit = service.is_hit
        if not self.tables.is_batched:
            self.finish(command, service.done_ns)
            return
        batch = self._batches.pop(command.seq)
        batch.add(command, service.done_ns)
        if batch.is_complete:
            for member in batch.served:
                self.finish(member, batch.done_ns)
