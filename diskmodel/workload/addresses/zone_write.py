"""Writes at the write pointers of open zones, as hosts write host-managed shingled drives (rule N4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from diskmodel.records import Int64, Op
from diskmodel.units import Bytes
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Float64, Kind
from diskmodel.workload.space import Space

#: Steps through the zones of a writer, as a share of their number: the golden ratio spreads any number of them evenly.
_STEP = 0.618034


@dataclass
class _Writers:
    """Where the writers of the open zones are.

    Attributes
    ----------
    fill : int64, shape (n_open,)
        Zones that each has filled since the run began; negative before.
    at_bytes : int64, shape (n_open,)
        How far its zone is written.
    """

    fill: Int64
    at_bytes: Int64


class ZoneWrite(AddressPattern):
    """Each write continues one of the open zones, chosen at random; reads go anywhere.

    A zone is `zone_bytes` long and begins at a multiple of that on the array. `n_open` zones are open, or all of the
    region if it has fewer. Each is written from its beginning on. A write that does not fit into the rest of its zone
    is the first one of another zone, whose data is given up. The region's zones are dealt out to the open ones in turn,
    and each of these goes through its own in steps of about 0.62 of their number. Where it is when a run begins is
    drawn. Zones that are not open count as written, so that reads find data.
    """

    title: ClassVar[str] = "writes at the write pointers of open zones"
    example: ClassVar[Mapping[str, object]] = {"n_open": 3, "zone": "1 MiB"}

    pattern: Literal["zone_write"] = "zone_write"
    n_open: int = Field(default=128, ge=1, le=1 << 20)
    zone_bytes: Bytes = 256 << 20

    @field_validator("zone_bytes")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value == 0:
            raise ValueError('must be more than 0; write for example "256 MiB"')
        return value

    def misfit(self, space: Space) -> str:
        """Return why a region cannot be written in zones; "" where it can."""
        if _step_bytes(np.int64(space.largest_bytes), space) > self.zone_bytes:
            return f"a request of {space.largest_bytes:,} bytes does not fit into a zone of {self.zone_bytes:,}"
        if self.zone_bytes % space.alignment_bytes or space.first_byte % space.alignment_bytes:
            return f"zones of {self.zone_bytes:,} bytes do not begin at multiples of {space.alignment_bytes:,} bytes"
        if not self.n_zones(space):
            return f"the region has no whole zone of {self.zone_bytes:,} bytes, which begin at multiples of that"
        return ""

    def first_zone(self, space: Space) -> int:
        """Return the number of the first zone that lies in the region."""
        return -(-space.first_byte // self.zone_bytes)

    def n_zones(self, space: Space) -> int:
        """Return how many whole zones lie in the region."""
        return max((space.first_byte + space.span_bytes) // self.zone_bytes - self.first_zone(space), 0)

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        n, n_open = len(lengths), min(self.n_open, self.n_zones(space))
        assert draws.ops is not None
        begun, first = draws.of_the_run(Kind.RUN, 2 * n_open).reshape(2, -1)
        state = draws.memory.get(Kind.RUN)
        if state is None:
            n_places = self.zone_bytes // space.alignment_bytes
            state = _Writers(np.zeros(n_open, np.int64), (begun * n_places).astype(np.int64) * space.alignment_bytes)
            draws.memory[Kind.RUN] = state
        rows = np.flatnonzero(draws.ops == Op.WRITE)
        places = space.pick(draws.uniform(Kind.ADDRESS, n))
        writer = (draws.uniform(Kind.REGION, n)[rows] * n_open).astype(np.int64)
        # the past ends where the run begins: it is written backwards
        is_past = draws.first_row < 0
        if is_past:
            rows, writer = rows[::-1], writer[::-1]
        fill, at_bytes = self._write(state, writer, _step_bytes(lengths[rows], space), backwards=is_past)
        zone = self.first_zone(space) + self._zone(writer, fill, first, space)
        places[rows] = zone * self.zone_bytes + at_bytes - space.first_byte
        return places

    def _write(self, state: _Writers, writer: Int64, steps: Int64, *, backwards: bool) -> tuple[Int64, Int64]:
        """Return the fill and the place in its zone of each write, and move the writers on (or back)."""
        fill, at_bytes = np.empty_like(steps), np.empty_like(steps)
        order = np.argsort(writer, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(writer[order])) + 1) if len(order) else ():
            who = writer[rows[0]]
            ends = np.cumsum(steps[rows])
            begin, filled, at = 0, int(state.fill[who]), int(state.at_bytes[who])
            while begin < len(rows):
                gone = ends[begin - 1] if begin else 0
                room = at if backwards else self.zone_bytes - at
                end = int(np.searchsorted(ends, gone + room, side="right"))
                some = slice(begin, end)
                if backwards:
                    at_bytes[rows[some]] = at - (ends[some] - gone)
                else:
                    at_bytes[rows[some]] = at + (ends[some] - steps[rows[some]] - gone)
                fill[rows[some]] = filled
                if end == len(rows):
                    moved = int(ends[-1] - gone)
                    at += -moved if backwards else moved
                else:
                    filled, at = (filled - 1, self.zone_bytes) if backwards else (filled + 1, 0)
                begin = end
            state.fill[who], state.at_bytes[who] = filled, at
        return fill, at_bytes

    def _zone(self, writer: Int64, fill: Int64, first: Float64, space: Space) -> Int64:
        """Return the zone, counted from the region's first one, of each writer's fills; `first` is where each began."""
        n_open = len(first)
        n_own = (self.n_zones(space) - 1 - np.arange(n_open, dtype=np.int64)) // n_open + 1
        fewest, most = int(n_own[-1]), int(n_own[0])
        step = np.array([_coprime(n) for n in range(fewest, most + 1)], np.int64)
        own = n_own[writer]
        turn = (first * n_own).astype(np.int64)[writer] + fill % own * step[own - fewest]
        zone: Int64 = writer + turn % own * n_open
        return zone


def _step_bytes(lengths: Any, space: Space) -> Any:
    """Return how far a write of each length moves the write pointer: the next one is aligned."""
    return -(-lengths // space.alignment_bytes) * space.alignment_bytes


def _coprime(n: int) -> int:
    """Return a number near `_STEP` of `n` that has no divisor in common with it."""
    step = max(round(n * _STEP), 1)
    while np.gcd(step, n) > 1:
        step += 1
    return step
