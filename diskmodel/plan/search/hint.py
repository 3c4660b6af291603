"""Where a search should look next: formulas, corrected by what the simulation has said about neighbours."""

from __future__ import annotations

from diskmodel.analytic.estimate import Estimate, estimate
from diskmodel.plan.answer import criteria as judge
from diskmodel.plan.answer.criteria import Verdict
from diskmodel.plan.answer.outcome import Figure, Outcome
from diskmodel.plan.question.families import array_of
from diskmodel.plan.search.trial import Trial, Trier

_STATISTICS = ("mean", "p99")


class Hint:
    """Guesses whether counts of a family hold, in milliseconds."""

    def __init__(self, trier: Trier) -> None:
        self.trier = trier
        self._known: dict[int, Estimate] = {}

    def __call__(self, disks: int) -> bool:
        """Whether so many disks probably hold the objective."""
        guess = self._estimate(disks)
        factors = self._factors(disks)
        streams = self.trier.workload.streams
        size = sum(stream.mean_size_bytes for stream in streams) / len(streams)
        iops = guess.iops * (factors["iops"] if self.trier.workload.queue_depth else 1.0)
        latency = {
            "mean": Figure.exact(guess.mean_s * 1e9 * factors["mean"]),
            "p99": Figure.exact(guess.p99_s * 1e9 * factors["p99"]),
        }
        for name in ("p50", "p95", "p999"):  # of the order of what stands beside them
            latency[name] = latency["mean" if name == "p50" else "p99"]
        outcome = Outcome(
            is_stable=guess.is_stable,
            iops=Figure.exact(iops),
            bytes_per_s=Figure.exact(iops * size),
            latency_ns={"": latency, **{stream.name: latency for stream in streams}},
            utilization_ratio=min(1.0, guess.utilization_ratio * factors["utilization"]),
        )
        found = judge.performance(self.trier.plan.objective, outcome, self.trier.workload)
        return judge.overall(found) is not Verdict.FAILS

    def _estimate(self, disks: int) -> Estimate:
        if disks not in self._known:
            array = array_of(self.trier.plan, self.trier.family, disks)
            self._known[disks] = estimate(array, self.trier.workload, n_sample=300, seed=self.trier.plan.search.seed)
        return self._known[disks]

    def _factors(self, disks: int) -> dict[str, float]:
        """Simulated over estimated, at the nearest count that was simulated and stable."""
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
    figure = outcome.latency_ns.get("", {}).get(statistic)
    return figure.value if figure is not None else 0.0
