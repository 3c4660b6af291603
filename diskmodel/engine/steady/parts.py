"""The stations of an array whose state takes long to reach, and that state as data (rules Z2 to Z6, F18)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from diskmodel.engine.steady.controller import ControllerCache
from diskmodel.engine.steady.drives.drives import drives_of
from diskmodel.engine.steady.host import HostMemory
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.start import Levels, Start

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario
    from diskmodel.records import Run


class Parts:
    """What of a scenario has a state that takes long to reach.

    Attributes
    ----------
    controller : ControllerCache
    drives : Drives
    host : HostMemory
    history : History
        The past of the load, as far back as what can wait in all of them.
    """

    def __init__(self, scenario: Scenario, history: History) -> None:
        self.scenario = scenario
        of_kind = drives_of(scenario.drive)
        first = [station(scenario, history) for station in (ControllerCache, of_kind, HostMemory)]
        self.history = replace(history, n_before=max(station.rows_waiting for station in first))
        self.controller = ControllerCache(scenario, self.history)
        self.drives = of_kind(scenario, self.history)
        self.host = HostMemory(scenario, self.history)

    @property
    def has_levels(self) -> bool:
        """Whether anything waits to be written."""
        return self.controller.has_level or self.drives.has_level or self.host.has_level

    @property
    def first_levels(self) -> Levels:
        """Where the trial begins."""
        return Levels(drives=self.drives.first_level)

    def marks(self) -> tuple[tuple[int, int], ...]:
        """Mark and room of each level, in bytes."""
        return self.controller.marks, self.drives.marks, self.host.marks

    def with_all_that_waits(self, run: Run, start: Start) -> Run:
        """Return a run with the levels of all that waited, also of what its start did not list."""
        layout = self.scenario.layout
        in_buffers = start.buffers_apart * self.drives.sector_bytes * (layout.n_disks - len(layout.failed))
        apart = self.controller.bytes_apart(start), in_buffers, start.pages_apart * self.host.page_bytes
        if not any(apart) or not len(run.levels):
            return run
        levels = run.levels.copy()
        levels[:, 1:4] += apart
        return replace(run, levels=levels)

    def start(self, levels: Levels) -> Start:
        """The state at these levels."""
        held = {
            **self.controller.settle(levels),
            **self.host.settle(levels),
            **self.drives.settle(levels),
        }
        return Start(**held, n_before=self.history.n_before, levels=levels)
