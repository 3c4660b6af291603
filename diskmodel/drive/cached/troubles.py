"""What may be wrong with a cache on SSDs, or other than it is described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.drive.card import Trouble

if TYPE_CHECKING:
    from diskmodel.drive.cached.description import CachedVolume


#: What is said of dirty data where there is none.
_NOTHING_DIRTY = {"dirty_ratio": None, "is_dirty": None}


def _cold(volume: CachedVolume, ratio: float) -> CachedVolume | None:
    if volume.passes_all or volume.is_dirty or volume.warm_ratio <= ratio:
        return None
    return volume.model_copy(update={"warm_ratio": ratio})


def _without(volume: CachedVolume, _: None) -> CachedVolume | None:
    is_known = not volume.passes_all and "none" in volume.policy.modes
    return volume.model_copy(update={"mode": "none"} | _NOTHING_DIRTY) if is_known else None


def _through(volume: CachedVolume, _: None) -> CachedVolume | None:
    is_known = volume.is_written_back and "writethrough" in volume.policy.modes
    return volume.model_copy(update={"mode": "writethrough"} | _NOTHING_DIRTY) if is_known else None


def _dirty(volume: CachedVolume, _: None) -> CachedVolume | None:
    is_open = volume.is_written_back and volume.is_dirty is not True and volume.warm_ratio == 1
    return volume.model_copy(update={"is_dirty": True}) if is_open else None


def _room_left(volume: CachedVolume, _: None) -> CachedVolume | None:
    is_open = volume.is_written_back and volume.is_dirty is not False and volume.warm_ratio == 1
    return volume.model_copy(update={"is_dirty": False}) if is_open else None


def _crowded(volume: CachedVolume, share: float) -> CachedVolume | None:
    """Leave only a part of the cache to this load; units stay as large as they are."""
    size = int(volume.cache.usable_bytes * share)
    if volume.passes_all or size < volume.least_cache_bytes:
        return None
    cache = volume.cache.model_copy(update={"size_bytes": size})
    return volume.model_copy(update={"cache": cache, "unit_bytes": volume.unit})


TROUBLES = (
    Trouble(
        name="cache-cold",
        title="the cache is cold: it was attached, emptied or restarted not long ago",
        found="often",
        fingerprint="reads are as without the cache, and faster from hour to hour; small writes back are fast",
        command="cat /sys/block/bcache0/bcache/stats_hour/cache_hit_ratio; dmsetup status DEVICE; casadm -P -i 1",
        shows="a hit ratio that rises from hour to hour; room that is not used yet",
        change=_cold,
        strengths={"it holds nothing yet": 0.0, "half of what it will hold": 0.5},
        about="contents of the cache",
    ),
    Trouble(
        name="cache-lost",
        title="the cache does nothing: its device failed or was detached, or its mode is none",
        found="sometimes",
        fingerprint="reads and writes alike are as those of the array behind it alone",
        command="cat /sys/block/bcache0/bcache/{state,cache_mode}; lvs -a -o+cache_mode,lv_health_status; casadm -L",
        shows="no cache, none, passthrough, pt or Detached; journalctl -k for errors of its device",
        change=_without,
        about="contents of the cache",
    ),
    Trouble(
        name="cache-write-through",
        title="the cache is in writethrough mode: writes wait for the array behind it",
        found="often",
        fingerprint="writes are as without the cache; reads are as expected",
        command="cat /sys/block/bcache0/bcache/cache_mode; dmsetup status DEVICE; casadm -L",
        shows="the mode in brackets, or in words",
        change=_through,
        about="mode of the cache",
    ),
    Trouble(
        name="cache-dirty",
        title="the cache is full of dirty data: writes pass by it, or wait until something has been cleaned",
        found="often",
        fingerprint="writes are as without the cache, and reads wait for cleaning; a quiet hour mends it",
        command="cat /sys/block/bcache0/bcache/{dirty_data,writeback_percent}; dmsetup status DEVICE; casadm -P -i 1",
        shows="dirty data near the size of the cache (70 % with bcache), and an array behind that is busy with writes",
        change=_dirty,
        about="mode of the cache",
    ),
    Trouble(
        name="cache-room-left",
        title="the cache is not yet full of dirty data: writes are that fast until it is",
        found="often",
        fingerprint="writes are as fast as the cache; after gigabytes to terabytes of them as slow as the array behind",
        command="cat /sys/block/bcache0/bcache/dirty_data; dmsetup status DEVICE; casadm -P -i 1",
        shows="dirty data that grows as long as the job runs",
        change=_room_left,
        about="mode of the cache",
    ),
    Trouble(
        name="cache-crowded",
        title="what is used is larger than the cache: other data has most of its room",
        found="sometimes",
        fingerprint="fewer reads hit, whatever is outstanding; writes are nearly as expected",
        command="cat /sys/block/bcache0/bcache/stats_day/cache_hit_ratio; dmsetup status DEVICE; casadm -P -i 1",
        shows="a steady hit ratio that is too low, and many blocks that leave (demotions, evictions)",
        change=_crowded,
        strengths={"half of it is left": 1 / 2, "a fifth": 1 / 5, "a twentieth": 1 / 20},
        about="contents of the cache",
    ),
)
