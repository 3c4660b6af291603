"""A virtual disk by hand: commands one after the other, a host that wakes up, answers in batches (rules V1 to V5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import Virtual
from diskmodel.drive.generator import DrawnTimes
from diskmodel.drive.virtual.processor import processor_ns, sequential_rate
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.records import Requests, Run, StreamRule
from diskmodel.workload import Workload

OVERHEAD_NS, COPY_BYTES_PER_S = 5_000, 1_000_000_000
#: 4096 bytes at 1 GB/s
COPY_NS = 4_096
WAKE_NS = 30_000
EACH = OVERHEAD_NS + COPY_NS
ENGINES = pytest.mark.parametrize("engine", [native, simpy_engine], ids=["native", "simpy"])


def described(**changes: Any) -> Array:
    drive = {
        "kind": "virtual",
        "name": "one server",
        "capacity_bytes": 1 << 30,
        "read_overhead_ns": OVERHEAD_NS,
        "write_overhead_ns": 2 * OVERHEAD_NS,
        "read_copy_bytes_per_s": COPY_BYTES_PER_S,
        "write_copy_bytes_per_s": 2 * COPY_BYTES_PER_S,
        "wake_ns": (WAKE_NS,),
    } | changes
    return Array.parse({"drive": Virtual.parse(drive), "layout": {"level": "jbod", "disks": 1}})


def ran(engine: Any, array: Array, when_ns: list[int], op: list[int], clients: int = 0) -> Run:
    """4 KiB requests that come at given times, or one after the other from `clients`."""
    n = len(when_ns)
    requests = Requests(
        when_ns=np.array(when_ns, np.int64),
        op=np.array(op, np.uint8),
        offset=np.arange(n, dtype=np.int64) * 4096,
        length=np.full(n, 4096, np.int64),
        stream=np.zeros(n, np.int32),
        cache_draw=np.ones(n),
        streams=(StreamRule("requests", n_clients=clients),),
    )
    outcome = engine.run(resolve(array, 0), requests)
    assert isinstance(outcome, Run)
    return outcome


def responses(engine: Any, array: Array, when_ns: list[int], op: list[int]) -> list[int]:
    done = ran(engine, array, when_ns, op).completions
    return [int(x) for x in done.done_ns - done.issue_ns]


@ENGINES
def test_one_read_wakes_the_host_and_is_copied(engine: Any) -> None:
    assert responses(engine, described(), [0], [0]) == [WAKE_NS + EACH]


@ENGINES
def test_a_write_has_its_own_costs(engine: Any) -> None:
    assert responses(engine, described(), [0], [1]) == [WAKE_NS + 2 * OVERHEAD_NS + COPY_NS // 2]


@ENGINES
def test_copying_rounds_down_and_may_take_no_time(engine: Any) -> None:
    # 4096 bytes at 3 GB/s take 1365.33 ns
    assert responses(engine, described(read_copy_bytes_per_s=3e9), [0], [0]) == [WAKE_NS + OVERHEAD_NS + 1365]
    assert responses(engine, described(read_copy_bytes_per_s=None), [0], [0]) == [WAKE_NS + OVERHEAD_NS]


@ENGINES
def test_a_batch_is_answered_when_its_last_command_is_done(engine: Any) -> None:
    """Three reads at 0, a fourth while the host is at work: one batch.

    host: wakes until 30000, then 9096 each: 39096, 48192, 57288, 66384.
    """
    end = WAKE_NS + 4 * EACH
    assert responses(engine, described(), [0, 0, 0, 50_000], [0, 0, 0, 0]) == [end, end, end, end - 50_000]


@ENGINES
def test_each_command_is_answered_by_itself_without_batches(engine: Any) -> None:
    expected = [WAKE_NS + EACH, WAKE_NS + 2 * EACH]
    assert responses(engine, described(completion="each"), [0, 0], [0, 0]) == expected


@ENGINES
def test_a_command_after_the_work_is_done_begins_a_batch_and_wakes_the_host(engine: Any) -> None:
    # the host has finished at 39096: a command that is passed to it at that instant finds it idle
    alone = WAKE_NS + EACH
    assert responses(engine, described(), [0, alone], [0, 0]) == [alone, alone]
    # one nanosecond earlier it joins the batch
    assert responses(engine, described(), [0, alone - 1], [0, 0]) == [alone + EACH, EACH + 1]


@ENGINES
def test_latencies_overlap_and_the_longest_decides_for_a_batch(engine: Any) -> None:
    """A read and a write at 0: processed at 39096 and 51144, done after latencies of 20000 and 1000."""
    read, write = WAKE_NS + EACH, WAKE_NS + EACH + 2 * OVERHEAD_NS + COPY_NS // 2
    latencies = {"read_latency_ns": 20_000, "write_latency_ns": 1_000}
    each = described(**latencies, completion="each")
    assert responses(engine, each, [0, 0], [0, 1]) == [read + 20_000, write + 1_000]
    together = max(read + 20_000, write + 1_000)
    assert responses(engine, described(**latencies), [0, 0], [0, 1]) == [together, together]


@ENGINES
def test_busy_time_is_waking_and_working(engine: Any) -> None:
    """Two batches of one read each, 1 ms apart: latency and idle time do not count."""
    outcome = ran(engine, described(read_latency_ns=7_000), [0, 1_000_000], [0, 0])
    assert outcome.devices.busy_ns.tolist() == [2 * (WAKE_NS + EACH)]
    assert outcome.devices.n_cache_hits.tolist() == [0]


@ENGINES
def test_a_full_disk_keeps_commands_in_its_queue(engine: Any) -> None:
    """Two slots, three reads: the third is passed on when the first two complete, and wakes the host again."""
    first = WAKE_NS + 2 * EACH
    assert responses(engine, described(queue_depth=2), [0, 0, 0], [0, 0, 0]) == [first, first, first + WAKE_NS + EACH]


@ENGINES
@pytest.mark.parametrize("depth", [1, 2, 7, 32])
def test_a_closed_loop_takes_one_waking_and_all_the_work(engine: Any, depth: int) -> None:
    n = 10 * depth
    done = ran(engine, described(), [0] * n, [0] * n, clients=depth).completions
    assert set((done.done_ns - done.issue_ns).tolist()) == {WAKE_NS + depth * EACH}


def test_wake_up_times_are_drawn_alike_and_repeatably() -> None:
    table = np.array([10, 20, 30, 40], np.int64)
    times = DrawnTimes(table, 12345)
    drawn = [times.draw() for _ in range(4000)]
    again = DrawnTimes(table, 12345)
    assert drawn == [again.draw() for _ in range(4000)]
    counts = [drawn.count(value) for value in (10, 20, 30, 40)]
    # 1000 ± 5 standard deviations of a binomial
    assert all(abs(count - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75) for count in counts)


def test_the_seed_draws_the_wake_up_times() -> None:
    array = described(wake_ns=tuple(range(1000, 100_000, 1000)))
    load = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 1})
    first, second = (simulate(array, load, n_requests=200, seed=seed) for seed in (1, 2))
    assert first.responses_ns().mean() == simulate(array, load, n_requests=200, seed=1).responses_ns().mean()
    assert first.responses_ns().mean() != second.responses_ns().mean()


def test_both_engines_draw_and_answer_alike() -> None:
    array = described(wake_ns=tuple(range(1000, 100_000, 1000)))
    load = Workload.parse({"size_bytes": 4096, "read_ratio": 0.5, "clients": 7})
    fast, reference = (simulate(array, load, n_requests=2000, engine=engine) for engine in ("native", "simpy"))
    assert np.array_equal(fast.responses_ns(), reference.responses_ns())
    assert len(set(reference.responses_ns().tolist())) > 100


def test_sequential_rate_is_of_the_slower_operation() -> None:
    tables = described().drive.tables()
    # 1 MiB: 5 us and 1048.576 us to read; 10 us and 524.288 us to write
    assert sequential_rate(tables, 1 << 20) == pytest.approx((1 << 20) / 1053.576e-6)
    assert processor_ns(tables, is_write=True, n_sectors=2048) == 10_000 + 524_288


def test_wake_up_times_must_ascend() -> None:
    with pytest.raises(DescriptionError, match="ascending"):
        described(wake_ns=(3, 2))


def test_a_command_must_take_time() -> None:
    with pytest.raises(DescriptionError, match="write_overhead_ns"):
        described(write_overhead_ns=0)
