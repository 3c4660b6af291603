"""Flash drives as the cache devices of a pool (L2ARC)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from diskmodel.drive import cache_drive, with_drive
from diskmodel.layout.pools import CacheDevice


def cache_device_of(name: str, count: int = 1) -> CacheDevice:
    """Return the drive of that name as a cache device: its size, and how it reads."""
    drive = cache_drive(name)
    return CacheDevice(
        size_bytes=drive.capacity_bytes,
        count=count,
        page_bytes=drive.page_bytes,
        dies=drive.channels * drive.dies_per_channel,
        read_ns=drive.read_ns,
        command_ns=drive.read_overhead_ns,
        latency_ns=drive.read_latency_ns,
        bytes_per_s=min(drive.interface_bytes_per_s, drive.channels * drive.channel_bytes_per_s),
    )


def with_cache_drive(value: Any) -> Any:
    """Return cache devices with the figures of their drive, where it is named: "NAME", or a table with `drive`.

    What else such a table states has precedence. "none" is no device.

    Raises
    ------
    PydanticCustomError
        When there is no such drive, or it is no flash drive.
    """
    return with_drive(value, CacheDevice, cache_device_of)


#: Cache devices inside another description: a full description, the path of a drive's profile, or its name.
NamedCache = Annotated[CacheDevice, BeforeValidator(with_cache_drive)]
