"""Passes beside what is in order, links that requests go through, bits that stay, and errors of small effects."""

import math

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.drawn_runs import Trials
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Scale
from diskmodel.explanation.hypotheses import Variant, hypothesis_of, simulated
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.simulator import REQUESTS, Simulator
from diskmodel.result.summary import estimates_by_operation
from diskmodel.workload import Workload
from tests.validation.explanation.outside.simulator import Box, Disk, Flash, Load, run

_MIB = 1 << 20


def _rate(array: Array, load: Workload) -> float:
    trials = Trials(array, load, REQUESTS, seed=0, start="steady", estimate=estimates_by_operation)
    return trials.reference["iops"]


def _left(name: str, words: str, load: Workload, strength: object) -> float:
    """Return the part of its rate that a cause leaves a load."""
    array = Array.from_words(words)
    change = CAUSES[name].change(array, load, strength)
    assert change is not None
    assert isinstance(change.workload, Workload)
    return _rate(change.array, change.workload) / _rate(array, load)


@pytest.mark.parametrize(("size", "clients"), [(128 << 10, 1), (_MIB, 4)])
def test_the_faster_a_check_is_the_less_it_leaves_a_file_in_order(size: int, clients: int) -> None:
    """As in the small simulator, which reads on as md does that sleeps: elsewhere, and not before the file."""
    load = Workload.parse({"size_bytes": size, "clients": clients, "addresses": "sequential"})

    def other(per_s: float) -> float:
        members = [Disk(longest=0.0151, bytes_per_s=309e6, is_cached=True) for _ in range(8)]
        box = Box([*members], "parity", n_parity=2, pass_bytes_per_s=per_s)
        return run(box, Load(size, clients, is_sequential=True), REQUESTS, 1)[0]

    speeds = (3.0, 24.0, 200.0)
    left = [_left("resync-running", "8x toshiba-mg11aca24te raid6", load, (speed, True)) for speed in speeds]
    others = [other(speed * _MIB) / other(0.0) for speed in speeds]
    assert left == sorted(left, reverse=True)
    assert left[0] == pytest.approx(others[0], abs=0.15)
    assert max(left[-1], others[-1]) < 0.2


@pytest.mark.parametrize("name", ["resync-running", "rebuild-running"])
def test_disks_serve_a_pass_beside_a_stream(name: str) -> None:
    """A drive of which no longest wait is known would let it wait for as long as the stream goes on."""
    array = Array.from_words("6x seagate-exos-x16 raid10")
    for fields, is_bounded in (({"addresses": "sequential"}, True), ({}, False)):
        change = CAUSES[name].change(array, Workload.parse({"size": "1 MiB", "clients": 4, **fields}), (50.0, True))
        assert change is not None
        assert (change.array.drive != array.drive) == is_bounded
    assert array.drive.deviating("bounded-waits") is not None
    assert Array.from_words("seagate-ironwolf-8").drive.deviating("bounded-waits") is None


def test_a_rebuild_has_not_been_where_a_file_in_order_is() -> None:
    array = Array.from_words("8x toshiba-mg11aca24te raid6")
    load = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    change = CAUSES["rebuild-running"].change(array, load, (50.0, True))
    assert change is not None
    assert isinstance(change.workload, Workload)
    assert change.workload.streams[0].offset_ratio
    at_random = Workload.parse({"size": "8 KiB", "clients": 1})
    change = CAUSES["rebuild-running"].change(array, at_random, (50.0, True))
    assert change is not None
    assert change.workload == at_random


@pytest.mark.parametrize(("size", "depth"), [(131_072, 1), (16_384, 64)])
def test_a_link_delays_each_request_that_goes_through_it(size: int, depth: int) -> None:
    free, _ = run(Box([Flash(bytes_per_s=7e9, command=1e-6)]), Load(size, depth), REQUESTS, 1)
    seen, times = run(Box([Flash(bytes_per_s=7e9, command=1e-6)], bytes_per_s=2e9), Load(size, depth), REQUESTS, 1)
    workload = Workload.parse({"size_bytes": size, "clients": depth})
    figures = {"iops": free, "reads.mean": depth * 1e9 / free, "reads.p50": depth * 1e9 / free}
    change = CAUSES["bandwidth-limit"].change(Array.from_words("generic-nvme"), workload, (2e9, True))
    assert change is not None
    assert change.law is not None
    found = change.law(figures, Measured("load", workload, figures, {"reads": 1e4}))
    assert found["iops"] == pytest.approx(seen, rel=0.05)
    assert found["reads.mean"] == pytest.approx(depth * 1e9 / seen, rel=0.05)
    assert found["reads.p50"] == pytest.approx(times[len(times) // 2] * 1e9, rel=0.1)
    # what only counts bytes lets a single one pass at once
    change = CAUSES["bandwidth-limit"].change(Array.from_words("generic-nvme"), workload, 2e9)
    assert change is not None
    assert change.law is not None
    counted = change.law(figures, Measured("load", workload, figures, {"reads": 1e4}))
    assert counted["iops"] == pytest.approx(free if depth == 1 else seen, rel=0.05)


def test_a_disk_that_reads_ahead_has_the_next_request_while_one_goes_through_the_link() -> None:
    workload = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": "sequential"})
    figures = {"iops": 200.0, "reads.mean": 5e6}
    measured = Measured("load", workload, figures, {"reads": 1e4})
    for words, rate in (("generic-7k2", 200.0), ("samsung-pm893-960", 1 / (1 / 200 + _MIB / 400e6))):
        change = CAUSES["slow-network"].change(Array.from_words(words), workload, (400e6, True))
        assert change is not None
        assert change.law is not None
        assert change.law(figures, measured)["iops"] == pytest.approx(rate)


def test_bits_stay_where_flash_writes_to_all_chunks_before_they_are_cleared() -> None:
    """A run of a fraction of a second begins without any: of disks most writes wait for one in the long run as well."""

    def chunk(words: str, clients: int, flush_ns: int = 0) -> int:
        array = Array.from_words(words)
        load = Workload.parse({"size": "8 KiB", "clients": clients, "read_ratio": 0})
        fields = {"chunk_bytes": 64 * _MIB} | ({"flush_ns": flush_ns} if flush_ns else {})
        change = CAUSES["write-intent-bitmap"].change(array, load, fields)
        assert change is not None
        return int(change.array.layout.bitmap.chunk_bytes)

    assert chunk("2x generic-7k2 raid1", 4) == 64 * _MIB
    flash = "2x samsung-870-evo-1tb raid1"
    chunks = [chunk(flash, 1, 5_000_000), chunk(flash, 4, 5_000_000), chunk(flash, 4, 1_000_000)]
    assert chunks == sorted(chunks)
    assert chunks[-1] > 1_000 * 64 * _MIB


def test_a_named_drive_with_capacitors_has_no_slow_flushes_before_bits() -> None:
    load = Workload.parse({"size": "8 KiB", "clients": 1, "read_ratio": 0})
    slow = {"chunk_bytes": 64 * _MIB, "flush_ns": 1_000_000}
    for words, is_slow in (("2x intel-d3-s4610-960 raid1", False), ("2x samsung-870-evo-1tb raid1", True)):
        change = CAUSES["write-intent-bitmap"].change(Array.from_words(words), load, slow)
        assert (change is not None) == is_slow


def test_what_a_cause_hardly_changes_it_excuses_hardly() -> None:
    load = Measured(
        "load", Workload.parse({"size": "8 KiB", "clients": 1}), {"iops": 70.0, "reads.mean": 14e6}, {"reads": 1e4}
    )
    simulator = Simulator(Array.from_words("generic-7k2"), [load])
    for added_ns in (0.4e6, 8e6):
        own = Variant(CAUSES["added-latency"], "", added_ns, 1.0)
        made = hypothesis_of(simulator, (own,), simulated(simulator, [((own,), 0)], "trying"))
        assert made is not None
        effect = np.abs(made.figures - simulator.reference)
        assert np.all(np.sqrt(made.error) <= np.maximum(1.1 * effect, 1e-12))


def test_strengths_that_are_usual_have_more_of_the_prior() -> None:
    scale = Scale(2e3, 1e6, str, lambda _: [5e3, 200e3], usual=(5e3, 0.8))
    values = scale.values([])
    shares = dict(zip(values, scale.weights(values), strict=True))
    near, far = (max(share for value, share in shares.items() if abs(math.log(value / at)) < 0.2) for at in (5e3, 2e5))
    assert near > 20 * far
    assert sum(shares.values()) < 1


def test_a_processor_takes_microseconds_for_a_request() -> None:
    strengths = CAUSES["host-processor"].strengths
    assert isinstance(strengths, Scale)
    assert strengths.usual is not None
    assert 2e3 < strengths.usual[0] < 50e3


def test_a_pass_over_flash_has_no_arm_to_take_off_its_place() -> None:
    load = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": "sequential"})
    for words, has_arms in (("2x samsung-pm9a3-7680 raid1", False), ("2x generic-7k2 raid1", True)):
        change = CAUSES["resync-running"].change(Array.from_words(words), load, (50.0, True))
        assert change is not None
        assert change.array.layout.rebuild is not None
        assert (change.array.layout.rebuild.window_bytes is not None) == has_arms


def test_a_limit_may_be_lower_than_what_one_disk_does() -> None:
    load = Measured("load", Workload.parse({"size": "8 KiB", "clients": 4}), {"iops": 12.0}, {"reads": 1e3})
    for name in ("rate-limit", "token-bucket"):
        assert any(abs(share) > 0 for _, _, share in CAUSES[name].variants([load]))
