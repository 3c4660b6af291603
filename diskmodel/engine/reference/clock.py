"""SimPy's event list with the model's own order of what happens at one instant (rules T1 to T4)."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import simpy

#: Phases of an instant: what completes is applied first, then what arrives, then queues dispatch.
COMPLETE, ARRIVE, DISPATCH = range(3)
#: Order behind all others of the same instant, phase and device.
LAST = (1 << 63) - 1

# SimPy sorts events of one instant by (priority, sequence); its own priorities are 0 and 1
_FIRST_PRIORITY = 2


class Port(IntEnum):
    """Who says something to whom, from what a drive has done up to the host and down again, as in an instant."""

    DRIVE_TO_VOLUME = 0
    VOLUME_TO_CONTROLLER = 1
    CONTROLLER_TO_HOST = 2
    HOST_TO_CONTROLLER = 3
    CONTROLLER_TO_VOLUME = 4
    VOLUME_TO_DRIVE = 5


class Clock:
    """Runs actions at times, in the order (time, phase, device, order); whole nanoseconds."""

    #: What stations say to each other: time, port, drive, operation, first sector, sectors. None: it is not logged.
    ports: list[tuple[int, int, int, int, int, int]] | None = None

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env

    def said(self, port: Port, op: int, sector: int, n: int, drive: int = 0) -> None:
        """Write down what a station says to another one, now, if that is logged."""
        if self.ports is not None:
            self.ports.append((self.now, port, drive, op, sector, n))

    @property
    def now(self) -> int:
        """Current time in ns."""
        return int(self.env.now)

    def at(self, time_ns: int, phase: int, device: int, order: int, action: Callable[[], None]) -> None:
        """Run `action` at `time_ns`."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None
        assert event.callbacks is not None
        event.callbacks.append(lambda _: action())
        key = _FIRST_PRIORITY + (((phase << 32) | device) << 64 | order)
        self.env.schedule(event, priority=key, delay=time_ns - self.env.now)  # type: ignore[arg-type]
