"""How probable everything is that may be the case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from diskmodel.engine.ledger import current
from diskmodel.explanation.causes.cause import Scale
from diskmodel.explanation.hypotheses import IMPOSSIBLE, Hypothesis, by_causes, judged
from diskmodel.explanation.likelihood import log_likelihood
from diskmodel.explanation.measured import SHAPE
from diskmodel.explanation.pairs import two_causes
from diskmodel.explanation.simulator import Floats, Simulator
from diskmodel.explanation.singles import Tried, single_causes

#: Before anything is measured: nothing is wrong, one cause, two of them, something that is not known here. That half of
#: all questions have an ordinary answer is a choice, and so is that one in twenty has one which no list contains.
_HEALTHY, _ONE, _TWO, _UNKNOWN = 0.35, 0.52, 0.08, 0.05
#: Standard deviation, as logarithms, of what an unknown cause does to the loads that it changes: to all rates alike, to
#: the rate of one of them, to a rate beside its mean, and to the shape of a distribution, little or much. A factor of 3
#: either way is usual.
_WIDE_COMMON, _WIDE_LOAD, _WIDE_RATE, _WIDE_SHAPES = 1.0, 0.6, 0.2, (0.3, 0.6, 1.2)
#: Loads up to which an unknown cause may change any of them; of more, one, all but one, or all.
_FEW_LOADS = 5
#: Chance of a figure at least so far off from which a cause fits it; and the prior of a usual cause, that of all others
#: is relative to.
_FITS_ONE, _USUAL = 0.01, 10.0
#: The same from which one fits so well that a second one beside it would explain nothing: two are not looked for, which
#: takes most of the time. At a tenth, of 21 pairs of planted causes that differ by no more than their errors four are
#: found, and not seven.
_FITS_WELL = 0.9
#: Likelihood, over that of a perfect fit and as a logarithm, down to which causes fit one figure equally: it is a
#: standard deviation off. At double, one that is off by a factor of three is named before those that are not.
_EQUAL = -0.5
#: By how much the evidence of all figures together is less than their product says. Figures of one run, and runs of one
#: array, err together, and no cause is exactly what its law is, so that a likelihood is sharper than what is known
#: (a coarsened posterior: J. W. Miller and D. B. Dunson, "Robust Bayesian inference via coarsening", 2019). Learned on
#: faults that do not come from the engine (docs/explanation/validation/explain-outside.md). At half, causes that are
#: named with more than 60 % are wrong four times as often; at double, hardly one has so much.
_COARSE = 2.0
#: Standard deviation, as a logarithm, of the prior of a cause: nobody has counted how often each is found. And draws of
#: all of them, over which probabilities are means. Learned on the same faults: at half, causes that are named with more
#: than 60 % are wrong three to five times as often; at double, one that fits by far best has hardly so much.
_PRIOR_ERROR, _PRIORS = 2.2, 1_000
#: The same as `_COARSE` beside a sound run, which leaves hardly an error of the array: what errs then is the law of
#: each cause, in all figures alike.
_COARSE_BEFORE = 3.5
#: Probability that nothing is wrong below which figures are called so that are all inside their intervals: together
#: they fit what may be wrong better. Of 119 sound arrays of the small simulator and 45 of OpenZFS seven raise an alarm
#: (docs/explanation/validation/explain-outside.md); at half, a loss of a half is seen in fewer cases, at double, every
#: tenth sound array raises an alarm.
SOUND = 0.25
#: What causes are about of which only one is named then: each of them has whatever rate was measured.
_ONE_OF = ("limit", "host")


def weigh(simulator: Simulator) -> list[Hypothesis]:
    """Return all hypotheses with their probabilities, the most probable first."""
    tried = single_causes(simulator, _ONE)
    if not has_fingerprint(simulator):
        return _by_priors(simulator, tried)
    found = [_healthy(simulator), *unknown_causes(simulator), *by_usual_names(tried.left)]
    fits = max((one.chance for one in tried.left if one.causes), default=0.0)
    if fits < _FITS_WELL and current().has_time_for("two causes at the same time"):
        found += two_causes(simulator, tried, _TWO)
    if simulator.is_beyond_links:
        found = [one if _answers_before_drives(one) else replace(one, log_likelihood=IMPOSSIBLE) for one in found]
    coarse = _COARSE_BEFORE if simulator.is_calibrated else _COARSE
    logs = np.array([math.log(one.prior * one.share) + one.log_likelihood / coarse for one in found])
    shares = _over_priors(found, logs)
    weighed = [replace(one, probability=float(share)) for one, share in zip(found, shares, strict=True)]
    return sorted(weighed, key=lambda one: -one.probability)


def by_usual_names(found: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return single causes, of which one that is the same limit with the same figures has the usual name.

    A bucket of tokens that holds fewer than the clients ask for at once lets requests pass as a limit does: nothing
    separates the two, and what speaks for one speaks for both. A limit of bytes is another one, where it has the same
    figures as well.
    """
    usual: dict[tuple[str, float, bytes], Hypothesis] = {}
    keys = [(one.causes[0][0].about, _number(one), np.round(one.figures, 9).tobytes()) for one in found]
    for key, one in zip(keys, found, strict=True):
        if key not in usual or usual[key].causes[0][0].prior < one.causes[0][0].prior:
            usual[key] = one
    return [replace(one, causes=usual[key].causes) for key, one in zip(keys, found, strict=True)]


def _number(one: Hypothesis) -> float:
    """Return the strength of a single cause on its scale; 0 of one that has no scale."""
    cause, value, _ = one.causes[0]
    return cause.strengths.number(value) if isinstance(cause.strengths, Scale) else 0.0


def as_described(hypotheses: Sequence[Hypothesis]) -> float:
    """Return the probability that nothing is wrong."""
    return sum(one.probability for one in hypotheses if not one.causes and not one.is_unknown)


def _over_priors(found: list[Hypothesis], logs: Floats) -> Floats:
    """Return probabilities, the mean over what the priors of causes may be: all strengths of one have the same."""
    names = {key: at for at, key in enumerate(dict.fromkeys(map(_kind, found)))}
    places = np.array([names[_kind(one)] for one in found])
    draws = np.random.default_rng(0).normal(0.0, _PRIOR_ERROR, (_PRIORS, len(names)))
    weights = np.exp(logs - logs.max())
    whole = np.bincount(places, weights, len(names))
    other = np.exp(draws) * whole
    means = (other / other.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.asarray(weights / np.maximum(whole, 1e-300)[places] * means[places])


def _kind(one: Hypothesis) -> tuple[str, ...]:
    return ("unknown",) if one.is_unknown else tuple(sorted(one.names))


def has_fingerprint(simulator: Simulator) -> bool:
    """Whether the figures can separate causes that are as strong as one of them says: a shape, or a second load.

    One rate, or one mean, is explained by whatever takes as much of it, and by each of these equally well.
    """
    return len(simulator.measured) > 1 or any(figure.kind in SHAPE for figure in simulator.figures)


def _by_priors(simulator: Simulator, tried: Tried) -> list[Hypothesis]:
    """Return hypotheses where one figure is known: all that fit equally have their prior, and others less of it.

    What counts is how near the best strength of a cause comes, not how many strengths it may have.
    """
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
        prior *= math.exp(min(max(one.log_fit for one in own) - _EQUAL, 0.0) / _COARSE)
        logs = np.array([math.log(one.prior * one.share) + one.log_likelihood for one in own])
        shares = np.exp(logs - logs.max())
        shared = [
            replace(one, probability=prior * float(share))
            for one, share in zip(own, shares / shares.sum(), strict=True)
        ]
        weighed += sorted(shared, key=lambda one: -one.probability)
    # what is not known here counts as much as it does among all causes
    whole = sum(one.probability for one in weighed)
    weighed.append(replace(unknown_causes(simulator)[-1], probability=_UNKNOWN * max(whole, 1.0)))
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


def unknown_causes(simulator: Simulator) -> list[Hypothesis]:
    """Return what is not known here, in each of the ways in which it may act.

    A cause leaves loads alone that do not meet it: reads, small requests, single ones. So may one that no list has, and
    what it does to the others may be anything. Where no cause fits the figures, this does.
    """
    n_loads = len(simulator.measured)
    sizes = range(1, n_loads + 1) if n_loads <= _FEW_LOADS else sorted({1, n_loads - 1, n_loads})
    ways = [own for size in sizes for own in combinations(range(n_loads), size)]
    share = _UNKNOWN / len(ways) / len(_WIDE_SHAPES)
    return [_changing(simulator, own, wide, share) for own in ways for wide in _WIDE_SHAPES]


def _changing(simulator: Simulator, own: tuple[int, ...], wide: float, prior: float) -> Hypothesis:
    """Return a cause that is not known here and changes some loads, and the shapes of their distributions so much."""
    loads = np.array([figure.load for figure in simulator.figures])
    signs = np.array([{"iops": 1.0, "mean": -1.0}.get(figure.kind, 0.0) for figure in simulator.figures])
    is_changed = np.isin(loads, own)
    same = np.where(loads[:, None] == loads[None, :], _WIDE_COMMON**2 + _WIDE_LOAD**2, _WIDE_COMMON**2)
    sides = signs * is_changed
    errors = np.where(signs != 0, _WIDE_RATE**2, wide**2) * is_changed
    scale = np.outer(sides, sides) * same + simulator.scale(error=errors)
    value = log_likelihood(simulator.target - simulator.reference - simulator.offset, scale, simulator.dof)
    return Hypothesis(
        (),
        prior,
        simulator.reference,
        np.zeros(len(simulator.figures)),
        log_likelihood=value,
        chance=1.0,
        is_unknown=True,
    )
