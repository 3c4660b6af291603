"""Which unknowns a case depends on, and draws of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.drive import Hdd, load_drive, parse_drive
from diskmodel.engine.drawn_runs import Trials
from diskmodel.records import Requests, StreamRule
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.draws import Draws, draw
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.perturbed import PART_RATIO, perturbed
from diskmodel.uncertainty.seen import Seen
from diskmodel.uncertainty.tails import factor, kind_of
from diskmodel.workload.condense import cut, stream_of
from diskmodel.workload.fitted import Fitted

DEEP = Seen(8.0, 0.5, 0.5, False, 0.9)
CLOSED = Workload.parse({"size": "4 KiB", "clients": 8})
OPEN = Workload.parse({"size": "4 KiB", "rate_per_s": 50})


def recorded() -> Workload:
    """A trace whose second half comes ten times as fast."""
    rng = np.random.default_rng(3)
    gap_ns = rng.exponential(20e6, 2000) * np.where(np.arange(2000) < 1000, 1.0, 0.1)
    requests = Requests(
        when_ns=np.cumsum(gap_ns).astype(np.int64),
        op=np.zeros(2000, np.uint8),
        offset=rng.integers(0, 10**6, 2000) * 4096,
        length=np.full(2000, 4096),
        stream=np.zeros(2000, np.int32),
        cache_draw=np.zeros(2000),
        streams=(StreamRule("trace"),),
    )
    phases = cut(requests, 64)
    return Workload(streams=(stream_of(phases, np.arange(phases.n)),))


def drawn(array: Array, seen: Seen = DEEP, load: Workload = CLOSED, **fields: Any) -> Draws:
    return draw(Case(array, load, seen, **fields), 16, seed=4)


def test_a_hard_disk_of_a_sheet_leaves_open() -> None:
    assert drawn(Array("generic-7k2", "jbod", 1)).names == (
        "order of commands",
        "seeks",
        "rate of a queue",
        "room of cached writes",
        "zone rates",
        "overheads",
        "slowest requests",
    )


def test_single_reads_depend_on_no_order_and_no_cached_writes() -> None:
    names = drawn(Array("generic-7k2", "jbod", 1), Seen(1.0, 0.0, 0.0, False, 0.9)).names
    assert "order of commands" not in names
    assert "room of cached writes" not in names


def test_the_tail_of_a_mixed_load_is_that_of_the_operation_that_makes_it() -> None:
    """Behind drives' caches no write is among the slowest, however many there are."""
    array = Array("seagate-exos-x18", "raid10", 8)
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.3, "rate_per_s": 100})
    seen = Trials(array, load, 2000, seed=0, start="steady").seen
    assert seen.asked_write_ratio > 0.6
    assert seen.slow_write_ratio == 0
    case = Case(array, load, seen)
    assert case.tails is not None
    of_all, of_reads, of_writes = case.tails
    assert of_all == of_reads
    assert of_writes.log_sd > 3 * of_reads.log_sd
    unknown = Case(array, load, seen._replace(slow_write_ratio=math.nan)).tails
    assert unknown is not None
    assert of_reads.log_sd < unknown[0].log_sd < of_writes.log_sd


def test_streams_and_commits_have_the_tail_of_their_operation() -> None:
    load = Workload.parse(
        {
            "streams": [
                {"name": "data", "size": "8 KiB", "read_ratio": 0.5, "rate_per_s": 10},
                {"name": "log", "size": "8 KiB", "read_ratio": 0, "rate_per_s": 10},
                {"name": "scan", "size": "8 KiB", "read_ratio": 1, "rate_per_s": 10},
            ]
        }
    )
    found = {name: kind_of(name, load) for name in ("", "data", "log", "scan", "reads", "commits")}
    assert found == {
        "": "p99", "data": "p99", "log": "write_p99", "scan": "read_p99", "reads": "read_p99", "commits": "write_p99"
    }  # fmt: skip
    perturbation = Perturbation(p99=0.1, read_p99=0.2, write_p99=0.3)
    assert factor(perturbation, "p99", "log", load) == pytest.approx(math.exp(0.3))
    assert factor(perturbation, "mean", "log", load) == 1.0


def test_a_printed_overhead_is_known() -> None:
    assert "overheads" not in drawn(Array("seagate-savvio-10k1", "jbod", 1)).names


def test_flash_has_dies_instead_of_seeks() -> None:
    names = drawn(Array("samsung-pm893-960", "raid5", 4)).names
    assert {"flash times", "flash dies", "flash writes", "latency of writes"} <= set(names)
    assert not {"seeks", "zone rates", "order of commands"} & set(names)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("1x aws-gp3", {"latency of reads"}),
        ("ceph 3 nodes, 1x samsung-pm983-1920", {"network, daemons and drives", "copies and commits"}),
        ("4x generic-7k2 raid5, cached by micron-7450-pro-960", {"array behind the cache", "drives of the cache"}),
    ],
)
def test_systems_call_what_is_not_known_by_their_parts(words: str, names: set[str]) -> None:
    found = drawn(Array.from_words(words), load=Workload.parse({"size": "4 KiB", "clients": 8, "read_ratio": 0.5}))
    assert names <= set(found.names)
    assert "flash times" not in found.names


def test_the_time_of_a_flush_is_drawn_where_flushes_are_and_take_time() -> None:
    flushing = DEEP._replace(has_flushes=True)
    consumer = load_drive("samsung-870-evo-1tb")
    assert "time of flushes" in drawn(Array(consumer, "jbod", 1), flushing).names
    assert "time of flushes" not in drawn(Array(consumer, "jbod", 1)).names
    # capacitors make flushes needless; a drive on SATA gets them all the same, as it is sold
    assert "time of flushes" in drawn(Array("samsung-pm893-960", "jbod", 1), flushing).names
    assert (
        "time of flushes" not in drawn(Array("samsung-pm893-960", "jbod", 1, drive_write_cache=False), flushing).names
    )
    assert "time of flushes" not in drawn(Array("samsung-pm9a3-960", "jbod", 1), flushing).names
    described = consumer.model_copy(update={"flush_ns": 2_000_000})
    assert "time of flushes" not in drawn(Array(described, "jbod", 1), flushing).names


def test_a_write_cache_and_a_host_that_takes_time_are_unknown() -> None:
    array = Array(
        "generic-10k",
        "raid5",
        4,
        controller={"write_cache": {"size": "64 MiB"}},
        host={"submission": "5 us", "processors": 2},
    )
    assert {"controller", "host"} <= set(drawn(array).names)


def test_in_which_order_a_controller_destages_is_drawn_where_writes_are_random() -> None:
    """A controller can be set to two at a time, or 32; neighbors are destaged together by all of them."""
    array = Array("generic-10k", "raid5", 4, controller={"write_cache": {"size": "64 MiB"}})
    random = {perturbation.destaging for perturbation in drawn(array).perturbations}
    assert -1 <= min(random) < -0.8
    assert 0.8 < max(random) <= 1
    assert len(random) > 8
    # of a controller in the catalogue only the memory is known, or its destages as well
    sizes_only, measured = (Array("generic-10k", "raid5", 4, controller=name) for name in ("perc-h740p", "perc-h730"))
    assert {one.destaging for one in drawn(sizes_only).perturbations} == random
    assert {one.destaging for one in drawn(measured).perturbations} == {0}
    runs = {"pattern": "sequential", "mean_run": 4096, "n_readers": 2}
    load = Workload.parse({"size": "1 MiB", "read_ratio": 0, "rate": "50/s", "addresses": runs})
    truths = Trials(array, load, 2000, seed=0, start="steady").truths(4)
    assert truths is not None
    assert {perturbation.destaging for perturbation in truths.draws.perturbations} == {0}
    known = Array("generic-10k", "raid5", 4, controller={"write_cache": {"size": "64 MiB", "destage_depth": 4}})
    assert {perturbation.destaging for perturbation in drawn(known).perturbations} == {0}


def test_an_exact_drive_leaves_nothing_open() -> None:
    exact = parse_drive(load_drive("generic-7k2").to_dict() | {"exact": True})
    assert not len(drawn(Array(exact, "jbod", 1)))


def test_a_measured_drive_is_known_better_than_its_class() -> None:
    array = Array("generic-7k2", "jbod", 1)
    of_class, measured = drawn(array), drawn(array, as_measured=True)
    assert "seeks" not in measured.names
    wide = np.std([perturbation.positioning for perturbation in of_class.perturbations])
    assert np.std([perturbation.speed for perturbation in measured.perturbations]) < wide / 2


def test_a_named_drive_is_known_better_than_one_of_its_kind() -> None:
    named, kind = drawn(Array("seagate-savvio-10k3", "jbod", 1)), drawn(Array("generic-10k", "jbod", 1))
    spread = [np.std([perturbation.positioning for perturbation in one.perturbations]) for one in (named, kind)]
    assert spread[0] < spread[1] / 2


def test_no_draw_of_a_hard_disk_is_faster_than_its_rotation_allows() -> None:
    """Of all that is drawn of a single read none is below half a revolution, and none rotates at another speed."""
    array = Array("seagate-savvio-10k3", "jbod", 1)
    case = Case(array, CLOSED, Seen(1.0, 0.3, 0.3, False, 0.9))
    for perturbation in draw(case, 64, seed=2).perturbations:
        drive = perturbed(array, CLOSED, perturbation)[0].drive
        assert isinstance(drive, Hdd)
        assert drive.period_ns == array.drive.period_ns  # type: ignore[union-attr]
        assert (drive.tables().seek_ns[1:] > 0).all()


def test_a_calibrated_profile_has_the_error_on_what_was_held_out() -> None:
    fields: dict[str, Any] = {"names": ["read_overhead_ns"], "covariance": [[1e8]]}
    evidence = [{"file": "m.json", "kind": "measurement"}]

    def speeds(error: float) -> float:
        held_out = {"mean_error_ratio": error}
        data = load_drive("generic-15k").to_dict()
        data |= {"uncertainty": fields, "provenance": {"evidence": evidence, "held_out": held_out}}
        found = drawn(Array(parse_drive(data), "jbod", 1))
        assert "fitted parameters" in found.names
        return float(np.std([perturbation.speed for perturbation in found.perturbations]))

    assert speeds(0.3) > 5 * speeds(0.01)


def test_the_same_drive_has_the_same_draws_in_another_array() -> None:
    one, other = drawn(Array("generic-10k", "raid5", 4)), drawn(Array("generic-10k", "raid10", 8))
    for name in ("seeks", "order of commands"):
        columns = [found.scores[:, found.names.index(name)] for found in (one, other)]
        assert (columns[0] == columns[1]).all()
    layout = [found.scores[:, found.names.index("layout")] for found in (one, other)]
    assert (layout[0] != layout[1]).any()


def test_no_two_unknowns_of_a_drive_go_together() -> None:
    """Not the latency of its writes and their tail, nor its zones and its overheads."""
    flushing = DEEP._replace(has_flushes=True)
    for name in ("micron-7450-pro-960", "samsung-870-evo-1tb", "generic-7k2"):
        found = drawn(Array(name, "jbod", 1), flushing)
        assert "slowest requests" in found.names
        between = np.corrcoef(found.scores.T) - np.eye(len(found.names))
        assert np.abs(between).max() < 0.35


def test_a_drive_that_was_fitted_on_another_day_has_the_same_draws() -> None:
    drive = load_drive("generic-10k").to_dict()
    days = [parse_drive(drive | {"provenance": {"date": f"2026-11-0{day}", "seed": 0}}) for day in (1, 2)]
    one, other = (drawn(Array(on_a_day, "raid5", 4)) for on_a_day in days)
    assert one.perturbations == other.perturbations


def test_another_drive_has_other_draws() -> None:
    one, other = drawn(Array("generic-10k", "raid5", 4)), drawn(Array("generic-15k", "raid5", 4))
    seeks = [found.scores[:, found.names.index("seeks")] for found in (one, other)]
    assert abs(np.corrcoef(seeks)[0, 1]) < 0.6


def test_each_order_is_drawn_equally_often() -> None:
    orders = [perturbation.order for perturbation in drawn(Array("generic-10k", "jbod", 1)).perturbations]
    assert sorted(orders.count(order) for order in set(orders)) == [4, 4, 4, 4]


def test_a_level_is_drawn_of_a_recording_only() -> None:
    assert "workload" not in drawn(Array("generic-10k", "jbod", 1), load=OPEN).names


def test_reading_sequentially_depends_on_no_order() -> None:
    seen = DEEP._replace(positioning_ratio=0.1)
    assert "order of commands" not in drawn(Array("generic-10k", "jbod", 1), seen).names


@pytest.mark.parametrize("n", [2, 5, 16])
def test_as_many_are_drawn_as_asked(n: int) -> None:
    assert len(draw(Case(Array("generic-10k", "jbod", 1), CLOSED, DEEP), n)) == n


def test_a_recorded_load_is_drawn_as_each_of_its_quarters_once() -> None:
    """The ones with long waits have high scores, so that their effect is seen."""
    load = recorded()
    draws = drawn(Array("generic-10k", "raid10", 4), load=load)
    parts = [perturbation.part for perturbation in draws.perturbations]
    assert sorted(part for part in parts if part is not None) == [i / 16 for i in range(16)]
    excerpts = load.streams[0].excerpts
    assert excerpts is not None
    waits = excerpts.waits_of_parts(16, PART_RATIO)
    scores = draws.scores[:, draws.names.index("part of the recording")]
    in_order = [waits[round(16 * part)] for _, part in sorted(zip(scores, parts, strict=True)) if part is not None]
    assert in_order == sorted(in_order)


def test_a_fit_that_misses_its_trace_widens_what_it_predicts() -> None:
    names = drawn(Array("generic-10k", "raid10", 4), load=recorded()).names
    assert "fit of the recording" not in names
    fitted = {"array": "two disks", "trace_mean": "10 ms", "fitted_mean": "11 ms", "trace_p99": "40 ms"}
    load = recorded().model_copy(
        update={"fitted": Fitted.parse({"n_requests": 2000, "latency": [fitted | {"fitted_p99": "44 ms"}]})}
    )
    draws = drawn(Array(load_drive("generic-10k").model_copy(update={"exact": True}), "raid10", 4), load=load)
    at = draws.names.index("fit of the recording")
    assert draws.perturbations[0].speed == pytest.approx(math.log(1.1) * draws.scores[0, at])


def test_draws_are_put_together() -> None:
    both = Perturbation(speed=0.1, part=0.5).plus(Perturbation(speed=0.2, part=0.0))
    assert both.speed == pytest.approx(0.3)
    assert both.part == 0.0
    assert both.plus(Perturbation(level=0.1)).part == 0.0


@pytest.mark.parametrize("name", ["generic-7k2", "seagate-exos-x18", "generic-nvme", "micron-7450-pro-1920"])
@pytest.mark.parametrize("level", ["raid5", "raid10"])
def test_unknowns_of_a_case_hardly_go_together(name: str, level: str) -> None:
    """Where two do, an interval is wider or narrower than it should be: by a quarter at a correlation of a half."""
    found = drawn(Array(name, level, 4), load=recorded()).scores
    between = np.corrcoef(found.T) - np.eye(found.shape[1])
    assert np.abs(between).max() < 0.3
    assert np.sqrt((between**2).mean()) < 0.1  # 0.26 for independent ones
