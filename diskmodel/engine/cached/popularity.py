"""How often each unit of a volume is asked for under a workload."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.records import WRITE, Int64
from diskmodel.workload import HotSpot, Sequential, Space, Stream, Uniform, Workload, Zipf, Zoned

Floats = NDArray[np.float64]
#: Rows of the past from which places are sampled, and from which they are counted where no formula gives them.
_SAMPLE, _COUNTED = 1 << 15, 1 << 20


@singledispatch
def density(addresses: object, at: Int64, space: Space) -> Floats | None:
    """Return how often bytes are asked for, relative to the mean of their region; None where no formula gives it."""
    return None


@density.register
def _(addresses: Uniform, at: Int64, space: Space) -> Floats:
    return np.ones(len(at))


@density.register
def _(addresses: Sequential, at: Int64, space: Space) -> Floats:
    return np.ones(len(at))


@density.register
def _(addresses: Zipf, at: Int64, space: Space) -> Floats:
    return addresses.density(at, space)


@density.register
def _(addresses: HotSpot, at: Int64, space: Space) -> Floats:
    place = at / max(space.span_bytes, 1)
    is_hot = (place >= addresses.start_ratio) & (place < addresses.start_ratio + addresses.space_ratio)
    hot = addresses.access_ratio / addresses.space_ratio
    return np.where(is_hot, hot, (1 - addresses.access_ratio) / (1 - addresses.space_ratio))


@density.register
def _(addresses: Zoned, at: Int64, space: Space) -> Floats:
    edges = np.cumsum([zone.space_ratio for zone in addresses.zones])
    each = np.array([zone.access_ratio / zone.space_ratio if zone.space_ratio else 0.0 for zone in addresses.zones])
    found = np.searchsorted(edges, at / max(space.span_bytes, 1), side="right")
    return np.where(found < len(each), each[np.minimum(found, len(each) - 1)], 0.0)


@dataclass(frozen=True)
class _Part:
    """A stream's share of the requests, with the rate of a unit of mean density in its region."""

    stream: Stream
    space: Space
    unit_rate: float


class Popularity:
    """Rates of reads and writes of each unit, in uses for each request of the workload.

    Parameters
    ----------
    workload : Workload
    capacity_bytes : int
    unit_bytes : int
    seed : int
    is_seen : callable
        Whether a stream's reads, and whether its writes, come to the cache and do not pass by.
    """

    def __init__(
        self,
        workload: Workload,
        capacity_bytes: int,
        unit_bytes: int,
        seed: int,
        is_seen: Callable[[Stream], tuple[bool, bool]],
    ) -> None:
        self.unit_bytes = unit_bytes
        total = sum(stream.row_weight for stream in workload.streams)
        self._parts: list[tuple[_Part, float, float]] = []
        self._counted = False
        for stream in workload.streams:
            if stream.kind == "flushes":
                continue
            reads, writes = is_seen(stream)
            space = workload.space(stream, capacity_bytes)
            touched = max(stream.mean_size_bytes, min(unit_bytes, space.span_bytes))
            part = _Part(stream, space, stream.row_weight / total * touched / max(space.span_bytes, unit_bytes))
            self._parts.append((part, stream.read_ratio * reads, stream.write_ratio * writes))
            self._counted |= density(stream.addresses, np.zeros(1, np.int64), space) is None
        past = workload.past(capacity_bytes=capacity_bytes, n=_COUNTED if self._counted else _SAMPLE, seed=seed + 1)
        chosen = past.length > 0
        self.places = past.offset[chosen]
        self.are_written = past.op[chosen] == WRITE
        #: Units that a request uses.
        self.units_per_request = float((-(-past.length[chosen] // unit_bytes)).mean()) if chosen.any() else 1.0
        if self._counted:
            units = self.places // unit_bytes
            self._known, where = np.unique(units, return_inverse=True)
            self._reads = np.bincount(where, ~self.are_written, len(self._known)) / len(units)
            self._writes = np.bincount(where, self.are_written, len(self._known)) / len(units)

    def units_of_a_write(self, most: int) -> float:
        """Return how many units lie side by side that were written one after the other, in the mean, up to `most`."""
        written = [(part.stream, part.stream.row_weight * writes) for part, _, writes in self._parts if writes]
        total = sum(weight for _, weight in written)
        units = (
            most if isinstance(stream.addresses, Sequential) else min(stream.mean_size_bytes / self.unit_bytes, most)
            for stream, _ in written
        )
        return sum(n * weight for n, (_, weight) in zip(units, written, strict=True)) / total if total else 1.0

    def rates(self, offset: Int64) -> tuple[Floats, Floats]:
        """Return the rates of reads and of writes of the units at places, float64, shape (n,)."""
        if self._counted:
            units = offset // self.unit_bytes
            at = np.minimum(np.searchsorted(self._known, units), len(self._known) - 1)
            is_known = self._known[at] == units
            # what was asked for once in a long past is asked for about as often
            rare = 0.5 / len(self.places)
            return np.where(is_known, self._reads[at], rare), np.where(is_known, self._writes[at], rare)
        reads, writes = np.zeros(len(offset)), np.zeros(len(offset))
        for part, read_ratio, write_ratio in self._parts:
            at = offset - part.space.first_byte
            inside = (at >= 0) & (at < part.space.span_bytes)
            found = density(part.stream.addresses, np.clip(at, 0, part.space.span_bytes - 1), part.space)
            assert found is not None
            rate = np.where(inside, part.unit_rate * found, 0.0)
            reads += rate * read_ratio
            writes += rate * write_ratio
        return reads, writes
