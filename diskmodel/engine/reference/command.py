"""A command in one disk's queue or drive, and the access to the array that it is part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from diskmodel.layout import ChildIo


@dataclass(slots=True, eq=False)
class Command:
    """One access to one disk, what happened to it, and what to call when it is done.

    Attributes
    ----------
    seq : int
        Number in order of creation over the whole run; breaks ties (rule T3).
    device, op, lba, n_sectors
        The requested access and its disk.
    submitted_ns : int
        When it reached the disk's queue.
    done : callable
        Called at completion with the command.
    arrived_ns : int
        When it reached the queue that it waits in now (the disk's, then the drive's own).
    ready_ns : int
        When the drive has processed it and the arm may move for it.
    holds, follows : bool
        A read after which the arm waits for a write of the same blocks, and that write (rule L12).
    is_fua : bool
        A write that passes the drive's buffer (rule D11).
    flushes_after : bool
        A write that is done when a flush after it is (rule Y4).
    number : int
        Of a write that passes the buffer of a drive: in order of acceptance (rule D10).
    is_bitmap : bool
        A page of the write-intent bitmap: the array counts it as none of its writes (rules L5, Q10).
    is_of_group : bool
        A write of a transaction group of a pool (rule X14).
    is_of_scan : bool
        A read or a write of a resilver or a scrub of a pool (rules X8, X14).
    ahead_of : int
        Of a read of a pool that nobody waits for: the record that it is part of, else -1 (rule X14).
    in_place : bool
        Part of a run that does not go to the media cache (rule G2).
    is_examined : bool
        Whether the drive has looked for it in its cache.
    done_ns, overhead_ns, seek_ns, rotation_ns, transfer_ns : int
        Filled in when it is served. The rest of the time it was waiting.
    is_hit : bool
        Served by the drive's cache.
    merged : list of Command
        Adjacent commands that are served as part of this one (rule Q9).
    """

    seq: int
    device: int
    op: int
    lba: int
    n_sectors: int
    submitted_ns: int
    done: Callable[[Command], None]
    arrived_ns: int = 0
    ready_ns: int = 0
    holds: bool = False
    follows: bool = False
    is_fua: bool = False
    flushes_after: bool = False
    number: int = 0
    is_bitmap: bool = False
    is_of_group: bool = False
    is_of_scan: bool = False
    ahead_of: int = -1
    in_place: bool = False
    is_examined: bool = False
    done_ns: int = 0
    overhead_ns: int = 0
    seek_ns: int = 0
    rotation_ns: int = 0
    transfer_ns: int = 0
    is_hit: bool = False
    merged: list[Command] = field(default_factory=list)


@dataclass(slots=True)
class Access:
    """A request to the array while its pieces are out.

    `out` are commands that the next phase waits for, `n_following` writes on held disks that it does not wait for.
    `parity_ns` is the time until the last command was submitted, where there were two phases (rule L7); `is_direct`
    whether its commands pass the submitting thread by (rule Q11); `is_bitmap` whether they write the bitmap.
    """

    done: Callable[[Access, Command], None]
    then: list[ChildIo]
    asked_ns: int
    start_ns: int
    is_direct: bool = True
    is_bitmap: bool = False
    is_fua: bool = False
    #: Of a transaction group of a pool (rule X14), and what of its time was not spent on disks.
    is_of_group: bool = False
    is_of_scan: bool = False
    #: The record that is read ahead, else -1.
    ahead_of: int = -1
    cache_ns: int = 0
    parity_ns: int = 0
    out: int = 0
    n_following: int = 0
    #: Of stretches of rows (rule L15): their pages, the requests that they are part of, what waits for them, and
    #: whether they are being written.
    pages: list[range] = field(default_factory=list)
    requests: list[Access] = field(default_factory=list)
    followers: list[Access] = field(default_factory=list)
    is_written: bool = False
    #: Whether its writes go to a journal first, and what they would write to disks that are lost (rule Y13).
    is_logged: bool = False
    lost: list[ChildIo] = field(default_factory=list)
