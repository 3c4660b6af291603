"""A workload that stands for a trace: what it states is what a simulation finds, and its search ends at the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.records import Requests, StreamRule
from diskmodel.synthesis import Family, settings, simulated, synthesize
from diskmodel.synthesis.reference import replayed
from diskmodel.workload import Workload
from diskmodel.workload.condense import cut, represent, stream_of


def trace(n: int = 900, busy_ns: int = 10**8) -> Requests:
    """Bursts of small random writes between pauses, then sequential reads."""
    random = np.random.default_rng(5)
    row = np.arange(n)
    is_burst = row // 150 % 2 == 0
    gap = np.where(is_burst, random.exponential(2e6, n), random.exponential(busy_ns, n)).astype(np.int64)
    place = np.where(is_burst, random.integers(0, 10**6, n) * 8192, row * 65536)
    return Requests(
        when_ns=np.cumsum(gap) - gap[0],
        op=is_burst.astype(np.uint8),
        offset=place,
        length=np.where(is_burst, 8192, 65536),
        stream=np.zeros(n, np.int32),
        cache_draw=np.zeros(n),
        streams=(StreamRule("trace"),),
    )


def test_the_file_states_what_a_simulation_finds(tmp_path):
    recorded = trace()
    found = synthesize(recorded, name="bursts.csv")
    path = tmp_path / "w.toml"
    found.workload.save(path)
    workload = Workload.load(path)
    assert workload == found.workload
    assert workload.fitted is not None
    assert (workload.fitted.trace, workload.fitted.n_requests) == ("bursts.csv", 900)
    assert all(abs(item.mean_error) <= 0.08 and abs(item.p99_error) <= 0.15 for item in found.latency)
    for stated, setting in zip(found.latency, settings(recorded), strict=True):
        again = simulated(workload, setting.array, setting.speed_up, 900, seed=0)
        assert stated.fitted_mean_ns == round(again.mean_ns)
        assert stated.fitted_p99_ns == round(again.p99_ns)
        assert stated.trace_mean_ns == round(setting.trace.mean_ns)
        assert f"{stated.mean_error:+.0%}" in stated.in_words()


def test_less_is_kept_of_a_trace_that_repeats_itself():
    once = trace(900)
    n, period = 3600, int(once.when_ns[-1])
    many = Requests(
        when_ns=np.concatenate([once.when_ns + i * period for i in range(4)]),
        op=np.tile(once.op, 4),
        offset=np.tile(once.offset, 4),
        length=np.tile(once.length, 4),
        stream=np.zeros(n, np.int32),
        cache_draw=np.zeros(n),
        streams=once.streams,
    )
    excerpts = synthesize(many).workload.streams[0].excerpts
    assert excerpts is not None
    # a whole period is 0.25 of it; the lengths that are tried after 0.3 are above 0.5
    assert excerpts.n_requests < 0.6 * n


def test_reference_arrays_are_the_smallest_below_half_busy():
    recorded = trace(900, busy_ns=2_000_000)
    family = Family("raid10", "generic-10k", (4, 6, 8, 12, 16, 24))
    first, *faster = settings(recorded, (family,))
    assert first.trace.utilization_ratio < 0.5
    smaller = [n for n in family.disks if n < first.array.layout.disks]
    assert all(replayed(recorded, family.of(n)).utilization_ratio >= 0.5 for n in smaller)
    for setting in faster:
        assert first.trace.utilization_ratio < 0.3
        assert setting.trace.utilization_ratio == pytest.approx(0.4, rel=0.06)


def test_an_idle_array_is_also_loaded_faster():
    recorded, slow = settings(trace(900, busy_ns=10**9), (Family("raid10", "generic-10k", (4, 6)),))
    assert recorded.speed_up == 1.0
    assert slow.speed_up > 1.5
    assert slow.trace.utilization_ratio == pytest.approx(0.4, rel=0.06)


def test_a_region_beyond_the_array_is_wrapped_as_in_a_replay():
    beyond = 1 << 43
    array = Family("raid10", "generic-10k", (4,)).of(4)
    near = trace()
    stream = stream_of(phases := cut(near, 64), represent(phases, 1.0))
    workload = Workload(name="far", streams=(stream.model_copy(update={"offset_bytes": beyond}),))
    moved = replace(near, offset=near.offset + beyond)
    true, found = replayed(moved, array), simulated(workload, array, 1.0, len(near), seed=0)
    assert found.mean_ns == pytest.approx(true.mean_ns, rel=0.08)


def test_short_traces_and_those_without_time_are_refused():
    recorded = trace()
    columns = {name: getattr(recorded, name) for name in vars(recorded)}
    few = {name: value[:99] if isinstance(value, np.ndarray) else value for name, value in columns.items()}
    with pytest.raises(DescriptionError, match="must be 100 to"):
        synthesize(Requests(**few))
    with pytest.raises(DescriptionError, match="no time passes"):
        synthesize(Requests(**columns | {"when_ns": np.zeros(900, np.int64)}))
