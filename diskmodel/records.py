"""Records that travel along the path: requests go down, completions come up. Columns in NumPy arrays, no logic.

All times are int64 nanoseconds, all places and lengths int64 bytes. Everything random has been drawn before a
record exists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.schema import Beside

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Bool = NDArray[np.bool_]


class Op(IntEnum):
    """What a request does."""

    READ = 0
    WRITE = 1
    #: What a host sends so that all that was written before is safe; as a request, of a stream of flushes (rule Y11).
    FLUSH = 2


READ, WRITE, FLUSH = Op.READ, Op.WRITE, Op.FLUSH


class Sync(IntEnum):
    """What follows a write, for it to be safe from a power cut (rule Y1)."""

    NONE = 0
    #: fdatasync or fsync of a file whose blocks are written, or of a device: a flush.
    FLUSH = 1
    #: Opened with O_DSYNC: the write passes the drive's cache, then a flush.
    DSYNC = 2
    #: The same on a file: one of the two.
    FILE_DSYNC = 3


@dataclass(frozen=True)
class StreamRule:
    """Arrival rule of one stream.

    Attributes
    ----------
    name : str
    n_clients : int
        0 for an open stream: row `when_ns` is the absolute time of issue, never decreasing within the stream.
        Otherwise a closed stream with so many clients: a client takes the stream's next row `when_ns` (its think
        time) after its previous request completed. At time 0 the clients take the first rows in order.
    pace_ns : int
        Closed streams only: the least time between two issues of the same client (0: none); the later of the two
        conditions decides.
    sync : int
        What follows a write (`Sync`); `sync_every` says which.
    sync_every : int
        It follows every so many writes of a client, or of an open stream.
    log_first_byte, log_bytes, log_block_bytes : int
        Place of the log to which the rows are records, its length, and the unit in which it is written (rule Y6). A
        length of 0: they are requests.
    log_delay_ns : int
        How long a batch of records waits for others.
    journal_first_byte, journal_bytes : int
        Place of the journal of the file system, which a sync commits (rule Y7), and its length. A length of 0: it does
        not. There is one for all streams, that of the first which has any.
    journal_body_bytes, journal_more_bytes, journal_block_bytes : int
        What a commit writes (rule Y10): first, for each sync after the first that it serves, and last.
    journal_tick_ns : int
        Syncs commit only where a write has changed the times of the file, which have so much resolution (rule Y8); 0:
        each does.
    is_of_file : int
        1 where its writes go to a file through the page cache, for which Linux limits the writes in flight at a single
        disk (rule Q10), 0 elsewhere.
    cycle_requests : int
        Requests of all streams that come on average while the rate of this one goes through its ups and downs once
        (rule Z11); 0: it has none.
    is_of_flushes : bool
        Whether its rows are flushes alone (rule Y11).
    is_random : bool
        Whether each of these takes a time of its own, so that one may be longer than all that a run has seen.
    """

    name: Beside[str]
    n_clients: int = 0
    pace_ns: int = 0
    sync: int = 0
    sync_every: int = 1
    log_first_byte: int = 0
    log_bytes: int = 0
    log_block_bytes: int = 1
    log_delay_ns: int = 0
    journal_first_byte: int = 0
    journal_bytes: int = 0
    journal_body_bytes: int = 0
    journal_more_bytes: int = 0
    journal_block_bytes: int = 0
    journal_tick_ns: int = 0
    is_of_file: int = 0
    cycle_requests: Beside[int] = 0
    is_of_flushes: Beside[bool] = False
    is_random: Beside[bool] = False


@dataclass(frozen=True)
class Requests:
    """Requests of a workload, one row each; within a stream, rows are in order of issue.

    Attributes
    ----------
    when_ns : int64, shape (n,)
        Open streams: absolute issue time. Closed streams: think time before the issue.
    op : uint8, shape (n,)
        `Op` values.
    offset : int64, shape (n,), bytes
        First byte on the array.
    length : int64, shape (n,), bytes
        More than 0; of a flush 0.
    stream : int32, shape (n,)
        Index into `streams`.
    cache_draw : float64, shape (n,), in [0, 1)
        Draw that decides a hit where a cache is described by its hit ratio: a read hits when draw < ratio.
    streams : tuple of StreamRule
    """

    when_ns: Int64
    op: NDArray[np.uint8]
    offset: Int64
    length: Int64
    stream: Int32
    cache_draw: NDArray[np.float64]
    streams: tuple[StreamRule, ...]

    def __len__(self) -> int:
        return len(self.when_ns)

    @property
    def are_open(self) -> NDArray[np.bool_]:
        """Whether each comes at its own time, whatever was completed before; shape (n,)."""
        return np.array([rule.n_clients == 0 for rule in self.streams], dtype=np.bool_)[self.stream]


#: Where the time of a request went; the columns of `Completions.parts_ns`, in this order. They add up to the response.
PARTS = ("link", "cache", "queue", "overhead", "seek", "rotation", "transfer", "parity", "sync")


@dataclass(frozen=True)
class Completions:
    """Outcome of each request, row by row as in `Requests`.

    Attributes
    ----------
    issue_ns, done_ns : int64, shape (n,)
        Time of issue and of completion. Response = done_ns - issue_ns.
    parts_ns : int64, shape (n, len(PARTS))
        Where the response time went, along the part that finished last; sums to the response exactly. In runs of more
        than a million requests int32, where every value fits.
    is_hit : bool, shape (n,)
        Served by the controller's cache.
    """

    issue_ns: Int64
    done_ns: Int64
    parts_ns: Int64 | Int32
    is_hit: Bool


@dataclass(frozen=True)
class DeviceCounters:
    """What each disk did during the whole run, arrays of shape (n_disks,).

    Attributes
    ----------
    busy_ns : int64
        Time in which the mechanism (arm, platter; or flash dies, averaged over them) was held.
    response_ns : int64
        Sum over its commands of the time from arrival at the disk's queue to completion.
    n_reads, n_writes : int64
        Commands completed.
    read_bytes, write_bytes : int64
    n_cache_hits : int64
        Commands served by the drive's own cache.
    read_response_ns : int64
        What of `response_ns` is that of reads.
    n_flushes : int64
        Flushes completed.
    n_units_written, n_units_programmed : int64
        Units of flash that the host wrote, and those programmed for them (rule F22); 0 of other drives.
    n_charged : int64
        Operations that the commands counted for against a limit of a volume (rule U1); 0 of other drives.
    """

    busy_ns: Int64
    response_ns: Int64
    n_reads: Int64
    n_writes: Int64
    read_bytes: Int64
    write_bytes: Int64
    n_cache_hits: Int64
    read_response_ns: Int64
    n_flushes: Int64
    n_units_written: Int64
    n_units_programmed: Int64
    n_charged: Int64

    @classmethod
    def of_one(cls, requests: Requests, response_ns: Int64, busy_ns: float) -> Self:
        """Return the counters of one device that stands for all that serves the requests.

        Parameters
        ----------
        requests : Requests
        response_ns : int64 of shape (n,)
            Response time of each request.
        busy_ns : float
            Of its busiest part.
        """
        is_write = requests.op == WRITE
        sums = {
            "busy_ns": round(busy_ns),
            "response_ns": response_ns.sum(),
            "n_reads": (~is_write).sum(),
            "n_writes": is_write.sum(),
            "read_bytes": requests.length[~is_write].sum(),
            "write_bytes": requests.length[is_write].sum(),
            "read_response_ns": response_ns[~is_write].sum(),
        }
        others = ("n_cache_hits", "n_flushes", "n_units_written", "n_units_programmed", "n_charged")
        return cls(**{name: np.array([sums.get(name, 0)], np.int64) for name in (*sums, *others)})


@dataclass(frozen=True)
class Run:
    """Raw outcome of one engine run; `diskmodel.result` turns it into statistics.

    Attributes
    ----------
    completions : Completions
    devices : DeviceCounters
    engine : "simpy", "native", or the kind of a drive with an engine of its own
    wall_s : float
        Time that the engine took, in seconds of the computer's clock.
    end_ns : int
        Simulated time of the last completion.
    rebuilt_bytes : int
        How far a rebuild, a check or a resync came on each disk.
    cache_full_ns : int or None
        When a write first had to wait for room in the controller's write-back cache; None: never.
    l2arc_hits, l2arc_misses : int
        Records that were looked for on a pool's cache devices (rule X27): those found, and the others.
    low_mark_bytes : int
        Level at which the controller stops to write, where that is below its mark; else 0 (rule K8).
    round_requests : int
        Requests of one round in which a cache is written back, where that loads the disks unevenly (rules Z6 and Z10);
        0: it does not.
    is_in_waves : bool
        Whether that is a wave of the host's page cache.
    cleaning_requests : int
        Requests that come while a disk's media cache cleans one band, where it is full (rule G9); 0: none.
    level_marks : tuple of 3 int
        Bytes from which on each of the levels is written down as fast as can be (rule Z3).
    overload_marks : tuple of 3 int
        The same with lines of the controller's cache that are full of data: the same number of lines holds more as they
        fill. A level that rises above these marks is an overload.
    cache_bytes : int
        Room of the controller's write-back cache; 0: there is none.
    levels : int64, shape (n, 5)
        What waited to be written, after every so many completions (rule Z7): the time in ns; the bytes in the
        controller's write-back cache, in the drives' buffers, and in dirty pages of the host; and the mean busy time of
        the disks until then, ns.
    busiest : str
        Of a volume of several stations: which of them was busy longest. Its one disk then has the counters of that one.
    said : tuple of str
        Sentences of an engine of its own about what happened.
    n_behind : int or None
        Reads and writes of all drives in a system whose one device stands for it; None: those of the devices.
    own : mapping of str to DeviceCounters
        Of drives beside the disks: "log" (of a pool, or the journal of Linux md), "special", "cache".
    """

    completions: Completions
    devices: DeviceCounters
    engine: str
    wall_s: float
    end_ns: int
    rebuilt_bytes: int = 0
    cache_full_ns: int | None = None
    l2arc_hits: int = 0
    l2arc_misses: int = 0
    low_mark_bytes: int = 0
    round_requests: int = 0
    is_in_waves: bool = False
    cleaning_requests: int = 0
    level_marks: tuple[int, int, int] = (0, 0, 0)
    overload_marks: tuple[int, int, int] = (0, 0, 0)
    cache_bytes: int = 0
    levels: Int64 = field(default_factory=lambda: np.empty((0, 5), np.int64))
    busiest: str = ""
    said: tuple[str, ...] = ()
    n_behind: int | None = None
    own: Mapping[str, DeviceCounters] = field(default_factory=dict)

    @property
    def n_back_end(self) -> int:
        """Reads and writes of all drives."""
        devices = int(self.devices.n_reads.sum() + self.devices.n_writes.sum())
        return devices if self.n_behind is None else self.n_behind

    @property
    def l2_hit_ratio(self) -> float:
        """Share of the records looked for on cache devices that they had; nan where none was looked for."""
        n = self.l2arc_hits + self.l2arc_misses
        return self.l2arc_hits / n if n else math.nan
