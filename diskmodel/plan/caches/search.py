"""The fewest disks that meet an objective, with each of several caches on SSDs and without any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.drive import CachedVolume
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.levels import KINDS
from diskmodel.loading import dataclass
from diskmodel.plan.caches.answer import CacheCandidate, CachePlan
from diskmodel.plan.comparison.working_sets import find_working_sets
from diskmodel.plan.question.description import PlanDescription
from diskmodel.result import Result
from diskmodel.units import pretty_ns
from diskmodel.workload import Workload

#: Share of arrays like the one asked about that shall meet the latency: the only one that is looked at.
CONFIDENCE = 0.9
#: Requests of each run of the search, and of the draws at the answer.
_REQUESTS, _REQUESTS_AT_ANSWER = 4000, 8000
#: The bad one of ten has about these times of the typical latency, until draws at the answer say it: with less, more
#: steps follow there; with more, the search ends with more disks than are needed.
_MARGIN = 1.15
#: Numbers of disks that are added at the answer where draws refuse what the search found.
_STEPS = 8


def plan_caches(plan: PlanDescription, levels: Sequence[str], caches: Sequence[str]) -> CachePlan:
    """Return the fewest disks of each drive and level, with each cache and without one.

    Parameters
    ----------
    plan : PlanDescription
    levels : sequence of str
    caches : sequence of str
        In words, as they follow "cached by": "2x micron-7450-pro-1920 raid1 (bcache writeback)". None is tried always.

    Raises
    ------
    DescriptionError
        When the objective asks for what is not looked at here, or a cache is none.
    """
    _check(plan)
    load = _on_stored_data(plan)
    found = []
    for drive in plan.candidates.drives:
        for level in levels:
            for cache in dict.fromkeys(("none", *caches)):
                with doing(f"looking for the fewest {drive.name} in {level}, cache {cache}"):
                    found.append(_Search(plan, load, drive, level, cache).candidate())
    has_prices = all(one.cost_usd is not None for one in found)

    def worth(one: CacheCandidate) -> tuple[bool, float, int]:
        return (not one.feasible, one.cost_usd or 0.0 if has_prices else 0.0, one.disks)

    order = sorted(found, key=worth)
    best = next((one for one in order if one.feasible), None)
    sets = None if best is None else find_working_sets(best.array, load, seed=plan.search.seed)
    return CachePlan(load, plan.objective, tuple(order), sets)


def _check(plan: PlanDescription) -> None:
    objective = plan.objective
    refused: dict[str, Any] = {
        "commits_per_s": objective.commits_per_s,
        "cost_usd": objective.cost_usd,
        "rack_units": objective.rack_units,
        "rebuild_hours": objective.rebuild_hours,
        "data_loss_per_year": objective.data_loss_per_year,
        "utilization_ceiling_ratio": objective.utilization_ceiling_ratio,
        "degraded": objective.degraded,
        "latency.streams": objective.latency.streams or None,
        "commit_latency": objective.commit_latency.limits() or None,
        "confidence": objective.confidence if objective.confidence != CONFIDENCE else None,
    }
    refused |= {
        f"latency.{name}": pretty_ns(limit)
        for name, limit in objective.latency.limits().items()
        if name not in ("mean", "p99")
    }
    faults = [
        Fault(
            f"objective.{name}", str(value), "is not looked at with caches on SSDs", "leave it out, or use mean or p99"
        )
        for name, value in refused.items()
        if value is not None
    ]
    if faults:
        raise DescriptionError(faults)


def _on_stored_data(plan: PlanDescription) -> Workload:
    """Return the load on the stored data alone: what is used decides what a cache holds."""
    load = plan.design_workload
    stored = plan.objective.usable_bytes
    if stored is None or load.span_bytes is not None or load.span_ratio is not None:
        return load
    return load.model_copy(update={"span_bytes": stored})


@dataclass(frozen=True)
class _Search:
    plan: PlanDescription
    load: Workload
    drive: Any
    level: str
    cache: str

    def candidate(self) -> CacheCandidate:
        """Return the fewest disks that meet the objective, checked with draws of what is not known."""
        counts = self._counts()
        needed = self.plan.objective.usable_bytes or 0
        counts = [n for n in counts if self._plain(n).usable_bytes >= needed]
        if not counts:
            most = self._counts()[-1]
            return self._answer(most, None, "holds too little")
        low, high, binds = 0, len(counts) - 1, ""
        step, at = 1, 0
        while missed := self._missed(counts[at]):
            low, binds = at + 1, missed
            if at == high:
                return self._answer(counts[at], None, missed)
            at, step = min(at + step, high), 2 * step
        high = at
        while low < high:
            middle = (low + high) // 2
            if missed := self._missed(counts[middle]):
                low, binds = middle + 1, missed
            else:
                high = middle
        for more in range(_STEPS + 1):
            at = min(high + more * max(high // 8, 1), len(counts) - 1)
            result = self._run(counts[at], _REQUESTS_AT_ANSWER, 16)
            missed = self._limits_missed(*_bad(result)) if result.is_stable else "cannot keep up"
            if not missed:
                return self._answer(counts[at], result, binds or "fewer hold too little")
            binds = f"with {counts[at]} disks: {missed} in one of ten"
            if at == len(counts) - 1:
                break
        return self._answer(counts[at], None, binds)

    def _counts(self) -> list[int]:
        candidates = self.plan.candidates
        least = max(KINDS[self.level].min_disks, candidates.min_disks)
        asked = candidates.disks or range(least, candidates.max_disks + 1)
        found = []
        for n in asked:
            try:
                self._plain(n)
            except DescriptionError:
                continue
            found.append(n)
        if not found:
            raise DescriptionError(
                Fault("--level", self.level, "takes none of the numbers of disks", "raise --max-disks")
            )
        return found

    def _plain(self, disks: int) -> Array:
        return Array(drive=self.drive, layout={"level": self.level, "disks": disks})

    def _array(self, disks: int) -> Array:
        if self.cache == "none":
            return self._plain(disks)
        found = Array(f"1x generic-7k2 jbod, cached by {self.cache}")
        fields = found.drive.model_dump(exclude_unset=True) | {"drive": self.drive}
        layout = {"level": self.level, "disks": disks}
        own = {
            name: value
            for name, value in fields.items()
            if name not in ("name", "capacity_bytes", "mttf_hours", "sector_bytes")
        }
        return Array(drive=own | {"kind": "cached", "layout": layout}, layout={"level": "jbod", "disks": 1})

    # ------------------------------------------------------------------ trying
    def _run(self, disks: int, n: int, draws: int = 0) -> Result:
        n = max(n, 4 * self.load.queue_depth)
        return simulate(self._array(disks), self.load, n_requests=n, seed=self.plan.search.seed, profile_draws=draws)

    def _missed(self, disks: int) -> str:
        result = self._run(disks, _REQUESTS)
        if not result.is_stable:
            return "cannot keep up"
        p99 = result.latency.interval_of("p99").value
        return self._limits_missed(_MARGIN * result.latency.mean_ns / 1e6, _MARGIN * p99 / 1e6, result.iops.mean)

    def _limits_missed(self, mean_ms: float, p99_ms: float, iops: float = 0.0) -> str:
        values = {"mean": mean_ms, "p99": p99_ms}
        for name, limit in self.plan.objective.latency.limits().items():
            if values[name] > limit / 1e6:
                return f"{name} {values[name]:.3g} ms"
        wanted = self.plan.objective.iops
        if iops and wanted and self.load.queue_depth and iops < wanted:
            return f"{iops:.0f}/s"
        return ""

    def _answer(self, disks: int, result: Result | None, binds: str) -> CacheCandidate:
        array = self._array(disks)
        feasible = result is not None
        result = result or self._run(disks, _REQUESTS)
        bad_mean, bad_p99 = _bad(result)
        return CacheCandidate(
            self.drive.name,
            self.level,
            self.cache,
            disks,
            feasible,
            binds,
            array,
            result.iops.mean,
            result.latency.mean_ns / 1e6,
            result.latency.interval_of("p99").value / 1e6,
            bad_mean,
            bad_p99,
            self._cost(array, disks),
            (*array.doubts, *result.run.said),
        )

    def _cost(self, array: Array, disks: int) -> float | None:
        price = self.drive.price_usd
        if self.cache == "none" or price is None:
            return None if price is None else disks * price
        volume = array.drive
        assert isinstance(volume, CachedVolume)
        cache = volume.cache
        own = cache.drive.price_usd
        return None if own is None else float(disks * price + cache.layout.disks * own)


def _bad(result: Result) -> tuple[float, float]:
    """Return mean and p99 of the bad one of ten, ms."""
    typical = {"mean": result.latency.mean_ns, "p99": result.latency.interval_of("p99").value}
    found = []
    for name, value in typical.items():
        middle = result.middle_of(name)
        found.append(value / 1e6 if middle is None else middle.high / 1e6)
    return found[0], found[1]
