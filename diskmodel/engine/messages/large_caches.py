"""Read caches that began with less than they would hold: the past is drawn only so far back."""

from __future__ import annotations

from diskmodel.engine.scenario import Scenario
from diskmodel.engine.steady.past.history import MAX_ROWS, MAX_USES
from diskmodel.engine.steady.pools.arc import MAX_BESIDE
from diskmodel.units import pretty_bytes

#: Part of its room from which on a cache counts as full: the last uses of blocks have a few of them more than once.
_FULL = 0.9


def large_cache_messages(scenario: Scenario) -> tuple[str, ...]:
    """Return how much of a controller's read cache is filled when a run begins, where its past is longer than is drawn.

    Parameters
    ----------
    scenario : Scenario
        With its steady start.
    """
    caches, start = scenario.caches, scenario.start
    if caches is None or len(start.cached_regions):
        return ()
    n_held = len(start.cached) if start.arc is None else start.arc.n_held
    least = MAX_BESIDE if scenario.layout.pool is not None else min(MAX_ROWS, MAX_USES) // 2
    if n_held >= _FULL * caches.read_blocks or n_held < least:
        return ()
    block_bytes = caches.block_sectors * scenario.drive.sector_bytes
    held, room = (pretty_bytes(n * block_bytes) for n in (n_held, caches.read_blocks))
    return (f"the read cache begins with the {held} that were used last; a full one of {room} may have more hits",)
