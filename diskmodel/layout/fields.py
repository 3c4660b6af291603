"""Fields of every layout, as the user writes them: its level, and what is used of its disks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from diskmodel.description import Description
from diskmodel.layout.levels import KINDS, level_name, zfs_refusal
from diskmodel.layout.passes import Rebuild
from diskmodel.layout.shape import MAX_DISKS
from diskmodel.naming import signpost
from diskmodel.registry import OneOf
from diskmodel.units import Bytes


def _named_level(value: Any) -> Any:
    """Return the registry's name of a level or a kind of vdev; ValueError for what only resembles one."""
    if refusal := zfs_refusal(value):
        raise ValueError("; ".join(refusal))
    name = level_name(value)
    if isinstance(name, str) and name not in KINDS and (post := signpost(value)):
        raise ValueError(f"{post.rule}; {post.fix}")
    return name


#: Name of a RAID level, or of a kind of vdev.
Level = Annotated[str, OneOf(KINDS.keys), BeforeValidator(_named_level)]


class LevelFields(Description):
    """The level of an array, and its disks.

    Attributes
    ----------
    level : str
        jbod, raid0, raid1, raid1e, raid10, raid3, raid4, raid5, raid50, raid6, raid60 or erasure; for a pool of OpenZFS
        its kind of vdev: mirror, raidz1 to raidz3 or draid1 to draid3. Of dRAID as `zpool create` takes it, too:
        "draid2:8d:11c:1s" has 8 data disks in a group, 11 disks and a distributed spare in a vdev.
    disks : int
        Members, spares not counted; of a pool those of all vdevs.
    """

    level: Level
    disks: int = Field(ge=1, le=MAX_DISKS)


class DiskFields(Description):
    """What is used of the disks, what has failed and what goes on.

    Attributes
    ----------
    failed : list of int
        Disks that are missing (degraded operation).
    spares : int
        Hot spares, counted in the cost, unused until a rebuild.
    rebuild : Rebuild or None
    member_bytes : int or None
        Part of each disk that is used; None: all of it.
    data_offset_bytes : int
        Where data begins on each disk.
    """

    failed: tuple[int, ...] = ()
    spares: int = Field(default=0, ge=0, le=10_000)
    rebuild: Rebuild | None = None
    member_bytes: Bytes | None = Field(default=None, gt=0)
    data_offset_bytes: Bytes = 0
