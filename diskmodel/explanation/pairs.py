"""Two causes at once: the best partner of each promising cause, by what that cause leaves unexplained.

What two causes do together is not what each does alone: a limit hides what is slower before it, two delays add up, and
a cause that explains one load may contradict another. So promising causes lead, those that explain most of the first
loads together and of each of them alone. Every other cause joins each leader under the loads that the leader explains
worst, the best partners under all loads, and the best of these pairs with other strengths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diskmodel.explanation.causes.cause import Cause
from diskmodel.explanation.hypotheses import (
    PASSES,
    Hypothesis,
    Runs,
    Variant,
    along,
    hypothesis_of,
    is_simulated,
    simulated,
)
from diskmodel.explanation.simulator import Floats, Simulator
from diskmodel.explanation.singles import Tried, is_long, rows_of

#: Causes that lead, and partners of each: at half, the right pair is missing now and then; double takes seconds longer.
_LEADERS, _PARTNERS = 5, 6
#: Loads under which partners are tried first, and strengths of each.
_WORST, _STRENGTHS = 2, 3
#: Partners that are tried under the second of these loads; at half, the right one is missing now and then.
_TRIED_FURTHER = 16
#: Least gain of a partner, as the logarithm of a likelihood.
_GAIN = 1.0
#: Pairs of which other strengths are simulated, and how often.
_REFINED, _TIMES = 4, 2

_Two = tuple[Variant, Variant]


def two_causes(simulator: Simulator, tried: Tried, whole_prior: float) -> list[Hypothesis]:
    """Return pairs of causes as far as they may fit.

    Parameters
    ----------
    simulator : Simulator
    tried : Tried
        Every cause alone.
    whole_prior : float
        Probability of two causes, before anything is measured.
    """
    leaders = _leaders(simulator, tried)
    every = list(range(len(simulator.measured)))
    runs = simulated(simulator, [((one,), load) for one in leaders for load in every], "simulating what may lead")
    pairs = _joined(simulator, tried, leaders, runs)
    found = _under_all_loads(simulator, pairs, "simulating pairs of causes")
    for _ in range(_TIMES):
        best = sorted(found.values(), key=lambda item: -item[1].log_likelihood - math.log(_weight(item[0])))
        others = [other for pair, _ in best[:_REFINED] for other in _beside(pair)]
        for name, (pair, one) in _under_all_loads(simulator, others, "simulating other strengths of pairs").items():
            if one.log_likelihood > found[name][1].log_likelihood:
                found[name] = pair, one
    whole = _all_pairs(tried)
    return [
        replace(one, prior=whole_prior * _weight(pair) / whole * math.prod(part.size for part in pair))
        for pair, one in found.values()
    ]


def _weight(pair: Sequence[Variant]) -> float:
    return math.prod(one.cause.prior for one in pair)


def _all_pairs(tried: Tried) -> float:
    """Return the priors of all pairs of causes that go together."""
    causes = list({one.cause.name: one.cause for one in tried.variants}.values())
    return sum(a.prior * b.prior for at, a in enumerate(causes) for b in causes[:at] if a.about != b.about)


def _ordered(first: Variant, second: Variant) -> _Two:
    """Return two causes in the order in which a request meets them: a limit sees what is left of the others."""
    if (first.cause.about == "limit", first.cause.name) > (second.cause.about == "limit", second.cause.name):
        return second, first
    return first, second


def _leaders(simulator: Simulator, tried: Tried) -> list[Variant]:
    """Return the causes that explain most of the first loads, and of each of them alone, with their best strengths."""
    rankings = []
    for loads in (tried.loads, *((load,) for load in tried.loads)):
        rows = rows_of(simulator, loads)
        known = [(one,) for one in tried.variants if is_simulated((one,), loads, tried.runs)]
        best = _best(simulator, known, tried.runs, rows, 0)
        rankings.append([one for _, one in sorted(best.values(), key=lambda item: -item[0])])
    leaders: dict[str, Variant] = {}
    for one in (one for same_rank in zip(*rankings, strict=False) for one in same_rank):
        if len(leaders) < _LEADERS:
            leaders.setdefault(one.cause.name, one)
    return list(leaders.values())


def _best(
    simulator: Simulator, variants: Sequence[tuple[Variant, ...]], runs: Runs, rows: Floats, place: int
) -> dict[str, tuple[float, Variant]]:
    """Return the best strength of each cause at a place of tuples of them, and how well it fits, with its prior."""
    known: dict[str, list[tuple[Variant, Hypothesis]]] = {}
    for own in variants:
        made = hypothesis_of(simulator, own, runs, rows)
        if made is not None:
            known.setdefault(own[place].cause.name, []).append((own[place], made))
    found: dict[str, tuple[float, Variant]] = {}
    for name, strengths in known.items():
        cause = strengths[0][0].cause
        fitting = max(along(simulator, cause, strengths, 1.0, rows), key=lambda one: one.log_likelihood)
        value, words = next((value, words) for other, value, words in fitting.causes if other is cause)
        variant = Variant(cause, words, value, 1.0)
        found[name] = fitting.log_likelihood + math.log(cause.prior * variant.size), variant
    return found


def _joined(simulator: Simulator, tried: Tried, leaders: Sequence[Variant], runs: Runs) -> list[_Two]:
    """Return the leaders with their best partners."""
    worst = [_worst(simulator, leader, runs) for leader in leaders]
    partners = [
        _acting(simulator, _few(tried.variants, leader.cause, _n_strengths(simulator, leader, loads)), loads)
        for leader, loads in zip(leaders, worst, strict=True)
    ]
    joined: Runs = {}
    pairs: list[_Two] = []
    for turn in range(_WORST):
        jobs = [
            (_ordered(leader, one), loads[turn])
            for leader, loads, own in zip(leaders, worst, partners, strict=True)
            for one in own
            if turn < len(loads)
        ]
        joined |= simulated(simulator, jobs, "simulating causes beside others")
        for at, (leader, loads) in enumerate(zip(leaders, worst, strict=True)):
            best = _partners(simulator, leader, partners[at], joined, rows_of(simulator, loads[: turn + 1]))
            names = [one.cause.name for _, one in best[:_TRIED_FURTHER]]
            partners[at] = [one for one in partners[at] if one.cause.name in names]
    for leader, loads, own in zip(leaders, worst, partners, strict=True):
        rows = rows_of(simulator, loads)
        alone = hypothesis_of(simulator, (leader,), runs, rows)
        least = (-math.inf if alone is None else alone.log_likelihood) + _GAIN
        good = [
            one
            for value, one in _partners(simulator, leader, own, joined, rows)
            if value - math.log(one.cause.prior * one.size) > least
        ]
        pairs += [_ordered(leader, one) for one in good[:_PARTNERS]]
    return pairs


def _partners(
    simulator: Simulator, leader: Variant, partners: Sequence[Variant], joined: Runs, rows: Floats
) -> list[tuple[float, Variant]]:
    """Return the best strength of each partner of a cause, and how well both fit, with its prior; the best first."""
    best: dict[str, tuple[float, Variant]] = {}
    pairs = [_ordered(leader, one) for one in partners]
    for place in (0, 1):
        best |= _best(simulator, [pair for pair in pairs if pair[1 - place] is leader], joined, rows, place)
    return sorted(best.values(), key=lambda item: (-item[0], item[1].cause.name))


def _worst(simulator: Simulator, leader: Variant, runs: Runs) -> list[int]:
    """Return the loads that a cause explains worst."""
    chances = []
    for load in range(len(simulator.measured)):
        one = hypothesis_of(simulator, (leader,), runs, rows_of(simulator, (load,)))
        chances.append(1.0 if one is None else one.chance)
    worst = [int(load) for load in np.argsort(chances)[:_WORST]]
    if leader.cause.about == PASSES:
        # the more requests come in a second, the less of the pass is simulated
        worst.sort(key=lambda load: -simulator.runs[load]["iops"])
    return sorted(worst, key=lambda load: is_long(simulator, load))


def _n_strengths(simulator: Simulator, leader: Variant, loads: Sequence[int]) -> int:
    """Return how many strengths of each partner are tried: one where it takes long to simulate a cause."""
    is_slow = leader.cause.about == PASSES or any(is_long(simulator, load) for load in loads)
    return 1 if is_slow else _STRENGTHS


def _acting(simulator: Simulator, partners: Sequence[Variant], loads: Sequence[int]) -> list[Variant]:
    """Return the partners that change one of some loads: others leave what a leader says of them as it is."""
    return [
        one for one in partners if any(simulator.changed(load, (one.cause, one.value)) is not None for load in loads)
    ]


def _few(variants: Sequence[Variant], beside: Cause, n: int) -> list[Variant]:
    """Return few strengths of each cause that goes together with another one."""
    own: dict[str, list[Variant]] = {}
    for one in variants:
        if one.cause.about != beside.about:
            own.setdefault(one.cause.name, []).append(one)
    chosen = []
    for strengths in own.values():
        most = 1 if strengths[0].cause.about == PASSES else n
        inside = np.linspace(0, len(strengths) - 1, most + 2)[1:-1].round().astype(int)
        places = np.unique(inside) if most < len(strengths) else np.arange(len(strengths))
        chosen += [strengths[at] for at in places]
    return chosen


def _beside(pair: _Two) -> list[_Two]:
    """Return the pair with the next strengths of either of its causes."""
    first, second = pair
    nearby = [
        [Variant(one.cause, words, value, 1.0) for words, value in one.cause.near(one.words, one.value)] for one in pair
    ]
    return [(other, second) for other in nearby[0]] + [(first, other) for other in nearby[1]]


def _under_all_loads(
    simulator: Simulator, pairs: Sequence[_Two], step: str
) -> dict[tuple[str, ...], tuple[_Two, Hypothesis]]:
    """Return the best strengths of each pair of causes, and its hypothesis."""
    jobs = [(pair, load) for pair in pairs for load in range(len(simulator.measured))]
    runs = simulated(simulator, jobs, step)
    found: dict[tuple[str, ...], tuple[_Two, Hypothesis]] = {}
    for pair in pairs:
        made = hypothesis_of(simulator, pair, runs)
        if made is not None:
            name = made.names
            if name not in found or made.log_likelihood > found[name][1].log_likelihood:
                found[name] = pair, made
    return found
