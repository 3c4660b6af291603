"""No field of an array is ignored in silence: it changes the run, is refused, or is named as without effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

from diskmodel.array import Array, Spindles
from diskmodel.controller.catalogue import profiles
from diskmodel.controller.description import Controller, ReadCache, WriteCache
from diskmodel.description import Description
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import InputError
from diskmodel.host.description import Host
from diskmodel.layout.description import Layout
from diskmodel.queue.description import Queue
from diskmodel.workload import Workload

LOAD = Workload.parse(
    {
        "streams": [
            {"name": "a", "size": "8 KiB", "clients": 24, "read_ratio": 0.6},
            {"name": "b", "size": "96 KiB", "clients": 2, "addresses": {"pattern": "sequential"}, "read_ratio": 0.5},
            {"name": "c", "size": "4 KiB", "clients": 2, "read_ratio": 0.0, "sync": "dsync"},
        ]
    }
)
DISKS = {"drive": "md-raid-10k", "layout": {"level": "raid10", "disks": 4}}
#: Arrays that between them have what others lack.
BASES: dict[str, dict[str, Any]] = {
    "disks": DISKS,
    "parity": {"drive": "md-raid-10k", "layout": {"level": "raid5", "disks": 6}},
    "flash": {"drive": "micron-7450-pro-1920", "layout": {"level": "raid0", "disks": 2}},
    "pool": {"drive": "md-raid-10k", "layout": {"level": "raidz1", "disks": 3}},
    "cached": {
        **DISKS,
        "controller": {"read_cache": {"hit_ratio": 0.3}, "write_cache": {"size_bytes": 1 << 20}},
        "host": {"submission_ns": 20_000},
    },
    "buffered": {**DISKS, "host": {"submission_ns": 20_000, "is_buffered": True, "page_cache": {"memory": "64 MiB"}}},
}
#: An unusual value of each field, by the description that it belongs to.
UNUSUAL: dict[type[Description], dict[str, Any]] = {
    Queue: {
        "scheduler": "sptf", "drive_depth": 1, "merge": True, "merge_limit_bytes": 8192, "age_ns": 1_000_000,
        "miss_margin_ns": 2_000_000, "miss_ratio": 0.5, "age_weight": 0.9, "committed": 7,
        "write_throttle": "linux", "block_requests": 4, "read_expire_ns": 1_000_000,
        "write_expire_ns": 2_000_000, "fifo_batch": 1, "writes_starved": 7,
    },
    Host: {
        "submission_ns": 400_000, "submission_sequential_ns": 300_000, "write_cost_ratio": 9.0, "processors": 3,
        "kind": "tuned-2020",
        "lock_ns": 300_000, "write_lock_ns": 300_000, "pause_ns": 900_000, "pause_interval_ns": 5_000_000,
        "is_buffered": True, "read_ahead_bytes": 16384, "largest_request_bytes": 8192, "page_bytes": 8192,
        "page_cache": {"memory": "1 MiB"},
    },
    Controller: {
        "read_cache": {"hit_ratio": 0.4}, "write_cache": {"size_bytes": 2 << 20}, "hit_ns": 900_000,
        "link_bytes_per_s": 5e6, "command_ns": 300_000, "read_ahead_bytes": 65536, "volume_depth": 2,
        "linux_md": True, "most_iops": 40.0,
    },
    Spindles: {"phase": "synchronised", "drift_ppm": 500.0},
    Array: {"drive_write_cache": True, "drive_fua": True, "used_ratio": 0.5},
    Layout: {
        "strip_bytes": 4096, "copies": 4, "arrangement": "far", "groups": 2, "n_parity": 2,
        "rotation": "right-asymmetric",
        "read_policy": "primary", "read_strips": "separate", "largest_request_bytes": 4096, "huge_page_ratio": 0.5,
        "write_policy": "reconstruct-write", "read_modify_write": "held", "failed": [0], "spares": 1,
        "member_bytes": 1 << 28, "data_offset_bytes": 1 << 20, "consistency_policy": "ppl",
        "bitmap": {"chunk_bytes": 1 << 20}, "stripe_cache_pages": 8, "record_bytes": 8192, "ashift": 9,
        "sync": "disabled", "dirty_data_max_bytes": 16 << 20, "record_work_ns": 300_000, "data_disks": 2,
        "distributed_spares": 1, "vdevs": 1, "rebuild": {},
    },
}  # fmt: skip
WHERE = {Queue: "queue", Host: "host", Controller: "controller", Spindles: "spindles", Array: "", Layout: "layout"}
#: What counts without changing a run: each says where.
ELSEWHERE = {
    "layout.spares": "counted in the cost",
    "layout.vdevs": "one is what a pool has if nothing is said",
    "layout.record_work_ns": "of groups that are written every five seconds",
    "host.submission_sequential_ns": "of requests that go on where the last one ended",
    "queue.merge": "of commands that wait beside each other",
    "queue.write_throttle": "where reads are slow",
    "queue.scheduler": "where commands wait above the drive",
    "layout.read_strips": "of reads that span strips",
}


def cases() -> Iterator[tuple[str, str, str, Any]]:
    for base in BASES:
        for cls, values in UNUSUAL.items():
            for field, value in values.items():
                yield base, WHERE[cls], field, value


def changed(base: dict[str, Any], where: str, field: str, value: Any) -> dict[str, Any]:
    if not where:
        return {**base, field: value}
    return {**base, where: {**base.get(where, {}), field: value}}


def done_of(array: Array) -> Any:
    whole = array.behind_host(LOAD)
    scenario = resolve(whole, 3)
    requests = LOAD.requests(capacity_bytes=whole.usable_bytes, n=300, seed=3, with_cache_draws=scenario.has_drawn_hits)
    assert native.covers(scenario, requests) is None
    return native.run(scenario, requests).completions.done_ns


@pytest.mark.parametrize("base", BASES)
def test_each_field_matters_or_is_named_or_refused(base: str) -> None:
    before = done_of(Array.parse(BASES[base]))
    silent = []
    for _, where, field, value in (case for case in cases() if case[0] == base):
        path = f"{where}.{field}".lstrip(".")
        if changed(BASES[base], where, field, value) == BASES[base]:
            continue
        try:
            array = Array.parse(changed(BASES[base], where, field, value))
            after = done_of(array)
        except InputError:
            continue
        is_named = any(name == path for name, _ in array.unread(array.behind_host(LOAD)))
        matters = not np.array_equal(before, after)
        assert not (matters and is_named), f"{path} is said to have no effect"
        if not (matters or is_named or path in ELSEWHERE):
            silent.append(path)
    assert not silent


def test_every_field_is_tried() -> None:
    for cls, values in UNUSUAL.items():
        parts = {"name", "drive", "layout", "queue", "controller", "host", "spindles", "level", "disks"}
        parts |= {"log", "special", "cache"}  # devices of their own, which the layout refuses where they do not belong
        assert set(cls.model_fields) - parts == set(values), cls


def test_every_reader_is_of_a_field() -> None:
    for cls in (*UNUSUAL, ReadCache, WriteCache):
        assert set(cls.readers()) <= set(cls.model_fields)


def test_an_answer_names_what_it_did_not_read() -> None:
    given = {**BASES["disks"], "queue": {"fifo_batch": 3}, "layout": {**DISKS["layout"], "rotation": "left-asymmetric"}}  # type: ignore[dict-item]
    messages = simulate(Array.parse(given), LOAD, n_requests=300, profile_draws=0).messages
    assert (
        "without effect here: layout.rotation (only levels that rotate their parity) and queue.fifo_batch "
        "(only mq-deadline)" in messages
    )


def test_a_name_of_its_own_makes_no_controller_measured() -> None:
    own = {"name": "x", "write_cache": {"size": "1 GiB", "destage_depth": 4}}
    array = Array.parse({**BASES["disks"], "controller": own})
    assert not array.controller.is_measured
    assert array.unread_messages(array) == (
        "without effect here: controller.name (only one of the catalogue (diskmodel controllers))",
    )


@pytest.mark.parametrize(("level", "is_read"), [("raid0", False), ("raid5", True)])
def test_linux_md_is_named_where_it_makes_no_bitmap(level: str, is_read: bool) -> None:
    layout = {"level": level, "disks": 4}
    array = Array.parse({"drive": "generic-7k2", "layout": layout, "controller": {"linux_md": True}})
    said = array.behind_host(LOAD).unread_messages(array)
    assert any("controller.linux_md" in one for one in said) != is_read


@pytest.mark.parametrize(
    ("stream", "is_read"),
    [
        ({"addresses": "uniform"}, False),
        ({"addresses": {"pattern": "zipf"}}, False),
        ({"addresses": "sequential"}, True),
        ({"addresses": "uniform", "span": "1 MiB"}, True),
    ],
)
def test_processor_time_of_requests_in_order_is_named_where_none_is(stream: dict[str, Any], is_read: bool) -> None:
    array = Array.parse({**BASES["disks"], "host": {"submission": "9 us", "submission_sequential": "3 us"}})
    load = Workload.parse({"size": "8 KiB", "clients": 4, **stream})
    said = simulate(array, load, n_requests=300, profile_draws=0).messages
    named = "without effect here: host.submission_sequential_ns (only requests that begin where the last one ended)"
    assert (named in said) != is_read


def test_controllers_of_the_catalogue_say_nothing() -> None:
    for name in profiles():
        array = Array.parse(cast("dict[str, Any]", {**DISKS, "controller": name}))
        assert not array.unread_messages(array), name
