"""Streams in order, and a pass over the disks, begin where nothing else goes the same way, unless someone says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.engine import Trials
from diskmodel.workload.addresses import starts_of

USABLE = 1 << 40


def stream(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "size": "256 KiB", "clients": 1, "addresses": {"pattern": "sequential"}, **fields}


def in_order(**fields: Any) -> dict[str, Any]:
    return {"pattern": "sequential", **fields}


def begins(load: Workload, usable: int = USABLE) -> list[list[float]]:
    return [
        (starts_of(each.own_addresses, load.space(each, usable)) / usable).round(3).tolist() for each in load.streams
    ]


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ([stream("a")], [[0]]),
        ([stream("a"), stream("b")], [[0], [0.5]]),
        ([stream("a"), stream("b"), stream("c"), stream("d")], [[0], [0.5], [0.25], [0.75]]),
        ([stream("a"), stream("b", addresses=in_order(begin_ratio=0.0))], [[0.5], [0]]),
        ([stream(name, addresses=in_order(begin_ratio=0.0)) for name in "ab"], [[0], [0]]),
        ([stream("a", addresses=in_order(n_readers=2)), stream("b")], [[0, 0.5], [0.25]]),
        ([stream("a"), stream("b", addresses=in_order(n_readers=2))], [[0], [0.25, 0.75]]),
        ([stream("a"), stream("b", addresses="uniform"), stream("c")], [[0], [], [0.5]]),
        ([stream("a", span="50%"), stream("b", span="50%", offset="50%")], [[0], [0.5]]),
        ([stream("a", span="50%"), stream("b")], [[0], [0.5]]),
        ([stream("a"), stream("b", addresses={"pattern": "strided", "stride": "1 MiB"})], [[0], [0.5]]),
    ],
)
def test_where_streams_begin(streams: list[dict[str, Any]], expected: list[list[float]]) -> None:
    load = Workload.parse({"streams": streams})
    assert begins(load.apart(USABLE)) == expected


def test_many_streams_are_all_apart() -> None:
    load = Workload.parse({"streams": [stream(f"s{at}") for at in range(100)]}).apart(USABLE)
    places = np.sort(np.concatenate(begins(load)))
    assert np.diff(places).min() > 0.001


def test_a_plan_ends_one_at_the_end_and_the_other_elsewhere() -> None:
    load = Workload.parse({"streams": [stream("a"), stream("b")]}).at_the_end(USABLE, 1000)
    (first,), (second,) = begins(load)
    assert first == pytest.approx(1.0, abs=0.001)
    assert second == pytest.approx(0.5, abs=0.001)


def test_long_runs_that_plans_put_to_the_end_are_apart() -> None:
    streams = [stream(name, addresses=in_order(mean_run=1e6)) for name in "ab"]
    (first,), (second,) = begins(Workload.parse({"streams": streams}).at_the_end(USABLE, 1000))
    assert abs(first - second) == pytest.approx(0.5, abs=0.001)


def test_what_came_before_does_not_move_where_a_stream_begins() -> None:
    """Memory of the host or of a controller that a run begins with full does not bring streams together again."""
    load = Workload.parse({"streams": [stream("a"), stream("b")]}).apart(1 << 30)
    begun = [load.requests(capacity_bytes=1 << 30, n=2, n_before=n).offset.tolist() for n in (0, 10, 100_000)]
    assert begun == [[0, 1 << 29]] * 3


@pytest.mark.parametrize("read_ratio", [0.0, 1.0])
def test_two_in_order_do_not_serve_each_other(read_ratio: float) -> None:
    """A disk has no more for two streams than for one: between them it has to seek."""
    disk = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid0", "disks": 1}})
    names = ("a", "b")
    one = Workload.parse({"streams": [stream("a", read_ratio=read_ratio)]})
    two = Workload.parse({"streams": [stream(name, read_ratio=read_ratio) for name in names]})
    together = Workload.parse(
        {"streams": [stream(name, read_ratio=read_ratio, addresses=in_order(begin_ratio=0.0)) for name in names]}
    )
    alone, apart, same = (
        simulate(disk, load, n_requests=4000, profile_draws=0).iops.mean for load in (one, two, together)
    )
    assert apart < alone < same


@pytest.mark.parametrize(
    ("done", "streams", "expected"),
    [
        (None, [stream("a")], 0.5),
        (None, [stream("a"), stream("b")], 0.25),
        (None, [stream("a", addresses=in_order(begin_ratio=0.5))], None),
        (None, [stream("a", addresses="uniform")], None),
        (0.0, [stream("a")], 0.0),
    ],
)
def test_where_a_pass_begins(done: float | None, streams: list[dict[str, Any]], expected: float | None) -> None:
    rebuild = {"action": "check"} | ({} if done is None else {"done_ratio": done})
    array = Array.parse({"drive": "seagate-exos-x18", "layout": {"level": "raid6", "disks": 10, "rebuild": rebuild}})
    load = Workload.parse({"streams": streams})
    found = array.passed_apart_from(load.apart(array.usable_bytes))
    assert found.layout.rebuild is not None
    assert found.layout.rebuild.done_ratio == expected


def test_what_was_assumed_is_said() -> None:
    array = Array.parse(
        {"drive": "generic-7k2", "layout": {"level": "raid1", "disks": 2, "rebuild": {"action": "check"}}}
    )
    load = Workload.parse({"streams": [stream("a"), stream("b")]})
    said = simulate(array, load, n_requests=400, profile_draws=0).messages
    assert any("b begins 0.5 of its region behind the front" in text for text in said)
    assert any("has done 25% of its way" in text for text in said)


def test_drawn_runs_begin_as_the_run_does() -> None:
    """`explain` draws of what is not known without a run before it: there two streams are apart as well."""
    disk = Array.parse({"drive": "generic-7k2", "layout": {"level": "raid0", "disks": 1}})
    load = Workload.parse({"streams": [stream("a"), stream("b")]})
    drawn = Trials(disk, load, 1000, seed=0, start="steady")
    whole = simulate(disk, load, n_requests=1000, profile_draws=0)
    assert float(drawn.reference["iops"]) == pytest.approx(whole.iops.mean, rel=0.1)
