"""The list of causes: what each one changes, and what is said of it."""

import math
from collections.abc import Iterator
from functools import cache

import pytest

from diskmodel.array import Array
from diskmodel.errors import InputError
from diskmodel.explanation.causes import CAUSES, Cause
from diskmodel.explanation.causes.cause import Change, Scale
from diskmodel.explanation.causes.paths import limited_to
from diskmodel.explanation.causes.uneven import one_slow_member
from diskmodel.explanation.measured import Measured
from diskmodel.workload import Workload
from tests.validation.explanation.outside.simulator import Box, Disk, Load, run

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
            try:
                change = cause.change(array, load.workload, value)
            except InputError:
                continue
            if change is not None:
                yield change


@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_changes_something_and_says_what_proves_it(name: str) -> None:
    cause = CAUSES[name]
    assert any(True for _ in changes(cause))
    assert cause.title[0].islower() or cause.title.startswith("SATA")
    assert all((cause.title, cause.fingerprint, cause.check, cause.about, cause.prior > 0))
    assert not cause.title.endswith(".")


@pytest.mark.parametrize("name", CAUSES)
def test_what_it_changes_is_described_anew(name: str) -> None:
    for change in changes(CAUSES[name]):
        assert change.array.usable_bytes > 0
        if change.law is None:
            is_same = any(change.array == array and change.workload == load.workload for array, load in cases())
            assert not is_same


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
    assert Cause("a", "b", 1.0, "c", "d", lambda a, w, _: Change(a, w), scale, "e").variants([]) == []


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
        law = one_slow_member(array, workload, factor)
        assert law is not None
        measured = Measured("load", workload, {"iops": sound, f"{part}.mean": load.depth * 1e9 / sound}, {part: 1e4})
        found = law(dict(measured.figures), measured)
        rate, _ = run(members(factor), load, 1_500, 2)
        assert found["iops"] == pytest.approx(rate, rel=0.25)
        assert found[f"{part}.mean"] == pytest.approx(load.depth * 1e9 / found["iops"])
