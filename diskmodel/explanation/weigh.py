"""How probable everything is that may be the case."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from diskmodel.explanation.hypotheses import IMPOSSIBLE, Hypothesis, judged
from diskmodel.explanation.likelihood import log_likelihood
from diskmodel.explanation.pairs import two_causes
from diskmodel.explanation.rig import Rig
from diskmodel.explanation.singles import single_causes

#: Before anything is measured: nothing is wrong, one cause, two of them, something that is not known here. That half of
#: all questions have an ordinary answer is a choice, and so is that one in eight has one which no list contains.
_HEALTHY, _ONE, _TWO, _UNKNOWN = 0.3, 0.5, 0.08, 0.12
#: Standard deviation, as logarithms, of what an unknown cause does: to all rates alike, to the rate of one load, and to
#: the shape of a distribution. A factor of 3 either way is usual.
_WIDE_COMMON, _WIDE_LOAD, _WIDE_SHAPE = 1.0, 0.6, 0.6


def weigh(rig: Rig) -> list[Hypothesis]:
    """Return all hypotheses with their probabilities, the most probable first."""
    tried = single_causes(rig, _ONE)
    found = [_healthy(rig), _unknown(rig), *tried.left, *two_causes(rig, tried, _TWO)]
    if rig.is_beyond_links:
        found = [one if _answers_before_drives(one) else replace(one, log_likelihood=IMPOSSIBLE) for one in found]
    logs = np.array([math.log(one.prior) + one.log_likelihood for one in found])
    weights = np.exp(logs - logs.max())
    shares = weights / weights.sum()
    weighed = [replace(one, probability=float(share)) for one, share in zip(found, shares, strict=True)]
    return sorted(weighed, key=lambda one: -one.probability)


def _answers_before_drives(one: Hypothesis) -> bool:
    """Whether something answers whose rate no drive's link limits: a cache, other drives, or nobody knows what."""
    return one.is_unknown or any(cause.about in ("read cache", "medium", "layout") for cause, _, _ in one.causes)


def _healthy(rig: Rig) -> Hypothesis:
    return judged(rig, Hypothesis((), _HEALTHY, rig.reference, np.zeros(len(rig.figures))))


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
