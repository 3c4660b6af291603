"""Evaluations whose answers are known, in place of an engine."""

from __future__ import annotations

import math
import threading
import zlib
from dataclasses import dataclass, field
from typing import Any

from diskmodel.analytic.queueing import mm1
from diskmodel.analytic.rule import back_end_per_host, write_penalty
from diskmodel.array import Array
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.rule_of_thumb import read_fraction
from diskmodel.result import Interval
from diskmodel.workload import Workload

SERVICE_S = {15_000: 0.005, 10_000: 0.007, 7_200: 0.011}
FLASH_SERVICE_S = 0.0002


def plan_of(*, exact: bool = True, **more: Any) -> PlanDescription:
    """A small plan; keyword arguments replace its tables. Parity groups may have any width unless these say another.

    Drives are exactly as they are described, unless asked otherwise: these evaluations are the same for all others.
    """
    data: dict[str, Any] = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "1000/s"},
        "objective": {"latency": {"p99": "40 ms"}},
        "candidates": {"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": 40},
    }
    data |= more
    data["candidates"] = {"max_group_width": 10_000, **data["candidates"]}
    plan = PlanDescription.parse(data)
    drives = tuple(drive.model_copy(update={"exact": True}) for drive in plan.candidates.drives)
    known = plan.candidates.model_copy(update={"drives": drives})
    return plan.model_copy(update={"candidates": known}) if exact else plan


@dataclass(frozen=True)
class Queues:
    """Every disk is an M/M/1 queue with its share of the operations that the rule of thumb counts.

    `noise` is the relative half-width of all intervals at 1000 requests; it falls with the root of their number, and
    the values themselves are off by up to half of it.
    """

    noise: float = 0.0
    runs: list[tuple[str, int, int]] = field(default_factory=list, compare=False)
    _lock: Any = field(default_factory=threading.Lock, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"noise": self.noise, "runs": self.runs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "_lock", threading.Lock())

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        with self._lock:
            self.runs.append((array.name, array.layout.disks, n_requests))
        # the rule of thumb ignores pools: theirs are as two copies here
        read, level = read_fraction(workload), "raid10" if array.layout.is_cached_in_memory else array.layout.level
        cache = array.controller.read_cache
        hit = 0.0 if cache is None else (cache.hit_ratio or 0.2)
        per_host = back_end_per_host(write_penalty(level, n_parity=array.layout.n_parity), read, hit)
        service = SERVICE_S[int(array.drive.rpm)] if array.drive.kind == "hdd" else FLASH_SERVICE_S
        working = array.layout.disks - len(array.layout.failed)
        if workload.queue_depth:
            rate = workload.queue_depth / (workload.queue_depth + working) * working / service / per_host
        else:
            rate = workload.offered_rate_per_s
        queue = mm1(rate * per_host / working, service)
        rate = min(rate, working / service / per_host)  # an overloaded array does what it can
        wobble = self.noise * math.sqrt(1000 / n_requests)
        # a fixed error for each array and length of run, within the interval
        bits = zlib.crc32(f"{array.name}{n_requests}{seed}".encode()) / 2**32 - 0.5
        value = 1 + wobble * bits

        def figure(x: float) -> Interval:
            return Interval(x * value, x * value * (1 - wobble), x * value * (1 + wobble))

        mean_ns = queue.response_s * 1e9
        quantiles = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
        latency = {"mean": figure(mean_ns)}
        latency |= {name: figure(-math.log(1 - q) * mean_ns) for name, q in quantiles.items()}
        return Outcome(
            is_stable=queue.is_stable,
            iops=figure(rate),
            bytes_per_s=figure(rate * 8192),
            latency_ns={"": latency, **{s.name: latency for s in workload.streams}},
            utilization_ratio=queue.utilization_ratio,
            back_end_per_host=per_host,
            n_requests=n_requests,
            method="queues",
        )


def brute_force(plan: PlanDescription, level: str, holds_ms: float) -> int | None:
    """Fewest disks by trying all of them, from the formula of M/M/1 alone."""
    read = read_fraction(plan.workload)
    for disks in plan.candidates.counts:
        if (level == "raid10" and (disks % 2 or disks < 4)) or (level == "raid5" and disks < 3):
            continue
        rate = plan.workload.offered_rate_per_s * back_end_per_host(write_penalty(level), read) / disks
        queue = mm1(rate, SERVICE_S[15_000])
        if queue.is_stable and -math.log(0.01) * queue.response_s * 1000 <= holds_ms:
            return disks
    return None
