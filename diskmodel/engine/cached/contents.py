"""What a cache holds after a long time of a workload, unit by unit (rules J2 to J5).

Each unit stays for the same time, as in a cache of which nobody counts the room (the approximation of Che): the time is
the one for which what stays fills the cache. So whether a unit is there depends on how often it is asked for, and on
nothing else, and a cache of terabytes costs no more than one of megabytes.

References
----------
H. Che, Y. Tung, Z. Wang, IEEE JSAC 20(7), 2002. C. Fricker, P. Robert, J. Roberts, *A versatile and accurate
approximation for LRU cache performance*, 2012. M. Garetto, E. Leonardi, V. Martina, *A unified approach to the
performance analysis of caching systems*, ACM TOMPECS 1(3), 2016 (FIFO, and LRU that takes a share of what misses).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from diskmodel.drive import CachedVolume
from diskmodel.engine.cached.popularity import Popularity
from diskmodel.loading import dataclass
from diskmodel.roots import find_root

Floats = NDArray[np.float64]
#: Part of a log that the newest copies of data fill at most before data is lost that is still asked for: buckets are
#: reused as a whole, those with least data first.
_LOG_FILL = 0.8
#: Longest time, in requests: nothing leaves.
FOREVER = 1e18
#: Shortest time, in requests: nothing stays.
_LEAST = 1e-6
#: Largest exponent that is looked at.
_MOST = 500.0


def _exp(value: Floats) -> Floats:
    return np.exp(np.minimum(value, _MOST))


@dataclass(frozen=True)
class Stay:
    """How a unit comes into a cache, and how long it stays.

    Attributes
    ----------
    volume : CachedVolume
    requests : float
        Requests after which a unit leaves of which nothing was heard: since it was used last, or written last where the
        cache is a log.
    """

    volume: CachedVolume
    requests: float

    def present(self, reads: Floats, writes: Floats) -> Floats:
        """Return the probability that units are in the cache, by their rates."""
        policy, time = self.volume.policy, self.requests
        around = self.volume.write_mode == "writearound"
        all_uses = np.maximum(reads + writes, 1e-300)
        if not policy.keeps_reads:
            return -np.expm1(-writes * time)
        if policy.keeps == "logged":
            # it goes when it has not been written for that time, or where a write is not kept, with that write
            sign = -1.0 if around else 1.0
            rate = np.maximum(writes, 1e-300)
            lasts = np.where(writes * time > 1e-9, sign * (_exp(sign * rate * time) - 1) / rate, time)
            comes = reads if around else all_uses
            return comes * lasts / (1 + comes * lasts)
        used = -np.expm1(-all_uses * time)
        if around:
            return reads / all_uses * used
        if policy.promotes < 1:
            return policy.promotes * used / (1 - used + policy.promotes * used)
        return used

    def room(self, reads: Floats, writes: Floats) -> Floats:
        """Return the room that units take, in units: those of a log leave old copies behind."""
        there = self.present(reads, writes)
        if self.volume.policy.keeps != "logged":
            return there
        comes = reads * (1 - there)
        if self.volume.write_mode != "writearound":
            comes = comes + writes
        return comes * self.requests

    def hits(self, reads: Floats, writes: Floats) -> float:
        """Return the share of reads that hit, over units drawn as they are used."""
        weight = reads / np.maximum(reads + writes, 1e-300)
        total = float(weight.sum())
        return float((weight * self.held(reads, writes)).sum()) / total if total else math.nan

    def only_dirty(self, reads: Floats, writes: Floats) -> Floats:
        """Return the probability that units are there only because they are dirty."""
        return np.zeros(len(writes))

    def held(self, reads: Floats, writes: Floats) -> Floats:
        """Return the probability that units are in the cache, because they stay or because they are dirty."""
        found: Floats = np.minimum(self.present(reads, writes) + self.only_dirty(reads, writes), 1.0)
        return found


@dataclass(frozen=True)
class StayBeside(Stay):
    """How long units stay in a cache where some are dirty for longer than that, which a sweep cleans in order.

    Attributes
    ----------
    round_requests : float
        Requests from one cleaning of a unit to the next.
    """

    round_requests: float

    def only_dirty(self, reads: Floats, writes: Floats) -> Floats:
        """Return the probability that units are there only because they are dirty (rule J6).

        Their last write is longer ago than a unit stays, and the sweep was there before it.
        """
        time, lap = self.requests, self.round_requests
        if lap <= time:
            return np.zeros(len(writes))
        rate = np.maximum(writes, 1e-300)
        old, oldest = np.exp(-np.minimum(rate * time, _MOST)), np.exp(-np.minimum(rate * lap, _MOST))
        lasts = np.where(rate * lap > 1e-9, (old - oldest) / (rate * lap), (lap - time) / lap)
        unread = np.exp(-np.minimum(reads * time, _MOST)) if self.volume.policy.keeps != "logged" else 1.0
        found: Floats = np.maximum(old * (lap - time) / lap - lasts, 0.0) * unread
        return found


def total(popularity: Popularity, of_each: Floats, reads: Floats, writes: Floats) -> float:
    """Return a sum over all units, from a value for each of those that were drawn as they are used."""
    uses = reads + writes
    seen = uses > 0
    return popularity.units_per_request * float((of_each[seen] / uses[seen]).sum()) / max(len(uses), 1)


def _root(fun: object, low: float = 1.0) -> float:
    """Return where an increasing function of a time crosses 0; FOREVER where it stays below."""
    assert callable(fun)
    if fun(_LEAST) >= 0:
        return _LEAST
    high = low
    while fun(high) < 0:
        high *= 4
        if high > FOREVER:
            return FOREVER
    found: float = find_root(
        lambda log_time: float(fun(math.exp(log_time))),
        math.log(high / 4 if high > low else _LEAST),
        math.log(high),
        xtol=1e-6,
        rtol=1e-9,
    )
    return math.exp(found)


def stay_of(volume: CachedVolume, popularity: Popularity, reads: Floats, writes: Floats) -> Stay:
    """Return how long units stay in a full cache; FOREVER where all that is used fits."""
    units = volume.cache.usable_bytes / volume.unit
    ever = Stay(volume, FOREVER)
    if volume.policy.keeps == "logged":
        fits = total(popularity, ever.present(reads, writes), reads, writes) <= _LOG_FILL * units
        if fits:
            return ever

    def over(time: float) -> float:
        return total(popularity, Stay(volume, time).room(reads, writes), reads, writes) - units

    return Stay(volume, _root(over))


def stay_beside(volume: CachedVolume, popularity: Popularity, reads: Floats, writes: Floats, lap: float) -> StayBeside:
    """Return how long units stay where what a sweep of so many requests leaves dirty takes room, too."""
    units = volume.cache.usable_bytes / volume.unit

    def over(time: float) -> float:
        beside = StayBeside(volume, time, lap)
        used = Stay(volume, time).room(reads, writes) + beside.only_dirty(reads, writes)
        return total(popularity, used, reads, writes) - units

    return StayBeside(volume, _root(over), lap)


def round_of(volume: CachedVolume, popularity: Popularity, dirty_units: float, writes: Floats, uses: Floats) -> float:
    """Return the requests between two cleanings of a unit that leave so many dirty; FOREVER where fewer are written."""

    def over(time: float) -> float:
        return total(popularity, dirty_share(writes, time), uses - writes, writes) - dirty_units

    return _root(over)


def dirty_share(writes: Floats, requests: float) -> Floats:
    """Return the share of a round during which units are dirty that are cleaned once in it."""
    load = np.maximum(writes * requests, 1e-12)
    return 1 + np.expm1(-np.minimum(load, _MOST)) / load
