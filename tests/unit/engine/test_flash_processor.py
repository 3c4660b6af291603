"""A flash drive whose processor moves the data, sleeps when idle and answers in batches (rules F17 to F19)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import Flash
from diskmodel.drive.processor import WakeTimes
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.records import Requests, StreamRule
from diskmodel.workload import Workload

OVERHEAD_NS, COPY_BYTES_PER_S = 5_000, 1_000_000_000
#: 4096 bytes at 1 GB/s
COPY_NS = 4_096
WAKE_NS = 30_000


def described(**changes: Any) -> Array:
    drive = {
        "kind": "flash",
        "name": "one server",
        "capacity_bytes": 1 << 30,
        "channels": 1,
        "dies_per_channel": 1,
        "page_bytes": 4096,
        "pages_per_block": 64,
        "read_ns": 1,
        "program_ns": 1,
        "erase_ns": 1,
        "channel_bytes_per_s": 1e15,
        "interface_bytes_per_s": 1e15,
        "read_overhead_ns": OVERHEAD_NS,
        "write_overhead_ns": 2 * OVERHEAD_NS,
        "write_buffer_bytes": 1 << 24,
        "read_copy_bytes_per_s": COPY_BYTES_PER_S,
        "write_copy_bytes_per_s": 2 * COPY_BYTES_PER_S,
        "wake_ns": (WAKE_NS,),
        "completion": "batch",
        "state": "fresh",
        "queue_depth": 256,
    } | changes
    return Array.parse({"drive": Flash.parse(drive), "layout": {"level": "jbod", "disks": 1}})


def responses(array: Array, when_ns: list[int], op: list[int]) -> list[int]:
    """Response of 4 KiB requests that come at given times, each to a page of its own."""
    n = len(when_ns)
    requests = Requests(
        when_ns=np.array(when_ns, np.int64),
        op=np.array(op, np.uint8),
        offset=np.arange(n, dtype=np.int64) * 4096,
        length=np.full(n, 4096, np.int64),
        stream=np.zeros(n, np.int32),
        cache_draw=np.ones(n),
        streams=(StreamRule("open", n_clients=0),),
    )
    done = run(resolve(array, 0), requests).completions
    return [int(x) for x in done.done_ns - done.issue_ns]


def test_one_read_wakes_the_processor_and_is_copied() -> None:
    # the die takes 1 ns
    assert responses(described(), [0], [0]) == [WAKE_NS + OVERHEAD_NS + COPY_NS + 1]


def test_a_write_has_its_own_costs() -> None:
    assert responses(described(), [0], [1]) == [WAKE_NS + 2 * OVERHEAD_NS + COPY_NS // 2]


def test_a_batch_is_answered_when_its_last_command_is_done() -> None:
    """Three reads at 0, a fourth while the processor is at work: one batch.

    processor: wakes until 30000, then 9096 each: 39096, 48192, 57288, 66384; the die ends 1 ns later.
    """
    end = WAKE_NS + 4 * (OVERHEAD_NS + COPY_NS) + 1
    assert responses(described(), [0, 0, 0, 50_000], [0, 0, 0, 0]) == [end, end, end, end - 50_000]


def test_each_command_is_answered_by_itself_without_batches() -> None:
    each = OVERHEAD_NS + COPY_NS
    expected = [WAKE_NS + each + 1, WAKE_NS + 2 * each + 1]
    assert responses(described(completion="each"), [0, 0], [0, 0]) == expected


def test_a_command_after_the_work_is_done_begins_a_batch_and_wakes_the_processor() -> None:
    each = WAKE_NS + OVERHEAD_NS + COPY_NS
    # the processor has finished at 39096: handed over then, it is idle
    assert responses(described(), [0, each], [0, 0]) == [each + 1, each + 1]


@pytest.mark.parametrize("depth", [1, 2, 7, 32])
def test_a_closed_loop_takes_one_waking_and_all_the_work(depth: int) -> None:
    load = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": depth})
    result = simulate(described(), load, n_requests=40 * depth)
    expected_ms = (WAKE_NS + depth * (OVERHEAD_NS + COPY_NS) + 1) / 1e6
    assert set(result.responses_ns().tolist()) == {WAKE_NS + depth * (OVERHEAD_NS + COPY_NS) + 1}
    assert result.iops.mean == pytest.approx(depth / expected_ms * 1e3, rel=0.03)


def test_waking_times_are_drawn_alike_and_repeatably() -> None:
    table = np.array([10, 20, 30, 40], np.int64)
    times = WakeTimes(table, 12345)
    drawn = [times.draw() for _ in range(4000)]
    again = WakeTimes(table, 12345)
    assert drawn == [again.draw() for _ in range(4000)]
    counts = [drawn.count(value) for value in (10, 20, 30, 40)]
    # 1000 ± 5 standard deviations of a binomial
    assert all(abs(count - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75) for count in counts)


def test_the_seed_draws_the_waking_times() -> None:
    array = described(wake_ns=tuple(range(1000, 100_000, 1000)))
    load = Workload.parse({"size_bytes": 4096, "read_ratio": 1.0, "clients": 1})
    first, second = (simulate(array, load, n_requests=200, seed=seed) for seed in (1, 2))
    assert first.responses_ns().mean() == simulate(array, load, n_requests=200, seed=1).responses_ns().mean()
    assert first.responses_ns().mean() != second.responses_ns().mean()


def test_both_engines_wake_and_answer_alike() -> None:
    array = described(wake_ns=tuple(range(1000, 100_000, 1000)))
    load = Workload.parse({"size_bytes": 4096, "read_ratio": 0.5, "clients": 7})
    native, simpy = (simulate(array, load, n_requests=2000, engine=engine) for engine in ("native", "simpy"))
    assert np.array_equal(native.responses_ns(), simpy.responses_ns())
    assert len(set(simpy.responses_ns().tolist())) > 100


def test_waking_times_must_ascend() -> None:
    with pytest.raises(DescriptionError, match="ascending"):
        described(wake_ns=(3, 2))
