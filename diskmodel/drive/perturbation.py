"""By how much a draw of what is not known moves a drive away from its description."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from diskmodel.drive.assumed_order import Order
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.drive.hdd.parts import DriveQueue


@dataclass(frozen=True)
class DrivePerturbation:
    """Logarithms of the factors by which quantities differ from the description; all 0: as described.

    Attributes
    ----------
    positioning : float
        Of the time of a random access of a hard disk, without its transfer: its seeks change, rotation does not.
    overhead : float
        Of a drive's time to process a command.
    sequential : float
        Of a hard disk's rate at the media.
    speed : float
        Of the rate of the drive under this load. A hard disk seeks faster, and its tracks hold more where nobody gave
        how many there are; it rotates as it is described. Another drive does everything faster but its interface.
    writes : float
        Of the rate of a hard disk's random writes: it seeks faster for these alone.
    read_time : float
        Of a flash drive's time to read a page, and what it adds to a command.
    parallelism : float
        Of the rate of commands that a flash drive reaches in parallel.
    write_rate : float
        Of a flash drive's rate of programming and erasing.
    write_latency : float
        Of what a flash drive takes to answer a write that its buffer has room for.
    flush : float
        Of the time of a flash drive's flush.
    has_batches : bool
        Whether a flash drive of which that is not known copies in batches, and takes no writes meanwhile.
    paces_writes : bool
        Whether a flash drive of which that is not known lets writes in no faster than it cleans.
    is_slowed_by_reads : bool
        Whether a flash drive of which that is not known programs more slowly while it is read.
    order : Order or None
        In which a hard disk serves its commands.
    queue : DriveQueue or None
        Of a hard disk, instead of its own.
    values : mapping of str to float, or None
        Of parameters of the profile, by their names.
    """

    positioning: float = 0.0
    overhead: float = 0.0
    sequential: float = 0.0
    speed: float = 0.0
    writes: float = 0.0
    read_time: float = 0.0
    parallelism: float = 0.0
    write_rate: float = 0.0
    write_latency: float = 0.0
    flush: float = 0.0
    has_batches: bool = False
    paces_writes: bool = False
    is_slowed_by_reads: bool = False
    order: Order | None = None
    queue: DriveQueue | None = None
    values: Mapping[str, float] | None = None

    @property
    def firmware(self) -> int:
        """Number of the kind of firmware of a flash drive of which that is not known."""
        return 2 * self.has_batches + self.paces_writes


def scaled_ns(value_ns: float, log_factor: float) -> int:
    """Return a time scaled by a factor, whole and at least 1 ns where it is not 0."""
    return max(round(value_ns * math.exp(log_factor)), 1) if value_ns else 0


def scaled_times(part: Any, names: tuple[str, ...], log_factor: float) -> dict[str, int]:
    """Return those of the times of a description that are given, scaled by a factor."""
    times = {name: getattr(part, name) for name in names}
    return {name: scaled_ns(value, log_factor) for name, value in times.items() if value is not None}
