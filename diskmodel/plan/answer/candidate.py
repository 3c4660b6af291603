"""The answer for one family of arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import NONE, device_in_words, wear_years
from diskmodel.layout import Layout
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.plan.answer.effort import Efforts, effort_fields
from diskmodel.plan.answer.outcome import figures_of
from diskmodel.plan.answer.profile_risk import ProfileRisk
from diskmodel.plan.answer.safety import Safety
from diskmodel.plan.answer.statics import rebuild_fields
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.answer.waterfall import Waterfall
from diskmodel.plan.question.family import Family
from diskmodel.units import pretty_bytes
from diskmodel.workload import Workload


def level_in_words(level: str) -> str:
    """Return a level for people: "RAID 5", "JBOD", "an erasure code", "a pool of RAID-Z2"."""
    return Layout.of_level(level).level_in_words(level)


@dataclass(frozen=True)
class Candidate(Record):
    """The answer for one family.

    Attributes
    ----------
    family : Family
    is_feasible : bool
    trial : Trial or None
        At the answer; where there is none, the trial that came nearest; None where no count was allowed at all.
    below : Trial or None
        At the next smaller count: the proof that the answer is the fewest. Where the question had no time for that, at
        the largest smaller count that was tried.
    binds : str
        Limiting factor: the criterion that rules out fewer disks; "minimum disks" where the level allows no fewer;
        where nothing is feasible, the criterion that is not met; "computing time" where fewer may be enough and were
        not tried.
    binding : Criterion or None
        That criterion at `below`, or at the nearest trial of an infeasible family.
    reason : str
        Why no fewer disks, or why no answer, in a sentence.
    is_decided : bool
        False for a feasible one: the next smaller count may be enough, within the precision of the longest run; the
        larger is taken. False for one that is not feasible: the largest count may be enough.
    rule_of_thumb_disks : int or None
    rule_of_thumb_difference : tuple of str
        Why the rule of thumb gives another number.
    trials : tuple of Trial
        All that was tried, by number of disks.
    replay_note : str
        What replaying the trace found beside the fitted workload, and why they differ; "" without a trace.
    array, workload, seed : Array, Workload and int, optional
        Complete descriptions of `trial`: with its number of requests they reproduce its figures alone.
    safety : Safety or None
        The array with a disk failed and during the rebuild; None before it is simulated.
    shingled : str
        What shingled recording does to fewer disks, or to an infeasible family, as a sentence; "" where it matters not.
    waterfall : tuple of WaterfallStep
        From the rule of thumb's number to this one; empty where it was not asked for.
    floor_ms : float or None
        Latency of the idle array in the statistic that is missed, ms; None where latency is not what is missed.
    efforts : mapping of str to Effort
        What was simulated, by purpose.
    probability : float or None
        Chance that `trial` meets the objective, in view of what is not known; None where it was not determined.
    risk : ProfileRisk or None
        The same with how it was found; None where only a few draws were tried, or none.
    nominal_disks : int or None
        The fewest disks if everything is as described; None where that was not compared.
    """

    family: Family
    is_feasible: bool
    trial: Trial | None
    below: Trial | None
    binds: str
    binding: Criterion | None
    reason: str
    is_decided: bool
    rule_of_thumb_disks: int | None
    rule_of_thumb_difference: tuple[str, ...]
    trials: tuple[Trial, ...]
    replay_note: str = ""
    array: Array | None = None
    workload: Workload | None = None
    seed: int = 0
    safety: Safety | None = None
    floor_ms: float | None = None
    waterfall: Waterfall = ()
    shingled: str = ""
    efforts: Efforts = field(default_factory=dict)
    probability: float | None = None
    risk: ProfileRisk | None = None
    nominal_disks: int | None = None

    @property
    def state(self) -> str:
        """ "feasible", "infeasible", or "undecided" where the longest run does not decide the largest count."""
        if self.is_feasible:
            return "feasible"
        return "infeasible" if self.is_decided else "undecided"

    @property
    def has_ended_early(self) -> bool:
        """Whether fewer disks may be enough that were not tried, because the question had no time left."""
        is_known = self.below is None or self.below.verdict is Verdict.FAILS
        return self.is_feasible and not self.is_decided and is_known

    @property
    def level(self) -> str:
        """The level of the array: RAID 50 where the family is RAID 5 and its groups would be too wide."""
        return self.family.level if self.array is None else self.array.layout.level

    @property
    def n_groups(self) -> int:
        """Groups of the array, of which there are more than the family's where these would be too wide."""
        return self.family.groups if self.array is None else self.array.layout.n_groups

    @property
    def level_in_words(self) -> str:
        """The level for people: "RAID 5", "RAID 50 in 2 groups", "a pool of 4 mirrors of 2"."""
        groups = self.n_groups
        name = level_in_words(self.level)
        name = f"{name} in {groups} groups" if groups > 1 else name
        if self.array is not None:
            name = self.array.layout.groups_in_words
            if not self.array.layout.has_strips:
                return name + self._pool_fields_in_words
        journal = self.family.log_device
        with_journal = f" with a journal on {device_in_words(journal)}" if journal not in ("", NONE) else ""
        if self.array is not None and self.array.layout.consistency_policy == "ppl":
            with_journal = " with a partial parity log"
        return name + with_journal

    @property
    def _pool_fields_in_words(self) -> str:
        """What the plan lets a pool choose: ", records of 16 KiB, its log on micron-7450-pro-1920".

        Its metadata may be on a special vdev.
        """
        family = self.family
        record = f", records of {pretty_bytes(family.record_bytes)}" if family.record_bytes else ""
        devices = {"log": family.log_device, "metadata": family.special_device, "cache": family.cache_device}
        return record + "".join(
            f", its {what} on {device_in_words(name)}" for what, name in devices.items() if name not in ("", NONE)
        )

    @property
    def in_words(self) -> str:
        """The answer for people: "6 × Generic 15k rpm SAS in RAID 10"; with "no" where there is none."""
        count = f"{self.disks} ×" if self.disks else "no number of"
        return f"{count} {self.family.drive.name} in {self.level_in_words}"

    def __repr__(self) -> str:
        return f"<Candidate: {self.in_words}, {self.state}>"

    @property
    def disks(self) -> int | None:
        """The fewest disks; None where infeasible."""
        return self.trial.disks if self.is_feasible and self.trial else None

    @property
    def is_sure(self) -> bool:
        """Whether it is not known to have too small a chance of meeting the objective."""
        return self.risk is None or self.risk.is_confident

    @property
    def is_unsafe(self) -> bool:
        """Whether it is known to lose data too often, or not to end a rebuild beside its load."""
        return self.safety is not None and not self.safety.is_safe

    @property
    def more_may_help(self) -> bool:
        """Whether more disks than the plan allows might meet the objective that these miss; no disks make an idle array
        faster."""
        if self.is_feasible:
            return False
        return self.floor_ms is None or self.binding is None or self.floor_ms <= self.binding.limit

    @property
    def waterfall_moves(self) -> bool:
        """Whether some step from the rule of thumb to the answer has another number of disks than the rest."""
        return len({step.disks for step in self.waterfall}) > 1

    @property
    def p99_ms(self) -> float | None:
        """p99 latency of all requests at the answer; None where it is unknown."""
        outcome = self.trial.outcome if self.trial else None
        p99 = outcome.latency_of("p99") if outcome else None
        return None if p99 is None else p99.value / 1e6

    @property
    def row(self) -> dict[str, Any]:
        """The figures of the answer by name, each of one value; nan where unknown."""
        trial, safety = self.trial, self.safety
        outcome = trial.outcome if trial else None
        figures: dict[str, Any] = {
            "drive": self.family.drive.name,
            "level": self.level,
            "groups": self.n_groups,
            "strip_bytes": self.family.strip_bytes,
            "cache_bytes": self.family.cache_bytes,
            "record_bytes": self.family.record_bytes,
            "log_device": self.family.log_device,
            "special_device": self.family.special_device,
            "cache_device": self.family.cache_device,
            "disks": trial.disks if trial else math.nan,
            "state": self.state,
            "is_decided": self.is_decided,
            "limited_by": self.binds,
            "rule_of_thumb_disks": math.nan if self.rule_of_thumb_disks is None else self.rule_of_thumb_disks,
            **figures_of(outcome),
            "usable_bytes": trial.statics.usable_bytes if trial else math.nan,
            "cost_usd": trial.statics.cost_usd if trial else math.nan,
            "degraded_p99_ms": math.nan,
            "rebuilding_p99_ms": math.nan,
            "rebuild_hours": trial.statics.rebuild_hours if trial else math.nan,
            "data_loss_per_year": trial.statics.loss_per_year if trial else math.nan,
        }
        if safety is not None:
            for name, one in (("degraded", safety.degraded), ("rebuilding", safety.rebuilding)):
                p99_ms = safety.p99_ms(one)
                figures[f"{name}_p99_ms"] = math.nan if p99_ms is None else p99_ms
            figures |= {"rebuild_hours": safety.rebuild_hours, "data_loss_per_year": safety.loss_per_year}
        return figures

    def json_fields(self) -> Mapping[str, Any]:
        """Return the family, its answer with all figures, and everything that was tried."""
        data: dict[str, Any] = {**self.family.to_dict(), "disks": self.disks, "feasible": self.is_feasible}
        data |= {"probability": self.probability, "nominal_disks": self.nominal_disks}
        if self.array is not None:
            data |= {"level": self.level, "groups": self.array.layout.n_groups, "family_level": self.family.level}
        data |= {
            "binds": self.binds,
            "reason": self.reason,
            "shingled": self.shingled or None,
            "decided": self.is_decided,
            "binding": self.binding,
        }
        outcome = self.trial.outcome if self.trial else None
        data |= outcome.to_dict() if outcome else {"iops": None, "latency_ms": {}}
        if outcome is not None and self.array is not None:
            years = wear_years(self.array.drive, outcome.most_written_bytes_per_s)
            data |= {"wear_years": years if math.isfinite(years) else None}
        if self.trial is not None:
            figures = self.trial.statics
            data |= {
                "tried_disks": self.trial.disks,
                "usable_bytes": figures.usable_bytes,
                "cost_usd": figures.cost_usd,
                "rack_units": figures.rack_units,
                **rebuild_fields(figures.rebuild_hours),
                "data_loss_per_year": figures.loss_per_year,
                "criteria": self.trial.criteria,
                "degraded": self.trial.degraded,
                "replay": self.trial.replay,
                "degraded_replay": self.trial.degraded_replay,
                "replay_note": self.replay_note or None,
            }
        if self.safety is not None:
            data |= {
                **rebuild_fields(self.safety.rebuild_hours),
                "data_loss_per_year": self.safety.loss_per_year,
                "safety": self.safety,
            }
        data |= {"floor_ms": self.floor_ms, "array": self.array, "workload": self.workload, "seed": self.seed}
        return data | {
            "below": self.below,
            "rule_of_thumb_disks": self.rule_of_thumb_disks,
            "rule_of_thumb_difference": self.rule_of_thumb_difference,
            "waterfall": self.waterfall,
            "trials": self.trials,
            "effort": effort_fields(self.efforts),
        }


def nearest(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the infeasible candidate that misses the objective by least."""
    missed = [c for c in candidates if c.binding is not None]
    return max(missed, key=lambda c: c.binding.margin_ratio if c.binding else 0.0, default=None)


def by_size(candidate: Candidate) -> tuple[int, float]:
    """Return what feasible candidates are put in order by where neither price nor speed decides: disks, then p99."""
    return candidate.disks or 0, candidate.p99_ms or 0.0
