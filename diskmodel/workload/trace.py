"""Replay of a trace: given requests, in original, scaled or closed timing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Op, Requests, StreamRule
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
        One open stream, in order of issue, first issue as recorded.
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
            Issue time (ns), `Op` (0 read, 1 write), first byte, length in bytes.

        Raises
        ------
        DescriptionError
            When columns differ in length or hold values out of range, or an option is out of range.
        """
        columns = [np.asarray(column) for column in (when_ns, op, offset, length)]
        n = len(columns[0])
        faults = []
        if any(column.shape != (n,) for column in columns):
            raise DescriptionError(Fault("trace", None, "columns differ in length", "give one value for each request"))
        when, kind, first, size = (column.astype(np.int64) for column in columns)
        if n and int(when.min()) < 0:
            faults.append(Fault("when_ns", int(when.min()), "must be 0 or more", "count time from the first request"))
        if n and (int(kind.min()) < Op.READ or int(kind.max()) > Op.WRITE):
            faults.append(Fault("op", None, "must be 0 (read) or 1 (write)", "drop requests of other kinds"))
        if n and int(first.min()) < 0:
            faults.append(Fault("offset", int(first.min()), "must be 0 or more", "correct the offsets"))
        if n and int(size.min()) <= 0:
            faults.append(Fault("length", int(size.min()), "must be more than 0", "drop empty requests"))
        if not speed_up > 0:
            faults.append(Fault("speed_up", speed_up, "must be more than 0", "write for example 2"))
        if queue_depth < 1:
            faults.append(Fault("queue_depth", queue_depth, "must be at least 1", "write for example 16"))
        if timing not in ("original", "scaled", "closed"):
            faults.append(Fault("timing", timing, "is not a timing", "use original, scaled or closed"))
        if faults:
            raise DescriptionError(faults, name)
        order = np.argsort(when, kind="stable")
        trace = Requests(
            when_ns=when[order],
            op=kind[order].astype(np.uint8),
            offset=first[order],
            length=size[order],
            stream=np.zeros(n, dtype=np.int32),
            cache_draw=np.zeros(n, dtype=np.float64),
            streams=(StreamRule(name),),
        )
        return cls(trace, timing, speed_up, queue_depth, wraps, name)

    @property
    def is_open(self) -> bool:
        """Whether requests come at their own times."""
        return self.timing != "closed"

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
        """Mean request size."""
        return float(self.trace.length.mean())

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
        rule_of_stream = StreamRule(self.name)
        if self.timing == "scaled":
            when = np.rint(when / self.speed_up).astype(np.int64)
        elif self.timing == "closed":
            when = np.zeros(n, dtype=np.int64)
            rule_of_stream = StreamRule(self.name, n_clients=self.depth)
        return Requests(
            when_ns=when,
            op=self.trace.op[:n],
            offset=offset,
            length=length,
            stream=self.trace.stream[:n],
            cache_draw=Draws(seed, 0).uniform(Kind.CACHE, n) if with_cache_draws else np.zeros(n),
            streams=(rule_of_stream,),
        )

    def scaled(self, load_factor: float) -> TraceWorkload:
        """The trace at `load_factor` times the load: faster, or with more outstanding where the timing is closed."""
        if not load_factor > 0:
            raise DescriptionError(Fault("load_factor", load_factor, "must be more than 0", "write for example 1.5"))
        if self.timing == "closed":
            return replace(self, depth=max(round(self.depth * load_factor), 1))
        before = self.speed_up if self.timing == "scaled" else 1.0
        return replace(self, timing="scaled", speed_up=before * load_factor)

    def with_queue_depth(self, n: int) -> TraceWorkload:
        """The trace with closed timing and `n` requests outstanding."""
        if n < 1:
            raise DescriptionError(Fault("queue_depth", n, "must be at least 1", "write for example 16"))
        return replace(self, timing="closed", depth=n)
