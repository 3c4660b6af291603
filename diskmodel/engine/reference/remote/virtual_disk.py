"""A virtual disk: one thread of the host processes its commands and answers them singly or in batches."""

from __future__ import annotations

from dataclasses import dataclass, field

from diskmodel.drive import DrawnTimes, VirtualTables, processor_ns
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.remote.device import RemoteDevice
from diskmodel.queue import Policy
from diskmodel.records import READ


@dataclass
class Batch:
    """Commands that complete together, and when (rule V4)."""

    members: list[Command] = field(default_factory=list)
    done_ns: int = 0

    def add(self, command: Command, done_ns: int) -> None:
        """Add a command that alone would complete at `done_ns`."""
        self.members.append(command)
        self.done_ns = max(self.done_ns, done_ns)


class VirtualDisk(RemoteDevice):
    """A virtual disk (rules V1 to V5)."""

    def __init__(
        self, clock: Clock, index: int, tables: VirtualTables, scheduler: Policy, depth: int, first_draw: int = 0
    ) -> None:
        super().__init__(clock, index, tables, scheduler, depth)
        self.tables = tables
        self._wake_times = DrawnTimes(tables.wake_ns, first_draw)
        self._batch = Batch()

    def overhead_ns(self, command: Command) -> int:
        return processor_ns(self.tables, command.op != READ, command.n_sectors)

    def processor_from(self, now: int) -> int:
        if now < self.electronics_free_ns:
            return self.electronics_free_ns
        # a command that finds the processor idle begins the next batch
        self._complete_batch()
        wake_ns = self._wake_times.draw()
        self.counters.busy_ns += wake_ns
        return now + wake_ns

    def take(self, command: Command, now: int) -> None:
        self.counters.busy_ns += command.overhead_ns
        latency_ns = self.tables.read_latency_ns if command.op == READ else self.tables.write_latency_ns
        command.overhead_ns += latency_ns
        done_ns = command.ready_ns + latency_ns
        if not self.tables.is_batched:
            self.finish(command, done_ns)
            return
        self._batch.add(command, done_ns)
        if command.ready_ns > now:
            self.wake(command.ready_ns)

    def dispatch(self, now: int) -> None:
        if self.electronics_free_ns <= now:
            self._complete_batch()

    def _complete_batch(self) -> None:
        """Let the commands of the batch complete together, and begin an empty batch."""
        batch, self._batch = self._batch, Batch()
        for command in batch.members:
            self.finish(command, batch.done_ns)
