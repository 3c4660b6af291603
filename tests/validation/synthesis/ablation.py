"""Which property of a trace matters: replays of the trace with one property exchanged or destroyed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diskmodel.records import Requests
from diskmodel.workload.condense import cut

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


def shuffled_phases(trace: Requests) -> Requests:
    """Return the trace with its phases of about 256 requests in random order, each as it is."""
    cuts = cut(trace, 256).cuts
    order = np.random.default_rng(SEED).permutation(len(cuts) - 1)
    rows = np.concatenate([np.arange(cuts[phase], cuts[phase + 1]) for phase in order])
    gaps = np.diff(trace.when_ns, prepend=0)[rows]
    return replace(
        trace, when_ns=np.cumsum(gaps), op=trace.op[rows], offset=trace.offset[rows], length=trace.length[rows]
    )


def cascade_times(trace: Requests) -> Requests:
    """Return the trace with times of a multiplicative cascade fitted at every scale.

    As in the b-model and the multifractal wavelet model: the requests of an interval are divided between its halves in
    a random proportion, drawn from the proportions that intervals of this length have in the trace, down to 1 ms.
    """
    random = np.random.default_rng(SEED)
    n_scales = max(int(np.ceil(np.log2(max(trace.when_ns[-1] / 1e6, 2)))), 1)
    slot = np.minimum((trace.when_ns / (trace.when_ns[-1] + 1) * 2**n_scales).astype(np.int64), 2**n_scales - 1)
    true, drawn = np.bincount(slot, minlength=2**n_scales), np.array([len(trace)])
    for scale in range(1, n_scales + 1):
        half = true.reshape(2**scale, -1).sum(axis=1).reshape(-1, 2)
        whole = half.sum(axis=1)
        busy = np.flatnonzero(whole)
        # a share of the requests is drawn, so that full intervals count more than empty ones
        chosen = random.choice(busy, len(drawn), p=whole[busy] / whole[busy].sum())
        share = half[chosen, 0] / whole[chosen]
        share = np.where(random.random(len(drawn)) < 0.5, share, 1 - share)
        left = random.binomial(drawn, share)
        drawn = np.column_stack([left, drawn - left]).reshape(-1)
    width = float(trace.when_ns[-1]) / 2**n_scales
    when = np.repeat(np.arange(2**n_scales), drawn) * width + random.random(len(trace)) * width
    return replace(trace, when_ns=np.sort(when).astype(np.int64))


ABLATIONS: dict[str, Callable[[Requests], Requests]] = {
    "Poisson arrivals, all else true": poisson_times,
    "gaps in random order, all else true": shuffled_gaps,
    "places in random order, all else true": shuffled_places,
    "uniformly random places, all else true": uniform_places,
    "operations and sizes in random order, all else true": shuffled_sizes,
    "times of a cascade fitted at scales of 1 ms and more, all else true": cascade_times,
    "phases of 256 requests in random order": shuffled_phases,
}
