"""A run over time, by hand and by its own totals."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.result.timeline import Timeline, timeline
from diskmodel.workload import TraceWorkload

MS_NS = 10**6


def simulated(when_ns, *, disks: int = 4, seed: int = 3):
    rng = np.random.default_rng(seed)
    n = len(when_ns)
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "raid10", "disks": disks}})
    load = TraceWorkload.from_arrays(when_ns, rng.random(n) < 0.3, rng.integers(0, 10**6, n) * 4096, np.full(n, 4096))
    return simulate(array, load, n_requests=n, profile_draws=0)


@pytest.fixture(scope="module")
def result():
    """600 s at 5 requests a second, with 1500 more between 401 s and 403 s."""
    rng = np.random.default_rng(1)
    when = np.concatenate([rng.random(3000) * 600, 401 + 2 * rng.random(1500)])
    return simulated(np.sort(when * 1e9).astype(np.int64))


@pytest.fixture(scope="module")
def line(result) -> Timeline:
    return timeline(result, n_disks=4, interval_s=10.0)


def test_arrivals_are_counted_where_they_are_issued(result, line):
    issue = result.run.completions.issue_ns
    assert line.arrivals_per_s.sum() * 10 == len(issue)
    assert line.arrivals_per_s[40] * 10 == ((issue >= 400e9) & (issue < 410e9)).sum()


def test_outstanding_is_littles_law_over_the_whole_run(result, line):
    done = result.run.completions
    total_s = float((done.done_ns - done.issue_ns).sum()) / 1e9
    assert line.outstanding.sum() * 10 == pytest.approx(total_s, rel=1e-9)


def test_outstanding_of_one_interval_by_a_sweep(result, line):
    done = result.run.completions
    inside = np.minimum(done.done_ns, 410 * 10**9) - np.maximum(done.issue_ns, 400 * 10**9)
    assert line.outstanding[40] == pytest.approx(np.maximum(inside, 0).sum() / 1e10, rel=1e-9)


def test_busy_time_adds_up_to_that_of_the_disks(result, line):
    busy_s = float(result.run.devices.busy_ns.sum()) / 1e9
    assert line.utilization_ratio.sum() * 10 * 4 == pytest.approx(busy_s, rel=1e-6)


def test_most_outstanding_by_a_sweep(result, line):
    done = result.run.completions
    events = sorted([(t, 1) for t in done.issue_ns.tolist()] + [(t, -1) for t in done.done_ns.tolist()])
    most = inside = 0
    for _, change in events:
        inside += change
        most = max(most, inside)
    assert line.most_outstanding == most


def test_the_worst_minute_has_the_burst(result, line):
    worst = line.worst
    assert worst.length_s == 60
    assert worst.start_s <= 401
    assert worst.start_s + 60 >= 403
    assert worst.n_requests >= 1500
    done = result.run.completions
    response_ms = (done.done_ns - done.issue_ns) / 1e6
    starts = np.arange(0, 540, 10) * 10**9
    means = [response_ms[(done.issue_ns >= s) & (done.issue_ns < s + 60 * 10**9)].mean() for s in starts]
    assert worst.mean_ms == pytest.approx(max(means))
    assert worst.max_ms >= worst.p99_ms >= worst.mean_ms


def test_an_interval_without_requests_has_no_latency():
    when = np.concatenate([np.arange(300) * 10 * MS_NS, 9_000 * MS_NS + np.arange(300) * 10 * MS_NS])
    line = timeline(simulated(when), n_disks=4, interval_s=1.0)
    assert np.isnan(line.mean_ms[4:9]).all()
    assert np.isfinite(line.mean_ms[:3]).all()
    assert line.arrivals_per_s[5] == 0
    assert line.to_dict()["latency_ms"]["mean"][5] is None


def test_a_short_trace_has_shorter_windows():
    line = timeline(simulated(np.arange(400) * 25 * MS_NS), n_disks=4)
    assert line.worst.length_s == 1
    assert line.interval_s == pytest.approx(0.05)
