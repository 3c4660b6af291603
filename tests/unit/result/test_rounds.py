"""Runs that see part of a cycle, and intervals of those that see whole rounds (rule Z10)."""

from __future__ import annotations

import math
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.array import Array
from diskmodel.controller.dirty_blocks import Lanes
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady.past.rounds import UNEVEN, UNEVEN_WAYS, Arms, swept_round, unevenness
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.show.words import answer
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.records import PARTS, Completions, DeviceCounters, Int64, Run
from diskmodel.result.rounds import measured_round
from diskmodel.result.statistics.batches import mean_interval
from diskmodel.result.statistics.quantiles import quantile_interval
from diskmodel.result.statistics.window import Window, enough_for, whole_rounds
from diskmodel.result.utilization import utilization_interval
from diskmodel.workload import Workload

#: Four data disks and one parity disk, strips of 4 blocks.
LANES = Lanes(
    n=1,
    block_sectors=8,
    stripe_sectors=128,
    lane_sectors=128,
    lane_step=1,
    strip_sectors=32,
    strip_cost=1,
    stripe_cost=1,
    next_sectors=128,
    budget=20,
    most=20,
)
WITH_LOG: dict[str, Any] = {
    "streams": [
        {"name": "data", "size": "8 KiB", "read_ratio": 0.3, "rate": "300/s"},
        {"name": "log", "size": "16 KiB", "read_ratio": 0.0, "addresses": "sequential", "rate": "30/s"},
    ]
}

DATA: dict[str, Any] = {"name": "data", "size": "4 KiB", "read_ratio": 0.9, "rate": "450/s", "span": "400 GB"}
LOG: dict[str, Any] = {"name": "log", "size": "16 KiB", "read_ratio": 0.0, "rate": "45/s", "span": "400 GB"}


def cached(size: str = "16 MiB", **more: object) -> Array:
    return Array.parse(
        {
            "drive": "generic-10k",
            "layout": {"level": "raid5", "disks": 6, "strip": "64 KiB"},
            "controller": {"write_cache": {"size": size, "line": "4 KiB", **more}},
        }
    )


def recorded(busy_ns: Int64, *, level: Int64 | None = None, **more: Any) -> Run:
    """A run of one disk, with a record every ms, and a request in each of them."""
    n = len(busy_ns)
    times = np.arange(1, n + 1) * 1_000_000
    nothing = np.zeros(n, np.int64)
    levels = np.stack([times, nothing if level is None else level, nothing, nothing, np.cumsum(busy_ns)], axis=1)
    one = np.array([0], np.int64)
    counters = DeviceCounters(np.array([int(busy_ns.sum())]), *[one] * 11)
    done = Completions(nothing, times, np.zeros((n, len(PARTS)), np.int64), np.zeros(n, np.bool_))
    return Run(done, counters, "native", 0.0, int(times[-1]), levels=levels, **more)


# ---------------------------------------------------------------------- what a round is
def test_a_round_of_random_writes_is_twice_what_waits() -> None:
    """A block waits for half a round on average."""
    uses = np.random.default_rng(1).integers(0, 1 << 40, 20_000)
    assert swept_round(uses, uses[:1000], 1000, LANES) == pytest.approx(2000, rel=0.02)


def test_a_round_is_longer_where_few_blocks_are_popular() -> None:
    """Every second write goes to one of ten blocks: only half of them are of blocks that wait for long."""
    uses = np.random.default_rng(1).integers(0, 1 << 40, 40_000)
    uses[::2] = 10_000 + np.arange(20_000) % 10
    assert swept_round(uses, np.unique(uses[1:2000:2])[:1000], 1000, LANES) == pytest.approx(4 * (1000 - 10), rel=0.05)


def test_each_lane_has_a_sweep_of_its_own() -> None:
    several = replace(LANES, n=4)
    uses = np.random.default_rng(1).integers(0, 1 << 40, 20_000)
    assert swept_round(uses, uses[:1000], 1000, several) == pytest.approx(2000, rel=0.03)


def test_a_sweep_by_hand() -> None:
    """Two blocks wait. The third to come lets the lowest be written, and 30 and 31 go together: a row has 16 blocks."""
    uses = np.array([10, 50, 30, 31, 5, 6, 7, 40, 41, 20, 60, 3])
    # waiting {10, 50}; 30: writes 10. 31: writes 30 and 31. 5: two wait. 6: writes 50, then the sweep is at its end
    # 7: begins below, 5 to 7 together; 40: one waits. 41: two. 20: begins again above 7 with 20; 60: writes 40 and 41
    # 3: 3 and 60 wait
    assert swept_round(uses, np.array([], np.int64), 2, LANES) == 2 * len(uses), "swept once"
    again = np.concatenate([uses, [61, 100, 1, 2]])
    # 61: writes 60 and 61; 100: 3 and 100. 1: writes 100. 2: begins below; since 7, the number 6, it was number 15
    assert swept_round(again, np.array([], np.int64), 2, LANES) == 15 - 6


def test_what_fits_or_is_only_followed_has_no_round() -> None:
    assert swept_round(np.arange(4000) % 500, np.arange(500), 1000, LANES) == 0
    log = np.arange(20_000)
    assert swept_round(log[1000:], log[:1000], 1000, LANES) == 0
    log[::10] = np.random.default_rng(1).integers(0, 1 << 40, 2000) - (1 << 41)  # a few writes behind it
    assert swept_round(log[1000:3000], log[:1000], 1000, LANES) == 2 * 2000


@pytest.mark.parametrize("begin", [0.3, 0.9])
def test_beside_a_log_a_round_is_as_long_as_in_a_run(begin: float) -> None:
    """By ages of blocks it would be far shorter: the sweep stays with the log until none of it is ahead."""
    load = Workload.parse({"streams": [DATA, LOG | {"addresses": {"pattern": "sequential", "begin_ratio": begin}}]})
    result = simulate(cached("48 MiB"), load, n_requests=600_000, seed=3, profile_draws=0)
    busy_ns = np.diff(result.run.levels[:, 4])
    is_busy = busy_ns > 1.3 * np.median(busy_ns)
    begins = np.flatnonzero(is_busy[1:] & ~is_busy[:-1])
    begins = begins[np.diff(begins, prepend=-99) > 8]
    assert len(begins) >= 3
    assert result.run.round_requests == pytest.approx(np.diff(begins).mean() * 600_000 / 256, rel=0.1)


def test_operations_of_a_sweep_by_hand() -> None:
    """First 160 blocks each in a row of its own: 2 strips, read before. Then ten whole rows, of 5 strips each."""
    alone, rows = np.arange(160) * 16, 16_000 + np.arange(160)
    costs = np.array([4.0] * 10 + [5 / 16] * 10)
    assert unevenness(np.concatenate([alone, rows]), LANES, reads_per_use=0.0) == pytest.approx(
        costs.std() / costs.mean()
    )
    with_reads = costs + 2.0
    found = unevenness(np.concatenate([rows, alone]), LANES, reads_per_use=2.0)
    assert found == pytest.approx(with_reads.std() / with_reads.mean())


def test_uniform_writes_are_even() -> None:
    uses = np.random.default_rng(1).integers(0, 1 << 30, 60_000)
    assert unevenness(uses, LANES, reads_per_use=0.5) < UNEVEN / 3


def test_a_round_is_where_the_busy_time_repeats() -> None:
    """A round of 50 records, estimated as 46."""
    busy_ns = np.where(np.arange(240) % 50 < 12, 100_000, 800_000)
    busy_ns += np.random.default_rng(1).integers(0, 50_000, 240)
    assert measured_round(recorded(busy_ns, round_requests=46), 240) == 50
    assert measured_round(recorded(busy_ns[:60], round_requests=46), 60) == 46, "too short to show it"
    assert measured_round(recorded(busy_ns), 240) == 0


def test_a_round_between_two_marks_is_that_of_the_level() -> None:
    level = np.abs(np.arange(200) % 40 - 20) * 10
    run = recorded(np.full(200, 500_000), level=level, low_mark_bytes=20, level_marks=(180, 0, 0))
    assert measured_round(run, 2000) == 400
    part = recorded(np.full(30, 500_000), level=level[:30], low_mark_bytes=20, level_marks=(180, 0, 0))
    assert measured_round(part, 300) == 300, "as long as the run at least"
    full = recorded(np.full(30, 500_000), level=level[:30] + 180, low_mark_bytes=20, level_marks=(180, 0, 0))
    assert measured_round(full, 300) == 0, "more comes than can be written"


def test_fewer_than_two_rounds_are_none() -> None:
    assert [whole_rounds(n, 1000) for n in (900, 1999, 2000, 3999)] == [0, 0, 2, 3]
    assert whole_rounds(5000, 0) == 0
    assert enough_for(1000) == 2200


# ---------------------------------------------------------------------- intervals
@pytest.mark.parametrize("n_rounds", [2, 3, 5, 10])
def test_intervals_of_whole_rounds_cover_the_mean(n_rounds: int) -> None:
    """95 % of them, of 400 series (binomial: below 91 % once in 1,000); what differs between phases is no error."""
    rng = np.random.default_rng(n_rounds)
    phases = np.repeat([0.1, 0.9, 0.7, 0.9], 500)
    true = float(phases.mean())
    covered, widths = 0, []
    for _ in range(400):
        found = mean_interval(np.tile(phases, n_rounds) * rng.exponential(1.0, 2000 * n_rounds), n_rounds=n_rounds)
        covered += found.low <= true <= found.high
        widths.append(found.half_width)
    assert covered >= 364
    if n_rounds <= 5:
        assert np.median(widths) < mean_interval(np.tile(phases, n_rounds)).half_width / 2


def test_percentiles_of_whole_rounds() -> None:
    rng = np.random.default_rng(1)
    phases = np.tile(np.repeat([1.0, 10.0], 20_000), 4)
    series = phases * rng.exponential(1.0, len(phases))
    low, high = quantile_interval(series, 0.99, n_rounds=4)
    assert low < 10 * math.log(50) < high
    assert high - low < 0.1 * low


def test_the_interval_of_the_utilization_covers_it() -> None:
    """95 % of 400 (binomial: below 91 % once in 1,000), by time and by request."""
    rng = np.random.default_rng(3)
    covered = [0, 0]
    for _ in range(400):
        run = recorded((rng.exponential(0.4, 256) * 1e6).astype(np.int64))
        window = Window(0, run.end_ns, np.arange(256), True)
        for at, per_request in enumerate((False, True)):
            found = utilization_interval(run, window, per_request=per_request)
            covered[at] += found.low <= 0.4 <= found.high
    assert min(covered) >= 364


def test_the_utilization_of_whole_rounds_is_that_of_the_window() -> None:
    busy_ns = np.where(np.arange(250) % 100 < 50, 100_000, 900_000)
    run = recorded(busy_ns, round_requests=100)
    found = utilization_interval(run, Window(50_000_000, 250_000_000, np.arange(50, 250), True, n_rounds=2))
    assert found.value == pytest.approx(0.5)
    assert found.half_width == pytest.approx(0.0, abs=1e-9)
    assert utilization_interval(run, Window(0, run.end_ns, np.arange(250), False)).value == pytest.approx(0.42)


# ---------------------------------------------------------------------- runs and plans
def test_a_run_that_sees_part_of_a_round_has_not_settled() -> None:
    """The disks are a tenth busy while the sweep is in the log, and two thirds elsewhere."""
    workload = Workload.parse(WITH_LOG)
    short = simulate(cached(), workload, n_requests=1500)
    assert not short.is_settled
    assert not short.is_converged
    assert "busy at some places and times and idle at others" in short.messages[0]
    long = simulate(cached(), workload, n_requests=60_000)
    assert long.is_settled
    assert long.window.n_rounds >= 2
    assert long.utilization.low <= long.utilization_ratio <= long.utilization.high
    assert abs(short.utilization_ratio / long.utilization_ratio - 1) > 0.2


def test_without_a_log_any_run_will_do() -> None:
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.3, "rate": "300/s"})
    assert simulate(cached(), workload, n_requests=4000).window.n_rounds == 0
    assert simulate(cached(), workload, n_requests=4000).is_settled


def test_a_length_chosen_by_precision_sees_whole_rounds() -> None:
    found = simulate(cached("64 MiB"), Workload.parse(WITH_LOG), precision=0.2)
    assert found.is_converged
    assert found.window.n_rounds >= 2


@pytest.mark.slow
def test_both_engines_measure_the_same_rounds() -> None:
    workload = Workload.parse(WITH_LOG)
    native, simpy = (
        simulate(cached("2 MiB"), workload, n_requests=3000, engine=engine)  # type: ignore[arg-type]
        for engine in ("native", "simpy")
    )
    assert np.array_equal(native.run.levels, simpy.run.levels)
    assert native.run.levels[-1, 4] > 0
    assert native.window.n_rounds == simpy.window.n_rounds > 0
    assert native.utilization == simpy.utilization


def test_a_low_mark_makes_a_cycle() -> None:
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s"})
    assert not simulate(cached("64 MiB", low_ratio=0.2), workload, n_requests=8000).is_settled
    assert simulate(cached("64 MiB", low_ratio=0.2), workload, n_requests=60_000).window.n_rounds >= 2


def plan_with_log(**search: object) -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": WITH_LOG,
            "objective": {"latency": {"p99": "127 ms"}, "utilization_ceiling": "63 %", "capacity": "0.18 TB"},
            "candidates": {"drives": ["hgst-ultrastar-7k8"], "levels": ["raid5"], "disks": [5, 6, 7, 8, 9]},
            "controller": {"write_cache": {"size": "256 MiB", "line": "4 KiB"}},
            "search": {"seed": 357, **search},
        }
    )


@pytest.mark.slow
def test_a_plan_runs_until_it_has_seen_whole_rounds() -> None:
    """With a first run of 30,000 requests, five disks seemed enough: 0.5 busy. They are 0.71 busy in the long run."""
    found = run_plan(plan_with_log(), with_relaxations=False, by_chance=False, with_details=False).candidates[0]
    assert found.disks is not None
    assert found.disks >= 6
    for trial in found.trials:
        assert trial.outcome is not None
        assert trial.outcome.n_requests >= 80_000


def test_a_plan_that_may_not_run_so_long_cannot_decide() -> None:
    short = plan_with_log(max_requests=60_000, max_requests_at_answer=60_000)
    result = run_plan(short, with_relaxations=False, by_chance=False, with_details=False)
    (found,) = result.candidates
    assert "not all could be decided" in answer(result)
    assert not found.is_feasible
    assert not found.is_decided
    assert "what waits to be written takes about" in found.reason
    assert "too short for an interval" in found.reason
    assert "max_requests_at_answer" in found.reason


def test_an_outcome_says_that_it_is_of_a_part() -> None:
    plan = plan_with_log()
    outcome = Simulated()(cached("256 MiB"), plan.workload, n_requests=20_000, seed=1)
    assert outcome.is_partial
    assert outcome.round_requests == pytest.approx(41_000, rel=0.1)
    assert not Simulated()(cached("256 MiB"), plan.workload, n_requests=100_000, seed=1).is_partial


def swept_in_python(uses: Int64, waiting: Int64, n: int, lanes: Lanes) -> float:
    """The same sweep as the kernel's, block by block."""
    ahead: list[list[int]] = [[] for _ in range(lanes.n)]
    behind: list[list[int]] = [[] for _ in range(lanes.n)]
    position, began, swept = [0] * lanes.n, [-1] * lanes.n, []
    for block in waiting.tolist():
        heappush(ahead[lanes.lane_of(block)], block)
    is_waiting, turn = set(waiting.tolist()), 0
    for at, block in enumerate(uses.tolist()):
        if block in is_waiting:
            continue
        is_waiting.add(block)
        lane = lanes.lane_of(block)
        heappush(ahead[lane] if block >= position[lane] else behind[lane], block)
        while len(is_waiting) > n:
            while not ahead[turn] and not behind[turn]:
                turn = (turn + 1) % lanes.n
            if not ahead[turn]:
                ahead[turn], behind[turn] = behind[turn], ahead[turn]
                if began[turn] >= 0:
                    swept.append(at - began[turn])
                began[turn] = at
            run = heappop(ahead[turn])
            stripe = lanes.stripe_of(run)
            is_waiting.remove(run)
            while ahead[turn] and ahead[turn][0] == run + 1 and lanes.stripe_of(run + 1) == stripe:
                run = heappop(ahead[turn])
                is_waiting.remove(run)
            position[turn] = run + 1
            turn = (turn + 1) % lanes.n
    if swept:
        return sum(swept) / len(swept)
    return 2.0 * len(uses) if sum(map(len, behind)) > UNEVEN * n else 0.0


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=400),
    st.sets(st.integers(0, 300), max_size=60),
    st.integers(1, 80),
    st.integers(1, 4),
    st.sampled_from([32, 100, 128]),
)
def test_the_kernel_sweeps_as_python_does(
    uses: list[int], waiting: set[int], n: int, n_lanes: int, stripe_sectors: int
) -> None:
    lanes = replace(LANES, n=n_lanes, stripe_sectors=stripe_sectors)
    columns = np.array(uses, np.int64), np.array(sorted(waiting), np.int64)
    assert swept_round(*columns, n, lanes) == swept_in_python(*columns, n, lanes)


def test_a_sweep_through_popular_places_is_uneven_where_arms_have_to_leave_the_reads() -> None:
    """Nine of ten blocks wait within a thousandth of the array, where nine of ten reads go, too."""
    rng = np.random.default_rng(4)
    n_blocks = 1 << 27
    near = rng.integers(0, n_blocks // 1000, 9_000)
    uses = np.concatenate([near, rng.integers(0, n_blocks, 3_000)])
    is_near = rng.random(1_000) < 0.9
    reads = np.where(is_near, rng.integers(0, n_blocks // 1000, 1_000), rng.integers(0, n_blocks, 1_000)) * 1.0
    assert unevenness(uses, LANES, reads_per_use=1.0) < UNEVEN
    assert unevenness(uses, LANES, reads_per_use=1.0, arms=Arms(reads, n_blocks)) > UNEVEN_WAYS
    even = Arms(rng.integers(0, n_blocks, 1_000) * 1.0, n_blocks)
    assert unevenness(rng.integers(0, n_blocks, 12_000), LANES, reads_per_use=1.0, arms=even) < UNEVEN_WAYS / 2


def test_a_round_through_popular_places_is_measured() -> None:
    """A third of the time the sweep is far from the reads, and responses are longer by half."""
    zones = [{"access_ratio": 0.8, "space_ratio": 0.0005}, {"access_ratio": 0.2, "space_ratio": 0.9995}]
    places = {"pattern": "zoned", "zones": zones}
    load = {"size": "8 KiB", "read_ratio": 0.7, "rate": "500/s", "span": "500 GB", "addresses": places}
    result = simulate(cached("16 MiB"), Workload.parse(load), n_requests=8_000)
    assert result.run.round_requests == pytest.approx(7_500, rel=0.3)
    assert not result.is_settled
