"""From a run to its result: what is measured, what is reported, and what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import ConservationError, DescriptionError
from diskmodel.records import PARTS, Completions, DeviceCounters, Op, Requests, Run
from diskmodel.result import needs_more, suggest_n, summarize
from diskmodel.workload import Workload

CAPACITY = 10**9


def single_server(requests: Requests, service_ns: np.ndarray) -> Run:
    """First come, first served by one disk."""
    came = requests.when_ns
    work = np.cumsum(service_ns)
    done = work + np.maximum.accumulate(came - (work - service_ns))
    parts = np.zeros((len(came), len(PARTS)), dtype=np.int64)
    parts[:, PARTS.index("transfer")] = service_ns
    parts[:, PARTS.index("queue")] = done - came - service_ns
    is_read = requests.op == Op.READ
    counters = (
        service_ns.sum(),
        (done - came).sum(),
        is_read.sum(),
        (~is_read).sum(),
        requests.length[is_read].sum(),
        requests.length[~is_read].sum(),
        0,
        (done - came)[is_read].sum(),
        0,
        0,
        0,
        0,
    )
    devices = DeviceCounters(*(np.array([value], dtype=np.int64) for value in counters))
    return Run(
        Completions(came.copy(), done, parts, np.zeros(len(came), dtype=np.bool_)), devices, "test", 0.5, int(done[-1])
    )


def exponential_server(load: float, n: int, seed: int) -> tuple[Requests, Run]:
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.7, "rate_per_s": 1000 * load})
    requests = workload.requests(capacity_bytes=CAPACITY, n=n, seed=seed)
    service = np.rint(np.random.default_rng([seed, 1]).exponential(1e6, n)).astype(np.int64)
    return requests, single_server(requests, service)


@pytest.fixture(scope="module")
def stable():
    return exponential_server(0.5, 50_000, 1)


def changed(run: Run, **columns) -> Run:
    return replace(run, completions=replace(run.completions, **columns))


def test_document_has_the_promised_keys_and_numbers(stable):
    result = summarize(*stable, n_disks=1)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    promised = {"engine", "wall_s", "requests", "iops", "stable", "latency_ms", "interval", "utilization_ratio"}
    assert promised | {"back_end_per_host", "breakdown_ms"} <= document.keys()
    assert document["latency_ms"].keys() == {"mean", "p50", "p95", "p99", "p999", "max"}
    assert document["interval"]["mean_low_ms"] < document["latency_ms"]["mean"] < document["interval"]["mean_high_ms"]
    assert document["breakdown_ms"].keys() == set(PARTS)
    assert sum(document["breakdown_ms"].values()) == pytest.approx(document["latency_ms"]["mean"])
    assert document["requests"] == 50_000
    assert document["back_end_per_host"] == 1.0
    assert document["stable"] is True
    ordered = [document["latency_ms"][name] for name in ("p50", "p95", "p99", "p999", "max")]
    assert ordered == sorted(ordered)


def test_figures_are_those_of_the_window(stable):
    requests, run = stable
    result = summarize(requests, run, n_disks=1)
    done = run.completions.done_ns
    inside = (done > result.window.start_ns) & (done <= result.window.end_ns)
    response = (done - run.completions.issue_ns)[inside]
    assert result.n_measured == inside.sum()
    assert result.window.end_ns == requests.when_ns[-1]
    assert result.latency.mean_ns == pytest.approx(response.mean())
    assert result.latency.max_ns == response.max()
    assert result.iops.mean == pytest.approx(inside.sum() / result.window.seconds)
    assert result.reads.n + result.writes.n == result.n_measured
    assert np.array_equal(np.sort(result.responses_ns()), np.sort(response))
    assert result.per_disk[0].utilization_ratio == run.devices.busy_ns[0] / run.end_ns
    assert result.mean_in_system == pytest.approx((done - run.completions.issue_ns).sum() / run.end_ns)


def test_overload_is_reported_without_a_latency():
    result = summarize(*exponential_server(1.1, 20_000, 3), n_disks=1)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["stable"] is False
    assert set(document["latency_ms"].values()) == {None}
    assert document["offered_iops"] == pytest.approx(1100, rel=0.05)
    assert document["iops"] == pytest.approx(1000, rel=0.05)
    assert not result.is_converged
    assert result.observed.mean_ns > 1e6
    assert "overloaded" in result.messages[0]
    assert "overloaded" in str(result)
    assert not needs_more(result)


def test_an_overload_before_the_first_completion_has_the_rate_of_the_run():
    """All requests come within 20 µs, a fiftieth of the time of one of them."""
    result = summarize(*exponential_server(1e6, 20_000, 3), n_disks=1)
    assert not result.is_stable
    assert f"arrive and {result.iops.mean:,.4g}/s complete" in result.messages[-1]


def test_tables_tell_latency_and_warnings(stable):
    result = summarize(*stable, n_disks=1, precision=1e-4)
    text = str(result)
    assert "latency, p99.9" in text
    assert f"{result.latency.mean_ns / 1e6:.4g} ms" in text
    assert "wider than the ±0.0% asked for" in text
    assert "<td>latency, mean</td>" in result._repr_html_()


def test_run_length_follows_the_interval(stable):
    loose = summarize(*stable, n_disks=1, precision=0.2)
    assert loose.is_converged
    assert not needs_more(loose)
    assert needs_more(loose, 1e-4)
    tight = summarize(*stable, n_disks=1, precision=loose.latency.mean.relative / 2, percentile="p99")
    assert not tight.is_converged
    assert needs_more(tight)
    assert 4 * 50_000 < suggest_n(tight) <= 8 * 50_000


def test_one_request_is_a_result_that_has_not_converged():
    requests, run = exponential_server(0.5, 1, 1)
    result = summarize(requests, run, n_disks=1)
    assert (result.n_measured, result.is_settled, result.is_converged) == (1, False, False)
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result)


def test_options_out_of_range_are_reported_together(stable):
    with pytest.raises(DescriptionError) as caught:
        summarize(*stable, n_disks=1, precision=0, percentile="p42", confidence=1)
    assert {fault.field for fault in caught.value.faults} == {"precision", "percentile", "confidence"}
    _, run = exponential_server(0.5, 1, 1)
    empty = Workload.parse({"size": "4 KiB", "clients": 1}).requests(capacity_bytes=CAPACITY, n=0)
    with pytest.raises(DescriptionError, match="nothing to summarize"):
        summarize(empty, run, n_disks=1)


def _bumped(column: np.ndarray, row: int, change: int) -> np.ndarray:
    other = column.copy()
    other[row] += change
    return other


@pytest.mark.parametrize(
    ("law", "breaks"),
    [
        ("never", lambda run: changed(run, done_ns=_bumped(run.completions.done_ns, 7, -(10**15)))),
        ("do not add up", lambda run: changed(run, done_ns=_bumped(run.completions.done_ns, 7, 1))),
        ("do not add up", lambda run: changed(run, parts_ns=_bumped(run.completions.parts_ns, (7, 6), 1))),
        ("negative time", lambda run: changed(run, parts_ns=_bumped(run.completions.parts_ns, (7, 2), -(10**12)))),
        ("not issued in time", lambda run: changed(run, issue_ns=_bumped(run.completions.issue_ns, 7, -1))),
        ("after the end", lambda run: replace(run, end_ns=run.end_ns - 1)),
        ("came out", lambda run: changed(run, done_ns=run.completions.done_ns[:-1])),
        ("busy longer", lambda run: replace(run, devices=replace(run.devices, busy_ns=np.array([run.end_ns + 1])))),
        ("negative n_reads", lambda run: replace(run, devices=replace(run.devices, n_reads=np.array([-1])))),
    ],
)
def test_a_broken_law_is_our_fault(stable, law, breaks):
    requests, run = stable
    with pytest.raises(ConservationError, match=law):
        summarize(requests, breaks(run), n_disks=1)


def test_counters_of_every_disk_are_wanted(stable):
    with pytest.raises(ConservationError, match="2"):
        summarize(*stable, n_disks=2)


def test_more_outstanding_than_clients_is_our_fault():
    requests = Workload.parse({"size": "4 KiB", "clients": 2}).requests(capacity_bytes=CAPACITY, n=6)
    issue = np.array([0, 0, 10, 10, 20, 20])
    parts = np.zeros((6, len(PARTS)), dtype=np.int64)
    parts[:, 0] = 10
    one = np.array([1], dtype=np.int64)
    devices = DeviceCounters(one, one, one * 6, one * 0, one, one * 0, one * 0, one, *[one * 0] * 4)
    run = Run(Completions(issue, issue + 10, parts, np.zeros(6, dtype=np.bool_)), devices, "test", 0.0, 40)
    assert summarize(requests, run, n_disks=1).is_stable
    early = np.array([0, 0, 9, 10, 20, 20])
    parts_early = parts.copy()
    parts_early[2, 0] = 11
    with pytest.raises(ConservationError, match="3 requests outstanding with 2 clients"):
        summarize(requests, changed(run, issue_ns=early, parts_ns=parts_early), n_disks=1)


def test_reads_and_writes_may_have_their_means_alone() -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 4}})
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"})
    whole = simulate(array, load, n_requests=4000, profile_draws=0)
    short = simulate(array, load, n_requests=4000, profile_draws=0, with_operations=False)
    assert short.latency == whole.latency
    for all_of, mean_of in ((whole.reads, short.reads), (whole.writes, short.writes)):
        assert (mean_of.n, mean_of.mean_ns) == (all_of.n, all_of.mean_ns)
        assert all(math.isnan(value) for value in mean_of.quantiles_ns.values())
