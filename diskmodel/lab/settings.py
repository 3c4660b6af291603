"""The settings of the lab's controls, and the array and workload that they describe."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from diskmodel.array import Array
from diskmodel.description import Description
from diskmodel.lab.drives import drive_of
from diskmodel.layout import Level, levels
from diskmodel.queue import SCHEDULERS
from diskmodel.registry import OneOf
from diskmodel.units import Bytes, PerSecond, Ratio
from diskmodel.workload import Workload

Arrivals = Literal["outstanding", "rate"]
Pattern = Literal["random", "hot_spot", "zipf", "sequential"]
#: Whether the drives' own write caches are on; `sold`: as drives are sold, and as every other question has them.
DriveCache = Literal["sold", "on", "off"]

#: Levels that a number of disks describes completely.
LEVELS = tuple(name for name, level in levels.LEVELS.items() if level.is_common)

_ADDRESSES: dict[Pattern, dict[str, Any]] = {
    "random": {"pattern": "uniform"},
    "hot_spot": {"pattern": "hot_spot", "access_ratio": 0.8, "space_ratio": 0.2},
    "zipf": {"pattern": "zipf"},
    "sequential": {"pattern": "sequential"},
}


class Settings(Description):
    """The controls of the lab.

    Attributes
    ----------
    read_ratio : float in [0, 1]
    size_bytes : int
        Size of each request.
    pattern : str
        random, hot_spot (80 % of the requests to 20 % of the space), zipf or sequential.
    span_ratio : float in (0, 1]
        Part of the array that is used, from its beginning.
    arrivals : "outstanding" or "rate"
        Whether a fixed number of requests is outstanding, or requests arrive at random at a given rate.
    outstanding : int
        The load for "outstanding".
    rate_per_s : float
        The load for "rate".
    drive : str
        Name of a drive in the catalogue, or of one of the user's own.
    level : str
    disks : int
    strip_bytes : int
    has_failed_disk : bool
        Whether one disk has failed.
    scheduler : str
        "drive": only the drive's own command queue. Otherwise a scheduler that gives the drive one command at a time.
    read_hit_ratio : float in [0, 0.99]
        Reads that the controller's cache serves.
    write_cache_bytes : int
        The controller's write-back cache; 0: none.
    drive_write_cache : "sold", "on" or "off"
        Whether the drives complete writes from their own caches.
    seed : int
    """

    read_ratio: Ratio = 0.7
    size_bytes: Bytes = Field(default=8192, ge=512, le=4 << 20)
    pattern: Pattern = "random"
    span_ratio: Ratio = Field(default=1.0, gt=0)
    arrivals: Arrivals = "outstanding"
    outstanding: int = Field(default=16, ge=1, le=512)
    rate_per_s: PerSecond = Field(default=500.0, ge=1, le=1_000_000)
    drive: str = Field(default="seagate-exos-10e2400-2400", max_length=80)
    level: Level = "raid5"
    disks: int = Field(default=8, ge=1, le=64)
    strip_bytes: Bytes = Field(default=64 << 10, ge=512, le=16 << 20)
    has_failed_disk: bool = False
    scheduler: Annotated[str, OneOf(lambda: ("drive", *SCHEDULERS))] = "drive"
    read_hit_ratio: float = Field(default=0.0, ge=0, le=0.99)
    write_cache_bytes: Bytes = Field(default=0, le=16 << 30)
    drive_write_cache: DriveCache = "sold"
    seed: int = Field(default=1, ge=0, le=2**32)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.level not in LEVELS:
            raise ValueError(f"level={self.level}: is not available in the lab; use one of {', '.join(LEVELS)}")
        if self.size_bytes % 512:
            raise ValueError(f"size_bytes={self.size_bytes}: must be a multiple of 512; use for example 4096")
        return self

    @property
    def chosen_load(self) -> float:
        """The chosen load, as a number outstanding or a rate, depending on `arrivals`."""
        return float(self.outstanding) if self.arrivals == "outstanding" else self.rate_per_s

    def array(self) -> Array:
        """Return the array.

        Raises
        ------
        DescriptionError
            When its parts contradict each other, with every fault.
        """
        queue: dict[str, Any] = {"scheduler": "fcfs"}
        if self.scheduler != "drive":
            queue = {"scheduler": self.scheduler, "drive_depth": 1}
        controller: dict[str, Any] = {}
        if self.read_hit_ratio:
            controller["read_cache"] = {"hit_ratio": self.read_hit_ratio}
        if self.write_cache_bytes:
            controller["write_cache"] = {"size_bytes": self.write_cache_bytes}
        layout = {
            "level": self.level,
            "disks": self.disks,
            "strip_bytes": self.strip_bytes,
            "failed": (0,) if self.has_failed_disk else (),
        }
        return Array.parse(
            {
                "drive": drive_of(self.drive),
                "layout": layout,
                "queue": queue,
                "controller": controller,
                "drive_write_cache": None if self.drive_write_cache == "sold" else self.drive_write_cache == "on",
            }
        )

    def workload(self, load: float | None = None) -> Workload:
        """Return the workload, at `load` where that is given."""
        load = self.chosen_load if load is None else load
        arrival = {"clients": round(load)} if self.arrivals == "outstanding" else {"rate_per_s": load}
        return Workload.parse(
            {
                "name": "lab",
                "size_bytes": self.size_bytes,
                "read_ratio": self.read_ratio,
                "addresses": _ADDRESSES[self.pattern],
                "span_ratio": self.span_ratio,
                **arrival,
            }
        )
