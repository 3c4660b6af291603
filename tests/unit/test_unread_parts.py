"""No field of what is in an array's parts is ignored in silence: caches, memory, rebuilds, logs, and laws of a load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.controller.description import ReadCache, WriteCache
from diskmodel.description import Description
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.shared import steady_start
from diskmodel.errors import InputError
from diskmodel.host.page_cache import PageCache
from diskmodel.layout.auxiliary_devices import LogDevice, SpecialVdev
from diskmodel.layout.md.fields import Bitmap
from diskmodel.layout.passes import Rebuild
from diskmodel.layout.pools.cache_devices import CacheDevice
from diskmodel.workload import Workload
from diskmodel.workload.addresses import PATTERNS
from diskmodel.workload.arrivals.bursts import Bursts
from diskmodel.workload.arrivals.closed import Closed

MS = 1_000_000
MIXED = {
    "streams": [
        {"name": "a", "size": "8 KiB", "clients": 24, "read_ratio": 0.6},
        {"name": "b", "size": "96 KiB", "clients": 2, "addresses": {"pattern": "sequential"}, "read_ratio": 0.5},
        {"name": "c", "size": "4 KiB", "clients": 2, "read_ratio": 0.0, "sync": "dsync"},
    ]
}
PLAIN = {"size": "8 KiB", "clients": 24, "read_ratio": 0.4}
#: Between its requests several steps of a rebuild begin, where requests and steps wait for each other.
SPARSE = {"size": "8 KiB", "rate": "20/s", "read_ratio": 0.6}
SMALL = {"size": "8 KiB", "clients": 8, "span": "300 MB"}
DISK = {"drive": "md-raid-10k"}
MIRRORS: dict[str, Any] = {**DISK, "layout": {"level": "raid10", "disks": 4}}
PARITY: dict[str, Any] = {**DISK, "layout": {"level": "raid5", "disks": 4}}
POOL: dict[str, Any] = {**DISK, "layout": {"level": "raidz1", "disks": 3}}
MEMORY = {"submission_ns": 20_000, "is_buffered": True, "page_cache": {"memory": "64 MiB"}}
REBUILT = {"failed": [0], "spares": 1, "rebuild": {}}
L2ARC = {"size_bytes": 256 << 20, "page_bytes": 16384, "dies": 8, "read_ns": 80_000, "bytes_per_s": 5e8}

#: An unusual value of each field, by the description that it belongs to.
UNUSUAL: dict[type[Description], dict[str, Any]] = {
    ReadCache: {"hit_ratio": 0.6, "size_bytes": 1 << 22, "policy": "2q", "block_bytes": 8192},
    WriteCache: {
        "size_bytes": 1 << 22, "high_ratio": 0.9, "low_ratio": 0.1, "block_bytes": 8192, "line_bytes": 4096,
        "destage_depth": 1, "protected": False,
    },
    PageCache: {
        "memory_bytes": 1 << 24, "dirty_background_ratio": 0.02, "dirty_ratio": 0.5, "dirty_expire_ns": 100 * MS,
        "dirty_writeback_ns": 100 * MS, "writeback_depth": 1, "is_synchronous": True, "sync_every": 3,
    },
    Rebuild: {
        "action": "check", "disk": 1, "speed_min_bytes_per_s": 5e7, "speed_max_bytes_per_s": 2e6,
        "window_bytes": 1 << 20, "steps_at_once": 3, "done_ratio": 0.5, "used_ratio": 0.3, "sequential": True,
        "page_ns": MS, "has_barriers": False,
    },
    Bitmap: {"chunk_bytes": 1 << 20, "clear_interval_ns": 100 * MS, "flush_ns": MS},
    LogDevice: {
        "drive": "micron-7450-pro-1920", "write_ns": MS, "bytes_per_s": 1e6, "flush_ns": MS, "size_bytes": 16 << 20,
        "mode": "write-back",
    },
    SpecialVdev: {
        "drive": "micron-7450-pro-1920",
        "write_ns": 10 * MS, "bytes_per_s": 1e5, "devices": 3, "size_bytes": 1 << 30, "mttf_hours": 1e5,
        "ure_per_bit": 1e-12, "used_ratio": 0.1, "small_blocks_bytes": 128 << 10,
    },
    CacheDevice: {
        "drive": "micron-7450-pro-1920",
        "size_bytes": 64 << 20, "count": 2, "page_bytes": 4096, "dies": 1, "read_ns": 10 * MS, "command_ns": MS,
        "latency_ns": 10 * MS, "bytes_per_s": 1e5,
    },
}  # fmt: skip
#: Arrays that have the part, and its place: between them they have what others lack.
ARRAYS: dict[str, tuple[type[Description], str, dict[str, Any], dict[str, Any]]] = {
    "drawn hits": (ReadCache, "controller.read_cache", {**MIRRORS, "controller": {"read_cache": {"hit_ratio": 0.3}}},
                   MIXED),
    "read cache": (ReadCache, "controller.read_cache",
                   {**MIRRORS, "controller": {"read_cache": {"size": "64 MiB"}}}, {**MIXED, "span": "200 MB"}),
    "write cache": (WriteCache, "controller.write_cache",
                    {**PARITY, "controller": {"write_cache": {"size": "1 MiB"}}}, MIXED),
    "memory": (PageCache, "host.page_cache", {**MIRRORS, "host": MEMORY}, PLAIN),
    "memory of O_SYNC": (PageCache, "host.page_cache", {
        **MIRRORS, "host": {**MEMORY, "page_cache": {"memory": "64 MiB", "is_synchronous": True}}}, PLAIN),
    "rebuild with parity": (Rebuild, "layout.rebuild", {**DISK, "layout": PARITY["layout"] | REBUILT}, MIXED),
    "rebuild of copies": (Rebuild, "layout.rebuild", {**DISK, "layout": MIRRORS["layout"] | REBUILT}, SPARSE),
    "resilver": (Rebuild, "layout.rebuild", {**DISK, "layout": POOL["layout"] | REBUILT}, MIXED),
    "bitmap": (Bitmap, "layout.bitmap", {**DISK, "layout": MIRRORS["layout"] | {"bitmap": {"chunk": "4 MiB"}}}, MIXED),
    "journal": (LogDevice, "layout.log", {**DISK, "layout": PARITY["layout"] | {"log": {"write_ns": 20_000}}}, MIXED),
    "slog": (LogDevice, "layout.log", {**DISK, "layout": POOL["layout"] | {"log": {"write_ns": 20_000}}}, MIXED),
    "special vdev": (SpecialVdev, "layout.special", {
        **DISK, "layout": POOL["layout"] | {"special": {"write_ns": 20_000}}}, MIXED),
    "l2arc": (CacheDevice, "layout.cache", {
        **DISK, "layout": POOL["layout"] | {"cache": L2ARC}, "controller": {"read_cache": {"size": "64 MiB"}}}, SMALL),
}  # fmt: skip
#: What counts without changing these runs: each says where.
ELSEWHERE = {
    "host.page_cache.dirty_background_ratio": "of memory that fills to it: here programs wait at the limit",
    "host.page_cache.dirty_expire_ns": "of pages that nothing else writes",
    "host.page_cache.dirty_writeback_ns": "of pages that nothing else writes",
    "host.page_cache.is_synchronous": "is so already",
    "layout.rebuild.used_ratio": "in the time that it takes",
    "layout.bitmap.clear_interval_ns": "of chunks at rest",
    "layout.log.size_bytes": "of journals that fill",
    "layout.log.drive": "in the figures that are not given beside it",
    "layout.special.drive": "in the figures that are not given beside it",
    "layout.cache.drive": "in the figures that are not given beside it",
    "layout.special.devices": "in the chance of data loss",
    "layout.special.mttf_hours": "in the chance of data loss",
    "layout.special.ure_per_bit": "in the chance of data loss",
    "layout.special.size_bytes": "in what is refused",
    "layout.special.used_ratio": "in what is refused",
}


def changed(base: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {**base, first: changed(base.get(first, {}), rest, value) if rest else value}


def seen_of(array: Array, load: Workload) -> tuple[Any, ...]:
    """What a run shows that begins in its steady state."""
    whole = array.behind_host(load)
    scenario = resolve(whole, 3)
    scenario = replace(scenario, start=steady_start(whole, load, scenario, 3))
    n_before = scenario.start.n_before
    drawn = scenario.has_drawn_hits
    requests = load.requests(
        capacity_bytes=whole.usable_bytes, n=300, seed=3, with_cache_draws=drawn, n_before=n_before
    )
    run = native.run(scenario, requests)
    return run.completions.done_ns, run.completions.issue_ns, run.rebuilt_bytes


def differ(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("base", ARRAYS)
def test_each_field_of_a_part_matters_or_is_named_or_refused(base: str) -> None:
    cls, place, array, given = ARRAYS[base]
    load = Workload.parse(given)
    before, silent = seen_of(Array.parse(array), load), []
    for path, value in ((f"{place}.{field}", value) for field, value in UNUSUAL[cls].items()):
        try:
            other = Array.parse(changed(array, path, value))
            matters = differ(before, seen_of(other, load))
        except InputError:
            continue
        is_named = any(name == path for name, _ in other.unread(other.behind_host(load)))
        assert not (matters and is_named), f"{path} is said to have no effect"
        if not (matters or is_named or path in ELSEWHERE):
            silent.append(path)
    assert not silent


def test_every_field_of_a_part_is_tried() -> None:
    for cls, values in UNUSUAL.items():
        assert set(cls.model_fields) == set(values), cls
        assert set(cls.readers()) <= set(values), cls


#: Laws of a stream with an unusual value of each field.
LAWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "sequential": ({}, {"mean_run": 3.0, "n_readers": 2, "begin_ratio": 0.5}),
    "zipf": ({}, {"theta": 0.5, "granule_bytes": 8192}),
    "hot_spot": ({"access_ratio": 0.9, "space_ratio": 0.1},
                 {"access_ratio": 0.5, "space_ratio": 0.3, "start_ratio": 0.4}),
    "strided": ({"stride_bytes": 65536}, {"stride_bytes": 1 << 20, "begin_ratio": 0.4}),
    "sorted": ({"n_batch": 3}, {"n_batch": 7}),
    "closed": ({"clients": 4}, {"clients": 5, "think_ns": 10 * MS, "think_distribution": "exponential",
                                "client_rate_per_s": 5.0}),
    "bursts": ({"on_rate_per_s": 100.0, "mean_on_ns": 1000 * MS, "mean_off_ns": 1000 * MS},
               {"on_rate_per_s": 300.0, "off_rate_per_s": 5.0, "mean_on_ns": 100 * MS, "mean_off_ns": 100 * MS}),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_each_field_of_a_law_matters_or_is_named_or_refused(law: str) -> None:
    own, values = LAWS[law]
    place = "addresses" if law in PATTERNS else "arrival"
    kind = {"pattern" if place == "addresses" else "kind": law, **own}
    stream: dict[str, Any] = {"size": "8 KiB", place: kind, **({"clients": 4} if place == "addresses" else {})}
    array = Array("md-raid-10k", "jbod", 1)
    before = seen_of(array, Workload.parse({"streams": [stream]}))
    for path, value in ((f"{place}.{field}", value) for field, value in values.items()):
        try:
            load = Workload.parse({"streams": [changed(stream, path, value)]})
        except InputError:
            continue
        is_named = any(name == f"streams.0.{path}" for name, _ in load.unread(load))
        assert differ(before, seen_of(array, load)) != is_named, path


def test_every_field_of_a_law_is_tried() -> None:
    for law, (_, values) in LAWS.items():
        cls = {"closed": Closed, "bursts": Bursts}.get(law) or PATTERNS[law]
        # a profile of the day is an hour and more
        assert set(cls.model_fields) - {"pattern", "kind", "profile"} == set(values), law
