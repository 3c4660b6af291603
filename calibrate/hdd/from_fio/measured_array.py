"""The array that was measured, with any drive inside it; a disk alone is an array of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibrate.arrays import Floats
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.settled import settled
from diskmodel.array import Array
from diskmodel.drive import Hdd

#: Requests of a simulation, rounds that deep queues get at least, and the part that is left out while the queue fills.
N_REQUESTS, ROUNDS, WARM_UP_RATIO = 4_000, 40, 0.15


@dataclass(frozen=True)
class Predicted:
    """What an array does under a condition."""

    iops: float
    mean_ns: float
    percentiles_ns: Mapping[float, float]

    @property
    def values(self) -> Floats:
        """Return logarithms in the order of `Condition.targets`."""
        return np.log([self.iops, *self.percentiles_ns.values()])


@dataclass(frozen=True)
class MeasuredArray:
    """What is known of the array; the drive is what the fit varies.

    Attributes
    ----------
    described : Array or None
        None: a disk alone, on a host with Linux's mq-deadline above the drive's queue.
    has_write_cache : bool or None
        Whether the drives' write caches are on; None: as described.
    n_requests : int
        Of each simulation.
    """

    described: Array | None = None
    has_write_cache: bool | None = None
    n_requests: int = N_REQUESTS

    def with_drive(self, drive: Hdd, depth: int = 1) -> Array:
        """Return the array with this drive, for so many requests outstanding."""
        if self.described is None:
            above = {"scheduler": "mq-deadline"} if depth > drive.queue.depth else {}
            array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, "queue": above})
        else:
            array = Array.parse({**dict(self.described), "drive": drive})
        if self.has_write_cache is None:
            return array
        return array.model_copy(update={"drive_write_cache": self.has_write_cache})

    @property
    def n_disks(self) -> int:
        """Return the number of members."""
        return 1 if self.described is None else self.described.layout.disks

    def write_cache_states(self, drive: Hdd) -> tuple[bool, ...]:
        """Return whether the drives' write caches may be on or off: both, unless the array says.

        Drives of a class that does not cache writes, as SAS drives, may have been set to on their own, but hardly in an
        array.
        """
        stated = None if self.described is None else self.described.drive_write_cache
        if drive.cache is None or (self.described is not None and not drive.cache.write_back):
            return (False,)
        return (True, False) if stated is None else (stated,)

    def with_write_cache(self, is_on: bool) -> MeasuredArray:
        """Return the array with the drives' write caches on or off."""
        return replace(self, has_write_cache=is_on)

    def predict(self, drive: Hdd, condition: Condition, seed: int) -> Predicted:
        """Return what the array does under a condition with this drive, caches as full as they stay."""
        n = max(self.n_requests, ROUNDS * condition.depth)
        array = self.with_drive(drive, condition.depth)
        requests, run, order = settled(array, condition.workload, n=n, warm_up=WARM_UP_RATIO, seed=seed)
        done = run.completions
        done_ns = done.done_ns[order]
        is_asked = (requests.op[order] == 0) == (condition.op == "read")
        response_ns = (done_ns - done.issue_ns[order]).astype(np.float64)[is_asked]
        rate = (is_asked.sum() - 1) / float(done_ns[-1] - done_ns[0]) * 1e9
        at = list(condition.percentiles_ns)
        shown = dict(zip(at, np.percentile(response_ns, at).tolist(), strict=True))
        return Predicted(float(rate), float(response_ns.mean()), shown)
