"""A plan that begins with an array: each field of the array reaches the candidates, or is named."""

import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.plan.question.case import cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.options import DEFAULT_LEVELS, plan_from, plan_options

pytestmark = pytest.mark.slow

QUESTION = {"iops": 100, "reads": 0.7, "block": 4096, "capacity": 10**9, "p99": 10**9}
REBUILD = {"level": "raid5", "disks": 6, "failed": [1]}
RESILVER = {"level": "raidz1", "disks": 12, "failed": [1]}
IN_ORDER = {"level": "draid1", "disks": 12, "failed": [1]}
BUFFERED = {"is_buffered": True}
CACHED = {**BUFFERED, "page_cache": {"memory_bytes": 1 << 30}}

DEVICE = {"size_bytes": 1 << 34, "page_bytes": 16384, "dies": 8, "read_ns": 60_000, "bytes_per_s": 1e9}
CACHE: dict[str, Any] = {
    "layout": {"level": "raidz1", "disks": 12, "cache": DEVICE},
    "controller": {"read_cache": {"size_bytes": 1 << 30}},
}

#: A value for each field that is not its default, and what else the array needs for it.
VALUES: dict[str, tuple[Any, dict[str, Any]]] = {
    "drive_write_cache": (True, {}),
    "spindles.phase": ("spread", {}),
    "spindles.drift_ppm": (7.0, {}),
    "queue.scheduler": ("sptf", {}),
    "queue.drive_depth": (3, {}),
    "queue.merge": (True, {}),
    "queue.merge_limit_bytes": (1 << 19, {}),
    "queue.age_ns": (1_000_000, {}),
    "queue.miss_margin_ns": (123_456, {}),
    "queue.miss_ratio": (0.5, {}),
    "queue.age_weight": (0.125, {}),
    "queue.committed": (1, {}),
    "queue.write_throttle": ("linux", {}),
    "queue.block_requests": (62, {}),
    "queue.read_expire_ns": (1_000_000, {}),
    "queue.write_expire_ns": (1_000_000, {}),
    "queue.fifo_batch": (3, {}),
    "queue.writes_starved": (5, {}),
    "controller.name": ("the old one", {}),
    "host.kind": ("libaio-2014", {}),
    "controller.linux_md": (True, {}),
    "controller.volume_depth": (7, {}),
    "controller.most_iops": (700.0, {}),
    "controller.read_cache.hit_ratio": (0.25, {}),
    "controller.read_cache.size_bytes": (1 << 25, {}),
    "controller.read_cache.policy": ("arc", {"controller": {"read_cache": {"size_bytes": 1 << 25}}}),
    "controller.read_cache.block_bytes": (8192, {"controller": {"read_cache": {"size_bytes": 1 << 25}}}),
    "controller.write_cache.size_bytes": (1 << 25, {}),
    **{
        f"controller.write_cache.{name}": (value, {"controller": {"write_cache": {"size_bytes": 1 << 25}}})
        for name, value in (
            ("high_ratio", 0.75),
            ("low_ratio", 0.25),
            ("block_bytes", 8192),
            ("line_bytes", 8192),
            ("destage_depth", 3),
            ("protected", False),
        )
    },
    "controller.hit_ns": (12_345, {}),
    "controller.link_bytes_per_s": (1e8, {}),
    "controller.command_ns": (777, {}),
    "controller.read_ahead_bytes": (1 << 17, {"controller": {"read_cache": {"size_bytes": 1 << 25}}}),
    "host.submission_ns": (777, {}),
    "host.submission_sequential_ns": (777, {}),
    "host.write_cost_ratio": (2.5, {}),
    "host.processors": (3, {}),
    "host.lock_ns": (777, {}),
    "host.write_lock_ns": (888, {}),
    "host.pause_ns": (777, {"host": {"pause_interval_ns": 10**9}}),
    "host.pause_interval_ns": (10**9, {"host": {"pause_ns": 777}}),
    "host.is_buffered": (True, {}),
    "host.read_ahead_bytes": (1 << 17, {"host": BUFFERED}),
    "host.largest_request_bytes": (1 << 17, {"host": BUFFERED}),
    "host.page_bytes": (8192, {"host": BUFFERED}),
    "host.page_cache.memory_bytes": (1 << 30, {"host": BUFFERED}),
    **{
        f"host.page_cache.{name}": (value, {"host": CACHED})
        for name, value in (
            ("dirty_background_ratio", 0.01),
            ("dirty_ratio", 0.9),
            ("dirty_expire_ns", 10**9),
            ("dirty_writeback_ns", 10**8),
            ("writeback_depth", 3),
            ("is_synchronous", True),
            ("sync_every", 5),
        )
    },
    "layout.vdevs": (2, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.data_disks": (3, {"layout": {"level": "draid1", "disks": 12}}),
    "layout.distributed_spares": (2, {"layout": {"level": "draid1", "disks": 12}}),
    "layout.record_bytes": (8192, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.ashift": (13, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.sync": ("disabled", {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.dirty_data_max_bytes": (1 << 30, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.record_work_ns": (80_000, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.log.write_ns": (50_000, {"layout": {"level": "raidz1", "disks": 12}}),
    "layout.log.bytes_per_s": (1e9, {"layout": {"level": "raidz1", "disks": 12, "log": {"write_ns": 50_000}}}),
    "layout.log.flush_ns": (777, {"layout": {"level": "raid5", "disks": 12, "log": {"write_ns": 50_000}}}),
    "layout.log.size_bytes": (1 << 30, {"layout": {"level": "raid5", "disks": 12, "log": {"write_ns": 50_000}}}),
    "layout.log.mode": ("write-through", {"layout": {"level": "raid5", "disks": 12, "log": {"write_ns": 50_000}}}),
    **{
        f"layout.special.{name}": (value, {"layout": {"level": "raidz1", "disks": 12, "special": {"write_ns": 50_000}}})
        for name, value in (
            ("write_ns", 60_000),
            ("bytes_per_s", 1e9),
            ("devices", 3),
            ("size_bytes", 10**13),
            ("mttf_hours", 1e6),
            ("ure_per_bit", 1e-18),
            ("used_ratio", 0.4),
            ("small_blocks_bytes", 4096),
        )
    },
    **{
        f"layout.cache.{name}": (value, CACHE)
        for name, value in (
            ("size_bytes", 1 << 35),
            ("count", 2),
            ("page_bytes", 8192),
            ("dies", 7),
            ("read_ns", 77_000),
            ("command_ns", 777),
            ("latency_ns", 7_777),
            ("bytes_per_s", 2e9),
        )
    },
    "layout.consistency_policy": ("ppl", {}),
    "layout.strip_bytes": (128 << 10, {}),
    "layout.copies": (3, {"layout": {"level": "raid10", "disks": 6}}),
    "layout.arrangement": ("far", {"layout": {"level": "raid10", "disks": 6}}),
    "layout.largest_request_bytes": (1 << 19, {"layout": {"level": "raid10", "disks": 6}}),
    "layout.huge_page_ratio": (0.5, {"layout": {"level": "raid10", "disks": 6, "largest_request_bytes": 1 << 19}}),
    "layout.groups": (3, {"layout": {"level": "raid50", "disks": 12}}),
    "layout.n_parity": (3, {"layout": {"level": "erasure", "disks": 8}}),
    "layout.rotation": ("right-symmetric", {}),
    "layout.read_policy": ("nearest-arm", {}),
    "layout.read_strips": ("separate", {}),
    "layout.write_policy": ("reconstruct-write", {}),
    "layout.read_modify_write": ("held", {}),
    "layout.stripe_cache_pages": (512, {}),
    "layout.failed": ([2], {}),
    "layout.spares": (2, {}),
    "layout.rebuild.disk": (1, {"layout": REBUILD}),
    "layout.rebuild.speed_min_bytes_per_s": (5e7, {"layout": REBUILD}),
    "layout.rebuild.speed_max_bytes_per_s": (5e7, {"layout": REBUILD}),
    "layout.rebuild.window_bytes": (1 << 19, {"layout": REBUILD}),
    "layout.rebuild.steps_at_once": (2, {"layout": REBUILD}),
    "layout.rebuild.action": ("check", {"layout": {"level": "raid5", "disks": 6}}),
    "layout.rebuild.page_ns": (777, {"layout": REBUILD}),
    "layout.rebuild.has_barriers": (False, {"layout": REBUILD | {"level": "raid10"}}),
    "layout.rebuild.done_ratio": (0.25, {"layout": REBUILD}),
    "layout.rebuild.used_ratio": (0.4, {"layout": RESILVER}),
    "layout.rebuild.sequential": (True, {"layout": IN_ORDER}),
    "layout.member_bytes": (10**11, {}),
    "layout.data_offset_bytes": (1 << 27, {}),
    "layout.bitmap.chunk_bytes": (1 << 27, {}),
    "layout.bitmap.clear_interval_ns": (10**9, {}),
    "layout.bitmap.flush_ns": (777, {}),
    "drive_fua": (True, {}),
    "used_ratio": (0.5, {}),
}

#: What a plan looks for, or lists in its answer; the drive is carried as a whole.
SEARCHED = {"name", "drive", "layout.level", "layout.disks"}


def leaves(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Yield the path of each field that is not a table."""
    for name, field in model.model_fields.items():
        path = f"{above}{name}"
        parts = typing.get_args(field.annotation) if _is_union(field.annotation) else (field.annotation,)
        tables = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
        if tables and path not in SEARCHED:
            yield from leaves(tables[0], f"{path}.")
        else:
            yield path


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def array_with(path: str) -> Array:
    value, needs = VALUES[path]
    data: dict[str, Any] = {"drive": "generic-15k", "layout": {"level": "raid5", "disks": 6}}
    data = {**data, **{name: {**table} for name, table in needs.items()}}
    *tables, last = path.split(".")
    at = data
    for name in tables:
        at[name] = {**at.get(name, {})}
        at = at[name]
    at[last] = value
    return Array.parse(data)


def at(fields: Mapping[str, Any], path: str) -> Any:
    found: Any = fields
    for name in path.split("."):
        found = None if found is None else found[name]
    return list(found) if isinstance(found, tuple) else found


def name_in_notes(path: str) -> str:
    """Return what a note calls a field: devices of their own are carried as a whole."""
    device = re.match(r"layout\.(log|special|cache)\.", path)
    return path[: device.end() - 1] if device else path.removesuffix("_ratio").removesuffix("_bytes")


def ask(array: Array, **options: Any) -> tuple[PlanDescription, list[str]]:
    """Ask for the array's own level and RAID, so that the fields of pools meet levels without them."""
    levels = list(dict.fromkeys((array.layout.level, *DEFAULT_LEVELS)))
    return plan_from(plan_options({**QUESTION, "max_disks": 12, "level": levels, **options}), array=array)


def test_a_value_is_known_for_every_field_of_an_array() -> None:
    assert set(leaves(Array)) == set(VALUES) | SEARCHED


@pytest.mark.parametrize("path", VALUES)
def test_a_field_is_carried_or_named(path: str) -> None:
    array = array_with(path)
    assert at(array.model_dump(), path) == VALUES[path][0]
    plan, notes = ask(array)
    having: set[str] = set()
    lacking: set[str] = set()
    for case in cases(plan):
        candidate = case.array(case.counts[-1], n_failed=1, is_rebuilding=True).model_dump()
        if path == "layout.failed":
            candidate = case.array(case.counts[-1]).model_dump()
        if path == "layout.spares":
            candidate["layout"]["spares"] = case.array(case.counts[-1]).layout.spares
        (having if at(candidate, path) == VALUES[path][0] else lacking).add(case.family.level)
    assert having | lacking >= {"raid10", "raid5", "raid6"}
    short = name_in_notes(path).removesuffix("_ns")
    about = [note for note in notes if note.startswith("--array") and (short in note or path in note)]
    assert len(about) == bool(lacking), (having, lacking, notes)
    if having and lacking:
        said = re.findall(r"d?raid\w+|erasure", about[0])
        assert set(said) == having


#: Fields that not all candidates can have, and the levels that have them; none have what is the state of one array.
ONLY: dict[str, set[str]] = {
    "layout.failed": set(),
    "layout.rebuild.action": set(),
    "layout.rebuild.disk": set(),
    "layout.rebuild.done_ratio": set(),
    "layout.groups": {"raid50"},
    "layout.vdevs": {"raidz1"},
    "layout.data_disks": {"draid1"},
    "layout.distributed_spares": {"draid1"},
    "layout.record_bytes": {"raidz1"},
    "layout.ashift": {"raidz1"},
    "layout.sync": {"raidz1"},
    "layout.dirty_data_max_bytes": {"raidz1"},
    "layout.record_work_ns": {"raidz1"},
    **{path: {"raidz1"} for path in VALUES if path.startswith("layout.special.")},
    "layout.log.write_ns": {"raid5", "raid6", "raidz1"},
    "layout.log.bytes_per_s": {"raid5", "raid6", "raidz1"},
    "layout.log.flush_ns": {"raid5", "raid6"},
    "layout.log.size_bytes": {"raid5", "raid6"},
    "layout.log.mode": {"raid5", "raid6"},
    **{path: {"raidz1"} for path in VALUES if path.startswith("layout.cache.")},
    "layout.consistency_policy": {"raid5"},
    "layout.copies": {"raid10"},
    "layout.arrangement": {"raid10"},
    "layout.largest_request_bytes": {"raid10"},
    "layout.huge_page_ratio": {"raid10"},
    "layout.n_parity": {"erasure"},
    "layout.rotation": {"raid5", "raid6"},
    "layout.write_policy": {"raid5", "raid6"},
    "layout.read_modify_write": {"raid5", "raid6"},
    "layout.stripe_cache_pages": {"raid5", "raid6"},
}


def test_all_else_is_carried_to_every_level() -> None:
    rebuilt = {path for path, (_, needs) in VALUES.items() if needs.get("layout") in (REBUILD, RESILVER, IN_ORDER)}
    for path in VALUES:
        notes = [note for note in ask(array_with(path))[1] if note.startswith("--array")]
        if path in rebuilt:
            assert any("layout.failed = [1]" in note for note in notes)
        else:
            assert bool(notes) == (path in ONLY), notes


@pytest.mark.parametrize("path", ONLY)
def test_what_only_some_levels_have(path: str) -> None:
    _, notes = ask(array_with(path))
    [note] = [note for note in notes if note.startswith("--array")]
    assert note.startswith("--array: only " if ONLY[path] else "--array: no candidate has its ")
    assert set(re.findall(r"d?raid\w+|erasure", note)) == ONLY[path]
    assert name_in_notes(path) in note


def test_the_bitmap_reaches_levels_that_have_one() -> None:
    plan, notes = ask(array_with("layout.bitmap.flush_ns"), level=["raid0", "raid1", "raid10", "raid6"])
    found = {case.family.level: case.array(case.counts[0]).layout.bitmap for case in cases(plan)}
    assert found.pop("raid0") is None
    assert all(bitmap is not None and bitmap.flush_ns == 777 for bitmap in found.values())
    assert [note for note in notes if "--array" in note] == [
        "--array: only raid1, raid10 and raid6 have its layout.bitmap"
    ]


def test_three_copies_stay_three() -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid1", "disks": 3}})
    plan, _ = ask(array, level=["raid1", "raid10"])
    copies = {case.family.level: [case.array(n).layout.n_copies for n in case.counts] for case in cases(plan)}
    assert copies == {"raid1": [3], "raid10": [3, 3, 3]}


def test_a_part_of_one_drive_is_not_carried_to_another() -> None:
    plan, notes = ask(array_with("layout.member_bytes"), drive=["generic-10k"])
    assert plan.layout.member_bytes is None
    assert "--array: no candidate has its layout.member = 100 GB" in notes
    assert "--drive: Generic 10k rpm SAS replaces Generic 15k rpm SAS of the array" in notes


def test_caches_of_drives_that_another_drive_takes_over_are_named() -> None:
    assert any("caches writes" in note for note in ask(array_with("drive_write_cache"), drive=["generic-10k"])[1])
    assert not any("caches writes" in note for note in ask(array_with("drive_write_cache"))[1])


def test_chunks_of_the_bitmap_that_no_parity_level_can_have() -> None:
    layout = {"level": "raid10", "disks": 4, "strip": "64 KiB", "bitmap": {"chunk": "96 KiB"}}
    array = Array.parse({"drive": "generic-15k", "layout": layout})
    with pytest.raises(DescriptionError, match=r"bitmap\.chunk_bytes"):
        ask(array)
    plan, _ = ask(array, level=["raid10"])
    assert plan.layout.bitmap == array.layout.bitmap


def test_a_plan_with_the_array_is_saved_whole() -> None:
    from diskmodel.plan.question.short_toml import short_toml

    plan, _ = ask(array_with("layout.bitmap.flush_ns"))
    assert "[layout.bitmap]" in short_toml(plan)
    assert PlanDescription.parse(plan.to_dict()).layout == plan.layout
