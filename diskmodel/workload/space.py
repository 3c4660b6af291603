"""The part of the array that a stream uses, as whole places where a request may start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64


class Space(NamedTuple):
    """Places for requests: `first_byte + k * alignment_bytes` for k in [0, n_places).

    Attributes
    ----------
    first_byte : int
        Start of the region on the array.
    span_bytes : int
        Length of the region; the largest request fits in it.
    alignment_bytes : int
        More than 0; `first_byte` is a multiple of it.
    largest_bytes : int
        Size of the largest request of the stream.
    """

    first_byte: int
    span_bytes: int
    alignment_bytes: int
    largest_bytes: int

    @property
    def n_places(self) -> int:
        """Number of aligned places from which the largest request still ends within the region."""
        return (self.span_bytes - self.largest_bytes) // self.alignment_bytes + 1

    def pick(self, fraction: NDArray[np.float64]) -> Int64:
        """Places (relative bytes) for draws in [0, 1), each place equally likely."""
        return self.at_places((fraction * self.n_places).astype(np.int64))

    def at_places(self, index: Int64) -> Int64:
        """Relative byte of each place; indexes beyond the last are the last."""
        places = np.minimum(index, self.n_places - 1)
        places *= self.alignment_bytes
        return places

    def align_down(self, relative: Int64) -> Int64:
        """Relative bytes moved down to a place."""
        return self.at_places(relative // self.alignment_bytes)
