"""Where a search should look next: formulas, corrected by the simulations of neighboring counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from diskmodel.analytic import has_formula
from diskmodel.layout.levels import KINDS
from diskmodel.plan.answer.criterion import Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.trial import judge
from diskmodel.plan.trial.trier import Trier
from diskmodel.result import COMMITS
from diskmodel.result.statistics import PERCENTILES, Interval
from diskmodel.workload import Workload

if TYPE_CHECKING:
    from diskmodel.analytic import Estimate

#: Where the replay of a trace missed the objective, the search goes on at this many times the disks: formulas ignore
#: bursts, so they keep guessing counts that are too small. At half, the search climbs one count at a time; at double,
#: it simulates arrays much larger than needed.
REPLAY_STEP = 2

#: Largest step up that what is short of the objective suggests, times the disks. At half, an array far too small takes
#: a trial more; at double, an array much larger than needed is simulated.
LARGEST_STEP = 4

#: Margin below which two counts show where others would be enough. At half, the noise of two short runs at neighboring
#: counts may send the search to the largest one; at double, more counts on the way to an infeasible one are tried.
FAR = 0.1

#: How many times what its disks read in order an array may be asked for before its count is not worth a trial. At half,
#: caches and rates "as commonly quoted" hide counts that would do; at double, runs of a few requests of 1 GiB, which
#: show no overload, lead a hopeless search through dozens of counts.
HOPELESS = 3

#: Utilization beyond which 1 / (1 - utilization) is mostly what chance makes of it.
MOST_BUSY = 0.99


class Hint:
    """Guesses within milliseconds which counts of a family meet the objective."""

    def __init__(self, trier: Trier) -> None:
        self.trier, self.case = trier, trier.case
        self._known: dict[int, Estimate] = {}

    def __call__(self, disks: int) -> bool:
        """Return whether that many disks probably meet the objective."""
        if disks < REPLAY_STEP * self.trier.short_in_replay or self.is_hopeless(disks):
            return False
        is_counted = has_formula(KINDS[self.case.family.level], self.case.family.drive, self.case.workload)
        if not (self.case.workload.queue_depth and is_counted):
            if self.trier.trials:
                return self._is_enough_by_trials(disks)
            counted = self.trier.rule_of_thumb_disks
            if counted is not None:  # near enough to begin with, and its count is reported beside the answer anyway
                return disks >= counted
            if not is_counted:
                return True
        guess = self._estimate(disks)
        factors = self._factors(disks)
        streams = self.case.workload.streams
        iops = guess.iops * (factors["iops"] if self.case.workload.queue_depth else 1.0)
        latency = {
            "mean": Interval.exact(guess.mean_s * 1e9 * factors["mean"]),
            "p99": Interval.exact(guess.p99_s * 1e9 * factors["p99"]),
        }
        for name, level in PERCENTILES.items():  # no formula; the neighbor gives the order of magnitude
            latency.setdefault(name, latency["mean" if level <= 0.5 else "p99"])
        outcome = Outcome(
            is_stable=guess.is_stable,
            iops=Interval.exact(iops),
            bytes_per_s=Interval.exact(iops * self.case.workload.mean_size_bytes),
            latency_ns={"": latency, COMMITS: latency, **{stream.name: latency for stream in streams}},
            commits_per_s=Interval.exact(iops * _share_of_commits(self.case.workload)),
            utilization_ratio=min(1.0, guess.utilization_ratio * factors["utilization"]),
        )
        return self._is_enough(outcome)

    def is_hopeless(self, disks: int) -> bool:
        """Return whether so many disks are asked for far more bytes a second than they can move."""
        workload, drive = self.case.workload, self.case.family.drive
        asked = 0.0 if workload.queue_depth else workload.offered_rate_per_s * workload.mean_size_bytes
        return asked > HOPELESS * disks * drive.sequential_bytes_per_s

    def _is_enough_by_trials(self, disks: int) -> bool:
        """Return a guess from what was simulated: from the nearest count that is enough, else from the largest."""
        tried = [trial for trial in self.trier.trials if trial.outcome is not None]
        enough = [trial for trial in tried if trial.is_met]
        least = _least_by_two(enough)
        if math.isfinite(least):
            return disks >= least
        if enough:
            return self._is_enough(_at_other_count(min(enough, key=lambda trial: abs(trial.disks - disks)), disks))
        if disks < self._crossing(tried):
            return False
        return all(disks >= trial.disks * min(_more_needed(trial, self.case.workload), LARGEST_STEP) for trial in tried)

    def _crossing(self, tried: Sequence[Trial]) -> float:
        """Return the count at which the margin of counts far from enough would become positive; the largest at most.

        The margin is taken to be linear in the logarithm of the count, through the two largest. It mostly flattens, so
        that the true count is larger. Where it does not move, the largest count says at once that none is enough.
        """
        known = [(trial.disks, margin_of(trial)) for trial in tried if not trial.is_met]
        known = [(disks, margin) for disks, margin in known if math.isfinite(margin)][-2:]
        if len(known) < 2 or known[-1][1] > -FAR:
            return 0.0
        (few, before), (many, margin) = known
        slope, most = (margin - before) / math.log(many / few), self.case.counts[-1]
        if margin + slope * math.log(most / many) < 0:
            return most
        return many * math.exp(-margin / slope)

    def _is_enough(self, outcome: Outcome) -> bool:
        found = judge.performance(self.case.objective, outcome, self.case.workload)
        return overall(found) is not Verdict.FAILS

    def _estimate(self, disks: int) -> Estimate:
        from diskmodel.analytic.estimate import estimate  # takes a while to load, and open loads do not need it

        if disks not in self._known:
            array = self.case.array(disks)
            self._known[disks] = estimate(array, self.case.workload, n_sample=300, seed=self.case.search.seed)
        return self._known[disks]

    def _factors(self, disks: int) -> dict[str, float]:
        """Return simulated over estimated figures, at the nearest count that was simulated and stable."""
        factors = dict.fromkeys(("iops", "mean", "p99", "utilization"), 1.0)
        stable = [trial for trial in self.trier.trials if trial.outcome is not None and trial.outcome.is_stable]
        if not stable:
            return factors
        near: Trial = min(stable, key=lambda trial: (abs(trial.disks - disks), trial.disks))
        outcome, guess = near.outcome, self._estimate(near.disks)
        assert outcome is not None
        if not guess.is_stable:
            return factors
        pairs = {
            "iops": (outcome.iops.value, guess.iops),
            "utilization": (outcome.utilization_ratio, guess.utilization_ratio),
            "mean": (_value(outcome, "mean"), guess.mean_s * 1e9),
            "p99": (_value(outcome, "p99"), guess.p99_s * 1e9),
        }
        for name, (simulated, estimated) in pairs.items():
            if simulated > 0 and 0 < estimated < float("inf"):
                factors[name] = simulated / estimated
        return factors


def margin_of(trial: Trial) -> float:
    """Return the least margin of the criteria about speed; nan where there is none, or the array is overloaded."""
    margins = [
        item.margin_ratio
        for item in trial.criteria
        if item.name.split()[-1] in ("latency", "iops", "commits", "throughput", "utilization")
        and not item.is_overload
        and item.verdict is not Verdict.UNKNOWN
    ]
    return min(margins, default=math.nan) if trial.outcome is not None and trial.outcome.is_stable else math.nan


def _least_by_two(enough: Sequence[Trial]) -> float:
    """Return the least number of disks as the two smallest counts that are enough suggest; nan where they do not.

    The mean of two guesses: that what is closest to its limit grows with a power of 1 / (1 - utilization), and that it
    grows with a power of the number of disks. Disks that choose among waiting commands serve them the faster the more
    wait, so that the first guess is mostly too large; near saturation the second is too small.
    """
    if len(enough) < 2:
        return math.nan
    few, many = enough[:2]
    if few.outcome is None or many.outcome is None:
        return math.nan
    used, spread = 1 - margin_of(few), 1 - margin_of(many)
    busy, calm = few.outcome.utilization_ratio, many.outcome.utilization_ratio
    if not (0 < spread < used < 1 and 0 < calm < busy < MOST_BUSY):
        return math.nan
    growth, left = math.log(used / spread), -math.log(used)
    by_disks = few.disks * (few.disks / many.disks) ** (left / growth)
    room = (1 - busy) * ((1 - busy) / (1 - calm)) ** (left / growth)
    by_queue = few.disks * busy / (1 - room)
    return math.sqrt(by_disks * by_queue)


def _at_other_count(near: Trial, disks: int) -> Outcome:
    """Return an open load on another number of disks: utilization is shared among them, and latency grows as the root
    of 1 / (1 - it): disks that choose among waiting commands serve them the faster the more wait."""
    outcome = near.outcome
    assert outcome is not None
    before = min(outcome.utilization_ratio, MOST_BUSY)
    after = before * near.disks / disks
    slower = math.sqrt((1 - before) / (1 - after)) if after < 1 else math.inf
    latency = {
        stream: {name: Interval.exact(figure.value * slower) for name, figure in figures.items()}
        for stream, figures in outcome.latency_ns.items()
    }
    return replace(
        outcome, is_stable=after < 1, latency_ns=latency, utilization_ratio=min(after, 1.0), utilization_half_width=0.0
    )


def _more_needed(short: Trial, workload: Workload) -> float:
    """Return about how many times the disks are needed that a count has which is not enough.

    Near saturation, where such a count mostly is, latency falls with the fourth power of the number of disks, and at
    half load with the first; its root is in between. An overloaded array needs the disks for the rate, and half as many
    again for the latency. A rate that clients reach grows with the number of disks.
    """
    outcome = short.outcome
    assert outcome is not None
    if not outcome.is_stable:
        return 1.5 * workload.offered_rate_per_s / outcome.iops.value if outcome.iops.value > 0 else math.inf
    ratios = [c.figure.value / c.limit for c in short.criteria if c.name.endswith("latency") and c.limit > 0]
    slow = math.sqrt(max([1.0, *(ratio for ratio in ratios if math.isfinite(ratio))]))
    if not workload.queue_depth:
        return slow
    rates = [c.limit / c.figure.value for c in short.criteria if not c.is_upper and c.figure.value > 0]
    return max([slow, *rates])


def _share_of_commits(workload: Workload) -> float:
    """Return the share of the requests that are commits, streams weighted by their expected rates."""
    weights = [stream.row_weight for stream in workload.streams]
    pairs = zip(workload.streams, weights, strict=True)
    return sum(stream.commits_ratio * weight for stream, weight in pairs) / sum(weights)


def _value(outcome: Outcome, statistic: str) -> float:
    interval = outcome.latency_of(statistic)
    return interval.value if interval is not None else 0.0
