"""A family of arrays: everything about an array except its number of disks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.drive import NONE, Drive
from diskmodel.layout import Layout
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.units import pretty_bytes


@dataclass(frozen=True)
class Family(Record):
    """Everything about an array except its number of disks.

    Attributes
    ----------
    drive : Drive
    level : str
    strip_bytes : int
    cache_bytes : int
        0: the controller as the plan describes it.
    groups : int
        Of RAID 50 and RAID 60; 1 elsewhere.
    record_bytes : int
        Size of the records of a pool; 0: as the plan's layout has it, and elsewhere.
    log_device : str
        Drive that a pool has for its intent log, or Linux md for a journal; "none": none; "": as the plan's layout has
        it, and elsewhere.
    special_device : str
        Devices and drive of a pool's special vdev, "2x NAME"; "none": none; "": as the plan's layout has it, and
        elsewhere.
    cache_device : str
        Drive that a pool has as a cache device (L2ARC); "none": none; "": as the plan's layout has it, and elsewhere.
    """

    drive: Drive
    level: str
    strip_bytes: int
    cache_bytes: int
    groups: int
    record_bytes: int = 0
    log_device: str = ""
    special_device: str = ""
    cache_device: str = ""

    def json_fields(self) -> Mapping[str, Any]:
        """Return the fields, the drive by its name."""
        return {**super().json_fields(), "drive": self.drive.name}

    def __str__(self) -> str:
        cache = f", cache {self.cache_bytes / 2**20:.0f} MiB" if self.cache_bytes else ""
        groups = f" in {self.groups} groups" if self.groups > 1 else ""
        kind = Layout.of_level(self.level)
        log = f", {kind.log_name} on {self.log_device}" if self.log_device not in ("", NONE) else ""
        if not kind.has_strips and (self.record_bytes or self.log_device or self.special_device or self.cache_device):
            record = f", records of {pretty_bytes(self.record_bytes)}" if self.record_bytes else ""
            devices = {"metadata": self.special_device, "cache": self.cache_device}
            own = "".join(f", {what} on {name}" for what, name in devices.items() if name not in ("", NONE))
            return f"{self.drive.name}, {self.level}{groups}{record}{log}{own}{cache}"
        return f"{self.drive.name}, {self.level}{groups}, strip {self.strip_bytes // 1024} KiB{log}{cache}"
