"""What the page needs to know of drives and levels, resolved by Python."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from diskmodel.drive import Drive, catalogue
from diskmodel.engine import native, resolve
from diskmodel.lab.offers import MAX_DISKS, offers
from diskmodel.lab.settings import LEVELS as OFFERED
from diskmodel.lab.settings import Settings
from diskmodel.layout import LEVELS
from diskmodel.plan import calculator_disk_iops

#: Drives of the page, slow to fast: data-sheet models of each class, and some that were sold. Each hard disk adds 30 to
#: 150 kB to the site, which a reader downloads when he chooses it.
DRIVES = (
    "generic-5k4",
    "generic-7k2",
    "generic-10k",
    "generic-15k",
    "seagate-cheetah-15k7",
    "seagate-exos-10e2400-2400",
    "seagate-exos-x20",
    "generic-sas-ssd",
    "intel-d3-s4510-960",
    "samsung-pm9a3-7680",
)
#: Controls that only `diskmodel lab` has: what holds writes begins in a state that Python computes.
WITHOUT = ("write_cache_bytes", "drive_write_cache")
#: Addresses that the page draws itself.
PATTERNS = ("random", "hot_spot", "sequential")


def page_offers() -> dict[str, Any]:
    """Return the choices of the page's controls: those of `diskmodel lab`, but for what only Python can prepare."""
    found = offers()
    drives = {drive["value"]: drive for drive in found["drives"]}
    return found | {
        "defaults": found["defaults"] | {"drive_write_cache": "off"},
        "drives": [drives[name] for name in DRIVES],
        "patterns": [pattern for pattern in found["patterns"] if pattern["value"] in PATTERNS],
        "without": list(WITHOUT),
    }


def level_tables() -> dict[str, Any]:
    """Return the levels of the lab by name, with their write penalties, as plain data."""
    return {name: asdict(LEVELS[name]) | {"write_penalty": LEVELS[name].write_penalty} for name in OFFERED}


def drive_tables(name: str) -> dict[str, Any]:
    """Return a drive as the page takes it: an array of it as `resolve` makes it, and what runs change, for all disks.

    Seek times are given as second differences, most of which are -1, 0 or 1: a tenth of the size.
    """
    drive = catalogue()[name]
    settings = Settings(drive=name, level="raid0", disks=MAX_DISKS, drive_write_cache="off")
    scenario = native.array_of(resolve(settings.array(), settings.seed))
    plain = to_plain(scenario)
    steps = None
    if (seeks := plain["drive"].pop("seek_ns", None)) is not None:
        steps = np.diff(np.diff(np.array(seeks, np.int64), prepend=0), prepend=0).tolist()
    return {
        "value": name,
        "text": drive.name,
        "kind": drive.kind,
        "sector_bytes": drive.sector_bytes,
        "n_sectors": drive.capacity_bytes // drive.sector_bytes,
        "revolution_ms": settings.array().revolution_ms,
        "per_disk_iops": calculator_disk_iops(drive),
        "scenario": plain,
        "seek_steps": steps,
        "write_cache_sectors": _write_cache_sectors(drive, settings),
        "revolution_ns": plain.pop("revolution_ns"),
        "phase_ns": plain.pop("phase_ns"),
    }


def _write_cache_sectors(drive: Drive, settings: Settings) -> int:
    """Return the room of a hard disk's write cache when it is on; 0: none, or not a hard disk."""
    if not drive.has_arms:
        return 0
    cached = settings.model_copy(update={"disks": 1, "drive_write_cache": "on"})
    return int(native.array_of(resolve(cached.array(), settings.seed))["drive"]["dirty_sectors"])


def to_plain(value: Any) -> Any:
    """Return nested tables without arrays of NumPy."""
    if isinstance(value, dict):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [to_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def packed(data: bytes) -> str:
    """Return data as text that a script can hold: compressed, in base 64. The same data give the same text."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def packed_json(data: Any) -> str:
    """Return plain data in the same way."""
    return packed(json.dumps(data, separators=(",", ":")).encode())
