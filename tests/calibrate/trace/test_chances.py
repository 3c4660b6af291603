"""What the engines draw for a traced drive, and whether its cache keeps what was written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibrate.evidence.requests import RequestTrace
from calibrate.trace.access.arrival import Arrival
from calibrate.trace.access.cache import keeps_writes
from calibrate.trace.access.stalls import Stalls
from calibrate.trace.engine.chances import chances_of, inward_ms
from calibrate.trace.fit import fit_trace_model
from calibrate.trace.model import TraceModel, _counted
from tests.calibrate.trace.traced_drive import TracedDrive

TRACE = TracedDrive().trace(1500, seed=7)


@pytest.fixture(scope="module")
def model() -> TraceModel:
    return replace(fit_trace_model(TRACE), read_lost=0.0, write_lost=0.0, stalls=Stalls(0.0, np.zeros(1)))


def test_a_drive_without_chance_draws_nothing(model: TraceModel) -> None:
    none = replace(model, read_arrival=Arrival(), write_arrival=Arrival())
    assert chances_of(none, TRACE) == {"zero_latency": False}


def test_lost_revolutions_and_stalls_are_one_table_of_delays(model: TraceModel) -> None:
    period_ns = round(model.rotation.period_ms * 1e6)
    lost = replace(model, read_lost=0.03, write_lost=0.03)
    assert chances_of(lost, TRACE)["retries"] == {"ratio": 0.03, "time_ns": [period_ns]}
    both = chances_of(replace(lost, stalls=Stalls(0.005, np.array([50.0, 70.0]))), TRACE)["retries"]
    times = np.array(both["time_ns"])
    assert both["ratio"] > 0.035, "stalls are counted among fewer accesses than there are requests"
    long = times[times != period_ns]
    assert len(long) / len(times) == pytest.approx((both["ratio"] - 0.03) / both["ratio"], abs=0.01)
    assert long.mean() == pytest.approx(60e6, rel=0.05)


def test_reads_and_writes_share_one_value(model: TraceModel) -> None:
    ready = [replace(curve, inward_ms=value) for curve, value in ((model.ready_read, 0.4), (model.ready_write, 0.8))]
    found = inward_ms(replace(model, ready_read=ready[0], ready_write=ready[1]), TRACE)
    assert 0.4 <= found < 0.8


def test_lost_revolutions_count_as_far_as_they_exceed_the_noise() -> None:
    rng = np.random.default_rng(0)
    noise = rng.choice([-1.0, 0.0, 1.0], 2000, p=[0.05, 0.9, 0.05])
    assert _counted([noise - noise.mean() + 0.005]) == [0.0]
    reads, writes = _counted([noise - noise.mean() + 0.05, np.zeros(0)])
    error = np.sqrt(0.1 / 2000)
    assert reads == pytest.approx(0.05 * (1 - (error / 0.05) ** 2), rel=0.01)
    assert writes == 0.0


@pytest.mark.parametrize(("hits", "keeps"), [(3, True), (1, False)])
def test_written_data_stays_if_reads_of_it_are_hits(hits: int, keeps: bool) -> None:
    is_write = np.array([True, False] * 3)
    lba = np.repeat(np.array([100, 5000, 9000]), 2) + np.array([0, 2] * 3)
    n_blocks = np.array([8, 4] * 3)
    trace = RequestTrace(is_write, lba, n_blocks, np.ones(6), np.zeros(6))
    was_hit = ~is_write & (np.cumsum(~is_write) <= hits)
    assert keeps_writes(trace, was_hit) is keeps
    assert not keeps_writes(trace.part(0, 4), was_hit[:4]), "two reads are too few"
