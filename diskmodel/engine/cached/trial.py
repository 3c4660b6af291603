"""The steady state of a cache, by a trial of whether the array behind it keeps up (rule J6)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from diskmodel.drive import CachedTables, CachedVolume
from diskmodel.engine.cached.contents import round_of, stay_beside, total
from diskmodel.engine.cached.run import Simulation
from diskmodel.engine.cached.start import Held, held_by
from diskmodel.engine.scenario import Scenario
from diskmodel.workload import Workload

#: Requests of the trial that shows whether the array behind keeps up with what becomes dirty.
_TRIAL = 3000
#: Share of what becomes dirty in a trial by which it may grow.
_GROWS = 0.05


def steady(scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int) -> Held:
    """Return what the cache holds after a long time."""
    tables = scenario.drive
    assert isinstance(tables, CachedTables)
    volume = tables.volume
    plain = volume.model_copy(update={"slowness": (0.0, 0.0)})
    held = held_by(plain, workload, capacity_bytes, seed)
    own = _of(held, volume)
    if volume.warm_ratio < 1:
        return replace(own, dirty_units=volume.warm_ratio * own.dirty_units)
    if volume.is_dirty and held.dirty_units and held.most_units > held.target_units:
        return _of(_full(held), volume)
    if (
        volume.is_dirty is False
        or not held.dirty_units
        or held.dirty_units < held.target_units
        or held.most_units <= held.target_units
    ):
        return own
    return _of(_full(held), volume) if _grows(scenario, workload, own, capacity_bytes, seed) else own


def _of(held: Held, volume: CachedVolume) -> Held:
    """Return the state of a volume that differs from another one only in how slow it is."""
    return replace(held, stay=replace(held.stay, volume=volume))


@lru_cache(maxsize=64)
def _full(held: Held) -> Held:
    """Return the state in which more becomes dirty than can be cleaned."""
    reads, writes = held.popularity.rates(held.popularity.places)
    written = total(held.popularity, (writes > 0).astype(np.float64), reads, writes)
    dirty = min(held.most_units, written)
    volume = held.stay.volume
    lap = round_of(volume, held.popularity, dirty, writes, reads + writes)
    stay = held.stay
    if volume.policy.cleans_ahead:
        stay = stay_beside(volume, held.popularity, reads, writes, lap)
    return replace(
        held, dirty_units=dirty, is_full=True, round_requests=lap, stay=stay, read_hits=stay.hits(reads, writes)
    )


def _grows(scenario: Scenario, workload: Workload, held: Held, capacity_bytes: int, seed: int) -> bool:
    """Whether more becomes dirty than the array behind takes, in a trial that begins where as much is cleaned."""
    requests = workload.at_mean(_TRIAL).requests(capacity_bytes=capacity_bytes, n=_TRIAL, seed=seed)
    trial = Simulation(scenario, requests, held)
    trial.run()
    return trial.dirty - held.dirty_units > 2 * held.stay.volume.policy.in_flight + _GROWS * trial.n_dirtied
