"""Trying the answer of a plan again with draws of everything that is not known of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from functools import partial
from statistics import fmean as mean
from typing import NamedTuple

from diskmodel.engine import with_part
from diskmodel.engine.ledger import current
from diskmodel.engine.steady.shared import Like
from diskmodel.errors import DescriptionError
from diskmodel.loading import dataclass
from diskmodel.plan.advice.smooth_chance import LogSds, Margin, are_far, chances, log_sds, margin_of
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.criterion import Criterion
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.profile_risk import CONFIDENCE, CountChance, ProfileRisk
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.aligned import aligned_counts
from diskmodel.plan.trial.at_once import each
from diskmodel.plan.trial.drawn_case import DrawnCase, seen_in
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.trier import Trier
from diskmodel.result import MIDDLE, combined, middle_around
from diskmodel.result.statistics import BY_NAME, Interval
from diskmodel.uncertainty import TAIL, Draws, Perturbation, Spread, half_width_factor, is_tail
from diskmodel.uncertainty import Case as Unknowns
from diskmodel.uncertainty.draws import draw
from diskmodel.uncertainty.tails import KINDS, Kind, factor, kind_of

#: Draws for the answer, and for each other candidate or question.
DRAWS, FEW_DRAWS = 16, 8
#: Requests of a run with a drawn truth. All runs have the same ones, so that most of what chance does to a figure is
#: the same in all of them: the ratio of two drives' p99 then varies by 1.7 % in 10,000 requests and by 1.2 % in 30,000,
#: and the drives themselves differ by 7 %. At half, chance is a third of that; at double, 16 draws cost more than an
#: answer does.
DRAWN_REQUESTS = 10_000
#: Numbers of disks beside the answer whose chance is found: so many more, each larger than the one before by this part
#: of it, and one that is smaller. Truths that meet the objective are not tried with more disks.
_MORE_COUNTS, _STEP_RATIO = 5, 0.25
#: Utilization of the busiest disk up to which drawn drives begin with the levels of the array as described, without a
#: trial: drives of a profile differ by a fifth at most. At half, most arrays behind caches take a trial for each draw;
#: at 0.8, slow drives that do not keep up would begin like those that do.
_CALM = 0.5
#: Difference of chances of a draw below which it is not tried again: of sixteen, all together are a hundredth at most.
_DECIDED = 0.02
#: Draws that are tried at once where the first that misses the objective may be the last: as many as small machines
#: have processors. At half one of them waits; at double, three draws are in vain where the first decides.
_AT_ONCE = 2
#: Fewest draws that show that others are not needed: of two, how much figures vary is hardly known; at double, half of
#: what this saves is spent again.
_FEWEST_SURE = 4
#: Draws by which too few may seem to meet the objective as long as not all are tried: how much figures vary, and with
#: it what a draw near a limit counts, is known from all of them. At double, twice as many are tried in vain.
_SLACK = 0.5
#: Computing time of the draws of an array in any case, seconds by counts. At half, arrays of twenty disks have fewer
#: draws after a long search; at double, those of 1,400 flash drives take half a minute.
_DRAWS_S = 5.0
#: What is said where there is time for fewer.
_FEWER_DRAWS = "some of the draws of what is not known (chances are from fewer)"


def profile_risk(
    plan: PlanDescription,
    candidate: Candidate,
    evaluate: Evaluate,
    *,
    n_draws: int = DRAWS,
    with_curve: bool = True,
    with_fewer: bool = True,
    most: int | None = None,
) -> ProfileRisk | None:
    """Return the chance that an answer meets the objective; None where all is known or nothing was simulated.

    Parameters
    ----------
    plan, candidate, evaluate
    n_draws : int
    with_curve, with_fewer : bool
        Whether to find the chance of other numbers of disks, too, and among them that of a smaller one (`fewer`).
    most : int, optional
        Largest number of disks that is of interest: another candidate has the chance with so many.

    Notes
    -----
    Costs at most `n_draws` + 1 evaluations of 10,000 requests, or as many as it takes to see whole rounds of a cache;
    where more than that decides, of the plan's shortest length; and further ones with other numbers of disks, only of
    truths that they may change the verdict of. All have the same requests, and at the answer only their ratios count: a
    figure of a truth is that of the answer times the truth's over the description's own in these runs.
    """
    trial, case = candidate.trial, Case(plan, candidate.family)
    drawn = None if trial is None else _drawn(case, trial, evaluate, n_draws)
    if trial is None or trial.outcome is None or drawn is None:
        return None
    unknowns, draws, same, truths = drawn.unknowns, drawn.draws, drawn.same, drawn.truths
    reference = values_of(same.outcome) if same.outcome else {}
    found = [
        (perturbation, true) for perturbation, true in truths.at(trial.disks, draws.perturbations) if true is not None
    ]
    if len(found) < 2:
        return None
    missed = [_missed(true, perturbation, same, trial, case) for perturbation, true in found]
    margins = [truths.margins(true, same) for _, true in found]
    varying = log_sds(margins)
    chances_of_draws = chances(margins, varying)
    failing = Counter(name for names in missed for name in dict.fromkeys(names))
    figures, middles = {}, {}
    kinds = [perturbation.firmware for perturbation, true in found if true.outcome]
    wide_factor, of_middle = (half_width_factor(len(draws), unknowns.dof, part) for part in (CONFIDENCE, MIDDLE))
    for name, interval in intervals_of(trial.outcome).items():
        if name in reference:
            values = [
                _perturbed(values_of(true.outcome), perturbation).get(name, math.nan)
                for perturbation, true in found
                if true.outcome
            ]
            wide = combined(interval, reference[name], values, CONFIDENCE, wide_factor, kinds)
            figures[name] = Interval(wide.value, wide.low, wide.high)
            middle = middle_around(interval, reference[name], values, CONFIDENCE, of_middle, kinds)
            middles[name] = Interval(middle.value, middle.low, middle.high)
    tried = [perturbation for perturbation, _ in found]
    further = replace(truths, varying=varying)
    curve = _curve(case, further, trial.disks, tried, chances_of_draws, most) if with_curve else ()
    if with_curve and with_fewer and not most:
        curve = (*_fewer(case, further, trial.disks, tried, chances_of_draws), *curve)
    return ProfileRisk(
        disks=trial.disks,
        parameters=draws.names,
        n_draws=len(found),
        n_holding=sum(not names for names in missed),
        chance=mean(chances_of_draws),
        failing=dict(failing),
        figures=figures,
        middles=middles,
        confidence=case.objective.confidence,
        curve=curve,
        is_measured=unknowns.origin == "measured",
        most=most,
    )


def chance_is_enough(
    case: Case, trial: Trial, evaluate: Evaluate, *, n_draws: int = DRAWS, order: Sequence[int] = ()
) -> tuple[bool | None, list[int]]:
    """Return whether an array has the chance that the objective asks for, and its draws, the worst one first.

    None where all is known or nothing was simulated. As `profile_risk` decides, but it ends with the draw that leaves
    no such chance: with eight draws and 90 %, the first that misses the objective. It ends with four, too, that are all
    far from every limit.

    Parameters
    ----------
    case, trial, evaluate
    n_draws : int
    order : sequence of int
        Draws to begin with: those that were worst with another number of disks, or at another level. What is drawn of
        a drive is the same there, and a slow drive is slow in any array.
    """
    drawn = _drawn(case, trial, evaluate, n_draws)
    if drawn is None:
        return None, list(order)
    known = range(len(drawn.draws))
    left = list(dict.fromkeys([*(at for at in order if at in known), *known]))
    confidence, margins = case.objective.confidence, dict[int, list[Margin]]()
    by_draw: dict[int, float] = {}
    while left and sum(by_draw.values()) + len(left) + _SLACK >= confidence * (len(by_draw) + len(left)):
        now, left = left[:_AT_ONCE], left[_AT_ONCE:]
        tried = drawn.truths.at(trial.disks, [drawn.draws.perturbations[at] for at in now])
        for at, (_, true) in zip(now, tried, strict=True):
            if true is not None:
                margins[at] = drawn.truths.margins(true, drawn.same)
        found = list(margins.values())
        by_draw = dict(zip(margins, chances(found, log_sds(found)), strict=True))
        if len(found) >= _FEWEST_SURE and are_far(found, log_sds(found)):
            left = []
    order = list(dict.fromkeys([*sorted(by_draw, key=lambda at: by_draw[at]), *order, *known]))
    if len(by_draw) < 2 and not left:
        return None, order
    return not left and mean(by_draw.values()) >= confidence, order


class _Drawn(NamedTuple):
    """What is drawn for an array, and the array as it is described in a run as long as those of the draws.

    Attributes
    ----------
    unknowns : Unknowns
    draws : Draws
    same : Trial
    truths : _Truths
    """

    unknowns: Unknowns
    draws: Draws
    same: Trial
    truths: _Truths


def _drawn(case: Case, trial: Trial, evaluate: Evaluate, n_draws: int) -> _Drawn | None:
    """Return the draws for an array; None where all is known or nothing was simulated."""
    if trial.outcome is None or trial.outcome.method == "rule":
        return None
    array, search = case.array(trial.disks), case.search
    unknowns = Unknowns(array, case.workload, seen_in(trial.outcome, array, case.workload))
    draws = draw(unknowns, n_draws, search.seed)
    if not len(draws):
        return None
    evaluate = Evaluation.of_ratios(evaluate)
    # as long as it takes to see whole rounds, and the draws as long as that
    first = search.requests if _needs_intervals(case) else min(search.requests, DRAWN_REQUESTS)
    known = Evaluation.of(evaluate).remembered
    key = (case.plan.model_dump_json(), array.model_dump_json(), first)
    if key not in known:
        before_s = current().spent_s
        tried = _tried(case, trial.disks, first, Like(array, is_calm=False), evaluate, None)
        known[key] = tried, _affordable(current().spent_s - before_s)
    same, most = known[key]
    if same is None:  # a run as long as those of the draws is refused: years lie between its requests
        return None
    if most < n_draws:
        current().leave_out([_FEWER_DRAWS])
        draws = draw(unknowns, most, search.seed)
    length = same.outcome.n_requests if same.outcome else first
    spreads = unknowns.tails if TAIL in draws.names else None
    tails = {} if spreads is None else dict(zip(KINDS, spreads, strict=True))
    return _Drawn(unknowns, draws, same, _Truths(case, evaluate, length, trial, tails))


def _affordable(each_s: float) -> int:
    """Return how many draws there is time for, each of which takes so long; as few as may be enough in any case."""
    return int(min(max(max(current().left_s, _DRAWS_S) / max(each_s, 1e-9), _FEWEST_SURE), DRAWS))


@dataclass(frozen=True)
class _Truths:
    """Tries truths with any number of disks, all with the same requests.

    What waits to be written when they begin is first taken to be what it is in the array as it is described.

    Attributes
    ----------
    case : Case
    evaluate : Evaluate
    n_requests : int
    answer : Trial
    tails : mapping of Kind to Spread
        What is not known of the slowest requests; empty where it is known.
    varying : mapping
        How much the figures of the answer vary over its draws (`smooth_chance.log_sds`).
    """

    case: Case
    evaluate: Evaluate
    n_requests: int
    answer: Trial
    tails: Mapping[Kind, Spread] = field(default_factory=dict)
    varying: LogSds = field(default_factory=dict)

    def at(self, disks: int, truths: Sequence[Perturbation]) -> list[tuple[Perturbation, Trial | None]]:
        """Return the trial of each truth with so many disks; None where no such drive is possible."""
        like = self._like(disks)
        # all that a trial depends on beside the truth
        of_all = (self.case.plan.model_dump_json(), like.array.model_dump_json(), self.n_requests, like.is_calm)
        keys = [(*of_all, _of_run(truth)) for truth in truths]
        known = Evaluation.of(self.evaluate).remembered
        missing = {key: truth for key, truth in zip(keys, truths, strict=True) if key not in known}
        if missing:
            self.prepare(disks)
            work = partial(_tried, self.case, disks, self.n_requests, like)
            known.update(zip(missing, each(self.evaluate, work, list(missing.values())), strict=True))
        return [(truth, known[key]) for truth, key in zip(truths, keys, strict=True)]

    def _like(self, disks: int) -> Like:
        """Return the array with so many disks as it is described, which truths differ little from."""
        assert self.answer.outcome is not None
        busy = self.answer.outcome.busiest_ratio * self.answer.disks / disks
        return Like(self.case.array(disks), is_calm=busy < _CALM)

    def prepare(self, disks: int) -> None:
        """Find what runs of truths with so many disks begin with; nothing where that is known."""
        case = self.case
        Evaluation.of(self.evaluate).prepare(self._like(disks), case.workload, self.n_requests, case.search.seed)

    def margins(self, true: Trial, same: Trial) -> list[Margin]:
        """Return how far a truth about the answer is from each limit, before what is drawn of its slowest requests.

        Parameters
        ----------
        true, same : Trial
            Of the truth, and of the array as it is described in as long a run.
        """
        factors = _factors(same, self.answer)
        return [self._margin(item, factors.get((item.name, item.detail), 1.0)) for item in true.criteria]

    def _margin(self, item: Criterion, factor: float) -> Margin:
        statistic, subset = _parts(item)
        tail = self.tails.get(kind_of(subset, self.case.workload)) if is_tail(statistic) else None
        return margin_of(item, factor, tail)

    def chances(self, disks: int, truths: Sequence[Perturbation]) -> list[float]:
        """Return with which chance each truth meets the objective with so many disks."""
        found = [trial for _, trial in self.at(disks, truths)]
        margins = [[] if trial is None else [self._margin(item, 1.0) for item in trial.criteria] for trial in found]
        each_chance = chances(margins, self.varying)
        return [0.0 if trial is None else one for trial, one in zip(found, each_chance, strict=True)]


def _curve(
    case: Case, truths: _Truths, answer: int, drawn: Sequence[Perturbation], met: Sequence[float], most: int | None
) -> tuple[CountChance, ...]:
    """Return the chance of the answer, and of more disks, until it is as high as the objective asks.

    Up to `most`, its chance comes first: where it is too low, no number between is of interest. `met` has the chance of
    each draw with the answer: where it is as good as decided, it is not tried with other numbers of disks.
    """
    if aligned := aligned_counts(case, list(case.counts)):
        return _uneven_curve(case, truths, CountChance(answer, mean(met)), drawn, aligned, most)
    found = [CountChance(answer, mean(met))]
    below: Sequence[float] = met
    now, disks = _Bounds(met, met), answer
    for _ in range(_MORE_COUNTS):
        least = disks + max(round(_STEP_RATIO * disks), 1)
        more = [count for count in case.counts if disks < count <= (most or count)]
        if not more or found[-1].probability >= case.objective.confidence:
            break
        disks = more[-1] if most else next((count for count in more if count >= least), more[-1])
        below = now.least
        now = _tried_until(truths, disks, drawn, _Bounds(below, [1.0] * len(met)), lambda is_enough: is_enough is True)
        found.append(CountChance(disks, mean(now.least)))
    if len(found) > 1 and found[-1].disks > answer and found[-1].probability >= case.objective.confidence:
        found[-1:] = _between(case, truths, found[-2].disks, found[-1], drawn, below, now.most)
    return tuple(found)


def fewer(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> tuple[CountChance, ...]:
    """Return the chance of the next smaller number of disks than a candidate has as it is described; nothing if none.

    `profile_risk` without it was found with the same evaluation, which remembers the trials.
    """
    case = Case(plan, candidate.family)
    trial = next((one for one in candidate.trials if one.disks == candidate.nominal_disks), None)
    drawn = None if trial is None else _drawn(case, trial, evaluate, DRAWS)
    if trial is None or drawn is None:
        return ()
    found = [(truth, true) for truth, true in drawn.truths.at(trial.disks, drawn.draws.perturbations) if true]
    margins = [drawn.truths.margins(true, drawn.same) for _, true in found]
    further = replace(drawn.truths, varying=log_sds(margins))
    return _fewer(case, further, trial.disks, [truth for truth, _ in found], chances(margins, further.varying))


def _fewer(
    case: Case, truths: _Truths, answer: int, drawn: Sequence[Perturbation], met: Sequence[float]
) -> tuple[CountChance, ...]:
    """Return the chance of the next smaller number of disks than the answer has; nothing if none, or in the curve."""
    less = [disks for disks in case.counts if disks < answer]
    if not less or aligned_counts(case, list(case.counts)):
        return ()
    return (CountChance(less[-1], mean(_tried_again(truths, less[-1], drawn, [0.0] * len(met), met))),)


class _Bounds(NamedTuple):
    """The chance of each draw with a number of disks, as far as it is known: at least, and at most."""

    least: Sequence[float]
    most: Sequence[float]

    def is_enough(self, confidence: float) -> bool | None:
        """Return whether all draws together have a chance; None where that is open."""
        return True if mean(self.least) >= confidence else False if mean(self.most) < confidence else None

    def is_open(self, at: int) -> bool:
        """Return whether the limits of a draw differ by more than counts."""
        return self.most[at] - self.least[at] > _DECIDED


def _tried_again(
    truths: _Truths, disks: int, drawn: Sequence[Perturbation], least: Sequence[float], most: Sequence[float]
) -> Sequence[float]:
    """Return the chance of each draw with so many disks, which is known to lie between two limits.

    Those whose limits are almost alike are not tried.
    """
    return _tried_until(truths, disks, drawn, _Bounds(least, most), None).least


def _tried_until(
    truths: _Truths,
    disks: int,
    drawn: Sequence[Perturbation],
    known: _Bounds,
    is_over: Callable[[bool | None], bool] | None,
) -> _Bounds:
    """Return the chance of each draw with so many disks as `_tried_again`; not of all where it is over before that.

    The worst draws come first, which decide. `is_over` is asked whether it is, with `_Bounds.is_enough`; None: never.
    """
    confidence = truths.case.objective.confidence
    found = _Bounds(list(known.least), [max(ends) for ends in zip(known.least, known.most, strict=True)])
    left = sorted((at for at in range(len(drawn)) if known.is_open(at)), key=lambda at: (found.least[at], at))
    if left:
        truths.prepare(disks)
    while left and not (is_over and is_over(found.is_enough(confidence))):
        n_now, n_left = _AT_ONCE if is_over else len(left), len(left)
        now, left = left[:n_now], left[n_now:]
        least, most = list(found.least), list(found.most)
        # each draw may take as long as if all of them were tried at once
        with with_part(len(now) / n_left) if left else nullcontext():
            now_found = truths.chances(disks, [drawn[at] for at in now])
        for at, chance_of_one in zip(now, now_found, strict=True):
            least[at] = most[at] = min(max(chance_of_one, least[at]), most[at])
        found = _Bounds(least, most)
    return found


def _uneven_curve(
    case: Case,
    truths: _Truths,
    answer: CountChance,
    drawn: Sequence[Perturbation],
    aligned: Sequence[int],
    most: int | None,
) -> tuple[CountChance, ...]:
    """Return the same where more disks may hurt: every number is tried with all truths.

    Those with which writes are whole rows come first, and beside them are the neighbors of the answer.
    """
    counts = [count for count in case.counts if count <= (most or count)]
    at = counts.index(answer.disks) if answer.disks in counts else 0
    near = counts[max(at - 1, 0) : at + 2]
    asked = [count for count in aligned if count > answer.disks and count in counts]
    chosen = [*asked, *near, *counts[-1:]]
    found = [answer]
    for disks in dict.fromkeys(count for count in chosen if count != answer.disks):
        if len(found) > _MORE_COUNTS:
            break
        found.append(CountChance(disks, mean(truths.chances(disks, drawn))))
        if disks > answer.disks and found[-1].probability >= case.objective.confidence:
            break
    return tuple(sorted(found, key=lambda one: one.disks))


def _between(
    case: Case,
    truths: _Truths,
    fewer: int,
    enough: CountChance,
    drawn: Sequence[Perturbation],
    below: Sequence[float],
    above: Sequence[float],
) -> list[CountChance]:
    """Return the fewest disks whose chance is high enough, and larger numbers that were tried.

    Parameters
    ----------
    fewer : int
        Disks whose chance is too low.
    enough : CountChance
        More of them, whose chance is high enough.
    drawn : sequence of Perturbation
    below, above : sequence of float
        The chance of each draw with the first and with the second.
    """
    found, low = [enough], fewer
    while between := [count for count in case.counts if low < count < found[0].disks]:
        disks = between[len(between) // 2]
        now = _tried_until(truths, disks, drawn, _Bounds(below, above), lambda is_enough: is_enough is not None)
        if now.is_enough(case.objective.confidence):
            found.insert(0, CountChance(disks, mean(now.least)))
            above = now.most
        else:
            low, below = disks, now.least
    return found


def _tried(
    case: Case, disks: int, first: int, like: Like, evaluate: Evaluate, perturbation: Perturbation | None
) -> Trial | None:
    """Return a truth with so many disks, in a run of so many requests; None where no such drive is possible.

    Without a perturbation it is the array as it is described.
    """
    asked = case.searched(requests=first)
    truth = asked if perturbation is None else DrawnCase.of_truth(asked, perturbation)
    if truth.workload == case.workload:
        evaluate = Evaluation.of_arrays_like(evaluate, like)
    try:
        return Trier(truth, evaluate, always_runs=True, decides=False)(disks)
    except DescriptionError:
        return None


def _of_run(truth: Perturbation) -> str:
    """Return what of a truth a run depends on: all but what was drawn of its slowest requests."""
    return repr(replace(truth, p99=0.0, read_p99=0.0, write_p99=0.0))


def _perturbed(values: dict[str, float], perturbation: Perturbation) -> dict[str, float]:
    """Return figures with the tail that was drawn."""
    return {name: value * (math.exp(perturbation.p99) if is_tail(name) else 1.0) for name, value in values.items()}


def _needs_intervals(case: Case) -> bool:
    """Return whether short runs say too little: of 10,000 requests p99.9 is one of ten, and p99 has no interval.

    Failed disks, a limited rebuild, and replays of a trace are simulated only where intervals show that the rest of the
    objective is met.
    """
    objective = case.objective
    more = (objective.degraded, objective.rebuild_hours, objective.data_loss_per_year, case.trace)
    limits = [limits for _, limits in objective.limited]
    is_far = any(BY_NAME[name].least_requests >= DRAWN_REQUESTS for item in limits for name in item.limits())
    return is_far or any(item is not None for item in more)


def _missed(drawn: Trial, perturbation: Perturbation, same: Trial, answer: Trial, case: Case) -> list[str]:
    """Return the names of the criteria that a truth misses, with what was drawn of its slowest requests."""
    factors = _factors(same, answer)
    missed = []
    for item in drawn.criteria:
        by = factors.get((item.name, item.detail), 1.0) * factor(perturbation, *_parts(item), case.workload)
        if replace(item, figure=item.figure.scaled(by)).margin_ratio < 0:
            missed.append(item.name)
    return missed


def _factors(same: Trial, answer: Trial) -> dict[tuple[str, str], float]:
    """Return by criterion the factor of the figures of short runs: a figure is the answer's times the truth's over the
    description's own, both of short runs with the same requests.
    """
    short, long = ({(c.name, c.detail): c.figure.value for c in trial.criteria} for trial in (same, answer))
    found = {key: long.get(key, math.nan) / (value or math.nan) for key, value in short.items()}
    return {key: by for key, by in found.items() if math.isfinite(by) and by > 0}


def _parts(item: Criterion) -> tuple[str, str]:
    """Return the statistic of a criterion and the name of the requests that it is about; "" of all."""
    statistic, _, subset = item.detail.partition(" of ")
    return statistic, subset


def intervals_of(outcome: Outcome) -> dict[str, Interval]:
    """Return the IOPS and latencies of an outcome by name."""
    return {"iops": outcome.iops, **outcome.latency_ns.get("", {})}


def values_of(outcome: Outcome) -> dict[str, float]:
    """Return the same without intervals; nothing where the array is overloaded."""
    return {name: interval.value for name, interval in intervals_of(outcome).items()} if outcome.is_stable else {}


def chance(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> float | None:
    """Return the chance of a candidate beside the answer, from few draws; None without answer, or if all is known."""
    if not candidate.is_feasible:
        return None
    risk = profile_risk(plan, candidate, evaluate, n_draws=FEW_DRAWS, with_curve=False)
    return None if risk is None else risk.probability
