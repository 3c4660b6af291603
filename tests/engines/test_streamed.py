"""A run with constant memory reports the same as a run that keeps every request."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine import native, streamed
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import CoverageError, DescriptionError
from diskmodel.result import Result
from diskmodel.workload import Workload

ARRAY = {
    "drive": "generic-15k",
    "layout": {"level": "raid5", "disks": 5, "strip": "64 KiB"},
    "controller": {"read_cache": {"hit_ratio": 0.2}, "write_cache": {"size": "4 MiB"}},
}
SMALL = {"size": "4 KiB", "read_ratio": 0.7}
LOADS: dict[str, dict[str, Any]] = {
    "closed": SMALL | {"clients": 16},
    "open": SMALL | {"rate": "400/s"},
    "overloaded": SMALL | {"rate": "3000/s"},
    "mixed": {"streams": [SMALL | {"clients": 4}, {"size": "64 KiB", "rate": "20/s", "addresses": "sequential"}]},
}


def _both(load: dict[str, Any], n: int) -> tuple[Result, Result]:
    array, workload = Array.parse(ARRAY), Workload.parse(load)
    whole = simulate(array, workload, n_requests=n, seed=3, engine="native")
    return whole, simulate(array, workload, n_requests=n, seed=3, keep="histogram")


@pytest.mark.parametrize("name", LOADS)
def test_same_run(name: str) -> None:
    """Not an estimate but the same completions: whatever is counted over the whole run is equal."""
    whole, folded = _both(LOADS[name], 30_000)
    for field in dataclasses.fields(whole.run.devices):
        assert np.array_equal(getattr(whole.run.devices, field.name), getattr(folded.run.devices, field.name))
    assert folded.run.end_ns == whole.run.end_ns
    assert folded.run.cache_full_ns == whole.run.cache_full_ns
    assert folded.n_requests == 30_000
    assert folded.mean_in_system == pytest.approx(whole.mean_in_system, rel=1e-12)
    assert folded.is_stable == whole.is_stable == (name != "overloaded")
    assert folded.cache_full_s == pytest.approx(whole.cache_full_s, nan_ok=True)
    assert folded.burst_iops == pytest.approx(whole.burst_iops, rel=0.02, nan_ok=True)
    assert folded.offered_per_s == pytest.approx(whole.offered_per_s, rel=0.01, nan_ok=True)


def test_same_run_behind_a_page_cache() -> None:
    """What the host sends on its own is no request of a client: nothing of it is counted as one."""
    cache = {"memory": "4 MiB", "dirty_expire": "1 s", "dirty_writeback": "0.5 s"}
    array = Array.parse(ARRAY | {"host": {"is_buffered": True, "read_ahead": "128 KiB", "page_cache": cache}})
    workload = Workload.parse(SMALL | {"clients": 16, "size": "6 KiB", "alignment": "1 KiB", "span": "64 MiB"})
    whole = simulate(array, workload, n_requests=30_000, seed=3)
    folded = simulate(array, workload, n_requests=30_000, seed=3, keep="histogram")
    assert whole.engine == folded.engine == "native"
    assert folded.run.end_ns == whole.run.end_ns
    assert folded.run.devices.n_writes.tolist() == whole.run.devices.n_writes.tolist()
    assert folded.n_requests == 30_000
    assert folded.mean_in_system == pytest.approx(whole.mean_in_system, rel=1e-12)
    assert folded.hit_ratio == pytest.approx(whole.hit_ratio, rel=0.03)


@pytest.mark.parametrize("name", ["closed", "open", "mixed"])
def test_same_window_gives_the_same_figures(name: str) -> None:
    whole, folded = _both(LOADS[name], 30_000)
    # the warm-up of the one is cut to a request, of the other to a segment
    share = folded.n_measured / whole.n_measured
    assert 0.95 < share < 1.05
    loose = 1e-9 if share == 1 else 0.03
    assert folded.observed.mean_ns == pytest.approx(whole.observed.mean_ns, rel=loose)
    assert folded.iops.mean == pytest.approx(whole.iops.mean, rel=loose)
    assert folded.hit_ratio == pytest.approx(whole.hit_ratio, rel=loose)
    assert folded.bytes_per_s == pytest.approx(whole.bytes_per_s, rel=loose)
    for level, value in whole.observed.quantiles_ns.items():
        assert folded.observed.quantiles_ns[level] == pytest.approx(value, rel=2**-9 + loose)
    for stream, latency in whole.per_stream.items():
        assert folded.per_stream[stream].mean_ns == pytest.approx(latency.mean_ns, rel=loose)
    assert folded.reads.mean_ns == pytest.approx(whole.reads.mean_ns, rel=loose)
    # a part that few requests have, such as the wait for room, by what it adds to the mean
    rare_ns = 1 + loose * whole.observed.mean_ns / 30
    assert folded.breakdown_ns == pytest.approx(whole.breakdown_ns, rel=loose, abs=rare_ns)
    low, high = folded.latency.run_mean_ns.low, folded.latency.run_mean_ns.high
    assert low < whole.latency.mean_ns < high


def test_where_nothing_is_dropped_the_sums_are_exact() -> None:
    """More requests than segments or batches hold at first: parts have been merged many times."""
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    workload = Workload.parse(SMALL | {"clients": 2})
    blocks = workload.blocks(capacity_bytes=array.usable_bytes, n=70_001, seed=5)
    tally = streamed.run(resolve(array, 5), blocks).tally
    whole = simulate(array, workload, n_requests=70_001, seed=5, engine="native").run.completions
    inside = whole.done_ns <= tally.until_ns
    response = (whole.done_ns - whole.issue_ns)[inside]
    assert sum(s.n for s in tally.segments) == tally.batch_n.sum() == inside.sum()
    assert sum(sum(s.response_ns) for s in tally.segments) == response.sum() == tally.batch_response_ns.sum()
    assert sum(int(c.sum()) for s in tally.segments for c in s.counts) == inside.sum()
    assert max(s.max_ns for s in tally.segments) == response.max()
    assert min(s.min_ns for s in tally.segments) == response.min()
    assert len(tally.segments) <= 80
    assert len(tally.batch_n) <= 8192
    times = tally.sample_step_ns * np.arange(1, len(tally.done) + 1)
    assert np.array_equal(tally.done, np.searchsorted(np.sort(whole.done_ns), times, side="right"))


def test_what_it_cannot_do_is_refused() -> None:
    array, workload = Array.parse(ARRAY), Workload.parse(LOADS["closed"])
    with pytest.raises(CoverageError, match="kernel"):
        simulate(array, workload, n_requests=100, keep="histogram", engine="simpy")
    with pytest.raises(DescriptionError, match="keep"):
        simulate(array, workload, n_requests=100, keep="some")  # type: ignore[arg-type]
    with pytest.raises(DescriptionError, match="keeps no completions"):
        simulate(array, workload, n_requests=2000, keep="histogram").responses_ns()


def test_precision_decides_the_length() -> None:
    array, workload = Array.parse(ARRAY), Workload.parse(LOADS["closed"])
    result = simulate(array, workload, keep="histogram", precision=0.02)
    assert result.is_converged
    assert result.latency.run_mean_ns.relative <= 0.02
    assert result.histogram is not None
    assert result.histogram.mean_ns == pytest.approx(result.latency.mean_ns)
    assert result.to_dict()["latency_ms"]["p99"] > 0


def test_long_runs_keep_parts_in_less_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that do not fit the narrow column are put back; an overloaded disk makes waits of minutes."""
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    load = SMALL | {"size": ["4 KiB", "8 KiB"], "rate": "2000/s"}
    requests = Workload.parse(load).requests(capacity_bytes=array.usable_bytes, n=5000, seed=1)
    wide = native.run(resolve(array, 1), requests).completions.parts_ns
    monkeypatch.setattr(native, "NARROW_ABOVE", 100)
    widened = native.run(resolve(array, 1), requests).completions.parts_ns
    assert wide.max() > 1 << 31
    assert np.array_equal(wide, widened)
    assert widened.dtype == np.int64
    calm = Workload.parse(SMALL | {"clients": 2}).requests(capacity_bytes=array.usable_bytes, n=5000, seed=1)
    narrow = native.run(resolve(array, 1), calm).completions.parts_ns
    assert narrow.dtype == np.int32
    monkeypatch.undo()
    assert np.array_equal(native.run(resolve(array, 1), calm).completions.parts_ns, narrow)
