"""SimPy's event list with the model's own order of what happens at one instant (rules T1 to T4)."""

from __future__ import annotations

from collections.abc import Callable

import simpy

#: Phases of an instant: what completes is applied first, then what arrives, then queues dispatch.
COMPLETE, ARRIVE, DISPATCH = range(3)
#: Order behind all others of the same instant, phase and device.
LAST = (1 << 63) - 1

# SimPy sorts events of one instant by (priority, sequence); its own priorities are 0 and 1
_FIRST_PRIORITY = 2


class Clock:
    """Runs actions at times, in the order (time, phase, device, order); whole nanoseconds."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env = env

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
