"""Simulating what may be true: an array again with draws of everything that is not known."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable
from dataclasses import replace

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine.effort import Cost, CostSeen, each_most
from diskmodel.engine.ledger import current
from diskmodel.engine.native import covers
from diskmodel.engine.phases import TO_SEE_STATES, with_other_states
from diskmodel.engine.run import as_they_meet, run
from diskmodel.engine.scenario import Scenario, resolve, sampled
from diskmodel.engine.steady.shared import Begin, calm_guess, is_calm, start_cost_s, steady_start
from diskmodel.engine.steady.start import Start
from diskmodel.engine.threads import Threads, mapped
from diskmodel.errors import DescriptionError
from diskmodel.loading import dataclass
from diskmodel.records import Requests, Run
from diskmodel.result import (
    MIDDLE,
    UTILIZATION,
    Interval,
    combined,
    middle_around,
    point_estimates,
    sources_of,
    subset_of_stream,
)
from diskmodel.uncertainty import (
    FITTED,
    TAIL,
    AnyWorkload,
    Case,
    Draws,
    Perturbation,
    Seen,
    half_width_factor,
    origin_of,
    tails,
)
from diskmodel.uncertainty.draws import draw
from diskmodel.uncertainty.perturbed import perturbed
from diskmodel.workload import Sequential, Workload

#: Figures of a run by name: "iops", "mean" and percentiles at least.
Estimate = Callable[[Requests, Run], dict[str, float]]

#: Truths drawn by default, and the longest run of each. With 16 draws the width of an interval is itself uncertain by
#: about 18 % (1 / sqrt(2 * 16)): at 8 by 25 %, at 32 by 13 % at twice the time.
DRAWS = 16
DRAW_REQUESTS = {"native": 10_000, "simpy": 2_000}
#: Computing time of each at most, seconds, by counts. At half, those of pools of flash are shorter than is enough; at
#: double, the draws of a question take up to twenty seconds.
DRAW_S = 0.5
#: Runs of draws into which what is left of a question's time is divided. At half, the draws of a second array are much
#: shorter than those of the first; at double, those of flash are shorter than need be.
_AHEAD = DRAWS
#: Memory that the starts of draws may take which are made at the same time, bytes, and what making one takes for each
#: byte that is kept of it: 7.6 of a million small writes in buffers, 3 of an ARC of 512 GiB. At half, draws of large
#: caches are made one after the other; at double, a question of two processors takes more than 1 GB.
_STARTS_BYTES, _MADE_BYTES = 500_000_000, 8
#: Fewest draws that say how wide an interval is, where the question has no time for more: of three the width is
#: uncertain by 41 %. At half, one draw decides it; at double, questions about large caches take half a minute.
_FEWEST = 4
#: Computing time that may be spent to see whether other angles have another state, seconds. At half, a write in order
#: of fourteen disks is not looked at; at four times, an explanation of 16 MiB in order takes half as long again.
_STATES_S = 0.1
#: What is said of those that are left out.
_NO_DRAWS = "draws of what is not known (intervals are of the noise of the run)"
_FEWER_DRAWS = "some of the draws of what is not known (intervals are from fewer)"
#: Ends of the names of statistics that `Perturbation.p99` and its like change.
_SLOWEST = ("p99", "p999")


def _of_tail(name: str, perturbation: Perturbation, load: AnyWorkload) -> float:
    """Return the factor of a statistic of the slowest requests, of a subset where it has a name before it."""
    subset, _, statistic = name.rpartition(".")
    return tails.factor(perturbation, statistic, subset.removeprefix(subset_of_stream("")), load)


@dataclass(frozen=True)
class DrawnRuns:
    """Figures of an array as it is described, and of equally likely truths about it, all with the same requests.

    Attributes
    ----------
    case : Case
    draws : Draws
    reference : mapping of str to float
        By statistic (`STATISTICS`): of the array as it is described.
    figures : list of mappings of str to float
        Of each truth; latencies are nan in an overload, and all is where no such drive is possible.
    n_requests : int
        Of each run.
    """

    case: Case
    draws: Draws
    reference: dict[str, float]
    figures: list[dict[str, float]]
    n_requests: int

    def ratios(self, statistic: str) -> list[float]:
        """Return a statistic of each truth, as a part of that of the description; nan as in `figures`.

        Where both take no time, as what the host's memory answers, they are equal; a ratio to none is not known.
        """
        reference = self.reference.get(statistic, math.nan)
        values = [one.get(statistic, math.nan) for one in self.figures]
        return [value / reference if reference else math.nan if value else 1.0 for value in values]

    @property
    def are_possible(self) -> list[bool]:
        """Whether each truth is that of a drive that can be."""
        return [not math.isnan(one["iops"]) for one in self.figures]

    def interval(self, own: Interval, statistic: str, confidence: float) -> Interval:
        """Return the interval of a statistic, from that of its run alone."""
        factor = self.half_width_factor(confidence)
        return self._at_most(
            combined(own, 1.0, self._possible_ratios(statistic), confidence, factor, self._kinds), statistic
        )

    def middle(self, own: Interval, statistic: str, confidence: float) -> Interval:
        """Return what a statistic lies between in eight of ten systems, from the interval of its run alone.

        Where more than one draw of ten is overloaded the upper end of a latency is infinite.
        """
        factor = self.half_width_factor(MIDDLE)
        found = middle_around(own, 1.0, self._possible_ratios(statistic), confidence, factor, self._kinds)
        return self._at_most(found, statistic)

    def sources(self, own: Interval, statistic: str, confidence: float) -> dict[str, float]:
        """Return the share of each unknown, and of the run, in the squared width of an interval (`sources_of`).

        `own` is that of the run alone.
        """
        scores = dict(zip(self.draws.names, self.draws.scores.T, strict=True))
        scores.pop(TAIL, None)
        logs = [math.log(ratio) if ratio > 0 else math.nan for ratio in self.ratios(statistic)]
        return sources_of(own, logs, scores, FITTED if FITTED in self.draws.names else None, confidence)

    def _possible_ratios(self, statistic: str) -> list[float]:
        """Return the ratios of a statistic of the drives that can be."""
        ratios = zip(self.ratios(statistic), self.are_possible, strict=True)
        return [ratio for ratio, is_possible in ratios if is_possible]

    @property
    def _kinds(self) -> list[int]:
        """Of which firmware the drives are that can be."""
        perturbation = zip(self.draws.perturbations, self.are_possible, strict=True)
        return [one.firmware for one, is_possible in perturbation if is_possible]

    def _at_most(self, found: Interval, statistic: str) -> Interval:
        """Return an interval that does not go beyond all of the time, or beyond what was bought; others as they are."""
        most = {UTILIZATION: 1.0, "iops": most_iops(self.case.array, self.case.workload)}.get(statistic, math.inf)
        return found if found.high <= most else replace(found, high=max(most, found.value))

    def half_width_factor(self, confidence: float) -> float:
        """Return the half-width of an interval as a multiple of the standard deviation of the draws."""
        return half_width_factor(max(len(self.figures), 2), self.case.dof, confidence)


def most_iops(array: Array, workload: AnyWorkload) -> float:
    """Return the rate that limits allow which are known exactly: a machine's in a cloud, a link's, those of volumes."""
    if not isinstance(workload, Workload) or array.layout.is_cached_in_memory or array.host.page_cache is not None:
        return math.inf
    n_bytes, controller = workload.mean_size_bytes, array.controller
    most = controller.most_iops or math.inf
    if controller.link_bytes_per_s is not None and n_bytes:
        most = min(most, controller.link_bytes_per_s / n_bytes)
    if array.has_controller_cache:
        return most
    in_order = any(isinstance(stream.addresses, Sequential) for stream in workload.streams)
    return min(most, array.layout.disks * array.drive.sold_per_s(n_bytes, in_order=in_order))


def simulate_drawn_runs(
    array: Array,
    workload: AnyWorkload,
    n_requests: int,
    *,
    seed: int = 0,
    n_draws: int = DRAWS,
    start: Begin = "steady",
) -> DrawnRuns | None:
    """Return the truths about an array under a load; None where everything is known.

    Parameters
    ----------
    array, workload, seed, start
        As of the run whose figures they are about.
    n_requests : int
        Of that run; those of each truth are at most `DRAW_REQUESTS`.
    n_draws : int, at least 2
    """
    if origin_of(array.drive) == "exact":
        return None
    if current().is_spent:  # the first run would only show that there is no time for others
        current().leave_out([_NO_DRAWS])
        return None
    with doing(f"simulating {n_draws} draws of what is not known"):
        return Trials(array, workload, n_requests, seed=seed, start=start).truths(n_draws)


def starts_at_once(start: Start | None) -> int | None:
    """Return how many starts like this one may be made at the same time; None: as many as there are processors."""
    made_bytes = _MADE_BYTES * (0 if start is None else start.n_bytes)
    n = _STARTS_BYTES // max(made_bytes, 1)
    return None if n >= (os.cpu_count() or 1) else max(n, 1)


class Trials:
    """Runs of an array and of what is drawn of it, all with the same requests.

    Parameters
    ----------
    array, workload, n_requests, seed, start
        As `simulate_drawn_runs` has them.
    estimate : callable, optional
        Makes the figures of a run; default: `point_estimates`.
    longest : int, optional
        Requests of a run at most; default: `DRAW_REQUESTS`.
    longest_s : float, optional
        Computing time of a run at most, by counts.
    cost : Cost, optional
        What a request was seen to cost; default: this is looked at where it might be much.
    like : CostSeen, optional
        The same of a similar array, which is looked at in its place where it can be.

    Attributes
    ----------
    reference : dict of str to float
        Figures of the array as it is described.
    seen : Seen
        What its drives saw of the load.
    each_s : float
        Computing time of its run with its start, seconds by counts.
    cost : CostSeen or None
        What a request of it was seen to cost; None of a trace.

    Notes
    -----
    The kernel makes the runs wherever it covers the scenario: both engines have the same results.
    """

    def __init__(
        self,
        array: Array,
        workload: AnyWorkload,
        n_requests: int,
        *,
        seed: int,
        start: Begin,
        estimate: Estimate = point_estimates,
        longest: int | None = None,
        longest_s: float = DRAW_S,
        cost: Cost | None = None,
        like: CostSeen | None = None,
    ) -> None:
        array, workload = as_they_meet(array, workload)
        self._array, self._workload = array, workload
        self._seed, self._start, self._estimate = seed, start, estimate
        self._requests: dict[Hashable, Requests] = {}
        self._first_start: Start | None = None
        self._is_closed = isinstance(workload, Workload) and not workload.is_open
        few = workload.requests(capacity_bytes=array.usable_bytes, n=1, seed=seed)
        is_native = covers(resolve(array, seed), few) is None
        self._n_requests = min(n_requests, longest or DRAW_REQUESTS["native" if is_native else "simpy"])
        self._n_least = self._n_requests
        if isinstance(workload, Workload) and workload.is_recorded:
            # what is drawn of a recording is compared with all of it, and a part of it with itself
            self._n_requests = max(self._n_requests, min(n_requests, workload.n_cycle))
        if isinstance(workload, Workload):
            self._n_requests = self._affordable(workload, longest_s, cost, like)
        account = current()
        before_s = account.spent_s
        self._scenario, requests, outcome = self._begun(array, workload)
        # a start that was kept has cost nothing now, and that of a drawn drive will
        start_s = start_cost_s(array, workload, seed) if start == "steady" else 0.0
        self.each_s = max(account.spent_s - before_s, account.last_run_s + start_s)
        self.reference = estimate(requests, outcome)
        self.seen = Seen.of(requests, outcome)
        self.cost = None
        if isinstance(workload, Workload):
            self.cost = CostSeen.of(outcome, resolve(array, seed), len(requests), workload, array)

    @property
    def n_requests(self) -> int:
        """Requests of each run."""
        return self._n_requests

    def truths(
        self, n_draws: int, *, as_measured: bool = False, part: float = 1.0, seen: Seen | None = None
    ) -> DrawnRuns | None:
        """Return so many truths, or those that were left if such a drive were measured; None without any unknown.

        Parameters
        ----------
        n_draws : int, at least 2
        as_measured : bool
            As `Case` has it.
        part : float
            Of the time that is left which they may take.
        seen : Seen, optional
            What the drives saw of the load in longer runs; default: in these.
        """
        case = Case(self._array, self._workload, seen or self.seen, as_measured)
        draws = draw(case, n_draws, self._seed)
        if not len(draws):
            return None
        n_affordable = self.affordable(n_draws, part)
        if n_affordable < n_draws:
            current().leave_out([_FEWER_DRAWS if n_affordable else _NO_DRAWS])
            if not n_affordable:
                return None
            draws = draw(case, n_affordable, self._seed)
        with Threads(starts_at_once(self._first_start)) as pool:
            figures = mapped(pool, self._figures, draws.perturbations, are_runs=True)
        return DrawnRuns(case, draws, self.reference, figures, self._n_requests)

    def at_other_angles(self) -> list[dict[str, float]]:
        """Return the same figures at other angles between the spindles; none where no other state shows (rule S2).

        Nor where that would take long: of large requests, or of many disks.
        """
        if not isinstance(self._workload, Workload) or self.each_s * TO_SEE_STATES > _STATES_S * self._n_requests:
            return []
        angles = with_other_states(self._array, self._workload, self._scenario, self._seed)
        requests = self._drawn(self._array, self._workload, self._scenario)
        return [self._estimate(requests, run(replace(self._scenario, phase_ns=one), requests)) for one in angles]

    def affordable(self, n_draws: int, part: float = 1.0) -> int:
        """Return how many of these draws there is time for, each of which takes what the first run did; 0: too few."""
        n = int(min(part * current().left_s / max(self.each_s, 1e-9), n_draws))
        return n if n >= min(_FEWEST, n_draws) else 0

    def _figures(self, perturbation: Perturbation) -> dict[str, float]:
        try:
            requests, outcome = self._run(*perturbed(self._array, self._workload, perturbation))
        except DescriptionError:
            return dict.fromkeys(self.reference, math.nan)
        found = self._estimate(requests, outcome)
        slowest = {name: value for name, value in found.items() if name.endswith(_SLOWEST)}
        return found | {name: value * _of_tail(name, perturbation, self._workload) for name, value in slowest.items()}

    def _affordable(self, workload: Workload, run_s: float, cost: Cost | None, like: CostSeen | None) -> int:
        """Return the requests of each of all runs together that take the time of one question."""
        n = self._n_requests
        run_s = current().allowed_s(run_s, _AHEAD)
        scenario = resolve(self._array, self._seed)
        if like is not None:
            cost = like.changed_to(self._array, workload, scenario)
        if cost is not None:
            return min(n, cost.most_of_each(run_s))

        def run_of(n_some: int) -> Run:
            self._n_requests = n_some
            self._requests.clear()
            return self._run(self._array, workload)[1]

        found = each_most(n, run_of, scenario, workload, self._array, run_s)
        self._n_requests = n
        if found < n:
            self._requests.clear()
        return found

    def _run(self, array: Array, workload: AnyWorkload) -> tuple[Requests, Run]:
        return self._begun(array, workload)[1:]

    def _begun(self, array: Array, workload: AnyWorkload) -> tuple[Scenario, Requests, Run]:
        """Return a run, and the scenario from which it began."""
        scenario = resolve(array, self._seed)
        if self._start == "steady":
            calm = self._calm(array, workload, scenario)
            if calm is not None:
                return calm
            scenario = replace(scenario, start=self._begin(array, workload, scenario))
        requests = self._drawn(array, workload, scenario)
        return scenario, requests, run(scenario, requests)

    def _calm(self, array: Array, workload: AnyWorkload, scenario: Scenario) -> tuple[Scenario, Requests, Run] | None:
        """Return a run with little in drives' buffers, if it shows that they keep up; None where it does not."""
        n = self._n_requests
        start = calm_guess(array, workload, scenario, self._seed, n)
        if start is None or not isinstance(workload, Workload):
            return None
        begun = sampled(replace(scenario, start=start), n)
        requests = self._drawn(array, workload, begun)
        found = run(begun, requests)
        if not is_calm(array, workload, begun, self._seed, n, requests, found):
            return None
        self._first_start = self._first_start or start
        return begun, requests, found

    def _begin(self, array: Array, workload: AnyWorkload, scenario: Scenario) -> Start:
        """Return the start of a run: of the drawn drive, whose speed decides what its buffer holds in the long run.

        How much a pool has to write by then takes a run of many groups where clients wait. Draws begin with what the
        array as it is described has.
        """
        is_slow = self._is_closed and not scenario.layout.has_strips
        if is_slow and self._first_start is not None:
            return self._first_start
        start = steady_start(array, workload, scenario, self._seed)
        self._first_start = self._first_start or start
        return start

    def _drawn(self, array: Array, workload: AnyWorkload, scenario: Scenario) -> Requests:
        """Return the requests, those of an earlier run where they would be the same."""
        before = scenario.start.n_before if isinstance(workload, Workload) else 0
        key = (array.usable_bytes, before, workload is self._workload)
        if key in self._requests:
            return self._requests[key]
        more = {"n_before": before} if isinstance(workload, Workload) else {}
        requests = workload.requests(
            capacity_bytes=array.usable_bytes,
            n=self._length(workload),
            seed=self._seed,
            with_cache_draws=scenario.has_drawn_hits,
            **more,
        )
        if workload is self._workload:
            self._requests[key] = requests
        return requests

    def _length(self, workload: AnyWorkload) -> int:
        """Return the requests of a run: of a part of a recording as many as show all of it."""
        if not isinstance(workload, Workload):
            return self._n_requests
        return min(self._n_requests, max(self._n_least, workload.n_cycle))
