"""Runs that cannot end are refused before they begin; those that can are not."""

import time
from contextlib import nullcontext

import pytest

from diskmodel.array import Array
from diskmodel.engine import effort, native
from diskmodel.engine.effort import (
    LEAST_OF_MOVED,
    RUNS_S,
    Cost,
    CostSeen,
    check_effort,
    check_rare,
    each_most,
    each_s,
    few_enough,
    few_enough_beside,
    guessed,
    lengths,
    limits,
    looked_at,
    often_enough,
)
from diskmodel.engine.effort.prices import waiting_of
from diskmodel.engine.ledger import question
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan import compare
from diskmodel.records import Run
from diskmodel.workload import TraceWorkload, Workload


def closed(clients: int) -> Workload:
    return Workload.parse({"size": "4 KiB", "clients": clients})


def fault_of(workload: Workload, **options: object) -> Fault:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    began = time.perf_counter()
    with pytest.raises(DescriptionError) as caught:
        simulate(array, workload, **options)  # type: ignore[arg-type]
    assert time.perf_counter() - began < 1
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize("options", [{}, {"keep": "histogram"}, {"engine": "simpy"}])
def test_more_clients_than_a_run_has_requests(options: dict[str, str]) -> None:
    fault = fault_of(closed(10**8), **options)
    assert (fault.field, fault.value) == ("workload.streams.0.clients", 10**8)
    most = effort.MAX_REQUESTS[next(iter(options.values()), "native")]
    assert f"use at most {most // 2:,}" in fault.fix


def test_the_stream_with_the_most_clients_is_named() -> None:
    streams = [{"size": "4 KiB", "clients": 8, "name": "a"}, {"size": "4 KiB", "clients": 10**8, "name": "b"}]
    assert fault_of(Workload.parse({"streams": streams})).field == "workload.streams.1.clients"


def test_what_takes_days() -> None:
    fault = fault_of(closed(1), n_requests=10**13, keep="histogram")
    assert (fault.field, fault.value) == ("n_requests", 10**13)
    assert "more than a day" in fault.rule


def test_what_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault_of(closed(1), n_requests=10**12).field == "n_requests"
    monkeypatch.setattr(limits, "free_bytes", lambda: 10**9)
    fault = fault_of(closed(1), n_requests=20_000_000)
    assert "1.8 GB" in fault.rule
    assert "1.0 GB are free" in fault.rule
    assert fault_of(closed(5_000_000), n_requests=6_000_000, keep="histogram").field == "workload.streams.0.clients"


def test_what_can_be_done_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "free_bytes", lambda: 2 * 10**9)
    check_effort(closed(1_000_000), n_requests=None, engine="native", keep="all")
    check_effort(closed(1), n_requests=20_000_000, engine="native", keep="all")
    check_effort(Workload.parse({"size": "4 KiB", "rate": "100/s"}), n_requests=None, engine="simpy", keep="all")
    # free memory is unknown: only what is hopeless anywhere is refused
    monkeypatch.setattr(limits, "free_bytes", lambda: None)
    check_effort(closed(1), n_requests=10**9, engine="native", keep="all")


def test_a_trace_is_there_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "free_bytes", lambda: 0)
    trace = TraceWorkload.from_arrays([0, 10**6], [0, 1], [0, 4096], [4096, 4096])
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
    assert simulate(array, trace, n_requests=2).n_requests == 2


def test_free_memory_is_known_here() -> None:
    free = effort.free_bytes()
    assert free is None or 10**6 < free < 10**15


def rebuilding(drive: str, **layout: object) -> Array:
    given = {"level": "raid5", "disks": 5, "failed": [0], "spares": 1, "rebuild": {}} | layout
    return Array.parse({"drive": drive, "layout": given})


def cost_of(array: Array, load: Workload) -> Cost:
    scenario = resolve(array, 1)

    def run_of(n: int) -> Run:
        return native.run(scenario, load.requests(capacity_bytes=array.usable_bytes, n=n, seed=1))

    return looked_at(run_of, scenario, load)


def test_a_look_leaves_out_runs_that_a_guess_says_are_short() -> None:
    """What it finds stays the same: that of the longest one."""
    array, load = Array.from_words("6x generic-15k raid6"), Workload.parse({"size": "8 KiB", "rate": "200/s"})
    scenario = resolve(array, 1)
    lengths: list[int] = []

    def run_of(n: int) -> Run:
        lengths.append(n)
        return native.run(scenario, load.requests(capacity_bytes=array.usable_bytes, n=n, seed=1))

    found = looked_at(run_of, scenario, load)
    assert lengths == [1, 4, 16, 64, 256, 1000]
    for guess_s, from_n in [(1e-6, 1000), (1e-4, 64), (1.0, 1)]:
        lengths.clear()
        assert looked_at(run_of, scenario, load, guess=Cost(guess_s, 0.0)) == found
        assert lengths[0] == from_n


@pytest.mark.parametrize(("rate", "least", "most"), [("2/s", 1_000, 10_000), ("500/s", 100_000, 10_000_000)])
def test_rare_requests_beside_a_rebuild_are_fewer(rate: str, least: int, most: int) -> None:
    """At two requests a second, hundreds of commands of the rebuild come with each."""
    load = Workload.parse({"streams": [{"read_ratio": 0.7, "size": "8 KiB", "rate": rate}]})
    cost = cost_of(rebuilding("generic-7k2"), load)
    assert least <= cost.most() <= most
    assert cost.most(17) == pytest.approx(cost.most() / 17, rel=0.01)
    assert cost.most(spent_s=1e3) == 0
    assert cost.kept_bytes == 0, "only flash remembers what was written to it"


def test_a_rebuild_of_flash_is_bounded_in_time_and_memory() -> None:
    """Two drives in RAID 1 beside 10 requests a second: hundreds of long writes of the rebuild come with each."""
    array = rebuilding("micron-7450-pro-1920", level="raid1", disks=2)
    load = Workload.parse({"size": "8 KiB", "rate": "10/s"})
    cost = cost_of(array, load)
    assert cost.most() * cost.kept_bytes <= 4e8
    # what was written to flash was 1.7 GB of memory at 8,000 requests
    assert cost.kept_bytes * 8_000 == pytest.approx(1.7e9, rel=0.6)
    result = simulate(array, load, profile_draws=0, precision=0.001)
    assert result.n_requests <= cost.most() < 8_000
    assert any("the run was ended after" in message for message in result.messages)
    assert result.rebuild is not None
    assert result.rebuild.bytes_per_s == pytest.approx(200 * 1024 * 1000, rel=0.01), "md's limit"


@pytest.mark.parametrize("level", ["raid1", "mirror"])
def test_requests_too_rare_beside_a_rebuild(level: str) -> None:
    """The smallest rate that the refusal names is simulated."""
    array = rebuilding("micron-7450-pro-1920", level=level, disks=2)

    def fault_at(rate: float) -> Fault | None:
        try:
            check_rare(array, Workload.parse({"size": "8 KiB", "rate_per_s": rate}))
        except DescriptionError as error:
            return error.faults[0]
        return None

    fault = fault_at(1e-4)
    assert fault is not None
    assert fault.field == "workload.streams.0.rate"
    least = float(fault.fix.split("at least ")[1].split()[0])
    assert 0.1 < least < 10
    assert fault_at(least * 1.05) is None
    healthy = rebuilding("generic-7k2", failed=[], spares=0, rebuild=None)
    check_rare(healthy, Workload.parse({"size": "8 KiB", "rate_per_s": 1e-4}))


def test_clients_that_think_too_long_beside_a_rebuild() -> None:
    """The first requests come after a pause, in which a rebuild of all disks at once goes on."""
    array = rebuilding("generic-sas-ssd", level="raid1", disks=2)
    load = {"size": "8 KiB", "clients": 1000, "think": "1000 s"}
    with pytest.raises(DescriptionError) as caught:
        check_rare(array, Workload.parse(load))
    (fault,) = caught.value.faults
    assert fault.field == "workload.streams.0.think"
    longest_s = float(fault.fix.split("at most ")[1].split()[0])
    check_rare(array, Workload.parse({**load, "think": f"{longest_s * 0.95} s"}))


#: Arrays and loads of which a guess may be checked: plain disks, parity, flash, a pool of flash, and large requests.
GUESSED = [
    ("4x generic-15k raid10", {"size": "8 KiB", "clients": 4, "read_ratio": 0.5}),
    ("6x generic-15k raid6", {"size": "1 MiB", "clients": 4, "read_ratio": 0.0}),
    ("2x micron-7450-pro-1920 raid1", {"size": "64 KiB", "clients": 4, "read_ratio": 0.3}),
    ("4x micron-7450-pro-1920 raidz1", {"size": "8 KiB", "rate": "2000/s", "read_ratio": 0.5}),
    ("4x micron-7450-pro-1920 raid5", {"size": "16 MiB", "clients": 2, "read_ratio": 1.0}),
]


@pytest.mark.parametrize(("words", "load"), GUESSED)
def test_a_guess_is_within_the_factor_from_which_it_is_looked_at(words: str, load: dict[str, object]) -> None:
    array, workload = Array.from_words(words), Workload.parse(load)
    scenario = resolve(array, 0)
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=60, seed=0)
    seen = Cost.of(native.run(scenario, requests), scenario, 60, workload)
    assert seen.run_s / 8 < guessed(scenario, workload).run_s < 8 * seen.run_s


def test_a_run_of_many_is_shorter_where_its_requests_are_large() -> None:
    """1 GiB takes a drive of flash 262,144 pages: 30,000 of them would take half an hour."""
    array = Array.from_words("2x micron-7450-pro-1920 raid1")
    large = Workload.parse({"size": "1 GiB", "clients": 1, "read_ratio": 1.0})
    began = time.process_time()
    result = simulate(array, large, n_requests=30_000, profile_draws=0, is_one_of_many=True)
    assert time.process_time() - began < 5
    assert LEAST_OF_MOVED <= result.n_requests < 100
    assert any("ended after" in text for text in result.messages)


def test_an_ordinary_run_of_many_is_as_long_as_it_was_asked_to_be() -> None:
    array, load = Array.from_words("6x generic-15k raid6"), Workload.parse({"size": "8 KiB", "rate": "200/s"})
    for n in (30_000, 120_000):
        assert each_most(n, lambda n: pytest.fail("looked"), resolve(array, 0), load, array, each_s(n)) == n
    assert few_enough(6_000, resolve(array, 0), load, 0.2) == 6_000


def test_requests_that_come_hours_apart_are_simulated_as_often_as_a_run_beside_a_rebuild_can_have_them() -> None:
    layout = {"level": "raid1", "disks": 2, "failed": [0], "spares": 1, "rebuild": {}}
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": layout})
    rare, usual = (Workload.parse({"size": "8 KiB", "rate": rate}) for rate in ("0.0001/s", "20000/s"))
    made = often_enough(array, rare)
    check_rare(array, made)
    assert guessed(resolve(array, 0), made, array).run_s < RUNS_S
    assert often_enough(array, usual) == usual
    idle = Workload.parse({"size": "8 KiB", "clients": 1, "think": "2 h"})
    assert guessed(resolve(array, 0), often_enough(array, idle), array).run_s < RUNS_S
    whole = Array.from_words("2x micron-7450-pro-1920 raid1")
    assert often_enough(whole, rare) == rare


def test_long_requests_cost_their_strips() -> None:
    array = Array("seagate-exos-x18", "raid50", 12)
    scenario = resolve(array, 0)
    short, long = (
        effort.guessed(scenario, Workload.parse({"size": size, "rate": "10/s"}), array).run_s
        for size in ("64 KiB", "64 MiB")
    )
    # 1,024 strips, though each disk gets one command
    assert long - short > 1000 * 0.1e-6
    assert long > 5 * short


def test_records_of_large_requests_of_a_pool_count_the_memory_in_which_they_wait() -> None:
    scenario = resolve(Array.from_words("4x generic-15k mirror"), 0)
    small, large = (
        guessed(scenario, Workload.parse({"size": size, "rate": "10/s", "read_ratio": 0.0})).kept_bytes
        for size in ("1 MiB", "1 GiB")
    )
    assert small == 0
    assert large > 1e6


def test_what_waits_in_an_overload_of_a_pool_counts_its_memory() -> None:
    """28,000 writes of 1 MiB that came at once took 1.4 GB; as many that are written as they come take little."""
    array = Array.parse({"drive": "intel-dc-p4500-4tb", "layout": {"level": "draid2", "disks": 22, "record": "16 KiB"}})
    most = [
        cost_of(array, Workload.parse({"size": "1 MiB", "read_ratio": 0.5, "rate": rate})).within(1e9, limits.RUN_BYTES)
        for rate in ("20000000/s", "100/s")
    ]
    assert most[0] < 10_000
    assert most[1] > 2 * most[0]


def test_what_a_request_of_a_changed_array_costs_follows_from_a_similar_one() -> None:
    load = Workload.parse({"size": "64 KiB", "read_ratio": 0.0, "rate": "100/s"})
    array, more, slower = (
        Array.from_words(f"{words}")
        for words in ("4x generic-7k2 raid10", "4x generic-7k2 raid6", "4x generic-5k4 raid10")
    )
    run = native.run(resolve(array, 1), load.requests(capacity_bytes=array.usable_bytes, n=100, seed=1))
    seen = CostSeen.of(run, resolve(array, 1), 100, load, array)
    assert seen.changed_to(slower, load, resolve(slower, 1)) == seen.cost
    larger = seen.changed_to(more, load, resolve(more, 1))
    assert larger is not None
    assert 1.2 * seen.cost.run_s < larger.run_s < 3 * seen.cost.run_s
    # hours of it may lie between two requests
    beside = rebuilding("generic-7k2")
    assert seen.changed_to(beside, load, resolve(beside, 1)) is None


def test_a_trial_of_rare_requests_beside_a_rebuild_is_short() -> None:
    """Hours of a rebuild lie between two of its 6,000 requests, each second of which has hundreds of steps."""
    layout = {"level": "raid10", "disks": 4, "failed": [0], "spares": 1, "rebuild": {}}
    scenario = resolve(Array.parse({"drive": "generic-15k", "layout": layout}), 0)
    rare, often = (Workload.parse({"size": "64 KiB", "rate": rate}) for rate in ("0.18/s", "900/s"))
    assert few_enough(6_000, scenario, rare, 0.2) < 200
    assert few_enough(6_000, scenario, often, 0.2) == 6_000


def test_a_trial_of_clients_that_a_rebuild_keeps_waiting_is_as_long_as_their_answers_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A controller that destages a full cache beside it answered 2.3 requests a second, not 500 a client."""
    layout = {"level": "raid1", "disks": 2, "failed": [0], "spares": 1, "rebuild": {}}
    scenario = resolve(Array.parse({"drive": "generic-7k2", "layout": layout}), 0)
    whole = resolve(Array.parse({"drive": "generic-7k2", "layout": {"level": "raid1", "disks": 2}}), 0)

    def never(n: int) -> Run:
        pytest.fail("looked")

    assert few_enough_beside(6_000, never, whole, closed(1)) == 6_000
    assert few_enough_beside(6_000, never, scenario, Workload.parse({"size": "4 KiB", "rate": "10/s"})) == 6_000
    assert few_enough_beside(1_000, never, scenario, closed(1)) == 1_000
    monkeypatch.setattr(lengths, "looked_at", lambda *_: Cost(0.001, 0.0))
    assert few_enough_beside(6_000, never, scenario, closed(1)) == 1_000
    monkeypatch.setattr(lengths, "looked_at", lambda *_: Cost(0.0001, 0.0))
    assert few_enough_beside(6_000, never, scenario, closed(1)) == 6_000


def test_a_comparison_beside_a_rebuild_refuses_clients_that_think_for_hours() -> None:
    layout = {"level": "raid5", "disks": 8, "failed": [0], "spares": 1, "rebuild": {}}
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": layout})
    thinking = Workload.parse({"size": "1 MiB", "clients": 32, "think": "1 h"})
    with pytest.raises(DescriptionError, match=r"let clients think for at most 63 s") as refused:
        compare([array, array], thinking)
    fewer = Workload.parse({"size": "1 MiB", "clients": 32, "think": "63 s"})
    check_rare(array, fewer)  # what it says can be done
    assert refused.value.faults[0].field == "workload.streams.0.rate"


def test_what_a_resilver_of_draid_costs_is_entered() -> None:
    """Of dRAID a child I/O takes twice as long: it goes to all disks at once."""
    workload = Workload.parse({"size": "8 KiB", "rate": "5/s"})

    def entered_of_each(level: str) -> float:
        layout = {"level": level, "disks": 11, "failed": [0], "spares": 1, "rebuild": {"used": "80%"}}
        array = Array.parse({"drive": "generic-15k", "layout": layout})
        scenario = resolve(array, 0)
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=2, seed=0)
        run = native.run(scenario, requests)
        n_bytes = int(run.devices.read_bytes.sum() + run.devices.write_bytes.sum())
        return effort.entered_s(run, scenario, 2, 2 << 13, "native") / n_bytes

    assert 1.5 * entered_of_each("raidz2") < entered_of_each("draid2") < 3 * entered_of_each("raidz2")


def test_a_group_beside_a_scrub_is_looked_at() -> None:
    """A client whose writes are safe went through five minutes of a scrub to show how large its groups are."""
    layout = {"level": "mirror", "disks": 10, "vdevs": 5, "record": "16 KiB", "rebuild": {"action": "check"}}
    scenario = resolve(Array.parse({"drive": "generic-7k2", "layout": layout}), 0)
    asked: list[int] = []

    def run_of(n: int) -> Run:
        asked.append(n)
        requests = Workload.parse({"size": "12 KiB", "read_ratio": 0, "clients": 1, "sync": "fsync"}).requests(
            capacity_bytes=1 << 40, n=n, seed=0
        )
        return native.run(scenario, requests)

    assert few_enough_beside(6_000, run_of, scenario, closed(1)) < 4_000
    assert max(asked) <= effort.PROBE


def test_flushes_of_all_disks_are_entered() -> None:
    """Each commit flushes each disk: of 200 there are 200 for a write, which are no commands."""
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid6", "disks": 200}})
    scenario = resolve(array, 0)
    plain, synced = (
        Workload.parse({"size": "8 KiB", "rate": "200/s", "read_ratio": 0.5, "sync": sync})
        for sync in ("none", "fsync")
    )
    assert guessed(scenario, synced).run_s > guessed(scenario, plain).run_s + 15e-6
    entered = []
    for workload in (plain, synced):
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=200, seed=0)
        run = native.run(scenario, requests)
        entered.append(effort.entered_s(run, scenario, 200, int(requests.length.sum()), "native"))
    n_flushes = int(run.devices.n_flushes.sum())  # those that wait together have one of each disk
    assert n_flushes > 10 * 200
    assert entered[1] - entered[0] > n_flushes * 0.15e-6


@pytest.mark.parametrize(
    ("layout", "load"),
    [
        ("raid0", {"size": "1 GiB", "clients": 500}),
        ("raid0", {"size": "1 GiB", "rate": "10000/s"}),
        ("raidz1", {"size": "1 GiB", "clients": 500}),
    ],
)
def test_large_requests_of_many_parts_need_memory(
    layout: str, load: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 of 1 GiB in strips of 4 KiB took 5 GB: what is asked for is refused before it begins, and fewer are not."""
    size = {"record": "128 KiB"} if layout == "raidz1" else {"strip": "4 KiB"}
    array = Array.parse({"drive": "generic-15k", "layout": {"level": layout, "disks": 8} | size})
    monkeypatch.setattr(limits, "free_bytes", lambda: 3 * 10**9)
    with pytest.raises(DescriptionError, match="GB are free") as refused:
        simulate(array, Workload.parse(load), n_requests=30_000)
    most = int(str(refused.value).split("use at most ")[1].split(", or")[0].replace(",", ""))
    assert 100 < most < 500
    limits.check_room(array, Workload.parse(load), most)
    limits.check_room(array, Workload.parse(load | {"size": "1 MiB"}), 30_000)
    limits.check_room(array, Workload.parse({"kind": "flushes", "rate": "2/s"}), 30_000)


def test_a_limit_of_the_address_space_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**12, 10**12))
    allowed = limits._allowed_bytes()
    assert allowed is not None
    assert 10**11 < allowed < 10**12
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert limits._allowed_bytes() is None


def test_commands_that_wait_for_longer_than_a_sum_has_room() -> None:
    """Requests of 1 GiB to disks of 1993 in an overload: their waits add up to more than 292 years."""
    array = Array.parse({"drive": "dec-rz26", "layout": {"level": "raid50", "disks": 6}})
    load = Workload.parse({"size": "1 GiB", "rate": "1e7/s"})
    run = simulate(array, load, n_requests=193, profile_draws=0, with_angles=False).run
    assert run.devices.response_ns.sum() < 0, "the sum of all disks has wrapped around"
    assert 0 < waiting_of(run) <= run.devices.n_reads.sum() + run.devices.n_writes.sum()


def test_of_the_numbers_of_disks_of_a_question_one_is_looked_at() -> None:
    """Where time is so short that a guess does not do, and yet far more than such a run takes."""
    load = Workload.parse({"size": "8 KiB", "rate": "200/s"})
    looks: list[int] = []

    def asked(disks: int, run_s: float) -> int:
        array = Array.from_words(f"{disks}x generic-15k raid6")
        scenario = resolve(array, 0)

        def run_of(n: int) -> Run:
            looks.append(disks)
            return native.run(scenario, load.requests(capacity_bytes=array.usable_bytes, n=n, seed=1))

        return each_most(30_000, run_of, scenario, load, array, run_s)

    for in_a_question, again in ((True, False), (False, True)):
        with question() if in_a_question else nullcontext():
            assert asked(6, 0.15) == 30_000
            assert looks, "the guess alone does not do"
            looks.clear()
            assert asked(8, 0.15) == 30_000
            assert bool(looks) is again, "what was seen is that of one question"
            assert asked(10, 0.001) < 30_000
            assert looks[-1] == 10, "which may take too long"
            looks.clear()
