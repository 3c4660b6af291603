"""The two arrays of a cached volume, resolved for the kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import CachedVolume, DrivePerturbation
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady.shared import steady_start
from diskmodel.workload import Workload

#: Requests of the loads under which flash is brought into its steady state: buckets of bcache and other logs, and what
#: caches write at random places.
_LOG_BYTES, _SMALL_BYTES = 512 << 10, 4096


def cache_array(volume: CachedVolume) -> Array:
    """Return the drives of the cache as an array."""
    before = volume.slowness[1]
    drive = volume.cache.drive
    if before:
        drive = drive.perturbed(DrivePerturbation(write_latency=before, flush=before, read_time=before))
    return Array(drive=drive, layout=volume.cache.layout)


def behind_array(volume: CachedVolume) -> Array:
    """Return the array behind the cache."""
    behind = volume.slowness[0]
    drive: Any = volume.drive
    if behind:
        perturbation = (
            DrivePerturbation(speed=-behind)
            if drive.has_arms
            else DrivePerturbation(read_time=behind, write_latency=behind)
        )
        drive = drive.perturbed(perturbation)
    # a run of seconds would end before the disks' own caches are full, and take an array for one that keeps up
    return Array(drive=drive, layout=volume.layout, drive_write_cache=False)


@lru_cache(maxsize=64)
def _scenarios(described: str, seed: int) -> tuple[Scenario, Scenario]:
    volume = CachedVolume.model_validate_json(described)
    cache, behind = cache_array(volume), behind_array(volume)
    size = _LOG_BYTES if volume.policy.keeps == "logged" else max(volume.unit, _SMALL_BYTES)
    writes = Workload.parse({"size_bytes": size, "read_ratio": 0.0, "clients": 8})
    of_cache = resolve(cache, seed)
    # what flash holds does not depend on its times
    plain = cache_array(volume.model_copy(update={"slowness": (0.0, 0.0)}))
    start = steady_start(plain, writes, resolve(plain, 0), 0)
    return replace(of_cache, start=start), resolve(behind, seed + 1)


def scenarios(volume: CachedVolume, seed: int) -> tuple[Scenario, Scenario]:
    """Return the cache, its flash as it is when all of it is written again and again, and the array behind it."""
    return _scenarios(volume.model_dump_json(exclude={"uncertainty"}), seed)
