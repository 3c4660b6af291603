"""Sizes of requests behind means that programs print rounded."""

from __future__ import annotations

import math

_PAGE_BYTES, _SECTOR_BYTES = 4096, 512

#: Relative precision of figures that are printed with three digits.
THREE_DIGITS = 0.01


def whole_size(mean_bytes: float, precision: float = THREE_DIGITS) -> int:
    """Return the roundest size, in bytes, that a mean may stand for: a power of two, whole pages, or whole sectors.

    Parameters
    ----------
    mean_bytes : float
    precision : float
        Relative error that rounding may have caused.
    """
    power = 2 ** max(round(math.log2(max(mean_bytes, 1.0))), 9)
    if abs(mean_bytes / power - 1) < precision:
        return int(power)
    pages = round(mean_bytes / _PAGE_BYTES)
    if pages and abs(mean_bytes / (_PAGE_BYTES * pages) - 1) < precision:
        return _PAGE_BYTES * pages
    return _SECTOR_BYTES * max(round(mean_bytes / _SECTOR_BYTES), 1)
