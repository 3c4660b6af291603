"""No field of a drive or a workload is ignored in silence: it changes the run, is refused, or is named."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.hdd.parts import DriveQueue, HddCache
from diskmodel.drive.media_cache.description import MediaCache
from diskmodel.drive.parse import KINDS
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import InputError
from diskmodel.workload import Workload
from diskmodel.workload.stream import Stream

LOAD = {
    "streams": [
        {"name": "a", "size": "8 KiB", "clients": 12, "read_ratio": 0.6},
        {"name": "b", "size": "96 KiB", "clients": 2, "addresses": {"pattern": "sequential"}, "read_ratio": 0.5},
        {"name": "c", "size": "4 KiB", "clients": 2, "read_ratio": 0.0, "sync": "fdatasync"},
    ]
}


def of_catalogue(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("diskmodel.drive.catalogue").joinpath(f"{name}.toml").read_text("utf-8"))


#: So small that a short run fills its buffer and cleans.
SMALL_FLASH = {
    key: value
    for key, value in of_catalogue("micron-7450-pro-1920").items()
    if key not in ("capacity", "capacity_bytes", "write_buffer", "write_buffer_bytes", "pages_per_block")
} | {"capacity": "1 GB", "write_buffer": "256 KiB", "pages_per_block": 8}
#: Drives that between them have what others lack.
BASES: dict[str, dict[str, Any]] = {
    "hdd": of_catalogue("generic-7k2-2015"),
    "fcfs hdd": of_catalogue("md-raid-10k"),
    "shingled": of_catalogue("seagate-archive-st8000as0002"),
    "flash": SMALL_FLASH,
    "cloud": of_catalogue("aws-gp3"),
    "virtual": {
        "kind": "virtual",
        "name": "v",
        "capacity": "100 GB",
        "read_overhead": "20 us",
        "write_overhead": "20 us",
    },
}
MS = 1_000_000
#: An unusual value of each field, by its place in the drive.
UNUSUAL: dict[str, Any] = {
    "capacity_bytes": 50 << 30, "sector_bytes": 4096, "rpm": 9000.0, "revolution_ns": 7 * MS, "heads": 3,
    "outer_bytes_per_s": 60e6, "inner_bytes_per_s": 30e6, "cylinders": 50_000, "n_zones": 3,
    "seek_inward_ns": 500_000, "write_settle_ns": 3 * MS, "head_switch_ns": 5 * MS, "skew_margin_ns": 4 * MS,
    "read_overhead_ns": 30 * MS, "write_overhead_ns": 30 * MS, "completion_overhead_ns": MS,
    "write_completion_overhead_ns": 2 * MS,
    "write_prefill_bytes": 4096, "interface_bytes_per_s": 20e6, "buffer_full_ratio": 0.7, "zero_latency": True,
    "zero_latency_ratio": 0.3, "retries": {"ratio": 0.5, "time_ms": [30.0]}, "actuators": 2,
"write_seek": {"average": "20 ms"}, "cache.size_bytes": 1 << 20, "cache.segments": 2,
    "cache.read_ahead_bytes": 8192, "cache.read_ahead_to": "own-track", "cache.read_on_arrival": True,
    "cache.write_back": True, "cache.write_room_bytes": 65536, "cache.write_drops": "all", "cache.keeps_writes": True,
    "cache.power_loss_protected": True, "cache.destage": "in-order", "queue.depth": 2, "queue.scheduler": "sptf-aged",
    "queue.weighed": 2, "queue.weighed_writes": 3, "queue.age_ns": MS, "queue.miss_margin_ns": 4 * MS,
    "queue.overdue_ns": 5 * MS, "queue.miss_ratio": 0.9, "queue.age_weight": 0.8, "queue.committed": 6,
    "media_cache.size_bytes": 64 << 20,
    "media_cache.band_bytes": 16 << 20, "media_cache.max_extents": 7, "media_cache.idle_ns": 3 * MS,
    "media_cache.run_bytes": 4096, "media_cache.place_ratio": 0.5, "channels": 2, "dies_per_channel": 1,
    "page_bytes": 8192, "pages_per_block": 32, "read_ns": MS, "program_ns": 9 * MS, "erase_ns": 50 * MS,
    "channel_bytes_per_s": 5e6, "read_latency_ns": 3 * MS, "write_latency_ns": 3 * MS, "read_delay_ns": [MS],
    "write_delay_ns": [MS], "write_buffer_bytes": 65536, "over_provisioning_ratio": 1.5, "mapping_bytes": 8192,
    "gc_policy": "cost-benefit", "state": "fresh", "queue_depth": 2, "power_loss_protected": False, "flush_ns": 40 * MS,
    "gc_batch_ns": 9 * MS, "gc_batch_room_bytes": 4096, "paces_writes": True, "read_beside_writes_ns": MS,
    "program_beside_reads_ns": MS, "volatile_cache": True,
    "suspend_ns": 500_000, "used_ratio": 0.4, "read_copy_bytes_per_s": 5e6, "write_copy_bytes_per_s": 5e6,
    "wake_ns": [MS], "completion": "each", "iops": 40.0, "iops_per_gib": 0.1, "least_iops": 50.0, "most_iops": 60.0,
    "burst_iops": 20_000.0, "credits": 5.0, "throughput_bytes_per_s": 3e6, "throughput_per_tib_bytes_per_s": 3e6,
    "most_throughput_bytes_per_s": 3e6, "burst_throughput_bytes_per_s": 4e8,
    "burst_throughput_per_tib_bytes_per_s": 4e8, "byte_credits_bytes": 1 << 20, "byte_credits_ratio": 0.5,
    "op_bytes": 4096, "least_bytes": 65536, "merges": False, "bucket_ns": MS, "is_drained": True,
    "read_p50_ns": 2 * MS, "read_p95_ns": 30 * MS, "write_p50_ns": 2 * MS, "write_p95_ns": 30 * MS,
}  # fmt: skip


def changed(base: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    short = {first} | {first.removesuffix(end) for end in ("_bytes", "_ns", "_bytes_per_s", "_ratio", "_per_s")}
    kept = {key: own for key, own in base.items() if key not in short}
    own = next((base[key] for key in base if key in short), {})
    return {**kept, first: changed(own if isinstance(own, Mapping) else {}, rest, value) if rest else value}


def done_of(array: Array, load: Workload) -> Any:
    whole = array.behind_host(load)
    scenario = resolve(whole, 3)
    requests = load.requests(capacity_bytes=whole.usable_bytes, n=150, seed=3, with_cache_draws=scenario.has_drawn_hits)
    assert native.covers(scenario, requests) is None
    return native.run(scenario, requests).completions.done_ns


#: What describes a drive without changing a run.
ABOUT = {
    "name", "source", "year", "form_factor", "bus", "price_usd", "power_w", "mttf_hours", "ure_per_bit", "notes",
    "provenance", "endurance_bytes", "uncertainty", "exact", "kind", "sheet", "assumed_from",
    # what comes with a type, of explanations
    "included_iops", "included_throughput_bytes_per_s",
    # of intervals, classes of drives and what is refused
    "recording",
}  # fmt: skip
#: Parts that are tried whole, in tests of their own.
PARTS = {"zones", "seek", "cache", "queue", "media_cache", "write_zones"}
#: What counts without changing this run: each says where.
ELSEWHERE = {
    "capacity_bytes": "of cloud volumes and virtual disks by their limits alone",
    "sector_bytes": "of commands that are no multiple of it",
    "write_prefill_bytes": "where the link is slower than the seek",
    "buffer_full_ratio": "where the link is slower than the media",
    "zero_latency": "of reads longer than what is left of a track",
    "cache.size_bytes": "of what is read again or ahead",
    "cache.segments": "of more streams than segments",
    "cache.read_ahead_bytes": "of reads that go on",
    "cache.read_ahead_to": "of reads that go on",
    "cache.read_on_arrival": "of reads that go on",
    "cache.write_drops": "of reads of what is cached",
    "cache.keeps_writes": "of reads of what was written",
    "cache.write_room_bytes": "of a cache that fills",
    "queue.depth": "of commands in the order in which they came",
    "queue.weighed": "of more commands than it weighs",
    "media_cache.size_bytes": "of a log that fills",
    "media_cache.band_bytes": "of what is cleaned",
    "media_cache.idle_ns": "of pauses",
    "least_iops": "of volumes whose limit comes from their size",
    "burst_iops": "in what is said of credits",
    "credits": "in what is said of credits",
    "burst_throughput_bytes_per_s": "in what is said of credits",
    "burst_throughput_per_tib_bytes_per_s": "in what is said of credits",
    "byte_credits_bytes": "in what is said of credits",
    "byte_credits_ratio": "in what is said of credits",
    "bucket_ns": "of volumes that were idle",
    "is_drained": "of volumes with a bucket",
    "power_loss_protected": "of flushes",
    "erase_ns": "of dies that erase",
    "suspend_ns": "of reads that meet a program",
    "gc_batch_ns": "of drives that copy",
    "gc_batch_room_bytes": "of drives that copy in batches",
    "volatile_cache": "of flushes",
    "gc_policy": "of blocks of different ages",
    "completion": "older profiles of flash have it as it is for flash",
}


@pytest.mark.parametrize("base", BASES)
def test_each_field_of_a_drive_matters_or_is_named_or_refused(base: str) -> None:
    load = Workload.parse(LOAD)
    plain = {"layout": {"level": "jbod", "disks": 1}}
    before = done_of(Array.parse({**plain, "drive": BASES[base]}), load)
    silent = []
    for path, value in UNUSUAL.items():
        given = changed(BASES[base], path, value)
        if given == BASES[base]:
            continue
        try:
            array = Array.parse({**plain, "drive": given})
            after = done_of(array, load)
        except InputError:
            continue
        is_named = any(name == f"drive.{path}" for name, _ in array.unread(array))
        matters = not np.array_equal(before, after)
        assert not (matters and is_named), f"{path} is said to have no effect"
        if not (matters or is_named or path in ELSEWHERE):
            silent.append(path)
    assert not silent


def test_every_field_of_a_drive_is_tried() -> None:
    tried = {path.partition(".")[0] for path in UNUSUAL}
    for kind, cls in KINDS.items():
        if kind in ("cluster", "cached"):  # engines of their own, and their descriptions name what is not read
            continue
        assert set(cls.model_fields) - ABOUT - PARTS <= tried, cls
    for part, cls in (("cache", HddCache), ("queue", DriveQueue), ("media_cache", MediaCache)):
        own = {path.partition(".")[2] for path in UNUSUAL if path.startswith(f"{part}.")}
        assert set(cls.model_fields) - ABOUT == own, cls


def test_drives_of_the_catalogue_say_nothing() -> None:
    for name in catalogue():
        array = Array.parse({"drive": name, "layout": {"level": "jbod", "disks": 1}})
        assert not [path for path, _ in array.unread(array) if path.startswith("drive.")], name


# ---------------------------------------------------------------- workloads

#: An unusual value of each field of a stream.
OF_STREAMS: dict[str, Any] = {
    "read_ratio": 0.1, "sizes": [{"size_bytes": 65536}], "alignment_bytes": 1 << 20,
    "addresses": {"pattern": "sequential"}, "span_bytes": 1 << 30, "span_ratio": 0.1, "offset_bytes": 1 << 30,
    "offset_ratio": 0.5, "arrival": {"kind": "poisson", "rate_per_s": 50.0}, "weight": 7.0, "kind": "commits",
    "record_bytes": 300, "commit_delay_ns": MS, "sync": "dsync", "sync_every": 3, "file_system": "ext4",
    "file": "append", "volume": "v",
}  # fmt: skip
LOADS: dict[str, dict[str, Any]] = {
    "one": {"name": "a", "sizes": [{"size_bytes": 8192}], "arrival": {"kind": "closed", "clients": 12},
            "read_ratio": 0.6},
    "with a span": {"name": "a", "sizes": [{"size_bytes": 8192}], "arrival": {"kind": "closed", "clients": 12},
                    "read_ratio": 0.0, "sync": "fdatasync", "span_bytes": 2 << 30},
}  # fmt: skip


@pytest.mark.parametrize("base", LOADS)
def test_each_field_of_a_workload_matters_or_is_named_or_refused(base: str) -> None:
    array = Array("generic-7k2-2015", "jbod", 1)
    before = done_of(array, Workload.parse({"streams": [LOADS[base]]}))
    given = [
        ({"streams": [{**LOADS[base], field: value}]}, f"streams.0.{field}") for field, value in OF_STREAMS.items()
    ]
    given += [
        ({"streams": [LOADS[base]], field: value}, field)
        for field, value in (("span_bytes", 1 << 30), ("span_ratio", 0.1))
    ]
    silent = []
    for data, path in given:
        if data == {"streams": [LOADS[base]]}:
            continue
        try:
            load = Workload.parse(data)
            after = done_of(array, load)
        except InputError:
            continue
        is_named = any(name == path for name, _ in load.unread(load))
        matters = not np.array_equal(before, after)
        assert not (matters and is_named), f"{path} is said to have no effect"
        if not (matters or is_named):
            silent.append(path)
    assert not silent


def test_every_field_of_a_stream_is_tried() -> None:
    assert set(Stream.model_fields) - {"name", "excerpts"} == set(OF_STREAMS)
    assert set(Workload.model_fields) == {"name", "span_bytes", "span_ratio", "streams", "fitted"}


def test_an_answer_names_what_a_drive_and_a_workload_do_not_read() -> None:
    drive = changed(BASES["fcfs hdd"], "queue.age_ns", MS)
    load = Workload.parse({"streams": [{**LOADS["one"], "weight": 7.0}]})
    messages = simulate(Array(drive, "jbod", 1), load, n_requests=300, profile_draws=0).messages
    assert "without effect here: drive.queue.age_ns (only sptf-aged)" in messages
    assert "without effect here: streams.0.weight (only workloads of several streams)" in messages
