"""Steady starts that several runs share."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine import simulate as simulating
from diskmodel.engine.drawn_runs import simulate_drawn_runs
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady import shared
from diskmodel.engine.steady.shared import OVERHEAD_BYTES, Like, SharedStarts, steady_start
from diskmodel.engine.steady.start import Start
from diskmodel.workload import Workload

ARRAY = {
    "drive": "generic-15k",
    "layout": {"level": "raid5", "disks": 4},
    "controller": {"write_cache": {"size": "4 MiB"}},
}
LOAD = {"size": "8 KiB", "read_ratio": 0.5, "rate": "100/s", "span": "1 GB"}


def start_of(n: int) -> Start:
    return Start(dirty=np.arange(n))


def test_runs_of_one_array_and_workload_settle_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    settled = shared.settled

    def counted(scenario: object, workload: Workload, **more: object) -> Start:
        asked.append(workload)
        return settled(scenario, workload, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(shared, "settled", counted)
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    array, load = Array.parse(ARRAY), Workload.parse(LOAD)
    first = simulating.simulate(array, load, n_requests=400)
    simulating.simulate(Array.parse(ARRAY), Workload.parse(LOAD), n_requests=800)
    assert len(asked) == 1
    again = simulating.simulate(array, load, n_requests=400)
    assert np.array_equal(first.run.completions.done_ns, again.run.completions.done_ns)
    simulating.simulate(array, load, n_requests=400, seed=1)
    simulating.simulate(array, load.scaled(2), n_requests=400)
    simulating.simulate(Array.parse(ARRAY | {"layout": {"level": "raid5", "disks": 5}}), load, n_requests=400)
    assert len(asked) == 4


@pytest.mark.parametrize(("rate", "is_calm", "n_trials"), [(100, True, 0), (100, False, 1), (400, False, None)])
def test_an_array_like_another_has_its_levels_where_a_trial_confirms_them(
    monkeypatch: pytest.MonkeyPatch, rate: int, is_calm: bool, n_trials: int | None
) -> None:
    """Drives of 7,200 rpm do not keep up with 400 requests a second, which those of 15,000 do."""
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    load = Workload.parse(LOAD | {"rate": f"{rate}/s"})
    array, other = Array.parse(ARRAY), Array.parse(ARRAY | {"drive": "generic-7k2"})
    like = Like(array, is_calm=is_calm)
    known = steady_start(array, load, resolve(array, 0), 0)
    alone = steady_start(other, load, resolve(other, 0), 0)
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    shared._near(like, load, 0)
    ran: list[object] = []
    run = shared.run

    def counted(*given: Any) -> Any:
        ran.append(given)
        return run(*given)

    monkeypatch.setattr(shared, "run", counted)
    found = steady_start(other, load, resolve(other, 0), 0, like)
    expected = alone if n_trials is None else known
    assert found.levels == expected.levels
    assert np.array_equal(found.dirty, expected.dirty)
    if n_trials is None:
        assert alone.levels != known.levels
        assert len(ran) > 1
    else:
        assert len(ran) == n_trials


@pytest.mark.parametrize(("rate", "is_alike"), [(100, True), (400, False)])
def test_a_run_confirms_the_levels_with_which_it_began(
    monkeypatch: pytest.MonkeyPatch, rate: int, is_alike: bool
) -> None:
    """Of an array like another one no trial is made; where it goes on otherwise, it runs again from its own start."""
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    monkeypatch.setattr(shared, "_SHOWN", OrderedDict())
    load = Workload.parse(LOAD | {"rate": f"{rate}/s"})
    array, other = Array.parse(ARRAY), Array.parse(ARRAY | {"drive": "generic-7k2"})
    alone = simulating.simulate(other, load, n_requests=8000, profile_draws=0)
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    like = Like(array, is_calm=False)
    simulating.prepare(like, load, n_requests=8000, seed=0)
    tried: list[object] = []
    run = shared.run
    monkeypatch.setattr(shared, "run", lambda *given: (tried.append(given), run(*given))[1])
    found = simulating.simulate(other, load, n_requests=8000, profile_draws=0, like=like)
    assert bool(tried) is not is_alike
    assert np.array_equal(found.run.completions.done_ns, alone.run.completions.done_ns)
    tried.clear()
    again = simulating.simulate(other, load, n_requests=8000, profile_draws=0, like=like)
    assert not tried, "the start is known"
    assert np.array_equal(found.run.completions.done_ns, again.run.completions.done_ns)


BUFFERED = {"drive": "seagate-exos-x18", "layout": {"level": "raid10", "disks": 4}}
FLASH = {"drive": "micron-7450-pro-1920", "layout": {"level": "raid10", "disks": 4}}


@pytest.mark.parametrize(
    ("array", "rate", "reads", "stays"),
    [
        (BUFFERED, 300, 0.5, True),
        (BUFFERED, 1_500, 0.0, False),
        (FLASH, 20_000, 0.5, True),
        (FLASH, 400_000, 0.5, False),
    ],
)
def test_a_run_shows_itself_that_buffers_stay_empty(
    monkeypatch: pytest.MonkeyPatch, array: dict[str, Any], rate: int, reads: float, stays: bool
) -> None:
    """No trial is made where disks write what comes; where they do not, the run is that from the start of trials."""
    described, load = Array.parse(array), Workload.parse(LOAD | {"rate": f"{rate}/s", "read_ratio": reads})
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    monkeypatch.setattr(shared, "_NOT_CALM", OrderedDict())
    tried: list[object] = []
    run = shared.run
    monkeypatch.setattr(shared, "run", lambda *given: (tried.append(given), run(*given))[1])
    found = simulating.simulate(described, load, n_requests=8_000, profile_draws=0)
    assert bool(tried) is not stays
    tried.clear()
    again = simulating.simulate(described, load, n_requests=8_000, profile_draws=0)
    assert not tried, "what it shows is known"
    assert np.array_equal(found.run.completions.done_ns, again.run.completions.done_ns)
    with monkeypatch.context() as without:
        without.setattr("diskmodel.engine.one_run.calm_guess", lambda *_: None)
        usual = simulating.simulate(described, load, n_requests=8_000, profile_draws=0)
    assert np.array_equal(found.run.completions.done_ns, usual.run.completions.done_ns)


def test_draws_show_themselves_that_buffers_stay_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    described, load = Array.parse(BUFFERED), Workload.parse(LOAD | {"rate": "300/s"})
    monkeypatch.setattr(shared, "_STARTS", SharedStarts())
    tried: list[object] = []
    run = shared.run
    monkeypatch.setattr(shared, "run", lambda *given: (tried.append(given), run(*given))[1])
    found = simulate_drawn_runs(described, load, 8_000, n_draws=4)
    assert not tried
    monkeypatch.setattr("diskmodel.engine.drawn_runs.calm_guess", lambda *_: None)
    usual = simulate_drawn_runs(described, load, 8_000, n_draws=4)
    assert tried
    assert found is not None
    assert usual is not None
    assert found.figures == usual.figures


def test_the_least_recently_used_start_is_forgotten() -> None:
    starts = SharedStarts(max_bytes=2 * (start_of(1000).n_bytes + OVERHEAD_BYTES))
    kept = {name: starts.get(name, lambda: start_of(1000)) for name in ("a", "b")}
    assert starts.get("a", lambda: start_of(1)) is kept["a"]
    starts.get("c", lambda: start_of(1000))
    assert starts.get("a", lambda: start_of(1)) is kept["a"]
    assert starts.get("b", lambda: start_of(1)) is not kept["b"]


def test_a_start_larger_than_the_memory_is_not_kept() -> None:
    starts = SharedStarts(max_bytes=1000)
    large = starts.get("a", lambda: start_of(1000))
    assert starts.get("a", lambda: start_of(1000)) is not large


def test_a_run_leaves_nothing_for_the_collector_of_garbage() -> None:
    """A fit makes thousands of drives: their tables, megabytes each, must go with the last reference to them."""
    drive = load_drive("seagate-exos-x18").model_copy(update={"write_settle_ns": 912_345})
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, "drive_write_cache": True})
    gc.collect()
    gc.disable()
    try:
        simulating.simulate(array, Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "clients": 2}), n_requests=400)
        tables = weakref.ref(drive.tables())
        del drive, array
        assert tables() is None
    finally:
        gc.enable()
