"""By how much a draw moves an array away from its description."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.drive import DrivePerturbation
from diskmodel.loading import dataclass


@dataclass(frozen=True)
class Perturbation(DrivePerturbation):
    """The same of all that an array consists of and of its load, beside what moves its drives.

    Attributes
    ----------
    host : float
        Of the host's time for a request.
    command : float
        Of the controller's time for a command.
    volume : float
        Of the requests that the controller works on at once.
    destaging : float
        Of the destages that a controller has outstanding on a disk at once: 0 six, -1 two and 1 as many as 24, and
        between them a power; no more than the drive's queue takes.
    level : float
        Of the rate at which requests come.
    part : float or None
        Where in its recording the quarter begins that the load is like, as a share of it; None: all of it.
    p99, read_p99, write_p99 : float
        Of the 99th percentile of all requests, of reads and of writes, beside what the simulated moves do to it.
    """

    host: float = 0.0
    command: float = 0.0
    volume: float = 0.0
    destaging: float = 0.0
    level: float = 0.0
    p99: float = 0.0
    read_p99: float = 0.0
    write_p99: float = 0.0
    part: float | None = None

    def plus(self, other: Perturbation) -> Perturbation:
        """Return both together: logarithms add up, and all else replaces what it was."""
        changed = {
            name: getattr(self, name) + value if name in _LOGARITHMS else value
            for name, value in vars(other).items()
            if value != getattr(_NONE, name)
        }
        return replace(self, **changed)


_NONE = Perturbation()
_LOGARITHMS = frozenset(name for name, value in vars(_NONE).items() if isinstance(value, float))
