"""A workload: streams that mix on one array."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from diskmodel.description import Description, Reader, facts_html
from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Requests
from diskmodel.result.statistics import enough_cycles
from diskmodel.units import Bytes, Ratio
from diskmodel.workload.addresses import Sequential, begins_apart, is_near
from diskmodel.workload.arrivals import Closed, Poisson
from diskmodel.workload.blocks import Blocks
from diskmodel.workload.course import LONG_NS, MAX_COURSE
from diskmodel.workload.fitted import Fitted
from diskmodel.workload.generate import check, generate, rules_of
from diskmodel.workload.past import Past, past
from diskmodel.workload.space import Space
from diskmodel.workload.stream import Stream, check_one_form, places_by_unit

_OWN_KEYS = ("name", "fitted")
#: Mean size of requests from which their rate is also given in MB/s: at half of it databases' pages would be.
LARGE_BYTES = 64 * 1024


class Workload(Description):
    """What hosts ask of an array: one stream or several that mix (OLTP, log and backup, say).

    Attributes
    ----------
    name : str
    span_bytes, span_ratio : optional
        Part of the array, from its front, that streams without a span of their own use; default: all of it.
    streams : tuple of Stream
        A file with a single stream may give that stream's fields at the top level.
    fitted : Fitted or None
        The trace that the workload was fitted to, and what it loses in latency. Changes nothing in a run.

    Examples
    --------
    >>> workload = Workload.parse({"name": "oltp", "size": "8 KiB", "read_ratio": 0.7, "clients": 4})
    >>> requests = workload.requests(capacity_bytes=10**9, n=1000, seed=1)
    >>> len(requests), int(requests.length.max())
    (1000, 8192)
    """

    file_kind: ClassVar[str] = "workload"

    name: str = Field(default="workload", max_length=120)
    span_bytes: Bytes | None = None
    span_ratio: Ratio | None = None
    streams: tuple[Stream, ...] = Field(max_length=10_000)
    fitted: Fitted | None = None

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which streams read a field."""
        without = Reader("streams without a span of their own", _has_stream_without_span)
        return {"span_bytes": without, "span_ratio": without}

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield the fields that were given and have no effect, also those of its streams."""
        yield from super().unread(whole, path)
        for at, stream in enumerate(self.streams):
            yield from stream.unread(whole, f"{path}streams.{at}.")

    @model_validator(mode="before")
    @classmethod
    def _accept_single_stream(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        data = places_by_unit(data)
        if "streams" in data:
            return data
        own = {key: value for key, value in data.items() if key in _OWN_KEYS}
        return own | {"streams": [{key: value for key, value in data.items() if key not in _OWN_KEYS}]}

    @field_validator("streams")
    @classmethod
    def _named(cls, streams: tuple[Stream, ...]) -> tuple[Stream, ...]:
        if not streams:
            raise ValueError("must have at least one stream; add one")
        named = tuple(
            stream if stream.name else stream.model_copy(update={"name": f"stream{index}"})
            for index, stream in enumerate(streams)
        )
        names = [stream.name for stream in named]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"stream names must differ, and {twice[0]!r} is used twice; rename one of them")
        return named

    @model_validator(mode="after")
    def _volumes_differ_from_streams(self) -> Self:
        for volume, members in self.volumes.items():
            if len(members) > 1 and any(stream.name == volume for stream in self.streams):
                raise ValueError(f"streams: {volume!r} names a stream and a volume of several; rename one of them")
        return self

    @model_validator(mode="after")
    def _share_a_file_system(self) -> Self:
        kinds = sorted({stream.file_system for stream in self.streams} - {"none"})
        if len(kinds) > 1:
            raise ValueError(
                f"streams: one file system fills the array, and they have {' and '.join(kinds)}; keep one of them"
            )
        return self

    @property
    def volumes(self) -> dict[str, tuple[Stream, ...]]:
        """Streams of each volume by its name; streams without a volume are left out."""
        found: dict[str, tuple[Stream, ...]] = {}
        for stream in self.streams:
            if stream.volume is not None:
                found[stream.volume] = (*found.get(stream.volume, ()), stream)
        return found

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        check_one_form(self)
        return self

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str = "") -> Self:
        """Return the workload in `data`; faults of a single stream at the top level are reported without an index.

        Raises
        ------
        DescriptionError
            With every fault: field, value, rule and fix.
        """
        try:
            return super().parse(data, source)
        except DescriptionError as error:
            if "streams" in data:
                raise
            faults = [
                Fault(f.field.removeprefix("streams.0").lstrip(".") or "workload", f.value, f.rule, f.fix)
                for f in error.faults
            ]
            raise DescriptionError(faults, source) from None

    def __repr__(self) -> str:
        return f"<Workload {self.name!r}: {'; '.join(self.in_words())}>"

    def __str__(self) -> str:
        return "\n".join(self.in_words())

    def _repr_html_(self) -> str:
        return facts_html(self.name, self._labelled(""))

    def in_words(self) -> list[str]:
        """Return a line for each stream: "reads: 8 KiB uniform, 100% reads, 500/s"."""
        return [f"{label}{value}" for label, value in self._labelled(": ")]

    def _labelled(self, separator: str) -> list[tuple[str, str]]:
        """Return each stream's name and what it asks for; a single stream goes without its name in text."""
        is_alone = len(self.streams) == 1 and bool(separator)
        return [("" if is_alone else stream.name + separator, stream.in_words()) for stream in self.streams]

    @property
    def is_open(self) -> bool:
        """Whether some stream comes at its own times, so that the array can be overloaded."""
        return any(not stream.is_closed for stream in self.streams)

    @property
    def queue_depth(self) -> int:
        """Outstanding requests of all closed streams together, at most; 0 without closed streams."""
        return sum(stream.arrival.clients for stream in self.streams if isinstance(stream.arrival, Closed))

    @property
    def offered_rate_per_s(self) -> float:
        """Mean rate of all open streams together."""
        return sum(stream.expected_rate_per_s for stream in self.streams if not stream.is_closed)

    @property
    def longest_request_bytes(self) -> int:
        """Length of the longest request."""
        return max(share.size_bytes for stream in self.streams for share in stream.sizes)

    @property
    def longest_random_bytes(self) -> int:
        """Longest request that does not continue the one before it; 0 where all go through their data in order."""
        return max(
            (
                max(share.size_bytes for share in stream.sizes)
                for stream in self.streams
                if stream.kind == "requests" and not isinstance(stream.addresses, Sequential)
            ),
            default=0,
        )

    @property
    def has_reads(self) -> bool:
        """Whether some request reads."""
        return any(stream.read_ratio > 0 for stream in self.streams)

    @property
    def has_writes(self) -> bool:
        """Whether some request writes."""
        return any(stream.write_ratio > 0 for stream in self.streams)

    @property
    def has_syncs(self) -> bool:
        """Whether some stream makes writes safe, so that results report commits."""
        return any(stream.has_syncs for stream in self.streams)

    @property
    def is_a_log(self) -> bool:
        """Whether all that it has are commits to logs."""
        return all(stream.kind == "commits" for stream in self.streams)

    @property
    def commits_per_s(self) -> float:
        """Mean rate of commits of all open streams together."""
        return sum(stream.expected_rate_per_s * stream.commits_ratio for stream in self.streams if not stream.is_closed)

    @property
    def mean_size_bytes(self) -> float:
        """Mean request size, each stream by its share of the requests."""
        total = sum(stream.row_weight for stream in self.streams)
        return sum(stream.row_weight * stream.mean_size_bytes for stream in self.streams) / total

    @property
    def mean_written_bytes(self) -> float:
        """Bytes that a request writes on average."""
        written = sum(stream.row_weight * stream.write_ratio * stream.mean_size_bytes for stream in self.streams)
        return written / sum(stream.row_weight for stream in self.streams)

    @property
    def goes_on(self) -> bool:
        """Whether a request may begin where the last one ended, more often than anywhere else in a large region."""
        return any(stream.goes_on for stream in self.streams)

    @property
    def is_in_bytes(self) -> bool:
        """Whether people ask of it in MB/s: its requests are of 64 KiB and more on average."""
        return self.mean_size_bytes >= LARGE_BYTES

    @property
    def is_recorded(self) -> bool:
        """Whether some stream has excerpts of a trace."""
        return any(stream.excerpts is not None for stream in self.streams)

    @property
    def n_cycle(self) -> int:
        """Rows after which a run has seen every part of the load; 0 where all parts are alike, or a run is too short.

        All phases of streams with excerpts of a trace, and enough sequential runs and sorted batches. Rates that change
        are seen by `StreamRule.cycle_requests`.
        """
        rates = [stream.row_weight for stream in self.streams]
        pairs = [(stream, sum(rates) / rate) for stream, rate in zip(self.streams, rates, strict=True)]
        cycles = [len(stream.excerpts.cycle.op) * times for stream, times in pairs if stream.excerpts is not None]
        sweeps = [stream.addresses.n_course * times for stream, times in pairs]
        return math.ceil(max([*cycles, *(rows for rows in sweeps if rows <= MAX_COURSE)], default=0))

    def at_peak(self, max_requests: int = MAX_COURSE) -> Workload:
        """The workload with streams at their busiest for good, where that lasts a minute or a run is too short.

        Too short is one of `max_requests` that does not see enough cycles of the load (rule Z11).

        A run takes some minutes of simulated time, and a rate that changes over the day would stay at that of midnight
        (rule W10). Streams that are busiest at different times are at their peaks together.
        """
        found = self
        while True:
            cycles = [enough_cycles(rule.cycle_requests) for rule in rules_of(found.streams)]
            streams = [
                stream.model_copy(update={"arrival": stream.arrival.at_peak()})
                if stream.arrival.peak_ns >= LONG_NS or rows > max_requests
                else stream
                for stream, rows in zip(found.streams, cycles, strict=True)
            ]
            if all(stream.arrival == old.arrival for stream, old in zip(streams, found.streams, strict=True)):
                return found
            found = found._with_streams(streams)

    def at_mean(self, n_requests: int) -> Workload:
        """The workload with streams at their mean rates for good, of which `n_requests` see less than two cycles."""
        streams = (
            stream.model_copy(update={"arrival": Poisson(rate_per_s=stream.expected_rate_per_s)})
            if 2 * rule.cycle_requests > n_requests and rule.cycle_requests
            else stream
            for stream, rule in zip(self.streams, rules_of(self.streams), strict=True)
        )
        return self._with_streams(streams)

    def peaks(self, max_requests: int = MAX_COURSE) -> dict[str, tuple[float, float]]:
        """Mean and highest rate per second of the streams that `at_peak` changes, by name."""
        pairs = zip(self.streams, self.at_peak(max_requests).streams, strict=True)
        return {
            mean.name: (mean.expected_rate_per_s, peak.expected_rate_per_s)
            for mean, peak in pairs
            if mean.arrival != peak.arrival
        }

    def requests(
        self, *, capacity_bytes: int, n: int, seed: int = 0, with_cache_draws: bool = True, n_before: int = 0
    ) -> Requests:
        """The first `n` requests on an array of `capacity_bytes`, everything random drawn from `seed`.

        A larger `n` extends the rows of a smaller one. Streams share the rows in proportion to their expected rates
        (or weights). Columns with one value for all rows may be read-only. Without cache draws every draw for a hit is
        0: only where no cache is described by its hit ratio. Where `n_before` requests came before, streams that go
        through their regions in order go on from there (rule Z2).

        Raises
        ------
        DescriptionError
            When a region does not fit the array, or `n` or `seed` is out of range.
        """
        return generate(
            self.streams,
            self._span(capacity_bytes),
            capacity_bytes,
            n,
            seed,
            with_cache_draws=with_cache_draws,
            n_before=n_before,
        )

    def blocks(self, *, capacity_bytes: int, n: int, seed: int = 0, n_before: int = 0) -> Blocks:
        """The requests of `requests`, drawn in blocks when a run needs them.

        Raises
        ------
        DescriptionError
            As `requests`.
        """
        return Blocks(self.streams, self._span(capacity_bytes), capacity_bytes, n, seed, n_before=n_before)

    def past(
        self,
        *,
        capacity_bytes: int,
        n: int,
        seed: int = 0,
        n_before: int = 0,
        streams: Sequence[Stream] | None = None,
    ) -> Past:
        """`n` requests that may have come before those of `requests`, the latest last (rule Z2).

        They are of the given `streams` of this workload, or of all. The draws are independent of those of the run.
        Streams that go through their regions in order arrive at the places of their first rows after `n_before`
        requests; where it is below `n`, they come from the regions' ends.
        """
        chosen = self.streams if streams is None else tuple(streams)
        return past(chosen, self._span(capacity_bytes), capacity_bytes, n, seed, n_before)

    def scaled(self, load_factor: float) -> Workload:
        """The workload at `load_factor` times the load: rates of open streams, clients of closed ones (rounded)."""
        if not load_factor > 0:
            raise DescriptionError(Fault("load_factor", load_factor, "must be more than 0", "write for example 1.5"))
        return self._with_streams(
            stream.model_copy(update={"arrival": stream.arrival.scaled(load_factor)}) for stream in self.streams
        )

    def scaled_each(self, load_factors: Sequence[float]) -> Workload:
        """The workload with each stream at its own multiple of the load, as `scaled`."""
        return self._with_streams(
            stream.model_copy(update={"arrival": stream.arrival.scaled(factor)}) if factor != 1 else stream
            for stream, factor in zip(self.streams, load_factors, strict=True)
        )

    def at_the_end(self, capacity_bytes: int, n: int) -> Workload:
        """The workload with streams that go through their regions in order near the ends of these (rule W9).

        There a disk transfers least. A run of `n` requests of such a stream sees a small part of its region, and
        without this the outermost one. Streams that state where they begin stay.
        """
        rates = [stream.row_weight for stream in self.streams]
        at_the_end = self._with_streams(
            stream.at_the_end(self.space(stream, capacity_bytes), math.ceil(n * rate / sum(rates)))
            for stream, rate in zip(self.streams, rates, strict=True)
        )
        moved = [after is not before for before, after in zip(self.streams, at_the_end.streams, strict=True)]
        return at_the_end._begun_apart(capacity_bytes, moved)

    def apart(self, capacity_bytes: int) -> Workload:
        """The workload with streams in order that would begin where others do begun elsewhere (rule W9)."""
        return self._begun_apart(capacity_bytes, [stream.begins_at_the_front for stream in self.streams])

    def begins_near(self, place: float, capacity_bytes: int) -> list[str]:
        """Names of the streams that begin to go in order at a place of an array, as a share of it."""
        return [
            stream.name
            for stream in self.streams
            if is_near(stream.own_addresses, self.space(stream, capacity_bytes), place, capacity_bytes)
        ]

    def _begun_apart(self, capacity_bytes: int, are_free: Sequence[bool]) -> Workload:
        spaces = [self.space(stream, capacity_bytes) for stream in self.streams]
        later = begins_apart([stream.own_addresses for stream in self.streams], spaces, are_free)
        if not any(later):
            return self
        # whatever came before, all of them begin where they are said to
        return self._with_streams(
            stream.begun_later(ratio) if is_free else stream
            for stream, ratio, is_free in zip(self.streams, later, are_free, strict=True)
        )

    def with_queue_depth(self, n: int) -> Workload:
        """The workload with `n` requests outstanding in its closed streams together, divided as before.

        Raises
        ------
        DescriptionError
            When no stream is closed, or `n` is less than the number of closed streams.
        """
        closed = [stream.arrival for stream in self.streams if isinstance(stream.arrival, Closed)]
        if not closed:
            raise DescriptionError(
                Fault("queue_depth", n, "the workload has no closed stream", "give a stream clients instead of a rate")
            )
        if n < len(closed):
            raise DescriptionError(
                Fault("queue_depth", n, f"must be at least 1 for each of {len(closed)} closed streams", "raise it")
            )
        shares = iter(_divide(n, [arrival.clients for arrival in closed]))
        return self._with_streams(
            stream.model_copy(update={"arrival": stream.arrival.with_clients(next(shares))})
            if isinstance(stream.arrival, Closed)
            else stream
            for stream in self.streams
        )

    def _with_streams(self, streams: Any) -> Workload:
        return self.model_copy(update={"streams": tuple(streams)})

    def check_fits(self, capacity_bytes: int) -> None:
        """All streams fit an array of `capacity_bytes`; DescriptionError with every region that does not."""
        check(self.streams, self._span(capacity_bytes), capacity_bytes, 0, 0)

    def space(self, stream: Stream, capacity_bytes: int) -> Space:
        """Places of one of the streams on an array of `capacity_bytes`."""
        return stream.space(capacity_bytes, self._span(capacity_bytes))

    def _span(self, capacity_bytes: int) -> int | None:
        if self.span_bytes is not None:
            return self.span_bytes
        return None if self.span_ratio is None else int(capacity_bytes * self.span_ratio)


def _divide(total: int, weights: list[int]) -> list[int]:
    """`total` in whole parts of at least 1, as near to the proportions of `weights` as rounding allows."""
    spare = total - len(weights)
    exact = [spare * weight / sum(weights) for weight in weights]
    parts = [int(part) for part in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (parts[i] - exact[i], i))
    for index in by_remainder[: spare - sum(parts)]:
        parts[index] += 1
    return [part + 1 for part in parts]


def _has_stream_without_span(workload: Any) -> bool:
    return any(stream.span_bytes is None and stream.span_ratio is None for stream in workload.streams)
