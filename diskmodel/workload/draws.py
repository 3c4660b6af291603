"""Random numbers of a workload: one independent generator for each stream and kind of draw.

Changing one thing (the size mix, say) leaves every other draw as it was, so that two workloads, or one workload on two
arrays, are compared under common random numbers. A longer workload extends a shorter one: draws are made in the order
of the rows, and nothing depends on how many there are.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diskmodel.workload.excerpts import Excerpts

Float64 = NDArray[np.float64]


class Kind(IntEnum):
    """What a draw is for. The numbers are part of the meaning of a seed: add new ones, never renumber."""

    OP = 0
    SIZE = 1
    ADDRESS = 2
    ARRIVAL = 3
    THINK = 4
    CACHE = 5
    PHASE = 6
    RUN = 7
    REGION = 8
    BURST = 9
    EXCERPT = 10


class Draws:
    """Generators of one stream.

    Parameters
    ----------
    seed : int
        Not negative.
    stream : int
        Index of the stream in its workload.
    excerpts : Excerpts, optional
        Of the stream, for the laws and patterns that draw from them.
    n_before : int
        Rows of the stream before row 0: patterns that go through the region in order go on from there.
    """

    #: Number of the first row that is drawn for, and what patterns have to know of the rows before it.
    first_row = 0
    #: Operations of the rows that are being drawn, for patterns in which reads and writes go to different places.
    ops: NDArray[np.uint8] | None = None

    def __init__(self, seed: int, stream: int, excerpts: Excerpts | None = None, n_before: int = 0) -> None:
        self._seed = seed
        self._stream = stream
        self._excerpts = excerpts
        self.n_before = n_before
        self.memory: dict[Kind, Any] = {}

    @property
    def required_excerpts(self) -> Excerpts:
        """The stream's excerpts, for those who cannot draw without; a description without them is refused before."""
        if self._excerpts is None:
            raise RuntimeError("a stream without excerpts has a law or pattern that draws from them")
        return self._excerpts

    def generator(self, kind: Kind) -> np.random.Generator:
        """Return a fresh generator for one kind of draw; the same one at every call."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(self._stream, int(kind)))
        return np.random.Generator(np.random.PCG64(sequence))

    def of_the_run(self, kind: Kind, n: int) -> Float64:
        """`n` draws from [0, 1) that the run and its past have in common."""
        return Draws.generator(self, kind).random(n)

    def uniform(self, kind: Kind, n: int) -> Float64:
        """`n` draws from [0, 1)."""
        return self.generator(kind).random(n)

    def exponential(self, kind: Kind, n: int) -> Float64:
        """`n` draws with mean 1."""
        return self.generator(kind).standard_exponential(n)


def same(value: Any, n: int) -> NDArray[Any]:
    """A column of `n` times the same value, read-only, in the room of one."""
    return np.broadcast_to(np.asarray(value), (n,))


def running_sum(gaps: Float64, draws: Draws) -> Float64:
    """Replace the gaps between arrivals by their sums from the first row of all, in place, and return them."""
    if len(gaps):
        gaps[0] += draws.memory.get(Kind.ARRIVAL, 0.0)
        np.cumsum(gaps, out=gaps)
        draws.memory[Kind.ARRIVAL] = float(gaps[-1])
    return gaps


class RunningDraws(Draws):
    """Draws that go on where they ended: rows drawn in blocks are those drawn at once.

    Whoever draws a block moves `first_row` on afterwards.
    """

    def __init__(self, seed: int, stream: int, excerpts: Excerpts | None = None, n_before: int = 0) -> None:
        super().__init__(seed, stream, excerpts, n_before)
        self._generators: dict[Kind, np.random.Generator] = {}

    def generator(self, kind: Kind) -> np.random.Generator:
        """The generator of one kind of draw, as far as it has come."""
        if kind not in self._generators:
            self._generators[kind] = super().generator(kind)
        return self._generators[kind]
