"""Counts along an axis of unknown length, in flat memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Bins of a histogram: 8 MiB of counts.
MAX_BINS = 1 << 20


class FoldingCounts:
    """Histogram whose bins double in width whenever a position lies beyond the last possible bin.

    Attributes
    ----------
    width : int
        Width of a bin now.
    """

    def __init__(self, width: int, max_bins: int = MAX_BINS) -> None:
        self.width = width
        self._max_bins = max_bins
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, positions: NDArray[np.int64]) -> None:
        """Count positions; int64, shape (n,), 0 or more."""
        if not len(positions):
            return
        while int(positions.max()) // self.width >= self._max_bins:
            self._fold()
        counts = np.bincount(positions // self.width)
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, (0, len(counts) - len(self._counts)))
        self._counts[: len(counts)] += counts

    def counts(self) -> NDArray[np.int64]:
        """Count of each bin from 0 to the last one that was hit; int64."""
        return self._counts

    def _fold(self) -> None:
        even = np.pad(self._counts, (0, len(self._counts) % 2))
        self._counts = even[0::2] + even[1::2]
        self.width *= 2
