"""Causes that are seen by comparing equals with each other, before anything is simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.explanation.equals import Difference
from diskmodel.explanation.expected import Compared, Verdict
from diskmodel.explanation.found import CauseFound
from diskmodel.explanation.measured import Measured

#: Part of the gap that has to be explained for other causes not to be looked for.
_ENOUGH = 0.3
#: Names of others that are said.
_MOST_NAMED = 4
FINGERPRINT = "one of several that should be alike takes longer than the others, under the same load"


def odd_ones(measured: Sequence[Measured], verdict: Verdict) -> list[CauseFound]:
    """Return what comparing equals shows, as causes; those of the same kind are one.

    Parameters
    ----------
    measured : sequence of Measured
    verdict : Verdict
        What is left of the gap without them decides how much they explain.
    """
    groups: dict[str, list[Difference]] = {}
    for difference in sorted((other for one in measured for other in one.differences), key=lambda one: -one.ratio):
        own = groups.setdefault(difference.cause, [])
        if difference.who not in {other.who for other in own}:
            own.append(difference)
    found = [_cause(own, verdict) for own in groups.values()]
    whole = max(sum(one.probability for one in found), 0.95) / 0.95
    return [replace(one, probability=one.probability / whole) for one in found]


def is_enough(odd: Sequence[CauseFound]) -> bool:
    """Whether what was seen explains the gap, so that no other cause is looked for."""
    return any(one.explains is None or one.explains >= _ENOUGH for one in odd)


def _cause(own: Sequence[Difference], verdict: Verdict) -> CauseFound:
    first, others = own[0], [one.who for one in own[1:]]
    title = first.title
    if others:
        title += f"; {', '.join(others[:_MOST_NAMED])}{' …' if len(others) > _MOST_NAMED else ''} as well"
    explains = None if verdict.is_as_expected else _explains(math.prod(one.without for one in own), verdict)
    probability = first.probability if explains is None else first.probability * min(explains / _ENOUGH, 1.0)
    return CauseFound((first.cause,), (title,), probability, explains, None, (first.check,), (FINGERPRINT,))


def _explains(without: float, verdict: Verdict) -> float:
    """Return the part of the gap, as logarithms, that is gone where requests take so many times less."""
    gaps = [gap for one in verdict.compared if (gap := _slower(one)) > 0]
    return min(math.log(max(without, 1.0)) / max(gaps), 1.0) if gaps else 0.0


def _slower(one: Compared) -> float:
    ratio = one.expected / one.measured if one.figure == "iops" else one.measured / one.expected
    return math.log(ratio) if one.figure == "iops" or one.figure.endswith("mean") else 0.0
