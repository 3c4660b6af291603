"""What a pool holds after a long time of a workload (rules Z4, Z12, Z13)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.pools.groups import group_start
from diskmodel.engine.steady.pools.l2arc import with_arc, with_l2arc
from diskmodel.engine.steady.start import Start
from diskmodel.records import Requests, Run
from diskmodel.workload import Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario


def settled(
    scenario: Scenario,
    workload: Workload,
    *,
    capacity_bytes: int,
    seed: int,
    engine: Callable[[Scenario, Requests], Run],
) -> Start:
    """Return the state of a pool: its ARC, its cache devices and, where it is written to, a group that begins."""
    history = History(workload, capacity_bytes, seed).shared
    at_first = with_arc(scenario, history)
    if not workload.has_writes:
        return with_l2arc(at_first, scenario, history, math.nan)
    return group_start(scenario, workload, at_first, capacity_bytes=capacity_bytes, seed=seed, engine=engine)
