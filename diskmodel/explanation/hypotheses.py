"""Hypotheses: the array as described, one cause or two, or none that is known; and how well each one fits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import groupby, pairwise
from typing import Any, TypeVar

import numpy as np

from diskmodel.doing import doing
from diskmodel.engine import Threads
from diskmodel.engine.ledger import LEAST_LEFT, current
from diskmodel.explanation.causes.cause import Cause, Ladder, Scale, is_sequential
from diskmodel.explanation.causes.uneven import UnevenLaw
from diskmodel.explanation.likelihood import chance_of, log_fit, log_likelihood
from diskmodel.explanation.measured import SHAPE, Figure
from diskmodel.explanation.simulator import Floats, Simulated, Simulator
from diskmodel.loading import dataclass

Job = TypeVar("Job")
Made = TypeVar("Made")

#: Standard deviation of the error of a figure that a cause changes: no field of a description is the whole of a cause.
#: One that hardly changes is off by no more than that change, or what moves all figures a little would excuse them all.
_CAUSE_ERROR = {"iops": 0.08, "mean": 0.08, "p50": 0.12, "p95": 0.12, "p99": 0.15}
#: Error of the effect of a cause, as a part of its logarithm: another member that is slow is so by other times than the
#: law's, and slows the slowest requests otherwise. At half, right causes of other systems are refused, and pairs that
#: bend their figures are named instead; at double, wrong ones fit.
_EFFECT_ERROR = 0.2
#: The same of a cause that is just what its description says.
_EXACT_ERROR = 0.07
#: Error of what a pass leaves a file in order of disks, as a logarithm: how firmware shares its arm between the two is
#: not known, and two simulators differ by a sixth in the median, and by a factor of ten where one of them lets the file
#: starve. At half, a rebuild is called a check for certain; at double, a pass explains whatever slows only files.
_BESIDE_PASS = 0.6
#: The same of the shape of those reads beside it: whether p95 and p99 lie among those that met a step of the pass is as
#: little known as into how many steps a drive divides it, and one that meets a step takes up to 30 times the mean. At
#: half, a rebuild is called a check for certain; at double, hardly anything changes.
_MEETING_PASS = 1.2
#: A change that moves a figure by less is none.
_MOVES = 0.01
#: What causes are about behind which requests go through something in turn, before or behind the drives.
_IN_TURN = ("link", "host", "depth")
#: Others behind which they do: a disk that has one command at a time serves them as they come.
_ALSO_IN_TURN = ("ncq-off",)
#: What causes are about that may pass over all disks, whose runs take long.
PASSES = "members"
#: Runs with causes between two looks at what is left of the question's computing time.
_AT_ONCE = 8
#: Logarithm of the likelihood of what cannot be.
IMPOSSIBLE = -1e9


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
    kept : float64, shape (n_figures,), or None
        Part of the model's own error that the cause leaves of each figure; None: all of it.
    log_likelihood, chance, log_fit : float
        Of what was measured; the chance of figures at least so far off; the likelihood over that of a perfect fit.
    probability : float
    is_unknown : bool
        Whether it is the cause that is not known here.
    share : float
        Part of all angles between the spindles at which the figures are as these.
    """

    causes: tuple[tuple[Cause, Any, str], ...]
    prior: float
    figures: Floats
    error: Floats = field(default_factory=lambda: np.zeros(0))
    offset: Floats | None = None
    shared: Floats | None = None
    kept: Floats | None = None
    log_likelihood: float = -math.inf
    chance: float = 0.0
    log_fit: float = -math.inf
    probability: float = 0.0
    is_unknown: bool = False
    share: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its causes."""
        return tuple(cause.name for cause, _, _ in self.causes)

    def spread(self, simulator: Simulator) -> tuple[Floats, Floats]:
        """Return offset and covariance of what is not known."""
        return (
            simulator.offset if self.offset is None else self.offset,
            simulator.shared if self.shared is None else self.shared,
        )


def by_causes(hypotheses: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """Return the strengths of the same causes together, in the order of the first of each."""
    groups: dict[tuple[str, ...], list[Hypothesis]] = {}
    for one in hypotheses:
        groups.setdefault(tuple(sorted(one.names)), []).append(one)
    return list(groups.values())


def judged(simulator: Simulator, one: Hypothesis, rows: Floats | None = None) -> Hypothesis:
    """Return a hypothesis with its likelihood: of all figures, or of those of some rows."""
    deviation, scale = _deviation(simulator, one, rows)
    if not np.isfinite(deviation).all():
        return replace(one, log_likelihood=IMPOSSIBLE, chance=0.0)
    value, chance, fit = (found(deviation, scale, simulator.dof) for found in (log_likelihood, chance_of, log_fit))
    return replace(one, log_likelihood=value, chance=chance, log_fit=fit)


def _deviation(simulator: Simulator, one: Hypothesis, rows: Floats | None = None) -> tuple[Floats, Floats]:
    """Return how far off a hypothesis is, and the scale of that, of all figures or of those of some rows."""
    chosen = np.arange(len(simulator.figures)) if rows is None else np.flatnonzero(rows)
    offset, shared = one.spread(simulator)
    scale = simulator.scale(shared, one.error, one.kept)[np.ix_(chosen, chosen)]
    return (simulator.target - one.figures - offset)[chosen], scale


# ---------------------------------------------------------------- runs with causes


@dataclass(frozen=True)
class Variant:
    """One strength of a cause, and its share of the prior."""

    cause: Cause
    words: str
    value: Any
    share: float

    @property
    def size(self) -> float:
        """Part of its prior that fits about as well as this strength does, before anything is known of it."""
        strengths = self.cause.strengths
        return 1 / len(strengths) if isinstance(strengths, dict) else min(strengths.resolved, 1.0)


def is_simulated(variants: tuple[Variant, ...], loads: Iterable[int], runs: Runs) -> bool:
    """Whether there are runs with causes under all of some loads."""
    return all(runs.get((_key(variants), load)) is not None for load in loads)


_Key = tuple[tuple[str, str], ...]
Runs = dict[tuple[_Key, int], Simulated | None]


def _key(variants: Sequence[Variant]) -> _Key:
    return tuple((one.cause.name, repr(one.value)) for one in variants)


#: Marks a load that a cause does not change.
_SAME = Simulated({}, {}, None)


def simulated(
    simulator: Simulator,
    jobs: Sequence[tuple[tuple[Variant, ...], int]],
    step: str,
    share: float = 1.0,
    promise: Sequence[float] | None = None,
) -> Runs:
    """Return runs of loads with causes, from pairs of the causes and the number of a load.

    None where there cannot be one, and where the question has no time for it: `share` is the part of what is left that
    these runs may take. Those with the highest `promise` come first; where nobody knows that, the most usual causes,
    what only this kind of system may have before the others, and the middle strength of each before its ends.
    """

    changes = [simulator.changed(load, *((one.cause, one.value) for one in variants)) for variants, load in jobs]

    def run(at: int) -> Simulated | None:
        change, load = changes[at], jobs[at][1]
        return _SAME if change is None else simulator.simulate_measured(load, change)

    # laws take nothing of the question's time, and none of them is left out; then some runs at a time, so that none
    # begins for which there is no time: what promises most first
    free = [change is None or simulator.is_free(jobs[at][1], change) for at, change in enumerate(changes)]
    results = {at: run(at) for at, is_free in enumerate(free) if is_free}
    promise = _usual_first(jobs) if promise is None else promise
    order = sorted((at for at in range(len(jobs)) if not free[at]), key=lambda at: -promise[at])
    least_s = LEAST_LEFT * current().budget_s
    least_s = max(least_s, current().left_s - share * (current().left_s - least_s)) if math.isfinite(least_s) else 0.0
    n_done = 0
    while n_done < len(order):
        cost_s = simulator.expected[jobs[order[n_done]][1]].cost_s
        n_at_once = int(min((current().left_s - least_s) / max(cost_s, 1e-9), _AT_ONCE))
        if n_at_once < 1:
            current().leave_out([f"{len(order) - n_done} of {len(order)} runs with causes"])
            break
        some = order[n_done : n_done + n_at_once]
        found = together(f"{step} ({len(jobs)} runs)", some, run)
        results |= dict(zip(some, found, strict=True))
        n_done += n_at_once
    return {(_key(variants), load): results.get(at) for at, (variants, load) in enumerate(jobs)}


def together(step: str, jobs: Sequence[Job], work: Callable[[Job], Made]) -> list[Made]:
    """Return what `work` makes of each job, on all processors."""
    with doing(step), Threads() as pool:
        return list(pool.map(work, jobs))


#: How much of its prior the first run of a cause promises, where only this kind of system has it: it was described, so
#: that nobody would name such a system for the causes that all others have as well. And one with a pass over all disks,
#: whose run takes as long as several others.
_OF_SYSTEMS, _PASSING = 10.0, 0.1


def _usual_first(jobs: Sequence[tuple[tuple[Variant, ...], int]]) -> list[float]:
    """Return what each run promises before anything is known of it: the prior of its causes, by what it costs.

    The middle strength of a cause says most of it, and each next one less: figures between them are interpolated.
    """
    groups: dict[object, list[int]] = {}
    for at, (variants, load) in enumerate(jobs):
        groups.setdefault((tuple(one.cause.name for one in variants), load), []).append(at)
    found = [0.0] * len(jobs)
    for own in groups.values():
        causes = [one.cause for one in jobs[own[0]][0]]
        prior = math.prod(one.prior * (_OF_SYSTEMS if one.is_of_systems else 1.0) for one in causes)
        prior *= _PASSING if any(one.about == PASSES and not one.is_of_systems for one in causes) else 1.0
        for place, at in enumerate(own):
            found[at] = prior / (1 + abs(place - len(own) // 2))
    return found


def hypothesis_of(
    simulator: Simulator, variants: tuple[Variant, ...], runs: Runs, rows: Floats | None = None
) -> Hypothesis | None:
    """Return a hypothesis from its runs; None where it changes nothing, or cannot be."""
    own = [runs.get((_key(variants), load), _SAME) for load in range(len(simulator.measured))]
    if any(run is None for run in own):
        return None
    changed = [None if run is _SAME else run for run in own]
    shares = [_at_likeliest_angles(simulator, variants, changed, load) for load in range(len(changed))]
    made = _made(simulator, variants, changed, rows)
    return None if made is None else replace(made, share=math.prod(shares))


def _at_likeliest_angles(
    simulator: Simulator, variants: tuple[Variant, ...], changed: list[Simulated | None], load: int
) -> float:
    """Replace the run of a load by that at the angles which what was measured is likeliest at.

    An array is in one of a few states, by its angles, and no figure lies between them. Spindles drift apart between two
    loads, so that each of these has its own.

    Returns
    -------
    float
        Part of the angles that are as likely: what speaks for a cause is the mean over all of them.
    """
    run = changed[load]
    if run is None or not run.others:
        return 1.0
    rows = np.array([float(figure.load == load) for figure in simulator.figures])
    runs, logs = (run, *run.others), []
    for one in runs:
        changed[load] = one
        made = _made(simulator, variants, changed, rows)
        logs.append(IMPOSSIBLE if made is None else made.log_likelihood)
    best = int(np.argmax(logs))
    changed[load] = runs[best]
    return float(np.exp(np.array(logs) - logs[best]).mean())


def _made(
    simulator: Simulator, variants: tuple[Variant, ...], changed: Sequence[Simulated | None], rows: Floats | None
) -> Hypothesis | None:
    """Return a hypothesis from its runs; None where it changes nothing."""
    figures = simulator.vector(
        [simulator.runs[load] if run is None else run.figures for load, run in enumerate(changed)]
    )
    moved = np.abs(figures - simulator.reference) > _MOVES
    if not moved.any():
        return None
    errors = np.array([_CAUSE_ERROR[figure.kind] for figure in simulator.figures])
    error = np.minimum(errors, np.abs(np.where(moved, figures - simulator.reference, 0.0))) ** 2
    if np.isfinite(figures).all():
        effects = np.array([_effect_error(simulator, variants, load) for load in range(len(changed))])
        arms = np.array([_shares_arm(simulator, variants, load) for load in range(len(changed))])
        loads = [figure.load for figure in simulator.figures]
        beside = np.array([_MEETING_PASS if one.kind in SHAPE else _BESIDE_PASS for one in simulator.figures])
        error = error + (effects[loads] * (figures - simulator.reference)) ** 2 + (arms[loads] & moved) * beside**2
        error = error + np.array([_open(simulator, changed, one) for one in simulator.figures]) ** 2
    causes = tuple((one.cause, one.value, one.words) for one in variants)
    share = math.prod(one.share for one in variants)
    has_law = any(run is not None and run.law is not None for run in changed)
    if not np.isfinite(figures).all():
        return judged(simulator, Hypothesis(causes, share, figures, error), rows)
    offset, shared = simulator.spread(changed, figures) if has_law else (None, None)
    kept = simulator.kept(changed, is_in_turn=all(_is_in_turn(one.cause) for one in variants))
    return judged(simulator, Hypothesis(causes, share, figures, error, offset, shared, kept), rows)


def _effect_error(simulator: Simulator, variants: tuple[Variant, ...], load: int) -> float:
    """Return the error of the effect of causes on a load: a cause that leaves a load alone adds none to another one."""
    own = [one for one in variants if not one.cause.is_exact]
    if own and len(variants) > 1:
        own = [one for one in own if simulator.changed(load, (one.cause, one.value)) is not None]
    return _EFFECT_ERROR if own else _EXACT_ERROR


def _open(simulator: Simulator, changed: Sequence[Simulated | None], figure: Figure) -> float:
    """Return the standard deviation of a figure by how many requests meet a bad member."""
    run = changed[figure.load]
    if run is None or not isinstance(run.law, UnevenLaw) or figure.kind not in SHAPE:
        return 0.0
    return run.law.left_open(simulator.measured[figure.load]).get(figure.key, 0.0)


def _shares_arm(simulator: Simulator, variants: tuple[Variant, ...], load: int) -> bool:
    """Whether a load in order shares the arms of disks with a pass."""
    has_pass = any(one.cause.about == PASSES and not one.cause.is_exact for one in variants)
    return has_pass and simulator.array.drive.has_arms and is_sequential(simulator.measured[load].workload)


def _is_in_turn(cause: Cause) -> bool:
    return cause.about in _IN_TURN or cause.name in _ALSO_IN_TURN


#: Steps between two simulated strengths that are interpolated.
_STEPS = 6


def along(
    simulator: Simulator,
    cause: Cause,
    found: Sequence[tuple[Variant, Hypothesis]],
    prior: float,
    rows: Floats | None = None,
) -> Iterator[Hypothesis]:
    """Yield the strengths of one cause, of one on a scale or a ladder also those between the simulated ones."""
    scale, ladder = cause.strengths, cause.ladder
    if isinstance(scale, Scale) and scale.at is None:
        # each way in which a strength acts by itself: variants of one follow each other
        ways = [list(own) for _, own in groupby(found, lambda pair: pair[0].value[1] if scale.ways else None)]
        for own in ways:
            yield from _between(simulator, cause, scale, own, prior / len(ways), rows)
    elif ladder is not None:
        ladders: dict[str, list[tuple[Variant, Hypothesis]]] = {}
        for pair in found:
            ladders.setdefault(ladder.way(pair[0].value), []).append(pair)
        for own in ladders.values():
            share = sum(one.prior for _, one in own)
            own.sort(key=lambda pair: ladder.number(pair[0].value))
            yield from _between(simulator, cause, ladder, own, prior * share, rows)
    else:
        for _, one in found:
            yield replace(one, prior=prior * one.prior)


def _between(
    simulator: Simulator,
    cause: Cause,
    scale: Scale | Ladder,
    found: Sequence[tuple[Variant, Hypothesis]],
    prior: float,
    rows: Floats | None,
) -> Iterator[Hypothesis]:
    """Yield simulated strengths of one way, and those between them."""
    steps = [
        (*pair, step / _STEPS, value)
        for pair in pairwise(found)
        for step in range(_STEPS)
        if (value := _value_at(scale, pair, step / _STEPS)) is not None
    ]
    if isinstance(scale, Scale):
        numbers = [scale.number(value) for *_, value in steps] + [scale.number(found[-1][0].value)]
        often = [scale.often(number) for number in numbers]
    else:
        # a simulated strength keeps its share, and those between it and the next one have it with it
        beside = Counter(first.words for (first, _), *_ in steps)
        often = [own.prior / beside[first.words] for (first, own), *_ in steps] + [found[-1][1].prior]
    *shares, share = (prior * one / sum(often) for one in often)
    for ((_, first), (_, last), part, value), own in zip(steps, shares, strict=True):
        causes = tuple(
            (cause, value, scale.words(value)) if other is cause and part else (other, *rest)
            for other, *rest in first.causes
        )
        yield judged(simulator, replace(halfway(first, last, part), causes=causes, prior=own), rows)
    yield replace(found[-1][1], prior=share)


def halfway(first: Hypothesis, last: Hypothesis, part: float = 0.5) -> Hypothesis:
    """Return what lies between two strengths of one cause, which is not judged yet."""
    near = first if part < 0.5 else last
    figures = (1 - part) * first.figures + part * last.figures
    return replace(near, causes=first.causes, figures=figures, error=np.maximum(first.error, last.error))


def _value_at(scale: Scale | Ladder, pair: Sequence[tuple[Variant, Hypothesis]], part: float) -> Any:
    """Return the value that is so far from one strength to the next one; None where it is one of both already."""
    low, high = (one.value for one, _ in pair)
    if not part:
        return low
    ends = math.log(scale.number(low)), math.log(scale.number(high))
    number = math.exp((1 - part) * ends[0] + part * ends[1])
    value = scale.like(low, number)
    # whole numbers are hardly more than the ends, and each of them stands once
    last = scale.like(low, math.exp(math.log(number) - (ends[1] - ends[0]) / _STEPS))
    return None if value in (low, high, last) else value
