"""The list of causes: what each one changes, and what is said of it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from statistics import mean

import pytest

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import Trials
from diskmodel.errors import DescriptionError, Fault
from diskmodel.explanation.causes import CAUSES, Cause
from diskmodel.explanation.causes.cause import Change, Scale
from diskmodel.explanation.causes.paths import limited_in_slices, limited_to
from diskmodel.explanation.causes.repeats import repeating
from diskmodel.explanation.causes.uneven import one_slow_member
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.explanation.simulator import REQUESTS, Simulator
from diskmodel.result.summary import estimates_by_operation
from diskmodel.workload import Workload
from tests.validation.explanation.outside.simulator import Box, Disk, Flash, Load, run, times_of

#: What causes may be about: hard disks and flash, alone, in arrays, behind a cache.
ARRAYS = (
    "generic-7k2",
    "8x seagate-exos-x18 raid6, strip 64KiB",
    "6x generic-10k raid10",
    "8x generic-15k raid5, 1GiB cache",
    "4x samsung-pm9a3-7680 raid5",
    "samsung-pm893-960",
    "2x6 seagate-exos-x18 raidz2",
    "4x generic-7k2 raid10, drive caches off",
    "aws-gp2, 200GB, full credits",
    "aws-gp2, 200GB",
    "aws-gp3, 16000 IOPS",
    "4x generic-7k2 raid10, cached by micron-7450-pro-960 (bcache writeback)",
    "ceph 4 nodes, 2x samsung-pm983-1920 each",
    "ceph 4 nodes, 2x samsung-pm983-1920 each, db on micron-7450-pro-960",
)
LOADS = (
    {"size": "4 KiB", "read_ratio": 0.5, "clients": 64},
    {"size": "1 MiB", "read_ratio": 1.0, "clients": 2, "addresses": "sequential"},
    {"size": "4 KiB", "read_ratio": 0.0, "clients": 1, "sync": "fdatasync"},
)


@cache
def cases() -> tuple[tuple[Array, Measured], ...]:
    figures = {"iops": 20_000.0, "reads.mean": 2e7, "writes.mean": 2e7}
    loads = [Measured("load", Workload.parse(load), figures, {"reads": 1e4, "writes": 1e4}) for load in LOADS]
    return tuple((Array.from_words(words), load) for words in ARRAYS for load in loads)


def changes(cause: Cause) -> Iterator[Change]:
    for array, load in cases():
        for _, value, _ in cause.variants([load]):
            change = cause.change(array, load.workload, value)
            if change is not None:
                yield change


@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_changes_something_and_says_what_proves_it(name: str) -> None:
    cause = CAUSES[name]
    assert any(True for _ in changes(cause))
    assert cause.title[0].islower() or cause.title.startswith("SATA")
    assert all((cause.title, cause.fingerprint, cause.about, cause.prior > 0))
    assert not cause.title.endswith(".")


@pytest.mark.parametrize("name", CAUSES)
def test_what_it_changes_is_described_anew(name: str) -> None:
    for change in changes(CAUSES[name]):
        assert change.array.usable_bytes > 0
        if change.law is None:
            is_same = any(change.array == array and change.workload == load.workload for array, load in cases())
            assert not is_same


def test_a_processor_is_the_limit_of_nvme_drives_sooner_than_of_disks() -> None:
    priors = {
        name: [CAUSES[name].on(Array.from_words(words)).prior for words in (ARRAYS[0], ARRAYS[4])] for name in CAUSES
    }
    assert priors["host-processor"][0] < priors["host-processor"][1]
    assert priors["few-at-once"][0] > priors["few-at-once"][1]
    assert {name for name, (disk, nvme) in priors.items() if disk != nvme} == {
        "few-at-once",
        "host-processor",
        "other-medium",
        "shingled",
        "slc-exhausted",
        "thermal-throttling",
    }


def test_there_are_as_many_as_people_ask_about() -> None:
    assert len(CAUSES) >= 40
    assert len({cause.title for cause in CAUSES.values()}) == len(CAUSES)


@pytest.mark.parametrize("name", CAUSES)
def test_strengths_share_the_prior_of_their_cause(name: str) -> None:
    (_, load), *_ = cases()
    variants = CAUSES[name].variants([load])
    assert len({words for words, _, _ in variants}) == len(variants)
    assert 0 < sum(share for _, _, share in variants) <= 1 + 1e-9


def test_a_scale_that_lies_where_nothing_was_measured_has_no_strengths() -> None:
    scale = Scale(1.0, 10.0, str, lambda _: [100.0])
    assert scale.values([]) == []
    assert Cause("a", "b", 1.0, "c", lambda a, w, _: Change(a, w), scale, "e").variants([]) == []


def test_a_limit_keeps_littles_law() -> None:
    workload = Workload.parse({"size": "4 KiB", "clients": 8})
    load = Measured("load", workload, {"iops": 100.0}, {"reads": 1.0})
    figures = {"iops": 800.0, "reads.mean": 10e6, "reads.p50": 8e6, "reads.p99": 300e6}
    found = limited_to(100.0)(figures, load)
    assert found["iops"] * found["reads.mean"] / 1e9 == pytest.approx(8)
    assert found["reads.p50"] == pytest.approx(80e6)
    assert found["reads.p99"] == pytest.approx(300e6)
    assert limited_to(1000.0)(figures, load) is figures


def test_laws_of_two_causes_follow_each_other() -> None:
    array, load = cases()[0]
    twice = Change(array, load.workload, lambda figures, _: {"iops": 2 * figures["iops"]})
    more = Change(array, load.workload, lambda figures, _: {"iops": 1 + figures["iops"]})
    both = twice.then(more)
    assert both is not None
    assert both.law is not None
    assert both.law({"iops": 10.0}, load) == {"iops": 21.0}
    assert twice.then(None) is None
    assert math.isfinite(both.law({"iops": 1.0}, load)["iops"])


@pytest.mark.parametrize(
    ("words", "kind", "parity", "load"),
    [
        ("8x generic-7k2 raid6", "parity", 2, Load(8192, 1)),
        ("8x generic-7k2 raid6", "parity", 2, Load(8192, 32)),
        ("8x generic-7k2 raid6", "parity", 2, Load(8192, 16, is_write=True)),
        ("6x generic-7k2 raid10", "mirrors", 0, Load(8192, 32)),
        ("6x generic-7k2 raid10", "mirrors", 0, Load(1 << 20, 4)),
    ],
)
def test_one_slow_member_does_to_rates_what_another_simulator_says(
    words: str, kind: str, parity: int, load: Load
) -> None:
    """The simulator shares no code, and its disks order their commands by place, the law only by their number."""
    array = Array.from_words(words)
    workload = Workload.parse(
        {"size": f"{load.size:.0f} B", "clients": load.depth, "read_ratio": 0.0 if load.is_write else 1.0}
    )
    part = "writes" if load.is_write else "reads"

    def members(factor: float) -> Box:
        disks = [Disk() for _ in range(array.layout.disks)]
        disks[3].slow = factor
        return Box([*disks], kind, parity)

    sound, _ = run(members(1.0), load, 1_500, 1)
    for factor in (2.0, 5.0):
        law = one_slow_member(array, workload, factor, half=3 % array.layout.n_copies)
        assert law is not None
        measured = Measured("load", workload, {"iops": sound, f"{part}.mean": load.depth * 1e9 / sound}, {part: 1e4})
        found = law(dict(measured.figures), measured)
        rate, _ = run(members(factor), load, 1_500, 2)
        assert found["iops"] == pytest.approx(rate, rel=0.25)
        assert found[f"{part}.mean"] == pytest.approx(load.depth * 1e9 / found["iops"])


@pytest.mark.parametrize(
    ("words", "kind", "parity", "load"),
    [
        ("8x generic-7k2 raid6", "parity", 2, Load(8192, 1)),
        ("6x generic-7k2 raid10", "mirrors", 0, Load(8192, 16)),
    ],
)
def test_one_member_that_repeats_does_what_another_simulator_says(
    words: str, kind: str, parity: int, load: Load
) -> None:
    """Rates and p99; the simulator shares no code, and its disks order their commands."""
    array = Array.from_words(words)
    workload = Workload.parse({"size": f"{load.size:.0f} B", "clients": load.depth})

    def members(ratio: float) -> Box:
        disks = [Disk() for _ in range(array.layout.disks)]
        disks[3].retries, disks[3].turns = ratio, (20, 40, 60)
        return Box([*disks], kind, parity)

    sound, times = run(members(0.0), load, 4_500, 1)
    figures = {"iops": sound, "reads.mean": load.depth * 1e9 / sound} | {
        f"reads.{name}": times[int(level * len(times))] * 1e9 for name, level in SHAPE.items()
    }
    measured = Measured("load", workload, figures, {"reads": 1e4})
    for ratio in (0.1, 0.3):
        law = repeating(array, workload, (ratio, 40), is_one=True, half=3 % array.layout.n_copies)
        assert law is not None
        found = law(figures, measured)
        rate, times = run(members(ratio), load, 4_500, 3)
        assert found["iops"] == pytest.approx(rate, rel=0.25)
        assert found["reads.mean"] * found["iops"] == pytest.approx(load.depth * 1e9)
        assert found["reads.p50"] < 1.5 * figures["reads.p50"]
        assert math.log(found["reads.p99"] / 1e9 / times[int(0.99 * len(times))]) == pytest.approx(0, abs=0.6)
        # a median is that of sound members, however many requests meet the bad one
        assert law.left_open(measured)["reads.p50"] < 0.1
    assert repeating(Array.from_words("generic-7k2"), workload, (0.1, 10), is_one=True) is None


@pytest.mark.parametrize("depth", [1, 8])
def test_reads_in_order_without_look_ahead_lose_a_turn_each(depth: int) -> None:
    drive = Array.from_words("generic-7k2")
    workload = Workload.parse({"size": "1 MiB", "clients": depth, "addresses": "sequential"})
    change = CAUSES["look-ahead-off"].change(drive, workload, True)
    assert change is not None
    assert change.law is not None
    figures = {"iops": 150.0, "reads.mean": depth * 1e9 / 150, "reads.p99": depth * 1e9 / 150}
    found = change.law(figures, Measured("load", workload, figures, {"reads": 1e4}))
    lost_s = 0.9 * 60 / 7200
    assert 1 / found["iops"] == pytest.approx(1 / 150 + lost_s)
    assert found["reads.mean"] == pytest.approx(depth * 1e9 / found["iops"])


@pytest.mark.parametrize("disks", [6, 10])
def test_a_read_in_order_waits_for_one_access_of_others_at_random(disks: int) -> None:
    array = Array.from_words(f"{disks}x seagate-exos-x20 raid6")
    workload = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    change = CAUSES["other-load"].change(array, workload, {"requests": 1, "at_random": True})
    assert change is not None
    assert change.law is not None
    figures = {"iops": 1000.0, "reads.mean": 1e6}
    found = change.law(figures, Measured("load", workload, figures, {"reads": 1e4}))
    asked = Load(1 << 20, 1, is_sequential=True)
    alone, beside = (
        run(Box([Disk() for _ in range(disks)], "parity", n_parity=2, others=n), asked, 300, 1)[0] for n in (0, 1)
    )
    assert found["reads.mean"] - 1e6 == pytest.approx((1 / beside - 1 / alone) * 1e9, rel=0.15)
    assert found["iops"] * found["reads.mean"] == pytest.approx(1e9)


@pytest.mark.parametrize("words", ["6x generic-10k raid10", "5x generic-15k raid5"])
@pytest.mark.parametrize("chunk", [64 << 10, 1 << 20])
def test_copies_of_chunks_beside_reads_do_what_another_simulator_says(words: str, chunk: int) -> None:
    """Rates within a quarter, and writes, which wait for two more."""
    turn, rate = (60 / 10000, 90e6) if "10k" in words else (60 / 15000, 125e6)
    kind, n = ("mirrors", 6) if "raid10" in words else ("parity", 5)
    asked = Load(16 << 10, 16, read_ratio=0.7)
    plain, copied = (
        times_of(
            Box([Disk(turn, 0.0004, 0.008, rate) for _ in range(n)], kind, n_parity=1, chunk=size), asked, 1_500, 1
        )
        for size in (0, chunk)
    )
    workload = Workload.parse({"size": "16 KiB", "clients": 16, "read": "70%"})
    change = CAUSES["thin-unmapped"].change(Array.from_words(words), workload, chunk)
    assert change is not None
    assert change.law is not None
    figures = {"iops": plain.rate, "reads.mean": mean(plain.reads) * 1e9, "writes.mean": mean(plain.writes) * 1e9}
    found = change.law(figures, Measured("load", workload, figures, {"reads": 7e3, "writes": 3e3}))
    assert found["iops"] == pytest.approx(copied.rate, rel=0.25)
    assert found["writes.mean"] == pytest.approx(mean(copied.writes) * 1e9, rel=0.25)


def test_without_command_queuing_linux_still_joins_requests_in_order() -> None:
    array = Array.from_words("4x seagate-exos-x20 raid10")
    in_order = Workload.parse({"size": "1 MiB", "clients": 8, "addresses": "sequential"})
    change = CAUSES["ncq-off"].change(array, in_order, None)
    assert change is not None
    assert (change.array.queue.scheduler, change.array.queue.drive_depth) == ("mq-deadline", 1)
    at_random = CAUSES["ncq-off"].change(array, Workload.parse({"size": "4 KiB", "clients": 8}), None)
    assert at_random is not None
    assert at_random.array.queue == array.queue


#: Arrays that are described otherwise than most: causes of others must leave them alone, and not be refused.
REFUSING = (*ARRAYS, "2x generic-7k2 raid1", "6x2 generic-7k2 mirrors", "6x generic-7k2 raidz1", "generic-sas-ssd")


@pytest.mark.parametrize("words", REFUSING)
def test_no_cause_is_refused_by_the_description_of_an_array(words: str) -> None:
    """An error of a cause would be swallowed where it is simulated: it counts as tried, and was not."""
    array = Array.from_words(words)
    for _, load in cases()[: len(LOADS)]:
        own = array.behind_host(load.workload)
        for cause in CAUSES.values():
            for _, value, _ in cause.variants([load]):
                change = cause.change(own, load.workload, value)
                assert change is None or change.array.title


def test_a_refused_cause_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(array: Array, workload: object, value: object) -> Change:
        raise DescriptionError(Fault("strip_bytes", 1, "is refused"))

    workload = Workload.parse(LOADS[1])
    simulator = Simulator(Array.from_words("generic-7k2"), [Measured("load", workload, {"iops": 50.0}, {"reads": 1e3})])
    broken = replace(CAUSES["added-latency"], change=refuse)
    assert simulator.changed(0, (broken, 1e6)) is None
    assert simulator.refused == {"added-latency": "strip_bytes=1: is refused"}


@pytest.mark.parametrize("words", ["8x seagate-exos-x18 raidz2", "6x2 generic-7k2 mirrors"])
def test_writes_of_a_pool_are_expected_from_its_disks_and_not_from_memory(words: str) -> None:
    """A run that fits into dirty memory has the rate of memory: ten times as long, it has to stay the same."""
    array = Array.from_words(words)
    load = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": "sequential", "read_ratio": 0})
    rates = [
        Trials(
            array.behind_host(load),
            load,
            n,
            seed=0,
            start="steady",
            estimate=estimates_by_operation,
            longest=n,
            longest_s=5.0,
        ).reference["iops"]
        for n in (REQUESTS, 10 * REQUESTS)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=0.1)
    data = array.layout.data_strips * array.layout.n_groups
    assert rates[0] * (1 << 20) < data * array.drive.sequential_bytes_per_s * 1.5


def test_a_bucket_that_is_filled_in_slices_lets_most_requests_pass_and_some_wait() -> None:
    box = Box([Flash()])
    free, _ = run(box, Load(4096, 16), 4_000, 1)
    limit = free / 3
    rate, times = run(Box([Flash()], tokens_per_s=limit, slice=0.02), Load(4096, 16), 24_000, 1)
    assert rate == pytest.approx(limit, rel=0.05)
    workload = Workload.parse({"size": "4 KiB", "clients": 16})
    measured = Measured("load", workload, {"iops": rate, "reads.mean": 16e9 / rate}, {"reads": 1e4})
    sound = {"iops": free, "reads.mean": 16e9 / free, "reads.p50": 16e9 / free, "reads.p99": 20e9 / free}
    found = limited_in_slices(limit, 0.02)(sound, measured)
    assert found["iops"] == pytest.approx(rate, rel=0.05)
    assert found["reads.mean"] == pytest.approx(16e9 / rate, rel=0.05)
    assert found["reads.p50"] == pytest.approx(times[len(times) // 2] * 1e9, rel=0.3)
    late = sum(time > 0.004 for time in times) / len(times)
    assert late == pytest.approx(16 / (limit * 0.02), rel=0.3)
    # where a filling is less than what is asked for at once, all wait alike
    few = limited_in_slices(100.0, 0.1)(sound, measured)
    assert few == limited_to(100.0)(sound, measured)


def test_a_link_of_sata_is_for_drives_with_sata_and_one_of_pcie_for_nvme() -> None:
    load = Workload.parse({"size": "1 MiB", "clients": 8, "addresses": "sequential"})
    nvme, sata = Array.from_words("samsung-pm9a3-7680"), Array.from_words("samsung-pm893-960")
    for name, value, right, wrong in (("slow-sata-link", 150e6, sata, nvme), ("pcie-link", 0.25, nvme, sata)):
        assert CAUSES[name].change(wrong, load, value) is None
        assert CAUSES[name].change(right, load, value) is not None


def test_an_exhausted_cache_slows_writes_alone() -> None:
    array = Array.from_words("samsung-pm893-960")
    load = Workload.parse({"size": "4 KiB", "clients": 4, "read_ratio": 0.5})
    change = CAUSES["slc-exhausted"].change(array, load, 5.0)
    assert change is not None
    assert change.law is not None
    figures = {"iops": 1000.0, "reads.mean": 1e6, "writes.mean": 3e6}
    found = change.law(figures, Measured("load", load, figures, {"reads": 50.0, "writes": 50.0}))
    assert found == {"iops": pytest.approx(250.0), "reads.mean": 1e6, "writes.mean": 15e6}
    assert CAUSES["slc-exhausted"].change(array, Workload.parse({"size": "4 KiB", "clients": 4}), 5.0) is None
