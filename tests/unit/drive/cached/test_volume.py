"""Arrays behind a cache on SSDs: words, files, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array
from diskmodel.drive.cached.description import CachedVolume
from diskmodel.drive.cached.policies import POLICIES, unit_bytes
from diskmodel.drive.description import load_drive
from diskmodel.errors import DescriptionError

BEHIND = "12x seagate-exos-x18 raid6"
WORDS = f"{BEHIND}, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback)"


def volume(words: str = WORDS) -> CachedVolume:
    drive = Array(words).drive
    assert isinstance(drive, CachedVolume)
    return drive


def test_words_and_a_file_are_the_same_volume() -> None:
    found = volume()
    assert (found.layout.level, found.layout.disks, found.cache.layout.level) == ("raid6", 12, "raid1")
    assert found.capacity_bytes == Array(BEHIND).usable_bytes
    assert found.title.endswith("cached by 2 × Micron 7450 PRO 1.92 TB in raid1 (bcache writeback)")
    cached_by = {"drive": "micron-7450-pro-1920", "level": "raid1", "disks": 2, "mode": "wb"}
    written = Array.parse(
        {"drive": "seagate-exos-x18", "layout": {"level": "raid6", "disks": 12}, "cached_by": cached_by}
    )
    assert written.drive == found
    assert Array.parse(written.model_dump()).drive == found


@pytest.mark.parametrize(
    ("how", "fields"),
    [
        ("", {"software": "bcache", "write_mode": "writethrough", "unit": 4096, "bypass_bytes": 4 << 20}),
        ("lvmcache writeback", {"software": "dm-cache", "write_mode": "writeback", "unit": 1888 << 10}),
        ("dm-writecache", {"write_mode": "writeback", "dirty_target": 0.475}),
        ("open-cas, write-around", {"write_mode": "writearound", "bypass_bytes": 1 << 20}),
        ("bcache writeback, 20% dirty, sequential cutoff 0", {"dirty_target": 0.2, "bypass_bytes": 0}),
        ("dm-cache, chunk 256KiB", {"unit": 256 << 10, "is_written_back": False}),
    ],
)
def test_what_stands_in_brackets(how: str, fields: dict[str, Any]) -> None:
    found = volume(f"{BEHIND}, cached by micron-7450-pro-1920{f' ({how})' if how else ''}")
    assert {name: getattr(found, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{BEHIND}, cached by micron-7450-pro-1920 (flashcache)", "has 'flashcache', which is not known of a cache"),
        (f"{BEHIND}, cached by micron-7450-pro-1920 (dm-cache writearound)", "dm-cache has writethrough, writeback"),
        (f"{BEHIND}, cached by generic-7k2 (bcache)", "is a hard disk"),
        (f"{BEHIND}, cached by micron-7450-pro-1920 (bcache, 20% dirty)", "nothing is dirty in this mode"),
        ("2x6 seagate-exos-x18 raidz2, cached by micron-7450-pro-1920", "cache on micron-7450-pro-1920"),
        (f"{BEHIND}, 1GiB cache, cached by micron-7450-pro-1920", "has controller beside the drives"),
        (f"{BEHIND}, cached by micron-7450-pro-1920, 100KiB", "fewer than 64 units"),
        (f"{BEHIND}, cached by micron-7450-pro-1920 (bcache, writeback, writethrough)", "says mode twice"),
    ],
)
def test_what_is_refused(words: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said.replace("(", r"\(")):
        Array(words)


def test_a_rebuild_behind_a_cache_is_refused_with_the_nearest_questions() -> None:
    layout = {"level": "raid6", "disks": 12, "failed": [0], "spares": 1}
    fields = {"drive": "seagate-exos-x18", "cached_by": {"drive": "micron-7450-pro-1920", "software": "bcache"}}
    with pytest.raises(DescriptionError, match="leave it out to ask about the failed disk behind the cache"):
        Array.parse({**fields, "layout": {**layout, "rebuild": {}}})
    assert Array.parse({**fields, "layout": layout}).drive.broken() is None


def test_only_writes_in_an_unmirrored_cache_are_lost() -> None:
    assert not volume().risk
    alone = volume(f"{BEHIND}, cached by micron-7450-pro-1920 (bcache writeback)")
    assert "about 192 GB of writes are in the cache alone" in alone.risk
    assert alone.mttf_hours is not None
    mirrored = volume().mttf_hours
    assert mirrored is not None
    assert alone.mttf_hours < mirrored / 1000
    assert not volume(f"{BEHIND}, cached by micron-7450-pro-1920 (bcache)").risk


def test_the_array_behind_can_be_broken_and_replaced() -> None:
    broken = volume().broken()
    assert broken is not None
    assert broken.layout.failed == (0,)
    other = volume().replaced_by(load_drive("generic-7k2"))
    assert (other.drive.name, other.cache, other.mode) == (
        load_drive("generic-7k2").name,
        volume().cache,
        "writeback",
    )


def test_blocks_of_lvmcache() -> None:
    """At most a million, in steps of 32 KiB, and at least 64 KiB."""
    assert [unit_bytes(POLICIES["dm-cache"], gib << 30) >> 10 for gib in (16, 100, 1000)] == [64, 128, 1056]
