"""A run sees enough ups and downs of the load, or says that it did not (rule Z11)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.result import Result
from diskmodel.result.run_length import suggest_n
from diskmodel.result.statistics.window import MIN_CYCLES, cycle_of, enough_cycles, unseen_share

ARRAY = Array.from_words("8x generic-10k raid10")
STREAM = {"size": "8 KiB", "read_ratio": 0.7, "span": "1 TB"}
#: 45,000 requests in a burst that eight disks do not serve, and 180,000 until the next: a run of 30,000 sees one or the
#: other.
NIGHTLY = {"kind": "bursts", "on_rate": "1500/s", "off_rate": "50/s", "mean_on": "30 s", "mean_off": "1 h"}
DAY = {"relative_rates": [0.2] * 12 + [1.8] * 12, "period": "24 h"}


def load(**arrival: object) -> Workload:
    return Workload.parse(STREAM | arrival)


def ran(workload: Workload, n: int, seed: int = 1, **options: object) -> Result:
    return simulate(ARRAY, workload, n_requests=n, seed=seed, profile_draws=0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arrival", "seconds", "per_s"),
    [
        ({"arrival": NIGHTLY}, 3630, (30 * 1500 + 3600 * 50) / 3630),
        ({"rate": "400/s", "profile": DAY}, 86400, 400),
        ({"arrival": {"kind": "given", "inter_arrival_ns": ["1 ms", "1 ms", "7 ms"]}}, 0.009, 3 / 0.009),
        ({"rate": "400/s"}, 0, 400),
        ({"arrival": {"kind": "given", "inter_arrival_ns": ["5 ms"]}}, 0, 200),
        ({"rate": "400/s", "profile": {"relative_rates": [2, 2]}}, 0, 400),
        ({"clients": 4}, 0, 1),
    ],
)
def test_a_cycle_is_counted_in_requests(arrival: dict[str, object], seconds: float, per_s: float) -> None:
    requests = load(**arrival).requests(capacity_bytes=ARRAY.usable_bytes, n=10)
    assert cycle_of(requests) == pytest.approx(seconds * per_s, abs=1)


def test_beside_other_streams_a_cycle_has_their_requests_too() -> None:
    streams = [{"name": "steady", "rate": "300/s"}, {"name": "wave", "rate": "100/s", "profile": DAY}]
    requests = Workload.parse({"streams": [STREAM | one for one in streams]}).requests(
        capacity_bytes=ARRAY.usable_bytes, n=10
    )
    assert cycle_of(requests) == 86400 * 400


@pytest.mark.parametrize("keep", ["all", "histogram"])
def test_a_run_between_two_bursts_has_not_settled_and_says_so(keep: str) -> None:
    found = ran(load(arrival=NIGHTLY), 30_000, keep=keep)
    assert not found.is_settled
    assert not found.is_converged
    assert any("rises and falls once in about 225,000 requests" in line for line in found.messages)
    assert any(f"at least {enough_cycles(225_000):,} requests" in line for line in found.messages)


def test_a_burst_that_overloads_is_not_called_an_overload() -> None:
    # starts in a burst that lasts longer than the run, and on average half of the array is idle
    seeds = range(40)
    arrival = NIGHTLY | {"on_rate": "3000/s", "mean_off": "60 s"}
    workload = load(arrival=arrival)
    issued_ns = {s: workload.requests(capacity_bytes=10**12, n=99, seed=s).when_ns[-1] for s in seeds}
    found = ran(workload, 6_000, seed=min(issued_ns, key=lambda s: int(issued_ns[s])))
    assert found.is_stable
    assert not found.is_stability_known


def test_enough_short_bursts_settle() -> None:
    arrival = {"kind": "bursts", "on_rate": "600/s", "off_rate": "50/s", "mean_on": "1 s", "mean_off": "3 s"}
    found = ran(load(arrival=arrival), enough_cycles(750))
    assert found.is_settled
    assert not Simulated()(ARRAY, load(arrival=arrival), n_requests=750 * MIN_CYCLES, seed=1).is_partial
    assert Simulated()(ARRAY, load(arrival=arrival), n_requests=750 * MIN_CYCLES - 1, seed=1).is_partial


def planned(workload: dict[str, object], latency: dict[str, object], **search: object) -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": workload,
            "objective": {"capacity": "0.5 TB", "latency": latency},
            "candidates": {"drives": "generic-10k", "levels": "raid10", "max_disks": 12},
            "search": search,
        }
    )


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize(
    ("arrival", "busiest"), [({"arrival": NIGHTLY}, 1500), ({"rate": "400/s", "profile": DAY}, 720)]
)
def test_a_plan_does_not_answer_from_the_quiet_hours(arrival: dict[str, object], busiest: float, seed: int) -> None:
    plan = planned({"size": "8 KiB", "read_ratio": 0.7, **arrival}, {"p99": "40 ms"}, seed=seed)
    (candidate,) = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False).candidates
    assert candidate.workload is not None
    assert candidate.workload.offered_rate_per_s == pytest.approx(busiest)
    assert candidate.disks is None or candidate.disks >= 8, "four are enough for the quiet hours"


def test_a_plan_whose_budget_sees_too_few_cycles_is_undecided() -> None:
    # a cycle is cheap enough in a longer run, and the plan's first runs see too few of them
    arrival = {"kind": "bursts", "on_rate": "1500/s", "off_rate": "50/s", "mean_on": "3 s", "mean_off": "50 s"}
    found = Simulated()(ARRAY, load(arrival=arrival), n_requests=20_000, seed=1)
    assert found.cycle_requests == pytest.approx(7_000, abs=1)
    assert found.enough_requests == enough_cycles(found.cycle_requests)


def test_a_limit_on_a_stream_that_was_not_seen_is_undecided() -> None:
    streams = [{"name": "data", "rate": "400/s"}, {"name": "rare", "rate": "0.001/s", "size": "1 MiB"}]
    workload = {"streams": [{"size": "8 KiB", "read_ratio": 1.0} | one for one in streams]}
    plan = planned(
        workload, {"streams": {"rare": {"p99": "30 ms"}}}, max_requests_at_answer=30_000, max_requests=30_000
    )
    (candidate,) = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False).candidates
    assert candidate.state == "undecided"


BEFORE_A_CACHE = Array.parse(
    {
        "drive": "generic-10k",
        "layout": {"level": "raid10", "disks": 14},
        "controller": {"write_cache": {"size": "40 MiB", "line_bytes": 4096, "destage_depth": 64}},
    }
)
RARELY_LONG = {"kind": "bursts", "on_rate": "4000/s", "off_rate": "50/s", "mean_on": "2 s", "mean_off": "60 s"}
WRITES = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "arrival": RARELY_LONG})


def test_eleven_bursts_that_a_cache_absorbs_do_not_show_what_the_next_one_does() -> None:
    """p99 of 3 million requests is 0.03 or 100 ms, depending on the seed: more than 1 % of them wait in some bursts."""
    found = simulate(BEFORE_A_CACHE, WRITES, n_requests=125_000, seed=3, profile_draws=0)
    assert found.latency.run_ends_ns["p99"][0] == found.latency.quantiles_ns["p99"] == 30_000
    assert math.isnan(found.latency.run_ends_ns["p99"][1])
    assert math.isnan(found.latency.mean.high)
    assert math.isfinite(found.latency.run_ends_ns["p50"][1])  # at most 3 of 11 bursts in 20
    assert not found.is_converged
    assert any("no burst filled the controller's write cache" in line for line in found.messages)
    # 300 bursts, and one to begin with
    assert suggest_n(found) == 301 * 11_000
    long = simulate(BEFORE_A_CACHE, WRITES, n_requests=1_000_000, seed=3, profile_draws=0)
    assert long.latency.run_ends_ns["p99"][1] > 50e6


def test_a_plan_says_how_long_a_run_must_be_before_such_a_cache() -> None:
    plan = PlanDescription.parse(
        {
            "workload": {"size": "8 KiB", "read_ratio": 0.0, "arrival": RARELY_LONG},
            "objective": {"latency": {"p99": "20 ms"}},
            "candidates": {"drives": ["generic-10k"], "levels": ["raid10"], "disks": 14},
            "controller": {"write_cache": {"size": "40 MiB", "line_bytes": 4096, "destage_depth": 64}},
            "search": {"seed": 3, "max_requests": 125_000, "max_requests_at_answer": 125_000},
        }
    )
    (candidate,) = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False).candidates
    assert candidate.state == "undecided"
    assert f"known from {301 * 11_000:,} requests on: raise search.max_requests_at_answer" in candidate.reason


def test_a_cache_before_bursts_begins_as_at_their_mean_rate() -> None:
    """The first 6,000 requests are of one burst with some seeds, and would fill it."""
    for seed in range(3):
        found = simulate(BEFORE_A_CACHE, WRITES, n_requests=2_000, seed=seed, profile_draws=0)
        assert found.run.levels[0, 1] <= found.run.level_marks[0] + (1 << 20)


def test_fewer_bursts_than_a_hundred_for_each_three_are_not_enough() -> None:
    requests = WRITES.requests(capacity_bytes=10**12, n=10)
    levels = np.array([[1, 10, 0, 0, 0]], np.int64)
    run = simulate(BEFORE_A_CACHE, WRITES, n_requests=300, profile_draws=0).run
    half_full = replace(run, cache_bytes=20, levels=levels)
    assert unseen_share(requests, half_full, 300 * 11_000, 0) == pytest.approx(0.01)
    assert unseen_share(requests, half_full, 11_000, 0) == 1
    assert unseen_share(requests, replace(half_full, cache_bytes=10), 11_000, 0) == 0
    assert unseen_share(requests, replace(half_full, cache_bytes=0), 11_000, 0) == 0
    steady = load(rate="400/s").requests(capacity_bytes=10**12, n=10)
    assert unseen_share(steady, half_full, 11_000, 0) == 0
