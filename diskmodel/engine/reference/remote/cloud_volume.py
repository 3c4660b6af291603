"""A volume of a cloud: commands wait for its limits, and then take a latency that no other command changes."""

from __future__ import annotations

from diskmodel.drive import Budgets, Charge, CloudTables, Generator, Meter
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.remote.device import RemoteDevice
from diskmodel.queue import Policy
from diskmodel.records import FLUSH, WRITE


class CloudVolumeDevice(RemoteDevice):
    """A volume (rules U1 to U5)."""

    def __init__(
        self, clock: Clock, index: int, tables: CloudTables, scheduler: Policy, depth: int, first_draw: int = 0
    ) -> None:
        super().__init__(clock, index, tables, scheduler, depth)
        self._delays = (tables.read_delay_ns.tolist(), tables.write_delay_ns.tolist())
        self._below = Generator(first_draw).below
        self._meter, self._budgets = Meter(tables), Budgets(tables)
        self._held: list[tuple[Command, Charge]] = []

    def overhead_ns(self, command: Command) -> int:
        return 0

    def take(self, command: Command, now: int) -> None:
        if command.op == FLUSH:
            self.finish(command, now)  # what was answered is safe
            return
        self._held.append((command, self._meter.charge(command.op, command.lba, command.n_sectors)))

    def dispatch(self, now: int) -> None:
        while self._held and self._budgets.open_ns <= now:
            command, charge = self._next()
            self.counters.n_charged += charge.ops
            self.counters.busy_ns += self._budgets.spend(charge, now)
            delays = self._delays[command.op == WRITE]
            latency_ns = delays[self._below(len(delays))] if delays else 0
            command.arrived_ns = command.ready_ns = now
            command.overhead_ns = latency_ns
            self.finish(command, now + latency_ns)
        if self._held:
            self.wake(self._budgets.open_ns)

    def _next(self) -> tuple[Command, Charge]:
        """Return the next command that passes the limits: the older of two that are drawn (rule U4)."""
        n = len(self._held)
        return self._held.pop(min(self._below(n), self._below(n)) if n > 1 else 0)
