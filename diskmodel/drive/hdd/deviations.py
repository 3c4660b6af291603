"""What may be wrong with a hard disk, or other than it is described: each returns the disk like that, or None.

None means that it cannot be so, or that it is described so already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from diskmodel.drive.assumed_order import LONGEST_WAIT_NS
from diskmodel.drive.hdd.parts import Retries
from diskmodel.drive.media_cache.description import MediaCache

if TYPE_CHECKING:
    from diskmodel.drive.hdd.description import Hdd

#: A shingled disk of which nothing else is known: that of the one drive whose media cache was measured, the Seagate
#: Archive 8 TB (`diskmodel/drive/catalogue/seagate-archive-st8000as0002.toml`), a fiftieth of its length: once it is
#: full, what a write costs is the band that it makes the drive write again, and a whole one takes seconds to fill.
_MEDIA_CACHE = {"size": "500 MB", "band": "27.5 MiB", "max_extents": 5_000}


def _one_at_a_time(drive: Hdd, _: None) -> Hdd | None:
    if drive.queue.depth == 1:
        return None
    queue = drive.queue.model_copy(update={"depth": 1, "assumed_from": None, "scheduler": "fcfs"})
    return drive.model_copy(update={"queue": queue})


def _bounded_waits(drive: Hdd, _: None) -> Hdd | None:
    """Nothing waits for much longer than in disks whose longest waits were measured, whatever is in order beside it."""
    queue = drive.queue
    if queue.depth == 1 or queue.scheduler == "fcfs" or queue.overdue_ns is not None:
        return None
    return drive.model_copy(update={"queue": queue.model_copy(update={"overdue_ns": LONGEST_WAIT_NS})})


def _without_look_ahead(drive: Hdd, _: None) -> Hdd | None:
    if drive.cache is None:
        return None
    return drive.model_copy(update={"cache": drive.cache.model_copy(update={"read_ahead_bytes": 0})})


def _without_write_back(drive: Hdd, _: None) -> Hdd | None:
    if drive.cache is None:
        return None
    return drive.model_copy(update={"cache": {**drive.cache.to_dict(), "write_back": False}})


def _emulated_sectors(drive: Hdd, _: None) -> Hdd:
    turn_more = {"write_seek": drive.seek_of_writes, "write_settle_ns": drive.settle_ns + drive.period_ns}
    # tracks lie where they lay, and hold as much
    skews = {} if drive.zones is not None else {"skew_margin_ns": drive.margin_ns}
    return drive.model_copy(update=turn_more | skews)


def _shingled(drive: Hdd, rewriting_ns: float | None) -> Hdd | None:
    """Bands behind a media cache; or with nothing left of it, so that each write takes so long to rewrite its place."""
    if drive.recording == "shingled":
        return None
    if rewriting_ns is not None:
        return drive.model_copy(update={"write_overhead_ns": drive.write_overhead_ns + round(rewriting_ns)})
    return drive.model_copy(update={"recording": "shingled", "media_cache": MediaCache.parse(_MEDIA_CACHE)})


def _conventional(drive: Hdd, _: None) -> Hdd:
    return drive.model_copy(update={"recording": "conventional", "media_cache": None})


def _retrying(drive: Hdd, strength: tuple[float, float]) -> Hdd | None:
    """Retries of a share of the accesses, each of so many revolutions."""
    if drive.retries is not None:
        return None
    ratio, turns = strength
    return drive.model_copy(update={"retries": Retries(ratio=ratio, time_ns=(round(turns * drive.period_ns),))})


def _other_seeks(drive: Hdd, factor: float) -> Hdd:
    """Every seek time multiplied by a factor, its geometry unchanged."""
    tables = drive.tables()
    points = sorted({1, *(min(2**k, tables.n_cylinders - 1) for k in range(1, 40)), tables.n_cylinders - 1})

    def table(seek_ns: Any) -> dict[str, Any]:
        return {"kind": "table", "distance": points, "time_ms": [round(factor * int(seek_ns[d])) / 1e6 for d in points]}

    zones = [zone.to_dict() for zone in drive.zone_list()]
    data = {
        key: value
        for key, value in drive.to_dict().items()
        if key not in ("outer_bytes_per_s", "inner_bytes_per_s", "cylinders", "n_zones", "uncertainty")
    }
    data |= {
        "seek": table(tables.seek_ns),
        "write_seek": None if tables.write_seek_ns is None else table(tables.write_seek_ns),
        "seek_inward_ns": round(factor * drive.seek_inward_ns),
        "zones": zones,
        "head_switch_ns": drive.switch_ns,
        "write_settle_ns": drive.settle_ns,
    }
    return type(drive).parse(data)


DEVIATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "one-at-a-time": _one_at_a_time,
    "bounded-waits": _bounded_waits,
    "without-look-ahead": _without_look_ahead,
    "without-write-back": _without_write_back,
    "emulated-sectors": _emulated_sectors,
    "shingled": _shingled,
    "conventional": _conventional,
    "retrying": _retrying,
    "other-seeks": _other_seeks,
}
