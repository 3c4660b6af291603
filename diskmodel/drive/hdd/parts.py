"""Parts of the description of a hard disk: its cache, its retries, its command queue."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.drive.assumed_order import ASSUMPTIONS, ONE_AT_A_TIME, AssumedOrder
from diskmodel.queue import (
    AGE_WEIGHT,
    COMMITTED,
    MISS_MARGIN_NS,
    SCHEDULERS,
    AgeWeight,
    Committed,
    DriveSchedulerName,
    MissMargin,
    MissRatio,
)
from diskmodel.registry import OneOf
from diskmodel.units import Bytes, Length, Nanoseconds


class HddCache(Description):
    """The cache of a hard disk.

    Attributes
    ----------
    size_bytes : int
    segments : int
        Number of sequential streams that it can track.
    read_ahead_bytes : int, optional
        How far it reads ahead after a read while idle; default: a whole segment. 0: no read-ahead.
    read_ahead_to : "limit", "track", "own-track" or "whole-track"
        Whether read-ahead also stops at the end of the track: "own-track" only behind reads that lie within one track,
        "whole-track" after going round to the first block of the track.
    read_on_arrival : bool
        Whether a read also caches what passes on its track between the head's arrival and its first block.
    write_back : bool
        Whether a write completes when it is in the cache.
    write_room_bytes : int
        Least room that a write takes there, however short, so that a limited number of writes waits and is joined.
    write_drops : "overlap" or "all"
        Whether a write drops the segments that it overlaps, or all of them.
    keeps_writes : bool
        Whether written data stays in the cache as a segment.
    power_loss_protected : bool
        Whether the drive saves what waits in the cache when the power fails, so that a flush need not wait for it.
    destage : "scheduled" or "in-order"
        Whether cached writes go to the media when the scheduler chooses them (rule C8), or in turn with the commands,
        in the order in which all of them became ready.
    """

    size_bytes: Annotated[Bytes, Field(gt=0)]
    segments: Annotated[int, Field(ge=1, le=65536)] = 16
    read_ahead_bytes: Bytes | None = None
    read_ahead_to: Literal["limit", "track", "own-track", "whole-track"] = "limit"
    read_on_arrival: bool = False
    write_back: bool = False
    write_room_bytes: Length = 0
    write_drops: Literal["overlap", "all"] = "overlap"
    keeps_writes: bool = False
    power_loss_protected: bool = False
    destage: Literal["scheduled", "in-order"] = "scheduled"

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which caches read a field."""
        written = Reader("caches with write_back = true", lambda array: array.drive.is_write_back)
        ahead = Reader("caches that read ahead", lambda array: array.drive.cache.read_ahead_bytes != 0)
        return {
            "write_room_bytes": written,
            "power_loss_protected": written,
            "destage": written,
            "read_ahead_to": ahead,
        }


class Retries(Description):
    """Delays that some accesses to the media meet: revolutions lost to retries, recalibrations.

    Attributes
    ----------
    ratio : float
        Share of the accesses to the media that are delayed.
    time_ns : tuple of int
        Equally likely delays.
    """

    ratio: Annotated[float, Field(ge=0, le=1)]
    time_ns: Annotated[tuple[Nanoseconds, ...], Field(min_length=1, max_length=1024)]


class DriveQueue(Description):
    """The command queue inside a hard disk (TCQ, NCQ).

    Attributes
    ----------
    depth : int
        Commands that the drive accepts at a time.
    scheduler : str
        How the drive chooses the command to serve next.
    weighed : int, optional
        Number of oldest commands that the scheduler considers; default: all commands in the queue.
    weighed_writes : int, optional
        The same of writes waiting in the cache; default: as many as of commands, but at least 32 where these are all.
        With more than half of it waiting, writes compete with commands.
    overdue_ns : int, optional
        What has waited this long in the drive is taken next, but not twice in an eighth of that time; default: never.
    age_ns : int
        sptf-aged: a wait of this length outweighs a whole access.
    miss_margin_ns : int
        rpo: a command whose block would pass sooner after the seek than this is expected to cost another revolution.
    miss_ratio : float
        rpo: part of the seek by which that margin is longer.
    age_weight : float
        rpo: part of its waiting time by which a command is preferred.
    committed : int
        rpo: commands that are already planned when a new one comes, and that it cannot overtake.
    assumed_from : str, optional
        rpo and look: the kind of drives whose order is assumed, because this drive's was not measured. Results then
        say so, and their intervals include what drives of this kind do. `one-at-a-time`, of a queue that holds one
        command: only single requests were measured.
    """

    depth: Annotated[int, Field(ge=1, le=65536)] = 1
    scheduler: DriveSchedulerName = "fcfs"
    weighed: Annotated[int, Field(ge=1, le=65536)] | None = None
    weighed_writes: Annotated[int, Field(ge=1, le=65536)] | None = None
    overdue_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    age_ns: Annotated[Nanoseconds, Field(gt=0)] = 300_000_000
    miss_margin_ns: MissMargin = MISS_MARGIN_NS
    miss_ratio: MissRatio = 0.0
    age_weight: AgeWeight = AGE_WEIGHT
    committed: Committed = COMMITTED
    assumed_from: Annotated[str, OneOf(ASSUMPTIONS.keys)] | None = None

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which scheduler, or which other field, reads a field."""
        return {
            field: Reader(name, partial(_has_scheduler, name))
            for name, policy in SCHEDULERS.items()
            for field in policy.reads
            if field in cls.model_fields
        } | {
            "scheduler": Reader("queues and caches that hold several commands", _chooses),
            "overdue_ns": Reader("schedulers other than fcfs, of queues and caches that hold several", _reorders),
            "weighed": Reader("schedulers other than fcfs, of queues deeper than 1", _weighs),
            "weighed_writes": Reader("caches with write_back = true", lambda array: array.drive.is_write_back),
        }

    @model_validator(mode="after")
    def _assumed_of_its_kind(self) -> Self:
        if self.assumed_from == ONE_AT_A_TIME:
            if self.depth > 1:
                raise ValueError(
                    f"assumed_from={self.assumed_from}: needs depth 1, and the queue is {self.depth} deep; leave it out"
                )
        elif self.assumption is not None and self.scheduler != self.assumption.scheduler:
            raise ValueError(
                f"assumed_from={self.assumed_from}: needs scheduler {self.assumption.scheduler}, and the scheduler is "
                f"{self.scheduler}; leave it out"
            )
        return self

    @property
    def assumption(self) -> AssumedOrder | None:
        """What the order of queued commands is assumed from; None where it is not."""
        return None if self.assumed_from is None else ASSUMPTIONS[self.assumed_from]


def _has_scheduler(name: str, array: Any) -> bool:
    return bool(array.drive.queue.scheduler == name)


def _chooses(array: Any) -> bool:
    """Whether a drive ever has several commands to choose from."""
    return bool(array.drive.queue.depth > 1 or array.drive.is_write_back)


def _reorders(array: Any) -> bool:
    return bool(array.drive.queue.scheduler != "fcfs" and _chooses(array))


def _weighs(array: Any) -> bool:
    return bool(array.drive.queue.scheduler != "fcfs" and array.drive.queue.depth > 1)
