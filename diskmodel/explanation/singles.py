"""One cause at a time: every strength of each, first under the loads that say most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.hypotheses import Hypothesis, Runs, Variant, along, hypothesis_of, simulated
from diskmodel.explanation.rig import Floats, Rig

#: Measured loads on which all causes are tried first; the others only see those that are left.
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
        Of all of them under the first loads, and under all loads of those that are left.
    loads : tuple of int
        The first loads.
    left : tuple of Hypothesis
        Those that may explain everything alone, with their priors.
    """

    variants: tuple[Variant, ...]
    runs: Runs
    loads: tuple[int, ...]
    left: tuple[Hypothesis, ...]


def single_causes(rig: Rig, whole_prior: float) -> Tried:
    """Return every cause alone.

    Parameters
    ----------
    rig : Rig
    whole_prior : float
        Probability of a single cause, before anything is measured.
    """
    variants = tuple(
        Variant(cause, words, value, share)
        for cause in CAUSES.values()
        for words, value, share in cause.variants(rig.measured)
    )
    loads = _telling_loads(rig)
    runs = simulated(rig, [((one,), load) for one in variants for load in loads], "simulating causes")
    rest = [load for load in range(len(rig.measured)) if load not in loads]
    left: Sequence[Variant] = variants
    if rest:
        rows = rows_of(rig, loads)
        first = {at: hypothesis_of(rig, (one,), runs, rows) for at, one in enumerate(variants)}
        best = max((one.log_likelihood for one in first.values() if one is not None), default=0.0)
        good = {
            variants[at].cause.name for at, one in first.items() if one is None or one.log_likelihood > best - _HOPELESS
        }
        left = [one for one in variants if one.cause.name in good]
        runs |= simulated(rig, [((one,), load) for one in left for load in rest], "simulating causes under all loads")
    found = [(one, made) for one in left if (made := hypothesis_of(rig, (one,), runs)) is not None]
    causes = {one.cause.name: one.cause for one, _ in found}.values()
    unit = whole_prior / max(sum(cause.prior for cause in causes), 1e-9)
    singles = tuple(
        finer
        for cause in causes
        for finer in along(rig, cause, [pair for pair in found if pair[0].cause is cause], unit * cause.prior)
    )
    return Tried(variants, runs, tuple(loads), singles)


def rows_of(rig: Rig, loads: Sequence[int]) -> Floats:
    """Return which figures are those of some loads."""
    return np.isin([figure.load for figure in rig.figures], loads).astype(np.float64)


def _telling_loads(rig: Rig) -> list[int]:
    """Return the loads that say most: that of which a figure is furthest off, and that which is nearest."""
    n = len(rig.measured)
    if n <= _FIRST_LOADS:
        return list(range(n))
    off = np.zeros(n)
    for figure, deviation in zip(rig.figures, rig.target - rig.reference - rig.offset, strict=True):
        off[figure.load] = max(off[figure.load], abs(deviation))
    order = np.argsort(off)
    return sorted({int(order[0]), int(order[-1])})
