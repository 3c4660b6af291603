"""The answer to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from diskmodel.description import without_effect
from diskmodel.display import Displayable
from diskmodel.frame import Tabular
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.candidate import Candidate, by_size
from diskmodel.plan.answer.changes import Assumption, CacheInstead, HiddenPeak, Relaxation, Sensitivity
from diskmodel.plan.answer.effort import Effort, Efforts, effort_fields, together
from diskmodel.plan.answer.pareto import ParetoPoint
from diskmodel.plan.answer.profile_risk import ProfileRisk
from diskmodel.plan.answer.spreading import Spreading
from diskmodel.plan.question.description import PlanDescription


@dataclass(frozen=True)
class PlanResult(Tabular, Record, Displayable):
    """The answer to a plan.

    Attributes
    ----------
    plan : PlanDescription
    candidates : tuple of Candidate
        One for each family, in the order of the plan.
    best : Candidate or None
        None: no feasible array.
    minimized : "disks" or "cost"
    reason : str
        Why no array is feasible; "" where one is.
    relaxations : tuple of Relaxation
        Changes with which the array just below the best one meets the objective, or the nearest where none is feasible.
    sensitivities : tuple of Sensitivity
        Empty unless asked for.
    front : tuple of ParetoPoint
        Cost (or disks) against latency, of everything that was tried and meets the objective.
    profile_risk : ProfileRisk or None
        The chance of the best, and how it moves with the number of disks; None where everything is known.
    nominal : Candidate or None
        The best one if everything is as described; None without one.
    spreading : Spreading or None
        What spreading the data over all of the best array would cost; None where it costs nothing or was not asked for.
    peaks : tuple of HiddenPeak
        How the best family's count moves with bursts that a recording of averages cannot show; empty elsewhere.
    assumptions : tuple of Assumption
        What the question left unsaid, with the answer of the other case; empty where nothing is feasible.
    caches_instead : tuple of CacheInstead
        What a write cache does for hard disks that miss a limit of commits.
    by_chance : bool
        Whether the chance of meeting the objective was asked for; not with `--nominal`.
    advice_efforts : mapping of str to Effort
        What was simulated for advice, by purpose.
    """

    rich_view: ClassVar[str] = "diskmodel.plan.show.table:plan_table"
    html_view: ClassVar[str] = "diskmodel.plan.show.notebook:plan_html"

    plan: PlanDescription
    candidates: tuple[Candidate, ...]
    best: Candidate | None
    minimized: str
    reason: str
    relaxations: tuple[Relaxation, ...]
    sensitivities: tuple[Sensitivity, ...]
    front: tuple[ParetoPoint, ...]
    profile_risk: ProfileRisk | None = None
    nominal: Candidate | None = None
    spreading: Spreading | None = None
    peaks: tuple[HiddenPeak, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    caches_instead: tuple[CacheInstead, ...] = ()
    advice_efforts: Efforts = field(default_factory=dict)
    by_chance: bool = True

    @property
    def is_feasible(self) -> bool:
        """Whether some array meets the objective."""
        return self.best is not None

    @property
    def region(self) -> str:
        """Where requests fall, in a sentence; "" where every stream states its place."""
        plan, stored = self.plan, self.plan.stored_bytes
        if stored is None:
            is_spread = any(stream.span_bytes is None for stream in plan.design_workload.streams)
            return "requests fall on all of each array, or on the spans that the workload states" if is_spread else ""
        return (
            f"requests fall on the {stored / 1e12:.4g} TB that the data take at the fill limit, from the outer edge; "
            'span = "all" spreads them over each whole array'
        )

    @property
    def passed_over(self) -> Candidate | None:
        """The candidate of the fewest disks that meets the objective with fewer than the best, but is not safe; None
        without one, and where the best is not safe either."""
        best = self.best
        if best is None or best.is_unsafe:
            return None
        smaller = [c for c in self.candidates if c.is_feasible and c.is_unsafe and (c.disks or 0) < (best.disks or 0)]
        return min(smaller, key=by_size, default=None)

    def _nominal_fields(self) -> Mapping[str, Any] | None:
        """Return the answer if everything is as described: drive, level and disks."""
        one = self.nominal
        if one is None:
            return None
        return {"drive": one.family.drive.name, "level": one.level, "groups": one.n_groups, "disks": one.disks}

    @property
    def without_effect(self) -> tuple[str, ...]:
        """What the plan says and no candidate reads; of arrays what none of those that were found does."""
        load = self.plan.design_workload
        of_arrays: list[dict[str, str]] = [
            dict(item for item in one.array.unread(one.array.beside(load)) if not item[0].startswith("layout."))
            for one in self.candidates
            if one.array is not None
        ]
        first = of_arrays[0] if of_arrays else {}
        nowhere = [(path, who) for path, who in first.items() if all(path in one for one in of_arrays)]
        return without_effect([*self.plan.unread(self.plan), *nowhere])

    @property
    def needs_more_than_nominal(self) -> bool:
        """Whether the answer is another than the one if everything is as described."""
        one, best = self.nominal, self.best
        if one is None or best is None:
            return False
        return (one.family, one.disks) != (best.family, best.disks)

    @property
    def n_runs(self) -> int:
        """Simulations made in the search."""
        return sum(trial.n_runs for candidate in self.candidates for trial in candidate.trials)

    @property
    def efforts(self) -> dict[str, Effort]:
        """What was simulated, by purpose: for all candidates, and for advice."""
        return together([*(candidate.efforts for candidate in self.candidates), self.advice_efforts])

    row_name: ClassVar[str] = "candidate"

    def table_rows(self) -> list[dict[str, Any]]:
        """Return the candidates as rows of a table.

        Returns
        -------
        list of dict
            Of `to_frame` and of Arrow. A row for each candidate, by its number in the plan. Columns: drive, level,
            groups, strip_bytes, cache_bytes, record_bytes (0: as the layout has it), log_device, special_device,
            cache_device, disks
            (at the answer; the nearest count of one that is not feasible), state, is_best, is_decided, limited_by,
            rule_of_thumb_disks, iops, mean_ms, p50_ms, p95_ms, p99_ms, p999_ms, utilization, usable_bytes, cost_usd,
            degraded_p99_ms, rebuilding_p99_ms, rebuild_hours, data_loss_per_year;
            nan where unknown.
        """
        return [
            {"candidate": number, "is_best": item is self.best, **item.row}
            for number, item in enumerate(self.candidates)
        ]

    def __repr__(self) -> str:
        return f"<PlanResult '{self.plan.name}': {self.reason if self.best is None else self.best.in_words}>"

    def json_fields(self) -> Mapping[str, Any]:
        """Return the best, all candidates, what would change the answer, and the plan."""
        return {
            "name": self.plan.name,
            "feasible": self.is_feasible,
            "best": self.best,
            "minimized": self.minimized,
            "reason": self.reason,
            "region": {"bytes": self.plan.stored_bytes, "words": self.region, "spread": self.spreading},
            "candidates": self.candidates,
            "assumptions": self.assumptions,
            "without_effect": self.without_effect,
            "relaxations": self.relaxations,
            "caches_instead": self.caches_instead,
            "sensitivities": self.sensitivities,
            "profile_risk": self.profile_risk,
            "nominal": self._nominal_fields(),
            "peaks": self.peaks,
            "pareto": self.front,
            "runs": self.n_runs,
            "effort": effort_fields(self.efforts),
            "plan": self.plan,
        }
