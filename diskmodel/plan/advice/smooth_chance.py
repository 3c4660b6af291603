"""The chance that an objective is met, from how far a few draws are from its limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from diskmodel.plan.answer.criterion import Criterion
from diskmodel.uncertainty import Spread, chance_below

#: Width of the kernel that stands for what lies between two draws, as a part of the standard deviation of all. Sixteen
#: draws stop at the middles of their outermost sixteenths, so that they vary by 7 % less than what they stand for (as
#: variances), which the kernel adds. At half, the chance moves in steps of a sixteenth again; at double, a chance of
#: 88 % is stated where 90 % are true.
KERNEL = 0.3

#: Distance of draws from their limits, in standard deviations of what is not known and as a factor, from which further
#: draws are not needed. At half, one drive of a rare kind may be near a limit that four usual ones are far from; at
#: double, nothing is far but what is in a cache.
_FAR_SDS, _FAR_FACTOR = 6.0, 10.0

#: Standard deviation over the draws of the logarithm of each figure, by the key of its criterion.
LogSds = Mapping[tuple[str, str], float]


class Margin(NamedTuple):
    """How far a draw is from a limit, before what is not known of its slowest requests.

    Attributes
    ----------
    name : str
        Of the criterion.
    key : tuple of str
        The same in all draws.
    log : float
        Logarithm of limit over figure, of a figure that has to be large of figure over limit: below 0 the limit is
        violated. Infinite where the draw overloads the array, or where the figure is not known.
    tail : Spread or None
        Of the factor of the figure that is not in it yet; None of a figure that is not about the slowest requests.
    """

    name: str
    key: tuple[str, str]
    log: float
    tail: Spread | None = None


def margin_of(item: Criterion, factor: float, tail: Spread | None) -> Margin:
    """Return the margin of a criterion whose figure is scaled by a factor."""
    key, ratio = (item.name, item.detail), item.figure.value * factor / item.limit if item.limit else math.nan
    if item.is_overload:
        log = -math.inf
    elif ratio > 0 and math.isfinite(ratio):
        log = -math.log(ratio) if item.is_upper else math.log(ratio)
    else:
        log = -math.inf if item.margin_ratio < 0 else math.inf
    return Margin(item.name, key, log, tail)


def log_sds(draws: Sequence[Sequence[Margin]]) -> LogSds:
    """Return how much the figures of some draws vary."""
    by_key: dict[tuple[str, str], list[float]] = {}
    for margin in (margin for margins in draws for margin in margins if math.isfinite(margin.log)):
        by_key.setdefault(margin.key, []).append(margin.log)
    return {key: float(np.std(logs)) for key, logs in by_key.items()}


def chances(draws: Sequence[Sequence[Margin]], varying: LogSds) -> list[float]:
    """Return with which chance each of some equally likely draws meets all limits; their mean is that of the array.

    Parameters
    ----------
    draws : sequence of sequences of Margin
    varying : mapping
        As `log_sds` returns it, of all draws of the array or of one that is like it.

    Notes
    -----
    What is not known of the slowest requests is a factor with a known distribution, so that it is integrated instead of
    drawn. Of the rest there are only a few draws, and each stands for a normal distribution around it, so that the
    chance does not move in steps (B. W. Silverman, *Density Estimation*, 1986, chapter 2). Limits of one draw are met
    or violated together, as its drive is fast or slow in all of them.
    """
    return [min((_chance(item, varying.get(item.key, 0.0)) for item in one), default=1.0) for one in draws]


def are_far(draws: Sequence[Sequence[Margin]], varying: LogSds) -> bool:
    """Return whether all of some draws meet each limit by far, so that others hardly miss one."""
    return all(_is_far(item, varying.get(item.key, 0.0)) for one in draws for item in one)


def _is_far(margin: Margin, log_sd: float) -> bool:
    tail = margin.tail or Spread()
    width = math.hypot(log_sd, tail.log_sd)
    least = max(_FAR_SDS * width, math.log(_FAR_FACTOR)) if width else 0.0
    return margin.log - math.log(tail.median) >= least


def _chance(margin: Margin, log_sd: float) -> float:
    """Return the chance that a draw meets one limit."""
    tail = margin.tail or Spread()
    log = margin.log - math.log(tail.median)
    width = math.hypot(KERNEL * log_sd, tail.log_sd)
    if not math.isfinite(log) or not width:
        return float(log >= 0)
    return chance_below(log / width, tail.dof)
