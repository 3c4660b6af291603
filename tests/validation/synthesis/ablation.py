"""Which property of a trace matters: replays of the trace with one property exchanged or destroyed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diskmodel.records import Requests

#: Seed of every shuffle.
SEED = 1


def poisson_times(trace: Requests) -> Requests:
    """Return the trace with independent exponential gaps of the same mean."""
    gaps = np.random.default_rng(SEED).standard_exponential(len(trace))
    when = np.cumsum(gaps) * (float(trace.when_ns[-1]) / float(gaps.sum()))
    return replace(trace, when_ns=np.rint(when).astype(np.int64))


def shuffled_gaps(trace: Requests) -> Requests:
    """Return the trace with its own gaps in random order: the distribution without the bursts."""
    gaps = np.diff(trace.when_ns, prepend=0)
    return replace(trace, when_ns=np.cumsum(np.random.default_rng(SEED).permutation(gaps)))


def shuffled_places(trace: Requests) -> Requests:
    """Return the trace with its places in random order, each within what its size allows."""
    order = np.random.default_rng(SEED).permutation(len(trace))
    return replace(trace, offset=trace.offset[order])


def uniform_places(trace: Requests) -> Requests:
    """Return the trace with uniformly random places in the region that it uses."""
    first, end = int(trace.offset.min()), int((trace.offset + trace.length).max())
    place = np.random.default_rng(SEED).random(len(trace)) * (end - first - trace.length)
    return replace(trace, offset=first + place.astype(np.int64) // 512 * 512)


def shuffled_sizes(trace: Requests) -> Requests:
    """Return the trace with its operations and sizes, pair by pair, in random order."""
    order = np.random.default_rng(SEED).permutation(len(trace))
    return replace(trace, op=trace.op[order], length=trace.length[order])


ABLATIONS: dict[str, Callable[[Requests], Requests]] = {
    "Poisson arrivals, all else true": poisson_times,
    "gaps in random order, all else true": shuffled_gaps,
    "places in random order, all else true": shuffled_places,
    "uniformly random places, all else true": uniform_places,
    "operations and sizes in random order, all else true": shuffled_sizes,
}
