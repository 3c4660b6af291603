"""What caches and buffers hold of popular blocks, and of next to nothing, when a run begins (rules Z5 to Z9)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine import Account, on_account
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady.drives.hdd import HardDisks
from diskmodel.engine.steady.past import history
from diskmodel.engine.steady.past.history import History, waiting_in_round
from diskmodel.engine.steady.start import Level
from diskmodel.workload import Workload
from tests.unit.engine.steady.starting import start_of

POPULAR: dict[str, Any] = {"size": "4 KiB", "read_ratio": 0.9, "span": "500 GB", "rate": "300/s"}


def popular(level: str, disks: int, size: str) -> Array:
    layout = {"level": level, "disks": disks}
    return Array.parse(
        {
            "drive": "seagate-barracuda-7200.11",
            "layout": layout,
            "controller": {"write_cache": {"size": size, "line": "4 KiB"}},
        }
    )


@pytest.mark.parametrize("theta", [1.0, 1.1])
def test_long_runs_of_popular_blocks_do_not_make_a_cache_seem_to_fill(theta: float) -> None:
    """What a trial of few writes has in flight moves its level by more than is left over; but a full one drains."""
    addresses = {"pattern": "zipf", "theta": theta}
    begun = start_of(popular("raid5", 7, "64 MiB"), Workload.parse(POPULAR | {"addresses": addresses}), seed=0)
    assert len(begun.dirty) == 8192


def test_a_small_cache_that_drains_within_the_trial_is_not_full() -> None:
    addresses = {"pattern": "zipf", "theta": 1.3}
    load = Workload.parse(POPULAR | {"span": "1 TB", "addresses": addresses})
    assert len(start_of(popular("raid5", 7, "16 MiB"), load, seed=0).dirty) == pytest.approx(2048, rel=0.1)


@pytest.mark.parametrize("load", [{"clients": 64}, {"rate": "600/s"}, {"rate": "150/s"}], ids=str)
def test_a_cache_far_larger_than_the_past_that_is_drawn_is_as_full(
    load: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 256 GiB began nearly empty: 64 clients wrote 2.1 million times 1 MiB a second and not 140."""
    array = popular("raid5", 7, "256 MiB")
    workload = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "span": "500 GB"} | load)
    whole = start_of(array, workload, seed=2)
    assert whole.dirty_apart == 0
    rates = [simulate(array, workload, n_requests=20_000, seed=2, profile_draws=0).iops.value]
    monkeypatch.setattr(history, "MAX_USES", 1 << 15)
    short = start_of(array, workload, seed=3)  # what was drawn of another one is kept
    assert short.levels == whole.levels
    assert (
        len(short.dirty) < 1 << 15 <= len(short.dirty) + short.dirty_apart == pytest.approx(len(whole.dirty), rel=0.02)
    )
    rates.append(simulate(array, workload, n_requests=20_000, seed=3, profile_draws=0).iops.value)
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


@pytest.mark.parametrize("load", [{"clients": 64}, {"rate": "40/s"}], ids=str)
def test_a_memory_far_larger_than_the_past_that_is_drawn_is_as_dirty(
    load: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 512 GiB answered 64 writers of 8 KiB in no time, as it began nearly empty; disks write 1,650 a second."""
    host = {"is_buffered": True, "page_cache": {"memory": "512 MiB"}}
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 4}, "host": host})
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "span": "500 GB"} | load)
    whole = start_of(array, workload, seed=2)
    rates = [simulate(array, workload, n_requests=8_000, seed=2, profile_draws=0).iops.value]
    monkeypatch.setattr(history, "MAX_USES", 1 << 13)
    short = start_of(array, workload, seed=3)
    assert short.levels == whole.levels
    if "clients" in load:  # the others wait until they are old
        assert len(short.pages_dirty) <= 1 << 12 < len(whole.pages_dirty)
        assert len(short.pages_dirty) + short.pages_apart == pytest.approx(len(whole.pages_dirty), rel=0.02)
    rates.append(simulate(array, workload, n_requests=8_000, seed=3, profile_draws=0).iops.value)
    # fewer pages among which the next is chosen lie further apart
    assert 0.75 * rates[0] < rates[1] < 1.05 * rates[0]


@pytest.mark.parametrize("level", ["raid10", "raid0"])
def test_buffers_of_many_disks_begin_as_full_as_those_of_few(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """160 disks whose past was drawn to a fifth of what their buffers hold took 750,000 writes a second, not 14,400."""
    array = Array.parse({"drive": "generic-7k2", "drive_write_cache": True, "layout": {"level": level, "disks": 6}})
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 24})
    rates = []
    for seed, most in ((2, history.MAX_ROWS), (3, 1 << 13)):
        monkeypatch.setattr(HardDisks, "most_rows", property(lambda self, most=most: most))
        start = start_of(array, load, seed=seed)
        held = np.bincount(start.buffered[:, 0], weights=start.room_of_buffered) + start.buffers_apart
        assert held.min() > 0.97 * held.max()
        assert held.max() == array.drive_tables().buffer_sectors
        rates.append(simulate(array, load, n_requests=4_000, seed=seed, profile_draws=0).iops.value)
    assert start.buffers_apart > held.max() // 2
    # of fewer writes the next one lies further away
    assert 0.6 * rates[0] < rates[1] < 1.1 * rates[0]
    # all that is ever written is in the buffers, however little that is
    few = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 24, "span": "50 MB"})
    assert start_of(array, few).buffers_apart == 0


def test_a_cache_takes_all_of_a_region_that_is_smaller_than_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_USES", 1 << 15)
    load = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "span": "100 MiB", "rate": "150/s"})
    start = start_of(popular("raid5", 7, "256 MiB"), load)
    assert 0 < len(start.dirty) < 25_600
    assert start.dirty_apart == 0


def test_a_trial_in_which_few_clients_have_a_turn_shows_that_they_fill_a_cache() -> None:
    """The cache took all that 500 clients sent at once, and a trial of 88 requests ended before a disk was asked."""
    layout = {"level": "raid10", "disks": 4}
    array = Array.parse(
        {"drive": "kioxia-cm6-r-30720", "layout": layout, "controller": {"write_cache": {"size": "4 GiB"}}}
    )
    load = Workload.parse({"size": "7 MiB", "read_ratio": 0.0, "clients": 500})
    levels = start_of(array, load).levels
    assert levels is not None
    assert levels.controller is Level.FULL


def test_all_that_waits_of_popular_blocks_is_as_old_as_a_round() -> None:
    """Half of the writes go to 500 places: a round takes more writes than twice the blocks that wait."""
    rng = np.random.default_rng(1)
    uses = np.where(rng.random(60_000) < 0.5, rng.integers(0, 500, 60_000), rng.integers(0, 1 << 40, 60_000))
    waiting, round_uses = waiting_in_round(uses, 5_000)
    # the sweep is in the popular half of a round first, so that the other writes wait for a quarter of one on average
    assert round_uses == pytest.approx(8 * 4_500, rel=0.05)
    assert len(waiting) == 5_000
    _, of_too_few = waiting_in_round(uses[-10_000:], 5_000)
    assert of_too_few > 10_000


def test_loads_that_write_at_the_same_places_share_what_waits() -> None:
    """How many clients there are, how long they think and what makes writes safe changes no place."""
    fields = {"size": "8 KiB", "read_ratio": 0.4, "span": "50%"}
    plain = History(Workload.parse(fields | {"clients": 2}), 10**12, 5, 70)
    others = ({"clients": 16}, {"clients": 2, "think": "1 ms"}, {"clients": 2, "sync": "fdatasync"}, {"rate": "9/s"})
    for other in others:
        drawn = History(Workload.parse(fields | other), 10**12, 5, 90)
        assert drawn.placed == plain.placed
        for only_writes in (False, True):
            uses = drawn.uses(500, 4096, only_writes=only_writes)
            np.testing.assert_array_equal(drawn.placed.uses(500, 4096, only_writes=only_writes), uses)
    # streams in order have come as far as their requests, and of several the faster one has more of the rows
    in_order = [
        History(
            Workload.parse({"size": "8 KiB", "read_ratio": 0, "addresses": "sequential", "clients": 1}), 10**9, 5, n
        )
        for n in (7, 9)
    ]
    assert in_order[0].placed != in_order[1].placed
    pair = Workload.parse({"streams": [{"size": "8 KiB", "rate": "9/s"}, {"size": "4 KiB", "rate": "1/s"}]})
    two, many, others = (
        History(load, 10**12, 5).placed for load in (pair, pair.scaled(1 / 7), pair.scaled_each([1, 1.01]))
    )
    assert two == many != others
    # of an ARC's past they hardly do
    assert (
        two.rounded == many.rounded == others.rounded != History(pair.scaled_each([1, 1.1]), 10**12, 5).placed.rounded
    )
    for only_writes in (False, True):
        uses = History(pair, 10**12, 5).uses(500, 4096, only_writes=only_writes)
        np.testing.assert_array_equal(two.uses(500, 4096, only_writes=only_writes), uses)


def test_questions_enter_what_they_use_whoever_has_drawn_it() -> None:
    """Of two at the same time, it would depend on the machine which is the first."""
    spent = []
    for _ in range(2):
        past, account = History(Workload.parse(POPULAR), 10**12, 11), Account(1.0)
        with on_account(account):
            for _ in range(2):
                past.uses(50_000, 4096)
        spent.append(account.spent_s)
    assert spent[0] == spent[1] > 0


@pytest.mark.parametrize("record_bytes", [1, 300])
@pytest.mark.parametrize("high_ratio", [0.01, 0.0])
def test_a_cache_that_keeps_nothing_back_begins_with_nothing(record_bytes: int, high_ratio: float) -> None:
    """So little may wait that it is not a block: there is no round to follow."""
    cache = {"size_bytes": 1 << 20, "high_ratio": high_ratio, "low_ratio": 0.0}
    layout = {"level": "raid5", "disks": 4}
    array = Array.parse({"drive": "md-raid-10k", "layout": layout, "controller": {"write_cache": cache}})
    load = {"streams": [{"kind": "commits", "record_bytes": record_bytes, "rate_per_s": 100.0, "sync": "fdatasync"}]}
    result = simulate(array, Workload.parse(load), n_requests=500, profile_draws=0)
    assert result.n_requests > 0
    assert result.is_stable


def test_buffers_that_a_trial_drains_are_not_full_beside_a_rebuild() -> None:
    """The trial began with half of the buffers full, emptied them at once, and rose a little later on: it is calm."""
    layout = {"level": "raid6", "disks": 6, "failed": [0], "spares": 1, "rebuild": {}}
    array = Array.parse({"drive": "hgst-ultrastar-7k8", "layout": layout, "drive_write_cache": True})
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"})
    assert not len(start_of(array, load, seed=0).buffered)
    found = simulate(array, load, n_requests=2000, profile_draws=0, with_angles=False)
    assert found.latency.mean_ns < 100e6


def test_pages_that_idle_flash_fills_do_not_look_like_buffers_that_no_drive_keeps_up_with() -> None:
    """1,358 drives with two writes a second each began with full buffers, which took four times as long to simulate."""
    layout = {"level": "raid50", "disks": 1_358, "groups": 97}
    array = Array.parse({"drive": "intel-dc-p4500-4tb", "layout": layout})
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": "3439/s"})
    levels = start_of(array, load).levels
    assert levels is not None
    assert levels.drives is Level.LOW
