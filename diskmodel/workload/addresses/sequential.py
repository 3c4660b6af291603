"""Sequential runs, by one reader or several at once."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from diskmodel.records import Int64
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.course import MAX_COURSE, MIN_DRAWS
from diskmodel.workload.draws import Draws, Kind
from diskmodel.workload.space import Space


class Sequential(AddressPattern):
    """Each request begins where the same reader's last one ended.

    `n_readers` take turns. With `mean_run` a run has a geometrically distributed number of requests with that mean
    (at least 1) and the next run begins at a uniformly random place; without it the readers start at equal distances,
    go through the whole region and begin again from its front. `begin_ratio` is how far they have gone when the run
    begins, as a share of the region.
    """

    title: ClassVar[str] = "sequential runs, by one reader or several"

    pattern: Literal["sequential"] = "sequential"
    mean_run: float | None = Field(default=None, ge=1)
    n_readers: int = Field(default=1, ge=1, le=1 << 20)
    begin_ratio: float | None = Field(default=None, ge=0, lt=1)

    @model_validator(mode="after")
    def _begins_once(self) -> Self:
        if None not in (self.begin_ratio, self.mean_run):
            raise ValueError("begin_ratio: runs of mean_run begin at random places; keep one of them")
        return self

    @property
    def n_together(self) -> int:
        """One request of each reader."""
        return self.n_readers

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        n = len(lengths)
        n_turns = -(-n // self.n_readers)
        alignment = space.alignment_bytes
        step = np.zeros((n_turns, self.n_readers), dtype=np.int64)
        step.reshape(-1)[:n] = -(-lengths // alignment) * alignment
        before = np.cumsum(step, axis=0) - step
        # a region that is a whole number of the largest requests wraps without a torn one at its end
        largest_step = _largest_step(space)
        around = max(space.span_bytes // largest_step * largest_step, alignment)
        if self.mean_run is None:
            first = np.arange(self.n_readers, dtype=np.int64) * (space.n_places // self.n_readers) * alignment
            if self.n_readers > 1:
                first = first // largest_step * largest_step
            read_before = draws.memory.get(Kind.RUN, self.bytes_before(draws.n_before, space))
            place = (first + read_before + before) % around
            draws.memory[Kind.RUN] = read_before + step.sum(axis=0)
        else:
            place = self._runs(step, before, space, draws) % around
        return space.align_down(place.reshape(-1)[:n])

    def bytes_before(self, n_before: int, space: Space) -> int:
        """Bytes that each reader has gone when the run begins, after `n_before` rows or more.

        These are counted as if all had been of the largest size. Where it is said how far they have gone, they have
        been through the region before, as often as the rows take.
        """
        step = _largest_step(space)
        n_begun = int((self.begin_ratio or 0.0) * space.span_bytes / step)
        n_gone = -(-n_before // self.n_readers)
        if self.begin_ratio is None or n_begun >= n_gone:
            return max(n_begun, n_gone) * step
        n_around = max(space.span_bytes // step, 1)
        return (n_begun + -(-(n_gone - n_begun) // n_around) * n_around) * step

    @property
    def n_course(self) -> float:
        """Rows of enough runs at random places; 0 where runs never end."""
        return MIN_DRAWS * (self.mean_run or 0)

    @property
    def is_in_order(self) -> bool:
        """Whether runs never end, or are too long for a simulation to see several, and may begin anywhere."""
        return self.begin_ratio is None and (self.mean_run is None or self.n_course > MAX_COURSE)

    @property
    def goes_through(self) -> bool:
        """Whether runs do not end before the region does."""
        return self.mean_run is None

    def at_the_end(self, n: int, step_bytes: float, space: Space) -> Sequential:
        """Return the readers begun so late that the first one ends the run where the next one began, or the region."""
        if not self.is_in_order:
            return self
        gone_ratio = math.ceil(n / self.n_readers) * step_bytes / space.span_bytes
        return self.model_copy(update={"begin_ratio": max(1 / self.n_readers - gone_ratio, 0.0), "mean_run": None})

    def _runs(self, step: Int64, before: Int64, space: Space, draws: Draws) -> Int64:
        """Places of runs at random places, before they are taken around the region's end; rows are turns."""
        n_turns, shape = len(step), step.shape
        begins = draws.uniform(Kind.RUN, step.size).reshape(shape) * (self.mean_run or 1.0) < 1.0
        jump = space.pick(draws.uniform(Kind.ADDRESS, step.size)).reshape(shape)
        # a run that goes on from the rows before begins at their place, so many bytes back
        earlier_jump, earlier_bytes = draws.memory.get(Kind.RUN, (None, 0))
        if earlier_jump is None:
            begins[:1] = True
            earlier_jump = jump[0] if n_turns else jump
        turn = np.arange(n_turns, dtype=np.int64)[:, None]
        start = np.maximum.accumulate(np.where(begins, turn, -1), axis=0)
        reader = np.arange(self.n_readers)[None, :]
        at = np.maximum(start, 0)
        from_jump = np.where(start < 0, earlier_jump, jump[at, reader])
        run_bytes = np.where(start < 0, earlier_bytes + before, before - before[at, reader])
        if n_turns:
            draws.memory[Kind.RUN] = (from_jump[-1], run_bytes[-1] + step[-1])
        places: Int64 = from_jump + run_bytes
        return places


def _largest_step(space: Space) -> int:
    """Bytes from one of the largest requests to the next."""
    return -(-space.largest_bytes // space.alignment_bytes) * space.alignment_bytes
