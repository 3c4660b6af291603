"""What a cached volume holds when counting begins (rules J2 to J6)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from diskmodel.description import Description
from diskmodel.drive import CachedVolume
from diskmodel.engine.cached.contents import FOREVER, Stay, dirty_share, round_of, stay_of, total
from diskmodel.engine.cached.popularity import Floats, Popularity
from diskmodel.loading import dataclass
from diskmodel.records import Int64
from diskmodel.workload import Sequential, Stream, Workload

Described = TypeVar("Described", bound=Description)
#: Places that stand for all that are dirty, in order.
_N_PLACES = 1 << 14


@dataclass(frozen=True, eq=False)
class Held:
    """The state of a cache after a long time of a workload.

    Attributes
    ----------
    popularity : Popularity
    stay : Stay
    round_requests : float
        Requests from one cleaning of a unit to the next; FOREVER where nothing is cleaned.
    dirty_units : float
    target_units, most_units : float
        Dirty units above which is cleaned, and at most.
    places : int64, shape (n,), bytes
        Equally likely places of what is cleaned, ascending.
    read_hits : float
        Share of reads that hit.
    warm_requests : float
        Requests until an empty cache has 95 % of these hits.
    footprint_units : float
        Units that are ever used.
    is_full : bool
        Whether more becomes dirty than can be cleaned, so that as many units are dirty as may be.
    """

    popularity: Popularity
    stay: Stay
    round_requests: float
    dirty_units: float
    target_units: float
    most_units: float
    places: Int64
    read_hits: float
    warm_requests: float
    footprint_units: float
    is_full: bool = False

    def first(self, offset: Int64, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw until which request units at places stay in the cache, and dirty, if nobody asks for them (rule J3).

        Negative of those that are not; float64, shape (n,).
        """
        reads, writes = self.popularity.rates(offset)
        n, time = len(offset), self.stay.requests
        uses = np.maximum(reads + writes if self.stay.volume.policy.keeps_reads else writes, 1e-300)
        warm = self.stay.volume.warm_ratio
        present = warm * self.stay.present(reads, writes)
        is_there = rng.random(n) < present
        draw = rng.random(n)
        if self.stay.volume.policy.keeps == "logged":
            left = draw * time
        else:
            # since the last use, which was not longer ago than what is still there
            left = time + np.log1p(draw * np.expm1(-np.minimum(uses * time, 700.0))) / uses
        until = np.where(is_there, left, -1.0)
        if not self.dirty_units:
            return until, np.full(n, -1.0)
        only = warm * self.stay.only_dirty(reads, writes)
        stays_dirty = warm * _dirty(self.stay, self.round_requests, reads, writes) - only
        chance = np.where(is_there, stays_dirty / np.maximum(present, 1e-300), only / np.maximum(1 - present, 1e-300))
        is_dirty = rng.random(n) < chance
        return until, np.where(is_dirty, rng.random(n) * self.round_requests, -1.0)


def _dirty(stay: Stay, round_requests: float, reads: Floats, writes: Floats) -> Floats:
    """Return the probability that units are dirty."""
    policy = stay.volume.policy
    if policy.cleans_ahead:
        return np.where(writes > 0, dirty_share(writes, round_requests), 0.0)
    # a unit is cleaned when it has to go: it is dirty once it has been written since it came
    uses = np.maximum(reads + writes, 1e-300)
    n_uses = 1 + np.minimum(uses * stay.requests, 1e6)
    clean = np.where(writes >= uses, 0.0, (reads / uses) ** n_uses)
    dirty: Floats = stay.present(reads, writes) * (1 - clean) * (writes > 0)
    return dirty


class _Key(Generic[Described]):
    """A description that is equal to those that say the same."""

    def __init__(self, described: Described, text: str = "") -> None:
        self.described = described
        self._text = text or described.model_dump_json()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def held_by(volume: CachedVolume, workload: Workload, capacity_bytes: int, seed: int) -> Held:
    """Return what the cache holds where the array behind takes all that becomes dirty."""
    return _held(_Key(volume), _Key(workload, _places_asked(workload)), capacity_bytes, seed)


def _places_asked(workload: Workload) -> str:
    """Return what of a workload decides what a cache holds: of one stream alone not when its requests come."""
    arrival = {"streams": {0: {"arrival"}}} if len(workload.streams) == 1 else None
    return workload.model_dump_json(exclude=arrival)


@lru_cache(maxsize=64)
def _held(volume_key: _Key[CachedVolume], workload_key: _Key[Workload], capacity_bytes: int, seed: int) -> Held:
    volume, workload = volume_key.described, workload_key.described
    popularity = Popularity(workload, capacity_bytes, volume.unit, seed, lambda stream: seen_by(volume, stream))
    reads, writes = popularity.rates(popularity.places)
    stay = stay_of(volume, popularity, reads, writes)
    units = volume.cache.usable_bytes / volume.unit
    footprint = total(popularity, ((reads + writes) > 0).astype(np.float64), reads, writes)
    written = total(popularity, (writes > 0).astype(np.float64), reads, writes)
    target = most = dirty = 0.0
    round_requests = FOREVER
    if volume.is_written_back and written:
        if volume.policy.cleans_ahead:
            target, most = volume.dirty_target * units, volume.most_dirty * units
            dirty = min(written, target)
            round_requests = round_of(volume, popularity, target, writes, reads + writes)
        else:
            dirty = total(popularity, _dirty(stay, FOREVER, reads, writes), reads, writes)
            # the next one waits, or passes by, while as many as are cleaned at a time wait for it
            target = FOREVER if stay.requests >= FOREVER else dirty
            most = target + 2 * volume.policy.in_flight
    return Held(
        popularity,
        stay,
        round_requests,
        dirty,
        target,
        most,
        _places(volume, popularity, stay, round_requests, reads, writes),
        stay.hits(reads, writes),
        _warm(stay, reads, writes),
        footprint,
    )


def _places(
    volume: CachedVolume, popularity: Popularity, stay: Stay, round_requests: float, reads: Floats, writes: Floats
) -> Int64:
    """Return equally likely places of what is cleaned, ascending."""
    uses = reads + writes
    weight = np.zeros(len(uses))
    seen = (writes > 0) & (uses > 0)
    if volume.policy.cleans_ahead:
        # just before the sweep comes, a whole round after it was there last
        weight[seen] = -np.expm1(-np.minimum(writes[seen] * round_requests, 700.0)) / uses[seen]
    else:
        # what was not used for so long that it has to go
        weight[seen] = np.exp(-np.minimum(uses[seen] * min(stay.requests, 1e15), 700.0)) * writes[seen] / uses[seen]
    if not weight.sum() > 0:
        return popularity.places[:1] if not seen.any() else popularity.places[seen][:1]
    order = np.argsort(popularity.places, kind="stable")
    placed, weighed = popularity.places[order], weight[order]
    # what was drawn stands for as much on both of its sides: a sweep must not stay where one place stands for many
    reached = (np.cumsum(weighed) - weighed / 2) / weighed.sum()
    return np.interp((np.arange(_N_PLACES) + 0.5) / _N_PLACES, reached, placed).astype(np.int64)


def _warm(stay: Stay, reads: Floats, writes: Floats) -> float:
    """Return the requests until an empty cache has 95 % of the hits that it has at last."""
    policy = stay.volume.policy
    uses = np.maximum(reads + writes, 1e-300)
    weight, at_last = reads / uses, stay.held(reads, writes)
    whole = float((weight * at_last).sum())
    if not whole > 0:
        return math.nan
    comes = policy.promotes * (reads if stay.volume.write_mode == "writearound" else uses)

    def short_of(requests: float) -> float:
        # nothing leaves before the cache is full
        there = np.minimum(-np.expm1(-comes * requests), at_last)
        return float((weight * there).sum()) / whole - 0.95

    low, high = 1.0, 1e15
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if short_of(middle) < 0 else (low, middle)
    return high


def seen_by(volume: CachedVolume, stream: Stream) -> tuple[bool, bool]:
    """Return whether reads and writes of a stream come to the cache, and do not pass by because they are in order."""
    if volume.passes_all:
        return False, False
    addresses = stream.addresses
    runs = isinstance(addresses, Sequential) and (
        addresses.mean_run is None or addresses.mean_run * stream.mean_size_bytes >= volume.bypass_bytes
    )
    passes = bool(volume.bypass_bytes) and runs
    writes_pass = passes and (volume.policy.bypasses_writes or not volume.is_written_back)
    return not passes, not writes_pass
