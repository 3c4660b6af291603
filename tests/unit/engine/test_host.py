"""The host stage by hand: processor time bounds the rate, windows become queue depth."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.records import PARTS, Requests, StreamRule
from diskmodel.workload import Workload

ONE_DISK = {"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}}
FLASH = {"drive": "generic-sas-ssd", "layout": {"level": "jbod", "disks": 1}}


def sequential(size: str, clients: int = 1) -> Workload:
    return Workload.parse({"size": size, "clients": clients, "addresses": {"pattern": "sequential"}})


def test_a_run_that_is_bound_by_the_processor() -> None:
    array = Array.parse(FLASH | {"host": {"submission": "20 us"}})
    result = simulate(array, Workload.parse({"size": "4 KiB", "clients": 32}), n_requests=4000)
    assert result.iops.mean == pytest.approx(50_000, rel=0.001)
    assert result.breakdown_ns["overhead"] >= 20_000
    assert "processor spends 100 % of its time" in result.messages[0]
    assert result.engine == "native"


def test_one_request_costs_its_submission_more() -> None:
    plain, costly = (
        simulate(Array.parse(FLASH | host), Workload.parse({"size": "4 KiB", "clients": 1}), n_requests=300)
        for host in ({}, {"host": {"submission": "7 us"}})
    )
    assert costly.latency.mean_ns - plain.latency.mean_ns == pytest.approx(7000, abs=1)
    assert not any("processor" in message for message in costly.messages)


@pytest.mark.parametrize(("window", "size_kib"), [("128 KiB", 128), ("512 KiB", 512), ("2 MiB", 512)])
def test_the_disk_sees_windows_cut_at_the_longest_request(window: str, size_kib: int) -> None:
    array = Array.parse(ONE_DISK | {"host": {"is_buffered": True, "read_ahead": window}})
    result = simulate(array, sequential("8 KiB"), n_requests=40_000)
    devices = result.run.devices
    assert devices.read_bytes[0] / devices.n_reads[0] / 1024 == pytest.approx(size_kib, rel=0.05)
    n_windows = max(2 * int(window.split()[0]) * (1024 if "MiB" in window else 1) / 512, 2)
    # two windows at most are being fetched: the one that is read and the next one
    assert 0.5 * n_windows < result.per_disk[0].mean_in_disk <= n_windows


def test_without_read_ahead_pages_come_one_by_one() -> None:
    array = Array.parse(ONE_DISK | {"host": {"is_buffered": True, "read_ahead": "0 B"}})
    result = simulate(array, sequential("8 KiB"), n_requests=500)
    assert result.run.devices.n_reads[0] == 1000
    assert result.run.devices.read_bytes[0] == 500 * 8192


def test_a_buffered_host_reads_ahead_as_linux_does_unless_told_otherwise() -> None:
    implied, given = (
        simulate(Array.parse(ONE_DISK | {"host": {"is_buffered": True} | more}), sequential("8 KiB"), n_requests=500)
        for more in ({}, {"read_ahead": "128 KiB"})
    )
    assert (implied.run.completions.done_ns == given.run.completions.done_ns).all()
    assert implied.run.devices.n_reads[0] < 500 * 8 / 64


def test_the_default_host_changes_nothing() -> None:
    load = Workload.parse({"size": "4 KiB", "clients": 4})
    plain, same = (simulate(Array.parse(ONE_DISK | h), load, n_requests=300) for h in ({}, {"host": {}}))
    assert (plain.run.completions.done_ns == same.run.completions.done_ns).all()


def test_a_read_that_waits_for_its_pages_is_no_hit() -> None:
    """Whatever the draw of the controller's hit ratio says: it was not asked."""
    array = Array.parse(ONE_DISK | {"host": {"is_buffered": True}, "controller": {"read_cache": {"hit_ratio": 1}}})
    result = simulate(array, Workload.parse({"size": "4 KiB", "clients": 1}), n_requests=300)
    assert result.hit_ratio == 0
    assert result.breakdown_ns["cache"] == pytest.approx(result.latency.mean_ns)


def test_a_request_that_goes_on_costs_less_and_a_write_more() -> None:
    host = {"submission": "20 us", "submission_sequential": "10 us", "write_cost_ratio": 1.5}
    array = Array.parse(FLASH | {"host": host})
    load: dict[str, object] = {"size": "4 KiB", "clients": 32}
    reads = simulate(array, sequential("4 KiB", clients=32), n_requests=8000)
    assert reads.iops.mean == pytest.approx(100_000, rel=0.001)
    assert "processor spends 100 % of its time" in reads.messages[0]
    writes = simulate(array, Workload.parse(load | {"read_ratio": 0.0, "span": "1 GiB"}), n_requests=8000)
    assert writes.iops.mean == pytest.approx(1e6 / 30, rel=0.001)


def test_each_processor_submits_at_its_own_rate() -> None:
    """One of them makes 50,000 a second, four of them 200,000: the drive does more."""
    load = Workload.parse({"size": "4 KiB", "clients": 64})
    drive = {"drive": "samsung-pm9a3-7680", "layout": {"level": "jbod", "disks": 1}}
    one, four = (
        simulate(Array.parse(drive | {"host": {"submission": "20 us", "processors": n}}), load, n_requests=8000)
        for n in (1, 4)
    )
    assert one.iops.mean == pytest.approx(50_000, rel=0.001)
    assert four.iops.mean == pytest.approx(200_000, rel=0.002)
    assert "the host's 4 processors spend 100 % of their time" in four.messages[0]


def test_a_lock_limits_whatever_the_number_of_processors() -> None:
    drive = {"drive": "samsung-pm9a3-7680", "layout": {"level": "jbod", "disks": 1}}
    host = {"submission": "10 us", "processors": 16, "lock": "8 us", "write_lock": "16 us"}
    array = Array.parse(drive | {"host": host})
    for reads, rate in ((1.0, 125_000), (0.0, 62_500), (0.5, 1e6 / 12)):
        load = Workload.parse({"size": "4 KiB", "clients": 64, "read_ratio": reads})
        result = simulate(array, load, n_requests=8000, start="empty")
        assert result.iops.mean == pytest.approx(rate, rel=0.03)
        assert "the host's lock is held" in result.messages[0]
    alone = simulate(array, Workload.parse({"size": "4 KiB", "clients": 1}), n_requests=300)
    plain = simulate(Array.parse(drive), Workload.parse({"size": "4 KiB", "clients": 1}), n_requests=300)
    assert alone.latency.mean_ns - plain.latency.mean_ns == pytest.approx(18_000, abs=1)


def test_processors_and_the_lock_by_hand() -> None:
    """Requests at 0, 1, 2 and 3 us leave two processors of 10 us at 10, 11, 20 and 21, a lock of 4 us at 14 … 28."""
    host = {"submission": "10 us", "processors": 2, "lock": "4 us"}
    when_ns = [0, 1000, 2000, 3000]
    requests = Requests(
        when_ns=np.array(when_ns),
        op=np.zeros(4, np.uint8),
        offset=np.arange(4) * (64 << 10),
        length=np.full(4, 4096),
        stream=np.zeros(4, np.int32),
        cache_draw=np.zeros(4),
        streams=(StreamRule("a", 0, 0),),
    )
    four = {"drive": "generic-sas-ssd", "layout": {"level": "raid0", "disks": 4}}
    for engine in (simpy_engine, native):
        arrays = (Array.parse(four), Array.parse(four | {"host": host}))
        free, costly = (engine.run(resolve(array, 0), requests).completions.parts_ns for array in arrays)
        own = costly - free
        assert own[:, PARTS.index("overhead")].tolist() == [14_000] * 4
        # the lock is held until 14, 18, 24 and 28 us; 10 and 4 of each are work
        waits = [14_000 - 14_000, 18_000 - 1000 - 14_000, 24_000 - 2000 - 14_000, 28_000 - 3000 - 14_000]
        assert own[:, PARTS.index("queue")].tolist() == waits


def test_a_plan_names_the_host_where_it_limits() -> None:
    """Two processors of 20 us make 100,000 requests a second, however many drives there are."""
    plan = PlanDescription.parse(
        {
            "workload": {"size": "4 KiB", "rate": "120000/s"},
            "objective": {"latency": {"p99": "5 ms"}},
            "candidates": {"drives": ["samsung-pm9a3-7680"], "levels": ["raid10"], "disks": [4, 8]},
            "host": {"submission": "20 us", "processors": 2},
            "search": {"requests": 2000, "max_requests": 4000, "max_requests_at_answer": 4000},
        }
    )
    (candidate,) = run_plan(plan, with_relaxations=False, by_chance=False, with_details=False).candidates
    assert not candidate.is_feasible
    assert "the host's 2 processors spend" in candidate.reason
    assert candidate.reason.count("limit the rate, not the array") == 1


@pytest.mark.parametrize("more", [{"processors": 2}, {"lock": "1 us"}, {"write_lock": "1 us"}])
def test_pauses_are_those_of_one_processor_without_a_lock(more: dict[str, object]) -> None:
    with pytest.raises(DescriptionError, match="leave out the pauses"):
        Array.parse(FLASH | {"host": {"pause": "1 ms", "pause_interval": "9 ms"} | more})


def test_pauses_take_their_share_and_hold_up_all_that_is_outstanding() -> None:
    """A tenth of the time; each of 16 requests is outstanding for 320 us of the processor's work, and pauses add up.

    Pauses begin 1 / 3.6 ms of working time and are exponential with 400 us: the chance that they add up to more than
    100 us is that of one (0.089 exp(-0.089) exp(-0.25)) and of more than one (0.0037, nearly all of them longer).
    """
    host = {"submission": "20 us", "pause": "400 us", "pause_interval": "3.6 ms"}
    load = Workload.parse({"size": "4 KiB", "clients": 16})
    array = Array.parse(FLASH | {"host": host})
    still, steady = (
        simulate(Array.parse(FLASH | {"host": h}), load, n_requests=120_000) for h in (host, {"submission": "20 us"})
    )
    assert still.iops.mean == pytest.approx(0.9 * steady.iops.mean, rel=0.02)
    assert "and 10 % in pauses" in still.messages[0]
    latency = still.run.completions.done_ns - still.run.completions.issue_ns
    assert np.mean(latency > 420_000) == pytest.approx(0.067, rel=0.12)
    assert simulate(array, load, n_requests=2000, seed=5).latency.mean_ns != still.latency.mean_ns


def test_both_engines_pause_alike() -> None:
    host = {"submission": "15 us", "pause": "1 ms", "pause_interval": "2 ms"}
    load = Workload.parse({"size": "4 KiB", "rate": "90/s"})
    one, other = (
        simulate(Array.parse(ONE_DISK | {"host": host}), load, n_requests=400, engine=engine)
        for engine in ("simpy", "native")
    )
    assert (one.run.completions.done_ns == other.run.completions.done_ns).all()
    assert (one.run.completions.done_ns >= one.run.completions.issue_ns).all()


def test_a_pause_needs_an_interval() -> None:
    with pytest.raises(DescriptionError, match="needs pause_interval_ns as well"):
        Array.parse(ONE_DISK | {"host": {"pause": "1 ms"}})
