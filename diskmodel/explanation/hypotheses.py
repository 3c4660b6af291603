"""Hypotheses: the array as described, one cause or two, or none that is known; and how probable each one is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Cause, Scale
from diskmodel.explanation.likelihood import chance_of, log_likelihood
from diskmodel.explanation.rig import Floats, Rig, Simulated, together

#: Before anything is measured: nothing is wrong, one cause, two of them, something that is not known here. That half of
#: all questions have an ordinary answer is a choice, and so is that one in eight has one which no list contains.
_HEALTHY, _ONE, _TWO, _UNKNOWN = 0.3, 0.5, 0.08, 0.12
#: Standard deviation, as logarithms, of what an unknown cause does: to all rates alike, to the rate of one load, and to
#: the shape of a distribution. A factor of 3 either way is usual.
_WIDE_COMMON, _WIDE_LOAD, _WIDE_SHAPE = 1.0, 0.6, 0.6
#: Standard deviation of the error of a figure that a cause changes: no field of a description is the whole of a cause.
_CAUSE_ERROR = {"iops": 0.08, "mean": 0.08, "p50": 0.12, "p95": 0.12, "p99": 0.15}
#: A change that moves a figure by less is none.
_MOVES = 0.01
#: Measured loads on which all causes are tried first; the others only see those that are left.
_FIRST_LOADS = 2
#: Difference of the logarithms of likelihoods beyond which a cause is dropped then.
_HOPELESS = 14.0
#: Causes that are tried in pairs with all others, and pairs that are simulated.
_PAIRED, _PAIRS = 6, 14
#: Steps between two simulated strengths that are interpolated.
_STEPS = 6


@dataclass(frozen=True)
class Hypothesis:
    """What may be the case.

    Attributes
    ----------
    causes : tuple of (Cause, value, words)
        Empty: as described.
    prior : float
    figures : float64, shape (n_figures,)
        Logarithms of the figures it predicts, without what is not known of the drive.
    error : float64, shape (n_figures,)
        Variance of its own errors.
    offset, shared : float64 or None
        Mean and covariance of what is not known, where the cause changes them; None: those of the array without it.
    log_likelihood, chance : float
        Of what was measured; the chance of figures at least so far off.
    probability : float
    is_unknown : bool
        Whether it is the cause that is not known here.
    """

    causes: tuple[tuple[Cause, Any, str], ...]
    prior: float
    figures: Floats
    error: Floats = field(default_factory=lambda: np.zeros(0))
    offset: Floats | None = None
    shared: Floats | None = None
    log_likelihood: float = -math.inf
    chance: float = 0.0
    probability: float = 0.0
    is_unknown: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its causes."""
        return tuple(cause.name for cause, _, _ in self.causes)

    def spread(self, rig: Rig) -> tuple[Floats, Floats]:
        """Return offset and covariance of what is not known."""
        return (
            rig.offset if self.offset is None else self.offset,
            rig.shared if self.shared is None else self.shared,
        )


def by_causes(hypotheses: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """Return the strengths of the same causes together, in the order of the first of each."""
    groups: dict[tuple[str, ...], list[Hypothesis]] = {}
    for one in hypotheses:
        groups.setdefault(tuple(sorted(one.names)), []).append(one)
    return list(groups.values())


def weigh(rig: Rig) -> list[Hypothesis]:
    """Return all hypotheses with their probabilities, the most probable first."""
    found = [_healthy(rig), _unknown(rig)]
    singles = _singles(rig)
    found += singles
    found += _pairs(rig, singles)
    logs = np.array([math.log(one.prior) + one.log_likelihood for one in found])
    weights = np.exp(logs - logs.max())
    shares = weights / weights.sum()
    weighed = [replace(one, probability=float(share)) for one, share in zip(found, shares, strict=True)]
    return sorted(weighed, key=lambda one: -one.probability)


def _healthy(rig: Rig) -> Hypothesis:
    return _judged(rig, Hypothesis((), _HEALTHY, rig.reference, np.zeros(len(rig.figures))))


def _unknown(rig: Rig) -> Hypothesis:
    n = len(rig.figures)
    common = np.array([{"iops": 1.0, "mean": -1.0}.get(figure.kind, 0.0) for figure in rig.figures])
    loads = np.array([figure.load for figure in rig.figures])
    same = np.where(loads[:, None] == loads[None, :], _WIDE_COMMON**2 + _WIDE_LOAD**2, _WIDE_COMMON**2)
    wide = np.outer(common, common) * same
    own = np.array([0.2**2 if figure.kind in ("iops", "mean") else _WIDE_SHAPE**2 for figure in rig.figures])
    scale = wide + np.diag(own + rig.own) + rig.shared
    deviation = rig.target - rig.reference - rig.offset
    value = log_likelihood(deviation, scale, rig.dof)
    return Hypothesis((), _UNKNOWN, rig.reference, np.zeros(n), log_likelihood=value, chance=1.0, is_unknown=True)


def _judged(rig: Rig, one: Hypothesis, rows: Floats | None = None) -> Hypothesis:
    """Return a hypothesis with its likelihood: of all figures, or of those of some rows."""
    deviation, scale = _deviation(rig, one, rows)
    if not np.isfinite(deviation).all():
        return replace(one, log_likelihood=_IMPOSSIBLE, chance=0.0)
    value, chance = log_likelihood(deviation, scale, rig.dof), chance_of(deviation, scale, rig.dof)
    return replace(one, log_likelihood=value, chance=chance)


#: Logarithm of the likelihood of what cannot be.
_IMPOSSIBLE = -1e9


def _deviation(rig: Rig, one: Hypothesis, rows: Floats | None = None) -> tuple[Floats, Floats]:
    """Return how far off a hypothesis is, and the scale of that, of all figures or of those of some rows."""
    chosen = np.arange(len(rig.figures)) if rows is None else np.flatnonzero(rows)
    offset, shared = one.spread(rig)
    scale = (shared + np.diag(rig.own + one.error))[np.ix_(chosen, chosen)]
    return (rig.target - one.figures - offset)[chosen], scale


# ---------------------------------------------------------------- one cause


@dataclass(frozen=True)
class _Variant:
    cause: Cause
    words: str
    value: Any
    share: float


def _singles(rig: Rig) -> list[Hypothesis]:
    variants = [
        _Variant(cause, words, value, share)
        for cause in CAUSES.values()
        for words, value, share in cause.variants(rig.measured)
    ]
    loads = _telling_loads(rig)
    runs = _simulated(rig, [((one,), load) for one in variants for load in loads], "simulating causes")
    rest = [load for load in range(len(rig.measured)) if load not in loads]
    left = variants
    if rest:
        rows = np.array([figure.load in loads for figure in rig.figures])
        first = {at: _hypothesis(rig, (one,), runs, rows) for at, one in enumerate(variants)}
        best = max((one.log_likelihood for one in first.values() if one is not None), default=0.0)
        good = {
            variants[at].cause.name for at, one in first.items() if one is None or one.log_likelihood > best - _HOPELESS
        }
        left = [one for one in variants if one.cause.name in good]
        runs |= _simulated(rig, [((one,), load) for one in left for load in rest], "simulating causes under all loads")
    found = [(one, made) for one in left if (made := _hypothesis(rig, (one,), runs)) is not None]
    causes = {one.cause.name: one.cause for one, _ in found}.values()
    whole = sum(cause.prior for cause in causes)
    return [
        finer
        for cause in causes
        for finer in _along(rig, cause, [pair for pair in found if pair[0].cause is cause], _ONE / max(whole, 1e-9))
    ]


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


_Key = tuple[tuple[str, str], ...]
_Runs = dict[tuple[_Key, int], Simulated | None]


def _key(variants: Sequence[_Variant]) -> _Key:
    return tuple((one.cause.name, one.words) for one in variants)


#: Marks a load that a cause does not change.
_SAME = Simulated({}, {}, None)


def _simulated(rig: Rig, jobs: Sequence[tuple[tuple[_Variant, ...], int]], step: str) -> _Runs:
    def run(job: tuple[tuple[_Variant, ...], int]) -> Simulated | None:
        variants, load = job
        change = rig.changed(load, *((one.cause, one.value) for one in variants))
        return _SAME if change is None else rig.simulate(rig.measured[load], change)

    results = together(f"{step} ({len(jobs)} runs)", jobs, run)
    return {(_key(variants), load): found for (variants, load), found in zip(jobs, results, strict=True)}


def _hypothesis(rig: Rig, variants: tuple[_Variant, ...], runs: _Runs, rows: Floats | None = None) -> Hypothesis | None:
    """Return a hypothesis from its runs; None where it changes nothing, or cannot be."""
    own = [runs.get((_key(variants), load), _SAME) for load in range(len(rig.measured))]
    if any(run is None for run in own):
        return None
    changed = [None if run is _SAME else run for run in own]
    figures = rig.vector([rig.runs[load] if run is None else run.figures for load, run in enumerate(changed)])
    moved = np.abs(figures - rig.reference) > _MOVES
    if not moved.any():
        return None
    error = np.array([_CAUSE_ERROR[figure.kind] ** 2 for figure in rig.figures]) * moved
    causes = tuple((one.cause, one.value, one.words) for one in variants)
    share = math.prod(one.share for one in variants)
    has_law = any(run is not None and run.law is not None for run in changed)
    spread = rig.spread(changed, figures) if has_law and np.isfinite(figures).all() else (None, None)
    return _judged(rig, Hypothesis(causes, share, figures, error, *spread), rows)


def _along(rig: Rig, cause: Cause, found: Sequence[tuple[_Variant, Hypothesis]], unit: float) -> Iterator[Hypothesis]:
    """Yield the strengths of one cause, of one on a scale also those between the simulated ones."""
    prior = unit * cause.prior
    is_fine = isinstance(cause.strengths, Scale) and cause.strengths.at is None and len(found) > 1
    if not is_fine:
        for _, one in found:
            yield replace(one, prior=prior * one.prior)
        return
    assert isinstance(cause.strengths, Scale)
    pairs = list(pairwise(found))
    share = prior / (len(pairs) * _STEPS + 1)
    for (low, first), (high, last) in pairs:
        for step in range(_STEPS):
            part = step / _STEPS
            value = math.exp((1 - part) * math.log(low.value) + part * math.log(high.value))
            causes = ((cause, value, cause.strengths.unit(value)),)
            figures = (1 - part) * first.figures + part * last.figures
            error = np.maximum(first.error, last.error)
            near = first if part < 0.5 else last
            yield _judged(rig, Hypothesis(causes, share, figures, error, near.offset, near.shared))
    yield replace(found[-1][1], prior=share)


# ---------------------------------------------------------------- two causes


def _pairs(rig: Rig, singles: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return pairs of the causes that explain most with all others, as far as they may fit."""
    best: dict[str, Hypothesis] = {}
    for one in singles:
        known = best.get(one.names[0])
        if known is None or one.log_likelihood > known.log_likelihood:
            best[one.names[0]] = one
    ranked = sorted(best.values(), key=lambda one: -(one.log_likelihood + math.log(one.causes[0][0].prior)))
    leading = {one.names[0] for one in ranked[:_PAIRED]}
    whole = sum(one.causes[0][0].prior for one in best.values()) or 1.0
    screened: dict[tuple[str, str], tuple[float, Hypothesis, Hypothesis]] = {}
    coarse = _thinned(singles)
    for first in (one for one in coarse if one.names[0] in leading):
        for second in coarse:
            a, b = first.causes[0][0], second.causes[0][0]
            if a.about == b.about or (b.name in leading and b.name < a.name):
                continue
            # effects on logarithms add up where both hold everywhere, and the larger one counts where each is a limit
            both = first.figures + second.figures - rig.reference
            more = np.where(
                np.abs(first.figures - rig.reference) > np.abs(second.figures - rig.reference),
                first.figures,
                second.figures,
            )
            error = np.maximum(first.error, second.error) + 0.01
            value = max(_screened(rig, Hypothesis((), 1.0, figures, error)) for figures in (both, more))
            key = (a.name, b.name)
            if key not in screened or value > screened[key][0]:
                screened[key] = (value, first, second)
    chosen = sorted(screened.values(), key=lambda item: -item[0])[:_PAIRS]
    variants = [
        tuple(_Variant(cause, words, value, 1.0) for one in pair for cause, value, words in one.causes)
        for _, *pair in chosen
    ]
    jobs = [(pair, load) for pair in variants for load in range(len(rig.measured))]
    runs = _simulated(rig, jobs, "simulating pairs of causes")
    found = []
    for pair in variants:
        made = _hypothesis(rig, pair, runs)
        if made is not None:
            weights = [variant.cause.prior / whole for variant in pair]
            # the best of the strengths of both stands for all of them, of which one in so many would do
            found.append(replace(made, prior=_TWO * math.prod(weights) * _OCCAM))
    return found


def _screened(rig: Rig, one: Hypothesis) -> float:
    """Return the logarithm of a likelihood alone: of most pairs nothing else is asked."""
    deviation, scale = _deviation(rig, one)
    return log_likelihood(deviation, scale, rig.dof) if np.isfinite(deviation).all() else _IMPOSSIBLE


#: Part of the strengths of two causes that fit about as well as the best ones.
_OCCAM = 0.1


def _thinned(singles: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return fewer strengths of causes on a scale."""
    return [one for own in by_causes(singles) for one in own[:: max(len(own) // 5, 1)]]
