"""What a run shows of a load that decides which unknowns matter to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskmodel.records import PARTS, Run


@dataclass(frozen=True)
class Seen:
    """What disks did in a run.

    Attributes
    ----------
    in_disk : float
        Mean number of commands in the disk that had most.
    write_ratio : float
        Part of the commands to disks that were writes.
    positioning_ratio : float
        Part of the time that requests spent on seeks, rotation and transfer that was not transfer.
    """

    in_disk: float
    write_ratio: float
    positioning_ratio: float

    @classmethod
    def of(cls, run: Run) -> Seen:
        """Return what a run shows."""
        devices = run.devices
        n_reads, n_writes = int(np.sum(devices.n_reads)), int(np.sum(devices.n_writes))
        spent = dict(zip(PARTS, run.completions.parts_ns.sum(axis=0, dtype=np.float64).tolist(), strict=True))
        moved = spent["seek"] + spent["rotation"]
        served = moved + spent["transfer"]
        return cls(
            in_disk=float(np.max(devices.response_ns, initial=0)) / max(run.end_ns, 1),
            write_ratio=n_writes / max(n_reads + n_writes, 1),
            positioning_ratio=moved / served if served else 1.0,
        )
