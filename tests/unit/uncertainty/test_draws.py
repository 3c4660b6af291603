"""Which unknowns a case depends on, and draws of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.drive import load_drive, parse_drive
from diskmodel.engine.truths import Trials
from diskmodel.records import Requests, StreamRule
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.draws import Draws, draw
from diskmodel.uncertainty.moved import PART_RATIO
from diskmodel.uncertainty.moves import Moves
from diskmodel.uncertainty.seen import Seen
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
        "model",
        "room of cached writes",
        "zone rates",
        "overheads",
        "slowest requests",
    )


def test_single_reads_depend_on_no_order_and_no_cached_writes() -> None:
    names = drawn(Array("generic-7k2", "jbod", 1), Seen(1.0, 0.0, 0.0, False, 0.9)).names
    assert "order of commands" not in names
    assert "room of cached writes" not in names


def test_a_printed_overhead_is_known() -> None:
    assert "overheads" not in drawn(Array("seagate-savvio-10k1", "jbod", 1)).names


def test_flash_has_dies_instead_of_seeks() -> None:
    names = drawn(Array("samsung-pm893-960", "raid5", 4)).names
    assert {"flash times", "flash dies", "flash writes", "model"} <= set(names)
    assert not {"seeks", "zone rates", "order of commands"} & set(names)


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
    """A controller that was measured destages two blocks at a time; neighbors are destaged together by all of them."""
    array = Array("generic-10k", "raid5", 4, controller={"write_cache": {"size": "64 MiB"}})
    random = {moves.destaging for moves in drawn(array).moves}
    assert min(random) >= -1
    assert max(random) <= 0
    assert len(random) > 8
    runs = {"pattern": "sequential", "mean_run": 4096, "n_readers": 2}
    load = Workload.parse({"size": "1 MiB", "read_ratio": 0, "rate": "50/s", "addresses": runs})
    truths = Trials(array, load, 2000, seed=0, start="steady").truths(4)
    assert truths is not None
    assert "controller" not in truths.draws.names
    known = Array("generic-10k", "raid5", 4, controller={"write_cache": {"size": "64 MiB", "destage_depth": 4}})
    assert "controller" not in drawn(known).names


def test_an_exact_drive_leaves_nothing_open() -> None:
    exact = parse_drive(load_drive("generic-7k2").to_dict() | {"exact": True})
    assert not len(drawn(Array(exact, "jbod", 1)))


def test_a_measured_drive_is_known_better_than_its_class() -> None:
    array = Array("generic-7k2", "jbod", 1)
    of_class, measured = drawn(array), drawn(array, as_measured=True)
    assert set(measured.names) < set(of_class.names)
    spread = [np.std([moves.speed for moves in one.moves]) for one in (of_class, measured)]
    assert spread[1] < spread[0] / 2


def test_a_calibrated_profile_has_the_error_on_what_was_held_out() -> None:
    fields: dict[str, Any] = {"names": ["read_overhead_ns"], "covariance": [[1e8]]}
    evidence = [{"file": "m.json", "kind": "measurement"}]

    def speeds(error: float) -> float:
        held_out = {"mean_error_ratio": error}
        data = load_drive("generic-15k").to_dict()
        data |= {"uncertainty": fields, "provenance": {"evidence": evidence, "held_out": held_out}}
        found = drawn(Array(parse_drive(data), "jbod", 1))
        assert "fitted parameters" in found.names
        return float(np.std([moves.speed for moves in found.moves]))

    assert speeds(0.3) > 5 * speeds(0.01)


def test_what_is_drawn_adds_up_to_the_whole_of_the_load_s_spread() -> None:
    """A quantity that the load does not need, or the tail, changes no rate."""
    case = Case(Array("generic-10k", "jbod", 1), CLOSED, Seen(1.0, 0.0, 0.0, False, 0.9))
    assert case.load == "single reads"
    seeks, model, whole = case.spread("positioning"), case.remaining("iops"), case.whole
    assert seeks is not None
    assert model is not None
    assert whole is not None
    assert np.hypot(seeks.log_sd, model.log_sd) == pytest.approx(whole.log_sd)
    assert model.median / seeks.median == pytest.approx(whole.median)


def test_the_same_drive_has_the_same_draws_in_another_array() -> None:
    one, other = drawn(Array("generic-10k", "raid5", 4)), drawn(Array("generic-10k", "raid10", 8))
    for name in ("seeks", "order of commands"):
        columns = [found.scores[:, found.names.index(name)] for found in (one, other)]
        assert (columns[0] == columns[1]).all()
    layout = [found.scores[:, found.names.index("layout")] for found in (one, other)]
    assert (layout[0] != layout[1]).any()


def test_another_drive_has_other_draws() -> None:
    one, other = drawn(Array("generic-10k", "raid5", 4)), drawn(Array("generic-15k", "raid5", 4))
    seeks = [found.scores[:, found.names.index("seeks")] for found in (one, other)]
    assert abs(np.corrcoef(seeks)[0, 1]) < 0.6


def test_each_order_is_drawn_equally_often() -> None:
    orders = [moves.order for moves in drawn(Array("generic-10k", "jbod", 1)).moves]
    assert sorted(orders.count(order) for order in set(orders)) == [4, 4, 4, 4]


def test_a_level_is_drawn_of_a_recording_only() -> None:
    assert "workload" not in drawn(Array("generic-10k", "jbod", 1), load=OPEN).names


def test_reading_sequentially_depends_on_no_order() -> None:
    seen = replace(DEEP, positioning_ratio=0.1)
    assert "order of commands" not in drawn(Array("generic-10k", "jbod", 1), seen).names


@pytest.mark.parametrize("n", [2, 5, 16])
def test_as_many_are_drawn_as_asked(n: int) -> None:
    assert len(draw(Case(Array("generic-10k", "jbod", 1), CLOSED, DEEP), n)) == n


def test_reads_of_a_sound_array_behind_a_controller_are_those_of_its_disks() -> None:
    """Of any such array that may be bought, some are held back by the controller to a twentieth of that."""
    array = Array.from_words("8x generic-15k raid5, 1GiB cache")
    reads = Seen(4.0, 0.0, 0.0, False, 0.9)
    any_one, sound = (Case(array, CLOSED, reads, is_sound=is_sound) for is_sound in (False, True))
    assert (any_one.array_class, sound.array_class) == ("array-hw-hdd", "array-md-hdd")
    assert sound.whole is not None
    assert any_one.whole is not None
    assert sound.whole.log_sd < any_one.whole.log_sd / 4
    # what it does with writes is as open as ever
    assert Case(array, CLOSED, DEEP, is_sound=True).array_class == "array-hw-hdd"


def test_a_recorded_load_is_drawn_as_each_of_its_quarters_once() -> None:
    """The ones with long waits have high scores, so that their effect is seen."""
    load = recorded()
    draws = drawn(Array("generic-10k", "raid10", 4), load=load)
    parts = [moves.part for moves in draws.moves]
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
    assert draws.moves[0].speed == pytest.approx(math.log(1.1) * draws.scores[0, at])


def test_draws_are_put_together() -> None:
    both = Moves(speed=0.1, part=0.5).plus(Moves(speed=0.2, part=0.0))
    assert both.speed == pytest.approx(0.3)
    assert both.part == 0.0
    assert both.plus(Moves(level=0.1)).part == 0.0
