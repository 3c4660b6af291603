"""Behind a page cache, a plan counts the slower one of an even and an empty start."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.plan.trial import simulated
from diskmodel.plan.trial.simulated import MIN_FOR_WAVES, WAVES, Simulated
from diskmodel.result import Result
from diskmodel.workload import Workload

LAYOUT = {"level": "raid10", "disks": 4}
PAGE_CACHE = {"memory": "64 MiB", "dirty_expire": "2 s"}
LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": "300/s"})


def runs_of(monkeypatch: pytest.MonkeyPatch, n_requests: int, **host: Any) -> tuple[list[tuple[str, Result]], float]:
    """Start and result of each run, and the p99 that the plan reads, in ns."""
    seen: list[tuple[str, Result]] = []
    simulate = simulated.simulate

    def noted(*args: Any, **settings: Any) -> Result:
        seen.append((settings.get("start", "steady"), simulate(*args, **settings)))
        return seen[-1][1]

    monkeypatch.setattr(simulated, "simulate", noted)
    array = Array.parse({"drive": "generic-15k", "layout": LAYOUT, "host": host})
    outcome = Simulated()(array, LOAD, n_requests=n_requests, seed=1)
    return seen, outcome.latency_ns[""]["p99"].value


def test_the_slower_start_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, p99 = runs_of(monkeypatch, MIN_FOR_WAVES, is_buffered=True, page_cache=PAGE_CACHE)
    assert [start for start, _ in seen] == ["steady", "empty"]
    assert p99 == max(result.latency.quantiles_ns["p99"] for _, result in seen)
    assert seen[1][1].run.end_ns > 0.95 * WAVES * 2e9


def test_short_runs_only_search(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(runs_of(monkeypatch, MIN_FOR_WAVES - 1, is_buffered=True, page_cache=PAGE_CACHE)[0]) == 1


def test_without_a_page_cache_there_is_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(runs_of(monkeypatch, MIN_FOR_WAVES)[0]) == 1
