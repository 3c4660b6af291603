"""What would relax the binding criterion most, and how the answer moves when an input is not what was thought."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from diskmodel.drive import Hdd
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.criteria import Criterion, Verdict
from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, allowed_counts, array_of
from diskmodel.plan.search.fewest_disks import Candidate, search_family
from diskmodel.plan.search.trial import Trier
from diskmodel.plan.search.uncertain import variants
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Relaxation:
    """One change to an array that falls short, and what it brings.

    Attributes
    ----------
    change : str
    disks : int
    criterion : Criterion
        The binding one, after the change.
    gain_ratio : float
        Margin won, as a share of the limit.
    holds : bool
        Whether everything holds then.
    """

    change: str
    disks: int
    criterion: Criterion
    gain_ratio: float
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        gain = self.gain_ratio if math.isfinite(self.gain_ratio) else None
        return {
            "change": self.change,
            "disks": self.disks,
            "gain_ratio": gain,
            "holds": self.holds,
            **self.criterion.to_dict(),
        }


def relaxations(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> list[Relaxation]:
    """Changes that help the array just short of the objective, the most helpful first.

    The array is the one with a step fewer disks than the answer, or the nearest one where nothing was feasible. Asked
    are: more disks (where the answer is not just that), another level, a faster drive among the candidates, more
    cache, more hits. What does not move the binding criterion is left out.
    """
    short = candidate.below or candidate.trial
    binding = candidate.binding
    if short is None or binding is None:
        return []
    found = []
    for change, changed, family, disks in _changes(plan, candidate, short.disks):
        try:
            array_of(changed, family, disks)
        except DescriptionError:
            continue
        trial = Trier(changed, family, evaluate, always_runs=True)(disks)
        after = next((c for c in trial.criteria if (c.name, c.detail) == (binding.name, binding.detail)), None)
        if after is None and binding.detail == "overloaded" and trial.outcome is not None and trial.outcome.is_stable:
            after = replace(binding, figure=trial.outcome.iops, verdict=Verdict.HOLDS)
        if after is not None and (trial.is_met or after.margin_ratio > binding.margin_ratio):
            gain = after.margin_ratio - binding.margin_ratio
            gain = gain if not math.isnan(gain) else 0.0
            found.append(Relaxation(change, disks, after, gain, trial.is_met))
    return sorted(found, key=lambda item: (not item.holds, -item.gain_ratio))


def _changes(
    plan: PlanDescription, candidate: Candidate, disks: int
) -> Iterator[tuple[str, PlanDescription, Family, int]]:
    family = candidate.family
    wider = plan.model_copy(
        update={"candidates": plan.candidates.model_copy(update={"disks": None, "max_disks": disks + 8})}
    )
    more = next((n for n in allowed_counts(wider, family) if n > disks), None)
    if more is not None and not candidate.is_feasible:
        yield f"{more - disks} more disk{'s' if more - disks > 1 else ''}", plan, family, more
    if family.level != "raid10":
        yield "RAID 10 instead", plan, replace(family, level="raid10", groups=1), disks
    for drive in plan.candidates.drives:
        if isinstance(drive, Hdd) and isinstance(family.drive, Hdd) and drive.rpm <= family.drive.rpm:
            continue
        if drive.name != family.drive.name and not (isinstance(drive, Hdd) and not isinstance(family.drive, Hdd)):
            yield f"{drive.name} drives", plan, replace(family, drive=drive), disks
    cache = plan.controller.read_cache
    if family.cache_bytes:
        yield "twice the cache", plan, replace(family, cache_bytes=2 * family.cache_bytes), disks
    elif cache is not None and cache.hit_ratio is not None and cache.hit_ratio <= 0.9:
        yield "10 % more of the reads hit the cache", with_cache_hit(plan, cache.hit_ratio + 0.1), family, disks
    elif cache is None:
        yield "1 GiB of read cache", plan, replace(family, cache_bytes=1 << 30), disks


@dataclass(frozen=True)
class Sensitivity:
    """How the answer moves with one input.

    Attributes
    ----------
    input : str
    low, high : str
        What was supposed instead.
    disks_low, disks_high : int or None
        The answers then; None: not feasible.
    """

    input: str
    low: str
    high: str
    disks_low: int | None
    disks_high: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


def sensitivity(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> list[Sensitivity]:
    """How the number of disks of a candidate's family moves when an input is 10 % off, largest swing first.

    Inputs: the load, the share of reads, cache hits where they are stated, the space needed; the parameters of a
    calibrated drive by two standard errors, or the seeks of another one.
    """

    def answer(changed: PlanDescription, family: Family) -> int | None:
        return search_family(changed, family, evaluate).disks

    family = candidate.family
    found = []
    for name, (low, low_plan, low_family), (high, high_plan, high_family) in _inputs(plan, family):
        found.append(Sensitivity(name, low, high, answer(low_plan, low_family), answer(high_plan, high_family)))
    infinite = 10**9
    return sorted(found, key=lambda s: -abs((s.disks_high or infinite) - (s.disks_low or infinite)))


_Variant = tuple[str, PlanDescription, Family]


def _inputs(plan: PlanDescription, family: Family) -> Iterator[tuple[str, _Variant, _Variant]]:
    objective = plan.objective
    factors = (("-10 %", 0.9), ("+10 %", 1.1))

    def of_objective(**update: Any) -> PlanDescription:
        return plan.model_copy(update={"objective": objective.model_copy(update=update)})

    if objective.iops is not None:
        low, high = ((t, of_objective(iops=f * objective.iops), family) for t, f in factors)
    else:
        low, high = ((t, plan.model_copy(update={"workload": plan.workload.scaled(f)}), family) for t, f in factors)
    yield "load", low, high
    ratios = [stream.read_ratio for stream in plan.workload.streams]
    if any(0 < ratio < 1 for ratio in ratios):
        yield (
            "share of reads",
            ("-10 points", _with_read_shift(plan, -0.1), family),
            ("+10 points", _with_read_shift(plan, 0.1), family),
        )
    cache = plan.controller.read_cache
    if cache is not None and cache.hit_ratio is not None and not family.cache_bytes:
        shifted = [min(1.0, max(0.0, cache.hit_ratio + shift)) for shift in (-0.1, 0.1)]
        yield (
            "cache hits",
            ("-10 points", with_cache_hit(plan, shifted[0]), family),
            ("+10 points", with_cache_hit(plan, shifted[1]), family),
        )
    if isinstance(family.drive, Hdd) and family.drive.uncertainty is None:
        low_s, high_s = ((t, plan, replace(family, drive=_with_seek_factor(family.drive, f))) for t, f in factors)
        yield "seek times", low_s, high_s
    yield from _measured_inputs(plan, family)
    if objective.capacity_bytes:
        low_c, high_c = (
            (t, of_objective(capacity_bytes=int(f * objective.capacity_bytes)), family) for t, f in factors
        )
        yield "data to store", low_c, high_c


def _measured_inputs(plan: PlanDescription, family: Family) -> Iterator[tuple[str, _Variant, _Variant]]:
    for name, low, high in variants(family.drive):
        yield (
            f"{name} of the drive",
            ("-2 standard errors", plan, replace(family, drive=low)),
            ("+2 standard errors", plan, replace(family, drive=high)),
        )


def _with_read_shift(plan: PlanDescription, shift: float) -> PlanDescription:
    streams = tuple(
        stream.model_copy(update={"read_ratio": min(1.0, max(0.0, stream.read_ratio + shift))})
        if 0 < stream.read_ratio < 1
        else stream
        for stream in plan.workload.streams
    )
    workload: Workload = plan.workload.model_copy(update={"streams": streams})
    return plan.model_copy(update={"workload": workload})


def with_cache_hit(plan: PlanDescription, hit_ratio: float) -> PlanDescription:
    """The plan with another stated hit ratio of the controller's read cache."""
    cache = plan.controller.read_cache
    assert cache is not None
    controller = plan.controller.model_copy(update={"read_cache": cache.model_copy(update={"hit_ratio": hit_ratio})})
    return plan.model_copy(update={"controller": controller})


def _with_seek_factor(drive: Hdd, factor: float) -> Hdd:
    """The drive with every seek so many times as long, its geometry unchanged."""
    tables = drive.tables()
    curve = [round(factor * int(t)) for t in tables.seek_ns]
    points = sorted({1, *(min(2**k, tables.n_cylinders - 1) for k in range(1, 40)), tables.n_cylinders - 1})
    table = {"kind": "table", "distance": points, "time_ms": [curve[d] / 1e6 for d in points]}
    zones = [zone.to_dict() for zone in drive.zone_list()]
    data = {
        key: value
        for key, value in drive.to_dict().items()
        if key not in ("outer_bytes_per_s", "inner_bytes_per_s", "cylinders", "n_zones", "uncertainty")
    }
    data |= {
        "seek": table,
        "zones": zones,
        "head_switch_ns": drive.switch_ns,
        "write_settle_ns": drive.settle_ns,
    }
    return Hdd.parse(data)
