"""Scenes of the lab's view of a whole array: which run each of them shows, and what its disks hold and do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal, get_args

from diskmodel.array import Array
from diskmodel.controller import DESTAGES, CacheTables
from diskmodel.engine import resolve
from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.effort import check_animation
from diskmodel.lab.recording import Recording, record
from diskmodel.lab.settings import Settings
from diskmodel.layout.plan import strips
from diskmodel.plan import calculator_disk_iops
from diskmodel.records import Requests
from diskmodel.workload import Workload

Scene = Literal["load", "write", "failed", "rebuild", "cache"]

#: Requests of a scene: some seconds of a run, a few minutes of watching. The cache takes more until it is full.
N_REQUESTS: dict[Scene, int] = {"load": 150, "write": 1, "failed": 150, "rebuild": 150, "cache": 500}
#: Disks side by side that a page has room for.
MAX_DISKS = 24
#: Rows of strips whose contents are shown.
N_ROWS = 48
#: A rate that limits no rebuild, bytes/s: one strip after the other can be followed without pauses.
NO_LIMIT = 1e18
#: A small write falls on this strip of the host, among the rows that are shown first.
WRITTEN_STRIP = 5
#: Write cache of the scene that fills one: it is full within a second, so that the reader sees it happen.
CACHE_BYTES, CACHE_BLOCK_BYTES = 1 << 20, 4096
#: Writes per second in that scene, as a part of the operations of all disks by the rule of thumb. RAID 0 keeps up with
#: 1.25, because a queue makes disks faster; mirrors and parity do not, from about half of it on.
CACHE_LOAD = 1.25


def scene_array(settings: Settings, scene: Scene) -> Array:
    """Return the array of a scene.

    The drives' own write caches are off, so that arms move when writes arrive; of the controller's caches only the
    write cache of the scene about it is there.

    Raises
    ------
    DescriptionError
        When the level loses its data with the disk that the scene lets fail.
    """
    array = settings.model_copy(update={"write_cache_bytes": 0, "drive_write_cache": "off"}).array().to_dict()
    if scene in ("failed", "rebuild"):
        array["layout"]["failed"] = (0,)
    if scene == "rebuild":
        rebuild = {"window_bytes": settings.strip_bytes, "steps_at_once": 1, "speed_max_bytes_per_s": NO_LIMIT}
        array["layout"] |= {"spares": 1, "rebuild": rebuild}
    if scene == "cache":
        # lines of one block, so that the bucket shows what waits
        array["controller"]["write_cache"] = {"size_bytes": CACHE_BYTES, "line_bytes": CACHE_BLOCK_BYTES}
    return Array.parse(array)


def scene_requests(settings: Settings, scene: Scene, array: Array) -> Requests:
    """Return the requests of a scene."""
    n = N_REQUESTS[scene]
    if scene == "write":
        at = WRITTEN_STRIP * settings.strip_bytes
        size = min(4096, settings.strip_bytes)
        one = {"size_bytes": size, "read_ratio": 0.0, "clients": 1, "offset_bytes": at, "span_bytes": size}
        return Workload.parse(one).requests(capacity_bytes=array.usable_bytes, n=n, seed=settings.seed)
    if scene == "cache":
        rate = CACHE_LOAD * settings.disks * calculator_disk_iops(array.drive)
        settings = settings.model_copy(update={"read_ratio": 0.0, "arrivals": "rate", "rate_per_s": rate})
    return settings.workload().requests(capacity_bytes=array.usable_bytes, n=n, seed=settings.seed)


def recorded_scene(settings: Settings, scene: str, check: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Return a scene as plain data for the page: what the disks hold, and what each of their arms does.

    Parameters
    ----------
    settings : Settings
    scene : str
        load: the workload of the settings; write: one small write; failed: the workload with a disk failed;
        rebuild: the same while it is rebuilt; cache: writes that fill a write cache.
    check : callable
        Called at every movement of an arm; what it raises ends the simulation.

    Raises
    ------
    DescriptionError
        When there are no arms to show, the level loses its data in the scene, or the scene is not known.
    """
    if scene not in get_args(Scene):
        raise DescriptionError(Fault("scene", scene, "is not a known scene", f"use {', '.join(get_args(Scene))}"))
    known: Scene = scene  # type: ignore[assignment]
    if settings.disks > MAX_DISKS:
        raise DescriptionError(Fault("disks", settings.disks, f"{MAX_DISKS} disks can be shown", "use fewer"))
    array = scene_array(settings, known)
    requests = scene_requests(settings, known, array)
    check_animation(settings, N_REQUESTS[known], 1)
    recording = record(array, requests, settings.seed, check, sample_every=1 if known == "cache" else 0)
    return scene_data(array, requests, recording)


def scene_data(array: Array, requests: Requests, recording: Recording) -> dict[str, Any]:
    """Return a recorded run as plain data."""
    scenario = resolve(array, 0)
    layout = scenario.layout
    cache, tables = None, scenario.caches
    if tables is not None and tables.dirty_lines:
        cache = {"room": tables.dirty_lines, "high": tables.high_lines}
    return {
        "disks": [disk.to_dict() for disk in recording.disks],
        "strips": strips(layout, N_ROWS),
        "strip_sectors": layout.strip,
        "n_disks": layout.n_disks,
        "failed": list(layout.failed),
        "rebuild_disk": layout.rebuild_disk,
        "end_ns": recording.end_ns,
        "requests": {
            "op": requests.op.tolist(),
            "issue_ns": list(recording.issue_ns),
            "response_ns": list(recording.response_ns),
        },
        "levels": [list(level[:2]) for level in recording.levels],
        "cache": cache,
    }


def scene_tables() -> dict[str, Any]:
    """Return what the page needs to know of the scenes to run them itself, as plain data."""
    return {
        "n_requests": dict(N_REQUESTS),
        "max_disks": MAX_DISKS,
        "n_rows": N_ROWS,
        "written_strip": WRITTEN_STRIP,
        "cache_load": CACHE_LOAD,
        "cache": asdict(_cache_settings()),
        "destages": DESTAGES,
    }


def _cache_settings() -> CacheTables:
    """Return the tables of the scene's cache, whose division of the array the page makes itself."""
    array = scene_array(Settings(), "cache")
    scenario = resolve(array, 0)
    assert scenario.caches is not None
    return scenario.caches
