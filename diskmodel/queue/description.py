"""The queue in front of each disk as the user writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from pydantic import Field

from diskmodel.description import Description, Reader
from diskmodel.queue.registry import SCHEDULERS, SchedulerName
from diskmodel.queue.rpo import AGE_WEIGHT, COMMITTED, MISS_MARGIN_NS, AgeWeight, Committed, MissMargin, MissRatio
from diskmodel.units import Length, Nanoseconds


class Queue(Description):
    """Elevator of the host or controller, above the drive's own command queue.

    Attributes
    ----------
    scheduler : str
        Which waiting command goes to the drive next.
    drive_depth : int or None
        Commands that the drive is given at once; None: as many as it takes.
    merge : bool
        Adjacent waiting commands of the same kind become one.
    merge_limit_bytes : int
        Longest command that merging makes.
    age_ns : int
        sptf-aged: waiting this long is worth a whole access.
    miss_margin_ns : int
        rpo: a command whose block would pass sooner after the seek than this is expected to cost another revolution.
    miss_ratio : float
        rpo: part of the seek by which that margin is longer.
    age_weight : float
        rpo: part of its waiting time by which a command is preferred.
    committed : int
        rpo: commands that are already planned when a new one comes, and that it cannot overtake.
    write_throttle : "none" or "linux"
        Linux's write-back throttling: writes of mirrors and parity arrays wait while reads are slow or many writes are
        in flight; at a single disk flushes and writes of files do.
    block_requests : int
        Capacity of a disk's block queue in requests, which limits the write throttling.
    read_expire_ns, write_expire_ns, fifo_batch, writes_starved
        mq-deadline: Linux's tunables, with Linux's defaults.
    """

    scheduler: SchedulerName = "fcfs"
    drive_depth: int | None = Field(default=None, ge=1, le=65536)
    merge: bool = False
    merge_limit_bytes: Length = Field(default=1 << 20, gt=0)
    age_ns: Nanoseconds = Field(default=300_000_000, gt=0)
    miss_margin_ns: MissMargin = MISS_MARGIN_NS
    miss_ratio: MissRatio = 0.0
    age_weight: AgeWeight = AGE_WEIGHT
    committed: Committed = COMMITTED
    write_throttle: Literal["none", "linux"] = "none"
    block_requests: int = Field(default=256, ge=2, lt=2**31)
    read_expire_ns: Nanoseconds = 500_000_000
    write_expire_ns: Nanoseconds = 5_000_000_000
    fifo_batch: int = Field(default=16, ge=1, lt=2**31)
    writes_starved: int = Field(default=2, ge=1, lt=2**31)

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which scheduler, or which other field, reads a field."""
        return {
            field: Reader(name, partial(_has_scheduler, name))
            for name, policy in SCHEDULERS.items()
            for field in policy.reads
        } | {
            "merge_limit_bytes": Reader("merge = true", lambda array: array.queue.merge),
            "block_requests": Reader('write_throttle = "linux"', lambda array: array.queue.write_throttle != "none"),
        }


def _has_scheduler(name: str, array: Any) -> bool:
    return bool(array.queue.scheduler == name)
