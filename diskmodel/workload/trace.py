"""Replay of a trace: given requests, in original, scaled or closed timing."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.records import Op, Requests, StreamRule, Sync
from diskmodel.units import exact_bytes
from diskmodel.workload.draws import Draws, Kind

Timing = Literal["original", "scaled", "closed"]

#: Step from which a clock is coarse, ns: a disk serves a request in some milliseconds, so that requests of one step
#: queue behind each other although they may have come apart. At half, clocks of that step that do no harm are named; at
#: double, one whose step is as long as a service is not.
COARSE_CLOCK_NS = 1_000_000


@dataclass(frozen=True)
class TraceWorkload:
    """Requests of a trace as a workload: takes the place of a `Workload` wherever one is simulated.

    Attributes
    ----------
    trace : Requests
        Open, in order of issue, first issue as recorded: one stream, and one each of writes past the drives' caches
        and of flushes where there are any (rule Y12).
    timing : "original", "scaled" or "closed"
        Recorded times; recorded times divided by `speed_up`; or `depth` outstanding at all times, in recorded order.
    speed_up : float, more than 0
    depth : int
        Outstanding requests with closed timing.
    wraps : bool
        Offsets beyond the array's end are taken modulo its capacity instead of being refused.
    name : str
    """

    trace: Requests
    timing: Timing = "original"
    speed_up: float = 1.0
    depth: int = 1
    wraps: bool = False
    name: str = "trace"

    @classmethod
    def from_arrays(
        cls,
        when_ns: ArrayLike,
        op: ArrayLike,
        offset: ArrayLike,
        length: ArrayLike,
        *,
        is_fua: ArrayLike | None = None,
        timing: Timing = "original",
        speed_up: float = 1.0,
        queue_depth: int = 1,
        wraps: bool = False,
        name: str = "trace",
    ) -> TraceWorkload:
        """A trace from its columns, sorted by time here if need be.

        Parameters
        ----------
        when_ns, op, offset, length : array_like, shape (n,)
            Issue time (ns), `Op` (0 read, 1 write, 2 flush), first byte, length in bytes, of a flush 0.
        is_fua : array_like of bool, shape (n,), optional
            Whether a write passes the caches of drives.

        Raises
        ------
        DescriptionError
            When columns differ in length or hold values out of range, or an option is out of range.
        """
        fua = np.zeros(np.shape(when_ns), np.bool_) if is_fua is None else is_fua
        columns = [np.asarray(column) for column in (when_ns, op, offset, length, fua)]
        n = len(columns[0])
        faults = []
        if any(column.shape != (n,) for column in columns):
            raise DescriptionError(Fault("trace", None, "columns differ in length", "give one value for each request"))
        when, kind, first, size, passes = (column.astype(np.int64) for column in columns)
        is_flush = kind == Op.FLUSH
        if n and int(when.min()) < 0:
            faults.append(Fault("when_ns", int(when.min()), "must be 0 or more", "count time from the first request"))
        if n and (int(kind.min()) < Op.READ or int(kind.max()) > Op.FLUSH):
            rule = "must be 0 (read), 1 (write) or 2 (flush)"
            faults.append(Fault("op", None, rule, "drop requests of other kinds"))
        if n and int(first.min()) < 0:
            faults.append(Fault("offset", int(first.min()), "must be 0 or more", "correct the offsets"))
        if (size[~is_flush] <= 0).any():
            least = int(size[~is_flush].min())
            faults.append(Fault("length", least, "must be more than 0", "drop empty requests"))
        if (is_flush & ((size != 0) | (first != 0))).any():
            rule = "a flush has neither a place nor a length"
            faults.append(Fault("length", None, rule, "write 0 for offset and length of flushes"))
        if (passes.astype(np.bool_) & (kind != Op.WRITE)).any():
            faults.append(Fault("is_fua", None, "is about writes", "leave it False for reads and flushes"))
        if timing == "closed" and (passes.any() or is_flush.any()):
            rule = "does not keep what flushes wait for"
            fix = "replay the flushes at their own times (original), or leave them out (--sync none)"
            faults.append(Fault("timing", timing, rule, fix))
        if not speed_up > 0:
            faults.append(Fault("speed_up", speed_up, "must be more than 0", "write for example 2"))
        if queue_depth < 1:
            faults.append(Fault("queue_depth", queue_depth, "must be at least 1", "write for example 16"))
        if timing not in ("original", "scaled", "closed"):
            faults.append(Fault("timing", timing, "is not a timing", "use original, scaled or closed"))
        if faults:
            raise DescriptionError(faults, name)
        order = np.argsort(when, kind="stable")
        stream, streams = _streams(name, is_flush, passes.astype(np.bool_))
        trace = Requests(
            when_ns=when[order],
            op=kind[order].astype(np.uint8),
            offset=first[order],
            length=size[order],
            stream=stream[order],
            cache_draw=np.zeros(n, dtype=np.float64),
            streams=streams,
        )
        return cls(trace, timing, speed_up, queue_depth, wraps, name)

    @property
    def is_open(self) -> bool:
        """Whether requests come at their own times."""
        return self.timing != "closed"

    @property
    def goes_on(self) -> bool:
        """Whether a request may begin where the last one ended: in a trace, often."""
        return True

    @property
    def queue_depth(self) -> int:
        """Outstanding requests with closed timing; 0 otherwise."""
        return 0 if self.is_open else self.depth

    @property
    def has_reads(self) -> bool:
        """Whether some request reads."""
        return bool((self.trace.op == Op.READ).any())

    @property
    def has_writes(self) -> bool:
        """Whether some request writes."""
        return bool((self.trace.op == Op.WRITE).any())

    @property
    def mean_size_bytes(self) -> float:
        """Mean size of reads and writes."""
        return float(self.trace.length[self.trace.op != Op.FLUSH].mean())

    @property
    def longest_random_bytes(self) -> int:
        """0: a trace does not say whose requests it has."""
        return 0

    @property
    def longest_request_bytes(self) -> int:
        """Length of the longest request; 0 without any."""
        return int(self.trace.length.max(initial=0))

    @property
    def coarse_clock_ns(self) -> int:
        """Step of a coarse clock that gives several requests one time, ns as replayed; 0 where the clock is fine."""
        when = self.trace.when_ns
        step = int(np.gcd.reduce(when)) if len(when) else 0
        if not self.is_open or step < COARSE_CLOCK_NS or not (np.diff(when) == 0).any():
            return 0
        return round(step / (self.speed_up if self.timing == "scaled" else 1.0))

    @property
    def coarse_clock_in_words(self) -> str:
        """Return what a coarse clock does to a replay; "" where the clock is fine."""
        step_ns = self.coarse_clock_ns
        if not step_ns:
            return ""
        return f"its clock has steps of {step_ns / 1e9:g} s, and the requests of a step are replayed at once"

    @property
    def offered_rate_per_s(self) -> float:
        """Mean rate over the trace as replayed; 0 with closed timing or without any time."""
        when = self.trace.when_ns
        seconds = float(when[-1] - when[0]) / 1e9 if len(when) else 0.0
        if not self.is_open or seconds == 0:
            return 0.0
        return (len(when) - 1) / seconds * (self.speed_up if self.timing == "scaled" else 1.0)

    def requests(
        self, *, capacity_bytes: int, n: int | None = None, seed: int = 0, with_cache_draws: bool = True
    ) -> Requests:
        """The first `n` requests (default: all; never more than there are) on an array of `capacity_bytes`.

        `seed` decides cache draws only; without them all are 0.

        Raises
        ------
        DescriptionError
            When a request lies beyond the array and `wraps` is not set, or `n` is negative.
        """
        n = len(self.trace) if n is None else min(n, len(self.trace))
        if n < 0:
            raise DescriptionError(Fault("n", n, "must be 0 or more", "leave it out for the whole trace"), self.name)
        offset, length = self.trace.offset[:n], self.trace.length[:n]
        end = int((offset + length).max()) if n else 0
        if end > capacity_bytes:
            if not self.wraps or int(length.max()) > capacity_bytes:
                has = exact_bytes(capacity_bytes)
                rule = f"the trace reaches {exact_bytes(end)}, beyond the array's capacity of {has}"
                raise DescriptionError(Fault("offset", None, rule, "use a larger array, or wrap offsets"), self.name)
            offset = np.minimum(offset % capacity_bytes, (capacity_bytes - length) // 512 * 512)
        when = self.trace.when_ns[:n]
        streams = self.trace.streams
        if self.timing == "scaled":
            when = np.rint(when / self.speed_up).astype(np.int64)
        elif self.timing == "closed":
            when = np.zeros(n, dtype=np.int64)
            streams = (StreamRule(self.name, n_clients=self.depth),)
        return Requests(
            when_ns=when,
            op=self.trace.op[:n],
            offset=offset,
            length=length,
            stream=self.trace.stream[:n],
            cache_draw=Draws(seed, 0).uniform(Kind.CACHE, n) if with_cache_draws else np.zeros(n),
            streams=streams,
        )

    def without_flushes(self) -> TraceWorkload:
        """The trace without its flushes, its writes past the caches of drives as any others."""
        kept = self.trace.op != Op.FLUSH
        trace = replace(
            self.trace,
            when_ns=self.trace.when_ns[kept],
            op=self.trace.op[kept],
            offset=self.trace.offset[kept],
            length=self.trace.length[kept],
            stream=np.zeros(int(kept.sum()), dtype=np.int32),
            cache_draw=self.trace.cache_draw[kept],
            streams=(StreamRule(self.name),),
        )
        return replace(self, trace=trace)

    def scaled(self, load_factor: float) -> TraceWorkload:
        """The trace at `load_factor` times the load: faster, or with more outstanding where the timing is closed."""
        if not load_factor > 0:
            raise DescriptionError(Fault("load_factor", load_factor, "must be more than 0", "write for example 1.5"))
        if self.timing == "closed":
            return replace(self, depth=max(round(self.depth * load_factor), 1))
        before = self.speed_up if self.timing == "scaled" else 1.0
        return replace(self, timing="scaled", speed_up=before * load_factor)

    def with_queue_depth(self, n: int) -> TraceWorkload:
        """The trace with closed timing and `n` requests outstanding.

        Raises
        ------
        DescriptionError
            When it has flushes, which wait for what the trace says.
        """
        if n < 1:
            raise DescriptionError(Fault("queue_depth", n, "must be at least 1", "write for example 16"))
        if len(self.trace.streams) > 1:
            rule = "does not keep what the flushes of a trace wait for"
            raise DescriptionError(
                Fault("queue_depth", n, rule, "leave it out, or leave the flushes out (--sync none)")
            )
        return replace(self, timing="closed", depth=n)


def _streams(
    name: str, is_flush: NDArray[np.bool_], is_fua: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], tuple[StreamRule, ...]]:
    """Return the stream of each request and the rules of the streams: a replayed request is one of three (rule Y12)."""
    stream, streams = np.zeros(len(is_flush), dtype=np.int32), [StreamRule(name)]
    for rows, rule in (
        (is_fua, StreamRule(f"{name}, FUA", sync=Sync.FILE_DSYNC)),
        (is_flush, StreamRule(f"{name}, flushes", is_of_flushes=True)),
    ):
        if rows.any():
            stream[rows] = len(streams)
            streams.append(rule)
    return stream, tuple(streams)
