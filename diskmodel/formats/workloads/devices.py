"""Which devices of a recording the load is of."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.sysstat.tables import FIRST_LEFT_OUT

# Names of disks (and of their partitions) as Linux, Solaris and FreeBSD give them, also under /dev/disk/by-*.
_DISK = re.compile(
    r"((sd|hd|vd|xvd|dasd)[a-z]+\d*|(nvme\d+n|mmcblk|nbd|rbd|pmem|cmd?k|nda|nvd|da|ada|sd|ssd)\d+(p\d+)?"
    r"|(cciss|ida|rd)/c\d+d\d+(p\d+)?|c\d+t[0-9A-Fa-f]+d\d+\S*|dev(8|6[5-9]|7[01]|104|202|252|259)-\d+"
    r"|(ata|scsi|nvme|usb|wwn|pci|virtio|mmc)-\S+)\Z"
)
_NO_DISK = re.compile(r"(loop\d+|ram\d+|zram\d+|sr\d+|scd\d+|fd\d+)\Z")
_PARTITION = re.compile(r"(-part|p)?\d+\Z")
# sar's names: 16 minors of each disk of these majors, the first of them the disk itself.
_SAR_PARTITION = re.compile(r"(dev(?:8|6[5-9]|7[01])-)(\d+)\Z")


def _whole_disks(loads: Sequence[DeviceLoad]) -> list[DeviceLoad]:
    """Devices whose loads may be added up: no groups, partitions, or volumes beside disks that they may lie on."""
    names = {load.device for load in loads}

    def is_part(name: str) -> bool:
        if found := _SAR_PARTITION.search(name):
            minor = int(found[2])
            return minor % 16 > 0 and f"{name[: found.start()]}{found[1]}{minor - minor % 16}" in names
        return any((cut := _PARTITION.search(name)) and name[: cut.start()] == other for other in names - {name})

    whole = [load for load in loads if not load.device.startswith(" ") and not is_part(load.device)]
    bare = {load.device: load.device.rpartition(":")[2] for load in whole}
    disks = [load for load in whole if _DISK.match(load.device) or _DISK.match(bare[load.device])]
    return disks or [load for load in whole if not _NO_DISK.match(bare[load.device])] or whole


def chosen_devices(loads: list[DeviceLoad], device: str | None, source: str) -> tuple[list[DeviceLoad], list[str]]:
    """The loads that are asked for, and notes on those that are not."""
    by_name = {load.device.strip(): load for load in loads}
    known = ", ".join(by_name)
    if device is not None and device != "all":
        names = [device] if device.strip() in by_name else [name.strip() for name in device.split(",")]
        for name in names:
            if name not in by_name:
                raise FormatError(Fault("device", name, "is not in the file", f"it has {known}"), source)
        return [by_name[name] for name in dict.fromkeys(names)], []
    whole = _whole_disks(loads)
    busy = [load for load in whole if np.nansum(load.ios_per_s) > 0]
    others = [load.device.strip() for load in loads if load not in busy and np.nansum(load.ios_per_s) > 0]
    notes = []
    if others:
        notes.append(
            f"{', '.join(others[:6])}{' …' if len(others) > 6 else ''}: left out, as partitions, groups, "
            "removable media or volumes on other disks"
        )
    if not busy:
        where = "in the file"
        if any(FIRST_LEFT_OUT in load.notes for load in loads):
            where = "after the first report, which covers the time since the machine was started"
        raise FormatError(Fault("device", device, f"no disk has any load {where}", f"the file has {known}"), source)
    if device is None and len(busy) > 1:
        fix = f"one or several of {', '.join(load.device for load in busy)}, or all"
        raise FormatError(Fault("device", None, "must be named: several are busy", fix), source)
    return busy, notes
