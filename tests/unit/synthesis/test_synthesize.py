"""A workload that stands for a trace: what it states is what a simulation finds, and its search ends at the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.records import Op, Requests, StreamRule, Sync
from diskmodel.synthesis import Family, settings, simulated, synthesize
from diskmodel.synthesis.reference import replayed
from diskmodel.workload import Workload
from diskmodel.workload.condense import cut, represent, stream_of
from diskmodel.workload.fitted import FittedLatency


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
        again = simulated(workload, setting.array, setting.speed_up, 900, first_seed=0)
        assert stated.fitted_mean_ns == round(again.mean_ns)
        assert stated.fitted_p99_ns == round(again.p99_ns)
        assert stated.trace_mean_ns == round(setting.trace.mean_ns)
        assert stated.trace_p99_spread == setting.trace.spread_ratio("p99_ns")
        assert f"{stated.mean_error:+.0%}" in stated.in_words()


def test_figures_are_averages_over_as_many_runs_as_they_need():
    even = trace(600, busy_ns=10**8)
    figures = replayed(even, Family("raid10", "generic-10k", (4,)).of(4))
    assert len(figures.runs) >= 3
    assert len({run.mean_ns for run in figures.runs}) == len(figures.runs)  # each from other angles
    for name in ("mean_ns", "p99_ns"):
        values = np.array([getattr(run, name) for run in figures.runs])
        assert getattr(figures, name) == pytest.approx(values.mean())
        assert figures.spread_ratio(name) == pytest.approx(values.std(ddof=1) / values.mean())
    spread = max(figures.spread_ratio(name) for name in ("mean_ns", "p99_ns"))
    assert spread / len(figures.runs) ** 0.5 <= 0.025 or len(figures.runs) == 16


def test_a_spread_of_the_replays_themselves_is_named():
    found = {"array": "a", "trace_mean_ns": 10, "fitted_mean_ns": 11, "trace_p99_ns": 20, "fitted_p99_ns": 20}
    assert "differ" not in FittedLatency(**found, trace_mean_spread=0.01, trace_p99_spread=0.04).in_words()
    words = FittedLatency(**found, trace_mean_spread=0.13, trace_p99_spread=0.2).in_words()
    assert "replays of the trace itself differ by 13% and 20%" in words


def test_a_trace_that_ends_in_a_burst_has_the_latency_of_its_replay():
    """The burst delays no request that comes before it in the trace; begun elsewhere, the mean is 7 % longer."""
    random = np.random.default_rng(2)
    n, calm = 2000, 1400
    gap = np.where(np.arange(n) < calm, random.exponential(5e6, n), 1000.0).astype(np.int64)
    recorded = replace(
        trace(n),
        when_ns=np.cumsum(gap) - gap[0],
        op=np.zeros(n, np.uint8),
        offset=random.integers(0, 10**6, n) * 8192,
        length=np.full(n, 8192),
    )
    array = Family("raid10", "generic-10k", (4,)).of(4)
    true = replayed(recorded, array)
    stream = stream_of(phases := cut(recorded, 64), represent(phases, 1.0))
    found = simulated(Workload(name="burst", streams=(stream,)), array, 1.0, n, first_seed=100)
    assert found.mean_ns == pytest.approx(true.mean_ns, rel=0.05)
    assert found.p99_ns == pytest.approx(true.p99_ns, rel=0.05)


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
    true, found = replayed(moved, array), simulated(workload, array, 1.0, len(near), first_seed=0)
    assert found.mean_ns == pytest.approx(true.mean_ns, rel=0.08)


def test_short_traces_and_those_without_time_are_refused():
    recorded = trace()
    columns = {name: getattr(recorded, name) for name in vars(recorded)}
    few = {name: value[:99] if isinstance(value, np.ndarray) else value for name, value in columns.items()}
    with pytest.raises(DescriptionError, match="must be 100 to"):
        synthesize(Requests(**few))
    with pytest.raises(DescriptionError, match="no time passes"):
        synthesize(Requests(**columns | {"when_ns": np.zeros(900, np.int64)}))


def test_flushes_of_a_trace_are_left_out_and_counted():
    with_flushes = trace()
    is_flush = np.arange(len(with_flushes)) % 100 == 7
    op = np.where(is_flush, Op.FLUSH, with_flushes.op).astype(np.uint8)
    past = (with_flushes.op == Op.WRITE) & (np.arange(len(op)) % 50 == 3)
    rules = (StreamRule("trace"), StreamRule("fua", sync=Sync.DSYNC))
    found = synthesize(replace(with_flushes, op=op, stream=past.astype(np.int32), streams=rules))
    assert found.lost[:2] == (
        "flushes: 9 in the trace, none in the synthetic workload",
        f"writes past caches (FUA): {past.sum()} in the trace, none in the synthetic workload",
    )
    assert found.workload.fitted is not None
    assert found.trace.rate_per_s < synthesize(with_flushes).trace.rate_per_s
