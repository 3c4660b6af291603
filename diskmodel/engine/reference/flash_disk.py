"""Event adapter of a flash drive: `Dies` decides and returns the times."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.drive import Dies, FirstLayout, FlashTables, Ftl, Served
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Counters, Device
from diskmodel.engine.scenario import Scenario
from diskmodel.queue import Policy, Positioning, make_policy
from diskmodel.records import FLUSH, READ, WRITE


class FlashDisk(Device):
    """A flash drive (rules F1 to F19)."""

    def __init__(
        self,
        clock: Clock,
        index: int,
        tables: FlashTables,
        scheduler: Policy,
        depth: int,
        ftl: Ftl | None = None,
        first_layout: FirstLayout | None = None,
        first_draw: int = 0,
    ) -> None:
        super().__init__(clock, index, scheduler, depth)
        self.tables = tables
        self.dies = Dies(tables, ftl, index, first_layout, first_draw)
        self._taken: deque[Command] = deque()
        self._writing: dict[int, Command] = {}

    @property
    def n_buffered(self) -> int:
        return self.dies.n_buffered

    def load(
        self, programmed: list[tuple[int, int]], buffered: list[tuple[int, int, int]], room: Sequence[int]
    ) -> None:
        """Writes of before the run; what waits is programmed from now on (rule F18)."""
        self.dies.load(programmed, [row[1:] for row in buffered])
        if self.n_buffered:
            self.wake(self.clock.now)

    def overhead_ns(self, command: Command) -> int:
        return self.tables.read_overhead_ns if command.op == READ else self.tables.write_overhead_ns

    def positioning(self, now: int) -> Positioning:
        return lambda command, margin_ns=0, move_256ths=0: 0

    def counters_until(self, end_ns: int) -> Counters:
        # dies are booked ahead: what is booked behind the end of the run is not busy time of the run
        return replace(self.counters, busy_ns=min(self.counters.busy_ns, end_ns))

    def take(self, command: Command, now: int) -> None:
        if command.op == FLUSH:
            # beside everything else (rule F20); there is one at a time (rule Y4)
            self.finish(command, command.ready_ns + self.tables.flush_ns + self.tables.write_latency_ns)
            return
        self._taken.append(command)
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
                self._done(command, dies.read(now, command.lba, command.n_sectors))
        self._written(dies.settle(now))
        change_ns = dies.next_change_ns()
        if change_ns is not None:
            self.wake(change_ns)
        self.counters.busy_ns = dies.busy_ns // self.tables.n_dies
        self.counters.n_units_written = dies.n_units_written
        self.counters.n_units_programmed = dies.n_units_programmed

    def _written(self, served: list[tuple[int, Served]]) -> None:
        for seq, service in served:
            self._done(self._writing.pop(seq), service)

    def _done(self, command: Command, service: Served) -> None:
        command.overhead_ns += service.latency_ns
        command.transfer_ns = service.transfer_ns
        command.is_hit = service.is_hit
        self.finish(command, service.done_ns)


def flash_drives(clock: Clock, scenario: Scenario, tables: FlashTables) -> list[Device]:
    """Return the drives of a scenario."""
    ftl = Ftl(tables.ftl)
    for unit in scenario.start.aged.tolist():
        ftl.write(unit)
    return [
        FlashDisk(
            clock,
            i,
            tables,
            make_policy(scenario.queue),
            scenario.depth,
            ftl.copy(),
            FirstLayout.of(tables, scenario.start.piece_units, scenario.start.shifts, i),
            int(scenario.phase_ns[i]),
        )
        for i in range(scenario.n_devices)
    ]
