"""By how much a draw moves an array away from its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from diskmodel.drive import DriveQueue
from diskmodel.drive.assumed_order import Order


@dataclass(frozen=True)
class Moves:
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
    read_time : float
        Of a flash drive's time to read a page, and what it adds to a command.
    parallelism : float
        Of the rate of commands that a flash drive reaches in parallel.
    write_rate : float
        Of a flash drive's rate of programming and erasing.
    write_latency : float
        Of what a flash drive takes to answer a write that its buffer has room for.
    host : float
        Of the host's time for a request.
    command : float
        Of the controller's time for a command.
    volume : float
        Of the requests that the controller works on at once.
    destaging : float
        Of the destages that a controller has outstanding on a disk at once: 0 as many as the drive's queue takes, -1
        only one, and between them a power of that number.
    level : float
        Of the rate at which requests come.
    part : float or None
        Where in its recording the quarter begins that the load is like, as a share of it; None: all of it.
    p99, read_p99, write_p99 : float
        Of the 99th percentile of all requests, of reads and of writes, beside what the simulated moves do to it.
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
    read_time: float = 0.0
    parallelism: float = 0.0
    write_rate: float = 0.0
    write_latency: float = 0.0
    host: float = 0.0
    command: float = 0.0
    volume: float = 0.0
    destaging: float = 0.0
    level: float = 0.0
    p99: float = 0.0
    read_p99: float = 0.0
    write_p99: float = 0.0
    part: float | None = None
    order: Order | None = None
    queue: DriveQueue | None = None
    values: Mapping[str, float] | None = None

    def plus(self, other: Moves) -> Moves:
        """Return both together: logarithms add up, and all else replaces what it was."""
        changed = {
            name: getattr(self, name) + value if name in _LOGARITHMS else value
            for name, value in vars(other).items()
            if value != getattr(_NONE, name)
        }
        return replace(self, **changed)


_NONE = Moves()
_LOGARITHMS = frozenset(name for name, value in vars(_NONE).items() if isinstance(value, float))
