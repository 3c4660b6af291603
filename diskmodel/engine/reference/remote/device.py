"""A drive that is served elsewhere: nothing seeks, and time is booked ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.device import Counters, Device
from diskmodel.engine.scenario import Scenario
from diskmodel.queue import Policy, Positioning, make_policy


class RemoteDevice(Device):
    """What virtual disks and volumes have in common.

    Parameters
    ----------
    clock : Clock
    index : int
        Its number in the array.
    tables : DriveTables
        Of its kind.
    scheduler : Policy
    depth : int
        Commands that it takes at a time.
    first_draw : int
        Where its draws begin.
    """

    def __init__(
        self, clock: Clock, index: int, tables: Any, scheduler: Policy, depth: int, first_draw: int = 0
    ) -> None:
        super().__init__(clock, index, scheduler, depth)

    @classmethod
    def all_of(cls, clock: Clock, scenario: Scenario, tables: Any) -> list[Self]:
        """Return the devices of a scenario."""
        return [
            cls(clock, i, tables, make_policy(scenario.queue), scenario.depth, int(scenario.phase_ns[i]))
            for i in range(scenario.n_devices)
        ]

    def positioning(self, now: int) -> Positioning:
        return lambda command, margin_ns=0, move_256ths=0: 0

    def counters_until(self, end_ns: int) -> Counters:
        # what is booked behind the end of the run, or taken ahead of a limit, is not busy time of the run
        return replace(self.counters, busy_ns=min(self.counters.busy_ns, end_ns))
