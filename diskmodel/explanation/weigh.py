"""How probable everything is that may be the case."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from diskmodel.engine.ledger import current
from diskmodel.explanation.hypotheses import IMPOSSIBLE, Hypothesis, by_causes, judged
from diskmodel.explanation.likelihood import log_likelihood
from diskmodel.explanation.measured import SHAPE
from diskmodel.explanation.pairs import two_causes
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.singles import Tried, single_causes

#: Before anything is measured: nothing is wrong, one cause, two of them, something that is not known here. That half of
#: all questions have an ordinary answer is a choice, and so is that one in twenty has one which no list contains.
_HEALTHY, _ONE, _TWO, _UNKNOWN = 0.35, 0.52, 0.08, 0.05
#: Standard deviation, as logarithms, of what an unknown cause does: to all rates alike, to the rate of one load, and to
#: the shape of a distribution. A factor of 3 either way is usual.
_WIDE_COMMON, _WIDE_LOAD, _WIDE_SHAPE = 1.0, 0.6, 0.6
#: Chance of a figure at least so far off from which a cause fits it; and the prior of a usual cause, that of all others
#: is relative to.
_FITS_ONE, _USUAL = 0.01, 10.0
#: The same from which one fits so well that a second one beside it would explain nothing: two are not looked for, which
#: takes most of the time.
_FITS_WELL = 0.1
#: By how much the evidence of all figures together is less than their product says. Figures of one run, and runs of one
#: array, err together, and no cause is exactly what its law is, so that a likelihood is sharper than what is known
#: (a coarsened posterior: J. W. Miller and D. B. Dunson, "Robust Bayesian inference via coarsening", 2019). Learned on
#: faults that do not come from the engine (docs/explanation/validation/explain-outside.md). At half, causes that are
#: named with more than 60 % are wrong twice as often; at double, hardly one has so much.
_COARSE = 1.75
#: The same beside a sound run, which leaves hardly an error of the array: what errs then is the law of each cause, in
#: all figures alike.
_COARSE_BEFORE = 3.5
#: What causes are about of which only one is named then: each of them has whatever rate was measured.
_ONE_OF = ("limit", "host")


def weigh(simulator: Simulator) -> list[Hypothesis]:
    """Return all hypotheses with their probabilities, the most probable first."""
    tried = single_causes(simulator, _ONE)
    if not has_fingerprint(simulator):
        return _by_priors(simulator, tried)
    found = [_healthy(simulator), _unknown(simulator), *tried.left]
    fits = max((one.chance for one in tried.left if one.causes), default=0.0)
    if fits < _FITS_WELL and current().has_time_for("two causes at the same time"):
        found += two_causes(simulator, tried, _TWO)
    if simulator.is_beyond_links:
        found = [one if _answers_before_drives(one) else replace(one, log_likelihood=IMPOSSIBLE) for one in found]
    coarse = _COARSE_BEFORE if simulator.is_calibrated else _COARSE
    logs = np.array([math.log(one.prior) + one.log_likelihood / coarse for one in found])
    weights = np.exp(logs - logs.max())
    shares = weights / weights.sum()
    weighed = [replace(one, probability=float(share)) for one, share in zip(found, shares, strict=True)]
    return sorted(weighed, key=lambda one: -one.probability)


def has_fingerprint(simulator: Simulator) -> bool:
    """Whether the figures can separate causes that are as strong as one of them says: a shape, or a second load.

    One rate, or one mean, is explained by whatever takes as much of it, and by each of these equally well.
    """
    return len(simulator.measured) > 1 or any(figure.kind in SHAPE for figure in simulator.figures)


def _by_priors(simulator: Simulator, tried: Tried) -> list[Hypothesis]:
    """Return hypotheses where one figure is known: all that fit have their prior, however near they come."""
    found = [one for one in (_healthy(simulator), *tried.left) if one.chance >= _FITS_ONE]
    if simulator.is_beyond_links:
        found = [one for one in found if _answers_before_drives(one)]
    weighed: list[Hypothesis] = []
    chosen: set[str] = set()
    # of causes that are equally probable, those are named first that fit without a strength chosen to fit
    for own in sorted(by_causes(found), key=_evidence, reverse=True):
        cause = own[0].causes[0][0] if own[0].causes else None
        if cause is not None and cause.about in _ONE_OF:
            # nothing separates limits of one figure
            if cause.about in chosen:
                continue
            chosen.add(cause.about)
        prior = _HEALTHY if cause is None else _ONE * cause.prior / _USUAL
        logs = np.array([math.log(one.prior) + one.log_likelihood for one in own])
        shares = np.exp(logs - logs.max())
        shared = [
            replace(one, probability=prior * float(share))
            for one, share in zip(own, shares / shares.sum(), strict=True)
        ]
        weighed += sorted(shared, key=lambda one: -one.probability)
    # what is not known here counts as much as it does among all causes
    whole = sum(one.probability for one in weighed)
    weighed.append(replace(_unknown(simulator), probability=_UNKNOWN * max(whole, 1.0)))
    total = sum(one.probability for one in weighed)
    return [replace(one, probability=one.probability / total) for one in weighed]


def _evidence(own: list[Hypothesis]) -> float:
    """Return how well all strengths of a cause fit together, each with its share: chosen ones stand for little."""
    prior = own[0].causes[0][0].prior if own[0].causes else 1.0
    return float(np.logaddexp.reduce([math.log(one.prior / prior) + one.log_likelihood for one in own]))


def _answers_before_drives(one: Hypothesis) -> bool:
    """Whether something answers whose rate no drive's link limits: a cache, other drives, or nobody knows what."""
    return one.is_unknown or any(cause.about in ("read cache", "medium", "layout") for cause, _, _ in one.causes)


def _healthy(simulator: Simulator) -> Hypothesis:
    return judged(simulator, Hypothesis((), _HEALTHY, simulator.reference, np.zeros(len(simulator.figures))))


def _unknown(simulator: Simulator) -> Hypothesis:
    n = len(simulator.figures)
    common = np.array([{"iops": 1.0, "mean": -1.0}.get(figure.kind, 0.0) for figure in simulator.figures])
    loads = np.array([figure.load for figure in simulator.figures])
    same = np.where(loads[:, None] == loads[None, :], _WIDE_COMMON**2 + _WIDE_LOAD**2, _WIDE_COMMON**2)
    wide = np.outer(common, common) * same
    own = np.array([0.2**2 if figure.kind in ("iops", "mean") else _WIDE_SHAPE**2 for figure in simulator.figures])
    scale = wide + simulator.scale(error=own)
    deviation = simulator.target - simulator.reference - simulator.offset
    value = log_likelihood(deviation, scale, simulator.dof)
    return Hypothesis((), _UNKNOWN, simulator.reference, np.zeros(n), log_likelihood=value, chance=1.0, is_unknown=True)
