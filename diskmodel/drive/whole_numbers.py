"""Whole numbers of a drive's tables: both engines read them, so that neither evaluates a curve or divides a rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

#: A share of 1, in parts per million.
PPM = 1_000_000


def frozen(values: object) -> Int64:
    """Return `values` as a read-only int64 array."""
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array
