"""Each field of each table of a plan, set alone to an unusual value: the answer is another, or the field is refused, or
named as without effect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.description import Description
from diskmodel.drive import load_drive
from diskmodel.errors import InputError
from diskmodel.layout import Rebuild
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.common_layout import CommonLayout
from diskmodel.plan.question.description import Candidates, GroupWidth, PlanDescription
from diskmodel.plan.question.objective import Degraded, LatencyLimits, LatencyObjective, Objective
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.trial.evaluation import evaluator
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues

MS = 1_000_000
LOAD = {
    "streams": [
        {"name": "a", "size": "8 KiB", "rate": "400/s", "read_ratio": 0.7},
        {"name": "b", "size": "16 KiB", "rate": "50/s", "read_ratio": 0.0, "sync": "dsync"},
    ]
}
MIRRORS: dict[str, Any] = {
    "workload": LOAD,
    "objective": {"latency": {"p99": "60 ms"}},
    "candidates": {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 8},
    "search": {"requests": 2000, "max_requests": 4000, "max_requests_at_answer": 8000},
}

#: Few drives of the catalogue say what they draw.
POWERED = {**load_drive("generic-15k").to_dict(), "name": "powered", "power_w": 9.0}


def with_(base: Mapping[str, Any], **tables: Mapping[str, Any]) -> dict[str, Any]:
    return {**base, **{name: {**base.get(name, {}), **table} for name, table in tables.items()}}


#: Plans that between them have what others lack.
PLANS: dict[str, dict[str, Any]] = {
    "mirrors": MIRRORS,
    "groups": with_(MIRRORS, candidates={"levels": ["raid50", "raid6"], "max_disks": 16}),
    "pools": with_(
        MIRRORS,
        candidates={"levels": ["raidz1", "draid1"], "max_disks": 12},
        controller={"read_cache": {"size": "1 GiB"}},
        objective={"capacity_bytes": 10**11},
    ),
    "growing": with_(
        MIRRORS,
        objective={
            "latency": {"p99": "90 ms"}, "capacity_bytes": 4 * 10**11, "growth_ratio": 0.1,
            "capacity_growth_ratio": 0.2, "years": 3,
            "rebuild_hours": 30.0, "data_loss_per_year": 0.5, "cost_usd": 5000.0, "rack_units": 4,
            "degraded": {"latency": {"p99": "200 ms"}},
        },
        candidates={"drives": [POWERED]},
        prices={"drives_usd": {"powered": 100.0}, "power_usd_per_kwh": 0.2},
    ),
    "rule of thumb": with_(MIRRORS, search={"method": "rule"}, objective={"iops": 300.0}),
}  # fmt: skip

#: An unusual value of each field of each table.
UNUSUAL: dict[type[Description], dict[str, Any]] = {
    Objective: {
        "iops": 555.0, "throughput_bytes_per_s": 7e6, "commits_per_s": 77.0, "growth_ratio": 0.35, "years": 4.5,
        "peak_factor": 1.7, "capacity_bytes": 3 * 10**11, "capacity_growth_ratio": 0.45, "fill_limit_ratio": 0.55,
        "formatting_ratio": 0.15, "utilization_ceiling_ratio": 0.35, "rebuild_hours": 11.0,
        "data_loss_per_year": 1e-5, "replacement_hours": 90.0, "busy_hours": 7.0, "cost_usd": 700.0, "rack_units": 1,
        "confidence": 0.6,
    },
    LatencyLimits: {"mean_ns": 9 * MS, "p50_ns": 8 * MS, "p95_ns": 25 * MS, "p99_ns": 33 * MS, "p999_ns": 70 * MS},
    Degraded: {"failures": 2, "load_ratio": 0.5, "utilization_ceiling_ratio": 0.5},
    Candidates: {
        "drives": ["generic-7k2"], "levels": ["raid1"], "min_disks": 12, "max_disks": 7, "disks": [6, 8],
        "strip_bytes": 16384, "cache_bytes": 1 << 30, "groups": 3, "record_bytes": 32768,
        "log_devices": ["micron-7450-pro-1920"], "special_devices": ["2x micron-7450-pro-1920"],
        "cache_devices": ["micron-7450-pro-1920"], "spares": 1,
    },
    GroupWidth: {"raid5": 3, "raid6": 4, "raidz": 4},
    Rebuild: {
        "action": "check", "disk": 1, "speed_min_bytes_per_s": 5e7, "speed_max_bytes_per_s": 2e6,
        "window_bytes": 1 << 20, "steps_at_once": 3, "done_ratio": 0.5, "used_ratio": 0.3, "sequential": True,
        "page_ns": MS, "has_barriers": False,
    },
    CommonLayout: {
        "copies": 4, "arrangement": "far", "largest_request_bytes": 16384, "stripe_cache_pages": 64,
        "huge_page_ratio": 0.5, "n_parity": 2, "data_disks": 2, "distributed_spares": 1, "record_bytes": 32768,
        "ashift": 13, "sync": "disabled", "dirty_data_max_bytes": 64 << 20, "record_work_ns": 300_000,
        "rotation": "left-asymmetric", "read_policy": "primary", "read_strips": "separate",
        "write_policy": "reconstruct-write", "read_modify_write": "held", "member_bytes": 1 << 33,
        "data_offset_bytes": 1 << 20, "bitmap": {"chunk_bytes": 1 << 20}, "consistency_policy": "ppl",
        "log": "micron-7450-pro-1920", "special": "2x micron-7450-pro-1920", "cache": "micron-7450-pro-1920",
    },
    Prices: {
        "drives_usd": {"powered": 321.0}, "slot_usd": 44.0, "power_usd_per_kwh": 0.9, "power_factor": 1.8,
        "years": 2.5, "disks_per_rack_unit": 2.0,
    },
    Search: {
        "method": "rule", "minimize": "cost", "seed": 99, "requests": 3000, "max_requests": 6000,
        "max_requests_at_answer": 16_000, "engine": "simpy",
    },
    PlanDescription: {
        "drive_write_cache": True, "drive_fua": True, "used_ratio": 0.5, "name": "another", "notes": ["y"],
    },
}  # fmt: skip
#: Another value of those that only limit the search.
ALSO = {"candidates.max_disks": 5, "candidates.min_disks": 6, "search.minimize": "disks"}
#: Where each of these tables is.
WHERE: dict[type[Description], str] = {
    Objective: "objective", LatencyLimits: "objective.latency", Degraded: "objective.degraded",
    Candidates: "candidates", GroupWidth: "candidates.max_group_width", Rebuild: "candidates.rebuild",
    CommonLayout: "layout", Prices: "prices", Search: "search", PlanDescription: "",
}  # fmt: skip
#: Tables within tables, and what has tests of its own.
PARTS: dict[type[Description], set[str]] = {
    Objective: {"latency", "commit_latency", "degraded"},
    Degraded: {"latency", "commit_latency"},
    Candidates: {"max_group_width", "rebuild"},
    PlanDescription: {
        "workload", "objective", "candidates", "layout", "controller", "queue", "host", "spindles", "prices", "search",
        "recording",
    },
}  # fmt: skip
#: What counts where not all is as described; and what is said beside every answer.
OF_CHANCE, ELSEWHERE = {"objective.confidence"}, {"notes"}


class Asked(Queues):
    """Notes which runs a plan asks for."""

    def __init__(self) -> None:
        super().__init__(noise=0.5)
        object.__setattr__(self, "asked", [])

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        self.asked.append(  # type: ignore[attr-defined]
            (array.model_dump_json(), workload.model_dump_json(), n_requests, seed)
        )
        return super().__call__(array, workload, n_requests=n_requests, seed=seed)


def seen(plan: PlanDescription, *, by_chance: bool = False) -> tuple[str, str, list[str]]:
    """Return the runs that a plan asks for, its answer without the plan itself, and what it names as without effect."""
    evaluate = Asked()
    result = run_plan(plan, evaluate=evaluate, by_chance=by_chance, with_relaxations=False)
    answer = result.to_dict()
    named = answer.pop("without_effect", [])
    answer.pop("plan", None)
    return repr(evaluator(plan)) + json.dumps(sorted(evaluate.asked)), json.dumps(answer, default=str), named  # type: ignore[attr-defined]


def set_in(base: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {**base, first: set_in(base.get(first, {}), rest, value) if rest else value}


def fields() -> Iterator[tuple[str, Any]]:
    for cls, values in UNUSUAL.items():
        for field, value in values.items():
            yield f"{WHERE[cls]}.{field}".lstrip("."), value
    yield from ALSO.items()


@pytest.mark.parametrize(
    "base", [name if name == "mirrors" else pytest.param(name, marks=pytest.mark.slow) for name in PLANS]
)
def test_each_field_matters_or_is_named_or_refused(base: str) -> None:
    plan = PlanDescription.parse(PLANS[base])
    as_described, by_chance = seen(plan), seen(plan, by_chance=True)
    silent, effective = set(), set()
    for path, value in fields():
        data = set_in(PLANS[base], path, value)
        if data == PLANS[base]:
            continue
        try:
            is_chance = path in OF_CHANCE
            after = seen(PlanDescription.parse(data), by_chance=is_chance)
        except InputError:
            effective.add(path)
            continue
        before = by_chance if is_chance else as_described
        matters, is_named = after[:2] != before[:2], any(path in text for text in after[2])
        (effective if matters or is_named or path in ELSEWHERE else silent).add(path)
    assert not silent - effective


def test_every_field_is_tried() -> None:
    for cls, values in UNUSUAL.items():
        assert set(cls.model_fields) - PARTS.get(cls, set()) == set(values), cls
    assert set(LatencyObjective.model_fields) == {*UNUSUAL[LatencyLimits], "streams"}
