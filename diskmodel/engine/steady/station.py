"""What the driver of the steady start asks of each station: how much of the past it needs, and what it then holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from diskmodel.engine.ledger import current
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.start import Levels

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Computing time of a block, page or write that is drawn for a start, seconds, by counts: it is drawn, placed on disks
#: and sorted. At half, a plan that begins with full caches takes longer than its account says; at double, its runs are
#: shorter than need be.
DRAWN_S = 0.3e-6

#: What is drawn of a part.
Drawn = TypeVar("Drawn")


class Station:
    """A station that holds nothing; those that do say here what.

    Parameters
    ----------
    scenario : Scenario
    history : History
        The past of the load.
    """

    def __init__(self, scenario: Scenario, history: History) -> None:
        self.scenario = scenario
        self.history = history
        self.sector_bytes = scenario.drive.sector_bytes
        # levels that the trial confirms are not drawn again. A cache of bound methods would refer to the station, and
        # keep the drive's tables, megabytes each, until the next collection of garbage
        self._drawn: dict[tuple[str, Hashable], Any] = {}

    @property
    def has_level(self) -> bool:
        """Whether anything waits here to be written."""
        return False

    @property
    def marks(self) -> tuple[int, int]:
        """Mark and room of its level, in bytes (rule Z3)."""
        return 0, 0

    @property
    def rows_waiting(self) -> int:
        """Requests that fill everything that can wait here to be written (rule Z2)."""
        return 0

    def settle(self, levels: Levels) -> Mapping[str, Any]:
        """Return the columns of `Start` that say what it holds at these levels."""
        return {}

    @property
    def writes_anything(self) -> bool:
        """Whether the load writes."""
        return self.history.workload.has_writes

    def once(self, part: str, level: Hashable, draw: Callable[[], Drawn], each_s: float = DRAWN_S) -> Drawn:
        """Return what was drawn of a part at a level; drawn the first time, which takes so long for each row."""
        if (part, level) not in self._drawn:
            drawn = self._drawn[part, level] = draw()
            self.enter(part, level, drawn, each_s * _rows(drawn))
        found: Drawn = self._drawn[part, level]
        return found

    def enter(self, part: str, level: Hashable, drawn: object, seconds: float) -> None:
        """Enter into the account that a part was drawn."""
        current().enter(seconds)


def _rows(drawn: object) -> int:
    """Return how many rows were drawn of a part."""
    parts = drawn if isinstance(drawn, tuple) else (getattr(drawn, "writes", drawn),)
    return max((len(part) for part in parts if isinstance(part, np.ndarray)), default=0)
