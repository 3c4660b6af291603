"""Where a search should look next: formulas, corrected by the simulations of neighboring counts."""

from __future__ import annotations

from diskmodel.analytic.estimate import Estimate, estimate
from diskmodel.plan.answer.criterion import Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.search import judge
from diskmodel.plan.search.trier import Trier
from diskmodel.result.statistics.batches import Interval

#: Where the replay of a trace missed the objective, the search goes on at this many times the disks: formulas ignore
#: bursts, so they keep guessing counts that are too small. At half, the search climbs one count at a time; at double,
#: it simulates arrays much larger than needed.
REPLAY_STEP = 2

_STATISTICS = ("mean", "p99")


class Hint:
    """Guesses within milliseconds which counts of a family meet the objective."""

    def __init__(self, trier: Trier) -> None:
        self.trier, self.case = trier, trier.case
        self._known: dict[int, Estimate] = {}

    def __call__(self, disks: int) -> bool:
        """Return whether that many disks probably meet the objective."""
        if disks < REPLAY_STEP * self.trier.short_in_replay:
            return False
        guess = self._estimate(disks)
        factors = self._factors(disks)
        streams = self.case.workload.streams
        size = sum(stream.mean_size_bytes for stream in streams) / len(streams)
        iops = guess.iops * (factors["iops"] if self.case.workload.queue_depth else 1.0)
        latency = {
            "mean": Interval.exact(guess.mean_s * 1e9 * factors["mean"]),
            "p99": Interval.exact(guess.p99_s * 1e9 * factors["p99"]),
        }
        for name in ("p50", "p95", "p999"):  # no formula; the neighbor gives the order of magnitude
            latency[name] = latency["mean" if name == "p50" else "p99"]
        outcome = Outcome(
            is_stable=guess.is_stable,
            iops=Interval.exact(iops),
            bytes_per_s=Interval.exact(iops * size),
            latency_ns={"": latency, **{stream.name: latency for stream in streams}},
            utilization_ratio=min(1.0, guess.utilization_ratio * factors["utilization"]),
        )
        found = judge.performance(self.case.objective, outcome, self.case.workload)
        return overall(found) is not Verdict.FAILS

    def _estimate(self, disks: int) -> Estimate:
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


def _value(outcome: Outcome, statistic: str) -> float:
    interval = outcome.latency_of(statistic)
    return interval.value if interval is not None else 0.0
