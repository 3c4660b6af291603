"""Array types and the two small formulas that every fit uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Complexes = NDArray[np.complex128]

#: Converts the median absolute deviation of normally distributed values to their standard deviation (1 / Φ⁻¹(3/4)).
MAD_TO_SIGMA = 1.4826


def wrapped(turns: Floats) -> Floats:
    """Return angles in turns reduced to [-0.5, 0.5)."""
    return np.asarray(np.mod(turns + 0.5, 1.0) - 0.5)
