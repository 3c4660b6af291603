"""Drives as the cache devices of a pool (L2ARC)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from diskmodel.drive import drive_at, with_own_drive
from diskmodel.layout.pools import CacheDevice


def cache_device_of(place: Any, count: int = 1) -> CacheDevice:
    """Return so many of a drive as cache devices: by its name, by the path of its profile, or as it is described.

    Raises
    ------
    DescriptionError
        When there is no such drive, or it can be no cache device.
    """
    drive = drive_at("cache", place)
    return CacheDevice(drive=drive, size_bytes=drive.capacity_bytes, count=count)


def with_cache_drive(value: Any) -> Any:
    """Return cache devices with their drive, where it is named or described: "NAME", or a table with `drive`.

    A table that states figures of the devices beside it has those, and else those of the flash drive. "none" is no
    device.

    Raises
    ------
    PydanticCustomError
        When there is no such drive, or it can be no cache device, or has no such figures.
    """

    def fields(place: Any, _: Mapping[str, Any] | None) -> dict[str, Any]:
        drive = drive_at("cache", place)
        return {"drive": drive, "size_bytes": drive.capacity_bytes}

    return with_own_drive(value, CacheDevice, fields, _figures_of)


def _figures_of(drive: Any) -> dict[str, Any] | None:
    """Return how a flash drive reads; None of other drives."""
    if not drive.has_units:
        return None
    return {
        "page_bytes": drive.page_bytes,
        "dies": drive.channels * drive.dies_per_channel,
        "read_ns": drive.read_ns,
        "command_ns": drive.read_overhead_ns,
        "latency_ns": drive.read_latency_ns,
        "bytes_per_s": min(drive.interface_bytes_per_s, drive.channels * drive.channel_bytes_per_s),
    }


#: Cache devices inside another description: a full description, the path of a drive's profile, or its name.
NamedCache = Annotated[CacheDevice, BeforeValidator(with_cache_drive)]
