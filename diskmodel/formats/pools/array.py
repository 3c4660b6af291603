"""The array that a pool is, from what zpool status shows of it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.formats.pools.status import Pool
from diskmodel.layout import POOLS, draid_counts
from diskmodel.units import pretty_bytes

#: Letters of a pool's name that a message shows; ZFS takes up to 255.
_LONGEST_NAME = 255


def pool_words(pool: Pool, drive: str) -> str:
    """Return the pool in the words that commands take: "2x6 DRIVE raidz2".

    Raises
    ------
    DescriptionError
        When its vdevs differ, or are of a kind that is not modeled.
    """
    (level, width), n = _only_shape(pool)
    return f"{n}x{width} {drive} {level}"


def pool_array(pool: Pool, drive: Drive, layout: Mapping[str, Any], controller: Mapping[str, Any]) -> Array:
    """Return the array with its failed disks, its spares and the scan that is in progress.

    Parameters
    ----------
    pool : Pool
    drive : Drive
        Of its data disks, which all are of one kind.
    layout, controller : mapping
        Fields that zpool does not show.

    Raises
    ------
    DescriptionError
        When there is no such array, or the pool stores more than such drives hold.
    """
    (level, width), n = _only_shape(pool)
    fields: dict[str, Any] = {"level": level, "disks": n * width, "vdevs": n}
    disks = pool.disks
    failed = [number for number, disk in enumerate(disks) if disk.is_failed]
    distributed = _distributed_spares(level)
    known = {
        "failed": failed,
        # what a disk is resilvered onto is a spare until it is done, wherever it came from
        "spares": max(pool.n_spares, sum(disk.is_resilvering and not disk.spare for disk in disks)),
        "ashift": pool.ashift,
        "rebuild": _rebuild(pool, drive, 1 if level == "mirror" else width - distributed),
    }
    fields |= {name: value for name, value in known.items() if value}
    data = {"name": pool.name, "drive": drive, "layout": fields | dict(layout)}
    given = data | ({"controller": dict(controller)} if controller else {})
    return Array.parse(given, f"pool {pool.name[:_LONGEST_NAME]}")


def short_fields(array: Array, drive: str) -> dict[str, Any]:
    """Return the fields of an array's file that are not its defaults, with its drive by the name or the path given."""
    place = os.path.abspath(drive) if os.path.isfile(drive) else drive
    rest = array.model_dump(mode="json", exclude_unset=True, exclude_none=True, exclude={"drive", "name"})
    return {"name": array.name, "drive": place, **rest}


def _only_shape(pool: Pool) -> tuple[tuple[str, int], int]:
    """Return kind and width of the vdevs, which have to be alike, and how many there are."""
    shapes = list(dict.fromkeys(vdev.shape for vdev in pool.vdevs))
    (level, width), *others = shapes
    if others:
        most = max(shapes, key=[vdev.shape for vdev in pool.vdevs].count)
        fix = f"describe the pool most like it in words, such as {len(pool.vdevs)}x{most[1]} DRIVE {most[0]}"
        raise DescriptionError(
            Fault("vdevs", pool.in_words(), "must be alike: pools of different ones are not modeled", fix)
        )
    counts = draid_counts(level)
    if counts and counts[1].get("c", width) != width:
        rule = f"has {width} disks instead of {counts[1]['c']}"
        raise DescriptionError(Fault("vdevs", level, rule, "give the whole output of zpool status"))
    if (counts[0] if counts else level) not in POOLS:
        what = "a disk on its own" if level == "disk" else level
        rule = f"must be {', '.join(POOLS)}: {what} is not taken over"
        raise DescriptionError(Fault("vdevs", pool.in_words(), rule, "describe the array in a file or in words"))
    return (level, width), len(pool.vdevs)


def _distributed_spares(level: str) -> int:
    """Return how many a vdev of dRAID has; 0 of the others."""
    counts = draid_counts(level)
    return counts[1].get("s", 0) if counts else 0


def scanned_disk(pool: Pool) -> int | None:
    """Return the failed disk that the running scan fills; -1 for a scrub, None where the model has no such scan."""
    scan = pool.scan
    if scan is None or not scan.is_running:
        return None
    disks = pool.disks
    failed = [number for number, disk in enumerate(disks) if disk.is_failed]
    if not scan.is_resilver:
        return None if failed else -1
    filled = [number for number in failed if disks[number].is_resilvering]
    if not filled:
        return None
    # a vdev with distributed spares fills them first (rule X24)
    has_to_be_shared = _distributed_spares(pool.vdevs[0].kind) > 0
    return filled[0] if bool(disks[filled[0]].spare) == has_to_be_shared else None


def _rebuild(pool: Pool, drive: Drive, stored_disks: int) -> dict[str, Any]:
    """Return the scan that is in progress; {} where there is none, or none of these disks."""
    scan, disk = pool.scan, scanned_disk(pool)
    if scan is None or disk is None:
        return {}
    fields: dict[str, Any] = {"action": "recover" if scan.is_resilver else "check", "done_ratio": scan.done_ratio}
    if scan.is_resilver:
        fields["disk"] = disk
    if scan.vdev is not None and not _distributed_spares(pool.vdevs[0].kind):
        fields["sequential"] = True
    if scan.total_bytes is not None:
        n_disks = stored_disks * (len(pool.vdevs) if scan.vdev is None else 1)
        used = scan.total_bytes / (n_disks * drive.capacity_bytes)
        if used > 1:
            stored = pretty_bytes(round(scan.total_bytes)) if math.isfinite(scan.total_bytes) else "more than any"
            rule = f"holds less than the pool stores: {stored} (zpool status)"
            raise DescriptionError(Fault("drive", drive.name, rule, "name the drive that the pool has"))
        fields["used_ratio"] = round(used, 4)
    return fields
