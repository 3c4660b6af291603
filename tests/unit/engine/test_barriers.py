"""Requests and steps of a rebuild of RAID 10 wait for each other (rule R8)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.controller import Controller
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.plan.show.cautions import long_rebuild
from diskmodel.records import Run
from diskmodel.workload import Workload


def _array(level: str = "raid10", controller: dict[str, Any] | None = None, **rebuild: Any) -> Array:
    layout = {"level": level, "disks": 4, "failed": [0], "spares": 1, "rebuild": {"done_ratio": 0.5, **rebuild}}
    return Array.parse({"drive": "generic-7k2", "layout": layout, "controller": controller or {}})


def _run(engine: ModuleType, array: Array, n: int = 40, clients: int = 1) -> Run:
    workload = Workload.parse({"size": "4 KiB", "clients": clients})
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
    run: Run = engine.run(resolve(array, 1), requests)
    return run


def _longest_ns(run: Run) -> int:
    return int(np.max(run.completions.done_ns - run.completions.issue_ns))


@pytest.mark.parametrize("engine", [native, simpy_engine])
def test_a_lone_reader_waits_for_a_step_and_not_for_seconds(engine: ModuleType) -> None:
    """The disk's own order would let it wait behind a stream of steps (1.6 s here); at the barrier they wait for it."""
    run = _run(engine, _array())
    without = _run(engine, _array(has_barriers=False))
    assert _longest_ns(run) < 100e6 < 1e9 < _longest_ns(without)
    # each round has one step of 64 KiB on the spare: what a seek and a half of it takes
    assert 1e6 < run.rebuilt_bytes / run.end_ns * 1e9 < 10e6 < without.rebuilt_bytes / without.end_ns * 1e9


@pytest.mark.parametrize("engine", [native, simpy_engine])
def test_a_step_waits_until_no_request_is_in_progress(engine: ModuleType) -> None:
    """Of many clients the slowest of a round decides when the next one begins: what is rebuilt is a step a round."""
    run = _run(engine, _array(speed_min_bytes_per_s=1e12), n=160, clients=16)
    # ten rounds of sixteen, and some with fewer at the end
    assert 5 < run.rebuilt_bytes / (64 << 10) < 40


def test_only_linux_has_barriers_and_only_for_strips_with_copies() -> None:
    assert resolve(_array(), 0).layout.md.rebuild_pause_ns == 4_000_000
    assert resolve(_array("raid1"), 0).layout.md.rebuild_pause_ns == 0
    assert resolve(_array("raid5"), 0).layout.md.rebuild_pause_ns == 0
    cached = {"write_cache": {"size": "1 GiB"}}
    assert resolve(_array(controller=cached), 0).layout.md.rebuild_pause_ns == 0
    assert resolve(_array(controller=cached, has_barriers=True), 0).layout.md.rebuild_pause_ns == 4_000_000


def test_a_step_behind_a_barrier_is_what_linux_raises_it_for() -> None:
    of_linux, of_others = (_array(has_barriers=has) for has in (None, False))
    assert (of_linux.layout.step_bytes, of_others.layout.step_bytes) == (64 << 10, 128 << 10)
    assert _array(window="1 MiB").layout.step_bytes == 1 << 20


def test_barriers_of_other_levels_are_named() -> None:
    array = _array("raid5", has_barriers=False)
    assert list(array.unread(array)) == [("layout.rebuild.has_barriers", "RAID 10 and 1E")]
    array = _array(has_barriers=False)
    assert not list(array.unread(array))


def test_what_speeds_a_rebuild_up_is_what_can() -> None:
    plain = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 4}})
    cached = plain.model_copy(update={"controller": Controller.parse({"write_cache": {"size": "1 GiB"}})})
    parity = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 4}})
    assert plain.faster_beside == "less load speeds it up more than any setting of md"
    assert "controller" in cached.faster_beside
    assert "sync_speed_min" in parity.faster_beside
    weeks = [long_rebuild(array, 500.0) for array in (plain, cached, parity)]
    assert "steps of 64 KiB take turns, by the source of Linux (no measurement" in weeks[0]
    assert all(text.endswith("because it yields to the load") for text in weeks[1:])
    assert any("no measurement of a rebuild" in doubt for doubt in _array().doubts_of_pass)
    assert not _array(has_barriers=False).doubts_of_pass
    assert not _array(controller={"write_cache": {"size": "1 GiB"}}).doubts_of_pass
