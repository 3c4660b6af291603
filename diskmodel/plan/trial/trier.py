"""Trying one array: simulate it, longer where the result is undecided, and compare it with the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist

from diskmodel.array import Array
from diskmodel.engine import resolve
from diskmodel.engine.effort import each_s
from diskmodel.engine.ledger import current
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.criterion import Criterion, Verdict, overall
from diskmodel.plan.answer.effort import Effort
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.replay import Replay
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.trial import judge
from diskmodel.plan.trial.beside_rebuild import BesideRebuild, beside_rebuild
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.replay_check import N_REPLAYS, replay_criteria, replay_trace
from diskmodel.plan.trial.rule_of_thumb import rule_of_thumb_disks
from diskmodel.plan.trial.statics import OF_REBUILD, static_criteria, statics
from diskmodel.result.statistics import Interval
from diskmodel.workload import Workload

#: A run that leaves a criterion undecided is followed by one that is as many times as long as the criterion needs,
#: within these bounds. A run without any interval is followed by one at the geometric mean. At half the upper bound, a
#: close call takes a run more; at double, a figure that was near its limit by luck takes a run that is too long.
MIN_LENGTHEN, MAX_LENGTHEN = 2, 8
LENGTHEN = 4
#: What a run is longer than the last interval says it has to be: the figure moves as the interval shrinks. Without it
#: every second run falls just short.
RESERVE = 1.3
#: Chance that the longest run decides, below which it is not made. With half, a close call that stays one costs up to
#: a million requests more; with double, one close call in ten that could be decided is left open.
WORTH_A_TRY = 0.1
#: An overload that a run so many times as long finds again is one, however close its rate is to what is offered. At 2
#: both runs may see the same slow hour; at 8, the most that a run is lengthened by, every second one takes a third run.
CONFIRMING = 4

#: Strips from which on a request counts as several, and as how many at most. A run has so many times fewer requests:
#: the disks get as many commands, which take as long to simulate and show as much of how busy they are. At half, p99 of
#: requests of 1 MiB is known from 30,000 where a search may end; at double, questions about them take twice as long.
SEVERAL_STRIPS, MOST = 4, 4

#: Distance of a figure from its limit, in half-widths of its 95 % interval, from which a verdict at the answer is
#: settled: 2 half-widths are about 3.9 standard errors. At 1 every interval that just excludes the limit is believed,
#: and of the many counts that a plan tries, some are so by luck; at 4 most answers need runs four times as long.
SETTLED_HALF_WIDTHS = 2

#: Seeds of the runs, beside the plan's own, in which an answer must hold where a disk is busy for more than
#: `FAR_FROM_BUSY_RATIO` of the time. There the queue of one run depends on how full blocks and caches happened to be
#: when it began: of four runs of one or two million requests on 20 flash drives at 96 %, one met the limit, by a fifth.
OTHER_SEEDS = (7_000_003, 8_000_009)


_NORMAL = NormalDist()


class Trier:
    """Tries the arrays of one family, each once.

    Parameters
    ----------
    case : Case
    evaluate : Evaluate
    always_runs : bool
        Whether to simulate arrays that have already failed a criterion about space or money.
    decides : bool
        Whether a run that leaves a criterion undecided is followed by a longer one. Without it only one that sees too
        little of the rounds of a cache, or of the ups and downs of the load, is; and a rebuild is seen half-way only.
    known : iterable of Trial
        Made before.
    """

    def __init__(
        self,
        case: Case,
        evaluate: Evaluate,
        *,
        always_runs: bool = False,
        decides: bool = True,
        known: Iterable[Trial] = (),
    ) -> None:
        self.case, self.always_runs, self.decides = case, always_runs, decides
        self.evaluate = Evaluation.part(evaluate)
        self._known: dict[int, Trial] = {trial.disks: trial for trial in known}
        self._careful: dict[int, Trial] = {}
        #: Computing time of the last run with so many disks, by counts.
        self._took_s: dict[int, float] = {}

    @property
    def effort(self) -> Effort:
        """Everything that was simulated for these trials, but not for those made before."""
        return self.evaluate.effort

    @cached_property
    def rule_of_thumb_disks(self) -> int | None:
        """The fewest disks by the rule of thumb; None where the plan states no rate to count with."""
        return rule_of_thumb_disks(self.case)

    @property
    def trials(self) -> list[Trial]:
        """All trials made, by number of disks."""
        return [self._known[n] for n in sorted(self._known)]

    @property
    def short_in_replay(self) -> int:
        """The largest number of disks tried with which only the replay of the trace missed the objective; 0: none."""
        return max((n for n, trial in self._known.items() if trial.fails_only_in_replay), default=0)

    def static(self, disks: int) -> list[Criterion]:
        """Return the criteria of an idle array that need no simulation."""
        return static_criteria(self.case, self.case.array(disks))

    def __call__(self, disks: int) -> Trial:
        """Return the trial with that many disks."""
        if disks not in self._known:
            self._known[disks] = self._try(disks)
        return self._known[disks]

    def careful(self, disks: int) -> Trial:
        """Return the trial with that many disks, run on until it is settled or the budget for deciding is spent.

        Settled is more than decided: an interval that ends just short of the limit is made shorter, because the
        count at which a search stops is one where chance was favorable. For the same reason arrays that hardly keep
        up are tried with other seeds, too, and the first that misses the objective counts.
        """
        if disks not in self._careful:
            self._known[disks] = self._careful[disks] = self._confirmed(self._settled(self(disks)))
        return self._careful[disks]

    def _longest(self, *, is_careful: bool) -> int:
        """Return the length of the longest run that is made to decide; less where a request is many commands."""
        search, workload = self.case.search, self.case.workload
        counts_as = min(max(workload.mean_size_bytes / self.case.family.strip_bytes / SEVERAL_STRIPS, 1.0), MOST)
        longest = search.decision_budget if is_careful else search.max_requests
        return max(round(longest / counts_as), search.requests)

    def _settled(self, trial: Trial) -> Trial:
        """Return a trial that ran until it is settled, or for the whole budget."""
        outcome = trial.outcome
        if outcome is None or is_settled(trial.criteria) or outcome.n_requests >= self._longest(is_careful=True):
            return trial
        length = outcome.n_requests * lengthened(trial.criteria, is_careful=True)
        if _would_be_shorter(self._took_s.get(trial.disks, 0.0), length) or (outcome.is_cut and current().is_spent):
            return trial
        again = self._try(trial.disks, first=round(length), before=outcome)
        return replace(again, n_runs=trial.n_runs + again.n_runs)

    def _confirmed(self, trial: Trial) -> Trial:
        """Return the trial, or the first one with another seed that misses the objective."""
        outcome = trial.outcome
        is_open = not self.case.workload.queue_depth
        if outcome is None or not (is_open and trial.is_met and outcome.busiest_ratio > judge.FAR_FROM_BUSY_RATIO):
            return trial
        n_runs = trial.n_runs
        # where nothing waits to be written, a run soon forgets how it began, and goes on until it is settled
        has_levels = resolve(self.case.array(trial.disks), self.case.search.seed).has_levels
        first = outcome.n_requests if has_levels else 0
        for seed in OTHER_SEEDS:
            other = Trier(self.case.with_seed(self.case.search.seed + seed), self.evaluate)
            again = other._try(trial.disks, first=first, before=outcome)
            n_runs += again.n_runs
            if not again.is_met:
                return replace(again, n_runs=n_runs)
        return replace(trial, n_runs=n_runs)

    def _try(self, disks: int, first: int = 0, before: Outcome | None = None) -> Trial:
        """Try an array; the first run has at least `first` requests. With care where a run `before` left it open."""
        case, objective = self.case, self.case.objective
        array = case.array(disks)
        fixed = self.static(disks)
        has_room = array.usable_bytes >= case.required_bytes  # without it the workload's region does not fit
        if overall(fixed) is Verdict.FAILS and not (self.always_runs and has_room):
            return Trial(disks, tuple(fixed), None, None, statics(case, array), 0, case.search.seed)
        outcome, found, n_runs = self._run(
            array,
            case.workload,
            lambda o: judge.performance(objective, o, case.workload),
            first,
            is_careful=before is not None,
            overloaded_at=_overloaded_at(before),
        )
        busy = outcome.utilization_ratio if outcome.utilization_ratio == outcome.utilization_ratio else 0.0
        hours = None
        if overall([*fixed, *found]) is Verdict.HOLDS and limits_rebuild(objective):
            beside = self._beside_rebuild(disks)
            if beside is not None:
                hours, n_runs = beside.hours, n_runs + beside.n_runs
        fixed = static_criteria(case, array, busy, hours)
        if hours is None:
            fixed = [_unless_simulated(item) for item in fixed]
        degraded = None
        if objective.degraded is not None and overall([*fixed, *found]) is Verdict.HOLDS:
            degraded, more, extra = self._degraded(disks, is_careful=before is not None)
            found, n_runs = [*found, *more], n_runs + extra
        replay = degraded_replay = None
        if case.trace is not None and overall([*fixed, *found]) is Verdict.HOLDS:
            replay, degraded_replay, more = self._replayed(disks)
            found = [*found, *more]
            n_runs += sum(one.n_runs for one in (replay, degraded_replay) if one is not None)
        figures = statics(case, array, busy, hours)
        return Trial(
            disks, (*fixed, *found), outcome, degraded, figures, n_runs, case.search.seed, replay, degraded_replay
        )

    def _replayed(self, disks: int) -> tuple[Replay | None, Replay | None, list[Criterion]]:
        """Return the replays of the recorded trace on the whole array and, where it matters, without a disk."""
        case, objective = self.case, self.case.objective
        replay, found = self._worst_replay(
            case.array(disks),
            1.0,
            lambda r: replay_criteria(r, objective.latency, objective.utilization_ceiling_ratio),
        )
        required = objective.degraded
        if required is None or overall(found) is not Verdict.HOLDS:
            return replay, None, found
        degraded, more = self._worst_replay(
            case.array(disks, n_failed=required.failures),
            required.load_ratio,
            lambda r: replay_criteria(r, required.latency, required.utilization_ceiling_ratio, "degraded "),
        )
        return replay, degraded, [*found, *more]

    def _worst_replay(
        self, array: Array, load_ratio: float, criteria: Callable[[Replay], list[Criterion]]
    ) -> tuple[Replay, list[Criterion]]:
        """Replay `N_REPLAYS` times, or until the objective is missed."""
        worst = replay_trace(self.case, array, load_ratio)
        assert worst is not None
        for turn in range(1, N_REPLAYS):
            if overall(criteria(worst)) is not Verdict.HOLDS:
                break
            another = replay_trace(self.case, array, load_ratio, turn)
            assert another is not None
            worst = worst.or_worse(another)
        self.evaluate.add(Effort(worst.n_runs, worst.n_runs * worst.n_requests))
        return worst, criteria(worst)

    def _beside_rebuild(self, disks: int) -> BesideRebuild | None:
        """Return how a rebuild fares beside the load; None without redundancy, or where it is unknown."""
        try:
            array = self.case.array(disks, n_failed=1, is_rebuilding=True)
        except DescriptionError:  # no redundancy to rebuild from
            return None
        if array.unknown_resilver:
            return None
        search = self.case.search
        return beside_rebuild(
            self.evaluate,
            array,
            self.case.workload,
            n_requests=search.requests,
            seed=search.seed,
            halfway_only=not self.decides,
        )

    def _degraded(self, disks: int, *, is_careful: bool) -> tuple[Outcome | None, list[Criterion], int]:
        objective, workload = self.case.objective, self.case.workload
        required = objective.degraded
        assert required is not None
        try:
            array = self.case.array(disks, n_failed=required.failures)
        except DescriptionError:
            lost = Criterion(
                "degraded", "data lost", 0.0, Interval.exact(float(required.failures)), "failures", True, Verdict.FAILS
            )
            return None, [lost], 0
        load = workload if required.load_ratio == 1 else workload.scaled(required.load_ratio)
        return self._run(array, load, lambda o: judge.degraded(objective, o, load), 0, is_careful=is_careful)

    def _run(
        self,
        array: Array,
        workload: Workload,
        judged: Callable[[Outcome], list[Criterion]],
        first: int,
        *,
        is_careful: bool,
        overloaded_at: float = math.inf,
    ) -> tuple[Outcome, list[Criterion], int]:
        """Return the outcome of runs that grow until every criterion is decided or the longest run is over.

        A careful one goes on until every criterion is settled, and may be as long as the budget for deciding. A run of
        `overloaded_at` requests has found an overload already.
        """
        search = self.case.search
        budget = search.decision_budget
        longest = self._longest(is_careful=is_careful)
        n_requests, n_runs = min(max(search.requests, first), longest), 0
        while True:
            before_s = current().spent_s
            outcome = self.evaluate(array, workload, n_requests=n_requests, seed=search.seed)
            found, n_runs = judged(outcome), n_runs + 1
            took_s = current().last_run_s if current().spent_s > before_s else 0.0
            self._took_s[array.layout.disks] = took_s
            found_at = _overloaded_at(outcome)
            if (not self.decides and not outcome.is_partial) or (outcome.is_cut and n_runs > is_careful):
                return outcome, found, n_runs
            if longest < outcome.enough_requests <= budget:
                longest = budget  # a search that sees parts of rounds decides nothing
            if CONFIRMING * overloaded_at <= found_at < math.inf or outcome.enough_requests > longest:
                return outcome, found, n_runs
            overloaded_at = min(overloaded_at, found_at)
            is_open = not is_settled(found) if is_careful else overall(found) is Verdict.UNDECIDED
            if n_requests >= longest or not (is_open or _is_doubtful(outcome, workload)):
                return outcome, found, n_runs
            if not is_worth_a_try(found, n_requests / longest):
                return outcome, found, n_runs
            if outcome.is_partial:
                n_requests = min(max(outcome.enough_requests, MIN_LENGTHEN * n_requests), longest)
            else:
                n_requests = min(round(n_requests * lengthened(found, is_careful=is_careful)), longest)
            if _would_be_shorter(took_s, n_requests):
                return outcome, found, n_runs


def _would_be_shorter(took_s: float, n_requests: float) -> bool:
    """Return whether a run of so many requests would be cut to less than the last one, which took so long by counts."""
    return current().allowed_s(each_s(round(n_requests))) < took_s


def is_settled(criteria: Iterable[Criterion]) -> bool:
    """Return whether a longer run would hardly change the verdict: the limit is far from every interval that matters.

    One criterion that is clearly missed settles a failure; all must be clearly met otherwise.
    """
    known = [item for item in criteria if item.verdict is not Verdict.UNKNOWN]
    missed = [item for item in known if item.verdict is Verdict.FAILS]
    if missed:
        return any(_is_clear(item) for item in missed)
    return all(item.verdict is Verdict.HOLDS and _is_clear(item) for item in known)


def lengthened(criteria: Iterable[Criterion], *, is_careful: bool) -> float:
    """Return how many times as long a run has to be to decide, or with care to settle, every criterion.

    Intervals shrink with the root of the length.
    """
    factors = [1.0]
    for item in criteria:
        if item.verdict is Verdict.UNKNOWN:
            continue
        shrinking = _shrinking(item, is_careful=is_careful)
        if 1 < shrinking < math.inf:
            factors.append(RESERVE * shrinking**2)
        elif shrinking == math.inf and math.isfinite(_half_width(item)):
            factors.append(MAX_LENGTHEN)
    needed = max(factors) if len(factors) > 1 else LENGTHEN
    return min(max(needed, MIN_LENGTHEN), MAX_LENGTHEN)


def is_worth_a_try(criteria: Iterable[Criterion], share: float) -> bool:
    """Return whether the longest run has a chance to decide what a run of this share of its length leaves undecided.

    Until then the figure moves by a normal variable whose variance is its own now times 1 - share, and its interval
    shrinks by the root of the share.
    """
    for item in criteria:
        half = _half_width(item)
        if item.verdict is not Verdict.UNDECIDED or not math.isfinite(half) or not half > 0:
            continue
        deviation = half / _NORMAL.inv_cdf(0.975) * math.sqrt(1 - share)
        # positive where the limit is missed
        excess = (item.figure.value - item.limit) * (1 if item.is_upper else -1)
        end = half * math.sqrt(share)
        missed, met = excess - end, -excess - judge.SAFE_HALF_WIDTHS * end
        if _NORMAL.cdf(missed / deviation) + _NORMAL.cdf(met / deviation) < WORTH_A_TRY:
            return False
    return True


def _half_width(item: Criterion) -> float:
    return (item.figure.high - item.figure.low) / 2


def _shrinking(item: Criterion, *, is_careful: bool) -> float:
    """Return how many times as narrow the interval has to be to decide, or with care to settle; nan without one."""
    half, distance = _half_width(item), abs(item.figure.value - item.limit)
    if not math.isfinite(half) or not math.isfinite(distance):
        return math.nan
    needed = (SETTLED_HALF_WIDTHS if is_careful else 1) * half
    shrinking = needed / distance if distance else math.inf if needed else 0.0
    if item.margin_ratio > 0:
        met = judge.half_widths_from(item.limit, item.figure, is_upper=item.is_upper)
        shrinking = max(shrinking, judge.SAFE_HALF_WIDTHS / met)
    return shrinking


def _is_clear(item: Criterion) -> bool:
    half = _half_width(item)
    return not math.isfinite(half) or abs(item.figure.value - item.limit) >= SETTLED_HALF_WIDTHS * half


def limits_rebuild(objective: Objective) -> bool:
    """Return whether an objective limits the hours of a rebuild or the chance of data loss."""
    return objective.rebuild_hours is not None or objective.data_loss_per_year is not None


def _unless_simulated(item: Criterion) -> Criterion:
    """Return a criterion about a rebuild that was not simulated: unknown where its lower bound does not miss it."""
    is_bound = item.name in OF_REBUILD and item.verdict is Verdict.HOLDS
    return replace(item, verdict=Verdict.UNKNOWN) if is_bound else item


def _overloaded_at(outcome: Outcome | None) -> float:
    """Return the length of a run that has found an overload; infinite where it has not, or saw too little to say."""
    is_overloaded = outcome is not None and not outcome.is_stable and not outcome.is_partial
    return outcome.n_requests if outcome is not None and is_overloaded else math.inf


def _is_doubtful(outcome: Outcome, workload: Workload) -> bool:
    """Whether an overload found by a short run is so slight that a longer one should confirm it."""
    offered = workload.offered_rate_per_s
    return not outcome.is_stable and outcome.n_requests < 20_000 and outcome.iops.value > 0.9 * offered
