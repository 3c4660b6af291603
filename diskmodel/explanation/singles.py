"""One cause at a time: every strength of each, first under the loads that say most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Cause, Scale
from diskmodel.explanation.hypotheses import (
    Hypothesis,
    Runs,
    Variant,
    along,
    halfway,
    hypothesis_of,
    is_simulated,
    judged,
    simulated,
)
from diskmodel.explanation.simulator import LONG_S, Floats, Simulator
from diskmodel.loading import dataclass

#: Measured loads on which all causes are tried first; each of the others only sees those that are left.
_FIRST_LOADS = 2
#: Difference of the logarithms of likelihoods beyond which a cause is dropped then.
_HOPELESS = 14.0


@dataclass(frozen=True)
class Tried:
    """Every cause, alone.

    Attributes
    ----------
    variants : tuple of Variant
        All strengths of all causes.
    runs : mapping
        Under the first loads, and under the others, of those that were left by then.
    loads : tuple of int
        The first loads.
    left : tuple of Hypothesis
        Those that may explain everything alone, with their priors.
    """

    variants: tuple[Variant, ...]
    runs: Runs
    loads: tuple[int, ...]
    left: tuple[Hypothesis, ...]


def single_causes(simulator: Simulator, whole_prior: float) -> Tried:
    """Return every cause alone.

    Parameters
    ----------
    simulator : Simulator
    whole_prior : float
        Probability of a single cause, before anything is measured.
    """
    variants = tuple(
        Variant(cause, words, value, share)
        for cause in (one.on(simulator.array) for one in CAUSES.values())
        # what only a system may have takes no prior from pairs of causes of others
        if not cause.is_of_systems or simulator.array.drive.troubles
        for words, value, share in cause.variants(simulator.measured)
    )
    first = _telling_loads(simulator)
    rest = [load for load in range(len(simulator.measured)) if load not in first]
    runs: Runs = {}
    left, promise = variants, None
    seen: list[int] = []
    # loads whose runs take long see least of the causes
    turns = _in_turn(simulator, [*first, *rest])
    for turn, load in enumerate(turns):
        share = _share(simulator, turns[turn:])
        runs |= simulated(simulator, [((one,), load) for one in left], "simulating causes", share, promise)
        seen.append(load)
        if len(seen) < len(simulator.measured):
            left, promise = _hopeful(simulator, left, runs, seen)
    found = [(one, made) for one in left if (made := hypothesis_of(simulator, (one,), runs)) is not None]
    causes = {one.cause.name: one.cause for one, _ in found}.values()
    unit = whole_prior / max(sum(cause.prior for cause in causes), 1e-9)
    singles: list[Hypothesis] = []
    for cause in causes:
        own = along(simulator, cause, [pair for pair in found if pair[0].cause is cause], unit * cause.prior)
        singles += _with_own_spread(simulator, cause, list(own))
    return Tried(variants, runs, tuple(first), tuple(singles))


#: Chance of figures at least so far off down to which it is worth knowing what is not known of an array with a cause.
_WORTH = 1e-4


def _with_own_spread(simulator: Simulator, cause: Cause, found: list[Hypothesis]) -> list[Hypothesis]:
    """Return strengths of a cause with what is not known of the array as it is with it, where that is another thing.

    It is found at the strength that fits best, and nearly the same at all others: it is that of the same drives.
    """
    if not cause.is_of_writes or simulator.is_calibrated or not found:
        return found
    best = max(found, key=lambda one: one.log_likelihood)
    if best.chance < _WORTH or not np.isfinite(best.figures).all() or best.share < 1:
        return found  # draws are of other angles than the figures
    value = best.causes[0][1]
    changes = [simulator.changed(load, (cause, value)) for load in range(len(simulator.measured))]
    own = simulator.own_spread(changes, best.figures)
    if own is None:
        return found
    offset, shared, kept = own
    return [judged(simulator, replace(one, offset=offset, shared=shared, kept=kept)) for one in found]


def _share(simulator: Simulator, loads: Sequence[int]) -> float:
    """Return the part of what is left that runs of the first of some loads may take: as much as they cost, at least."""
    costs = [simulator.expected[load].cost_s for load in loads]
    return max(costs[0] / max(sum(costs), 1e-9), 1 / len(loads))


def _in_turn(simulator: Simulator, loads: Sequence[int]) -> list[int]:
    """Return the loads in the order in which they are simulated: those of short runs, then the others.

    Of long ones those come first that say most for what they cost: where nothing is off, nothing separates causes.
    """
    off = _off(simulator)
    long = sorted(
        (load for load in loads if is_long(simulator, load)),
        key=lambda load: simulator.expected[load].cost_s / max(float(off[load]), 1e-6),
    )
    return [load for load in loads if not is_long(simulator, load)] + long


def is_long(simulator: Simulator, load: int) -> bool:
    """Whether runs of a load take long: writes to a cache, which has to be full before they count, or to flash."""
    return simulator.expected[load].cost_s > LONG_S or (
        simulator.array.controller.write_cache is not None and simulator.measured[load].workload.has_writes
    )


def _hopeful(
    simulator: Simulator, variants: Sequence[Variant], runs: Runs, loads: Sequence[int]
) -> tuple[tuple[Variant, ...], list[float]]:
    """Return the strengths that may explain everything alone, by the loads that were simulated, and how well each does.

    Between two strengths of a scale figures are interpolated: one is left where its neighbor is, or what lies between
    both. One for which there was no time under some load explains nothing.
    """
    rows = rows_of(simulator, loads)
    found = [hypothesis_of(simulator, (one,), runs, rows) for one in variants]
    best = max((one.log_likelihood for one in found if one is not None), default=0.0)
    is_good = [
        is_simulated((own,), loads, runs) if one is None else one.log_likelihood > best - _HOPELESS
        for own, one in zip(variants, found, strict=True)
    ]
    nothing = judged(simulator, Hypothesis((), 1.0, simulator.reference, np.zeros(len(simulator.figures))), rows)
    left, promise = [], []
    beside = _neighbors(variants)
    is_between = [
        any(
            judged(simulator, halfway(own, other), rows).log_likelihood > best - _HOPELESS
            for k in beside[at]
            if own is not None and (other := found[k]) is not None
        )
        for at, own in enumerate(found)
    ]
    for at, one in enumerate(variants):
        if is_good[at] or is_between[at] or any(is_good[k] for k in beside[at]):
            own = found[at]
            left.append(one)
            promise.append(math.log(one.cause.prior) + (nothing if own is None else own).log_likelihood)
    return tuple(left), promise


def _neighbors(variants: Sequence[Variant]) -> list[list[int]]:
    """Return the places of the next strengths of each one between which figures are interpolated."""
    ways: dict[tuple[str, str], list[int]] = {}
    found: list[list[int]] = [[] for _ in variants]
    for at, one in enumerate(variants):
        scale, ladder = one.cause.strengths, one.cause.ladder
        if isinstance(scale, Scale) and at and variants[at - 1].cause is one.cause:
            found[at].append(at - 1)
            found[at - 1].append(at)
        elif ladder is not None:
            ways.setdefault((one.cause.name, ladder.way(one.value)), []).append(at)
    for (name, _), own in ways.items():
        ladder = next(one.cause.ladder for one in variants if one.cause.name == name)
        assert ladder is not None
        for low, high in pairwise(sorted(own, key=lambda at: ladder.number(variants[at].value))):
            found[low].append(high)
            found[high].append(low)
    return found


def rows_of(simulator: Simulator, loads: Sequence[int]) -> Floats:
    """Return which figures are those of some loads."""
    return np.isin([figure.load for figure in simulator.figures], loads).astype(np.float64)


def _telling_loads(simulator: Simulator) -> list[int]:
    """Return the loads that say most: that of which a figure is furthest off, then that which is nearest."""
    n = len(simulator.measured)
    if n <= _FIRST_LOADS:
        return list(range(n))
    order = np.argsort(_off(simulator))
    return [int(order[-1]), int(order[0])]


def _off(simulator: Simulator) -> Floats:
    """Return by how much the figure of each load that is furthest off is so, as a logarithm."""
    off = np.zeros(len(simulator.measured))
    for figure, deviation in zip(
        simulator.figures, simulator.target - simulator.reference - simulator.offset, strict=True
    ):
        off[figure.load] = max(off[figure.load], abs(deviation))
    return off
