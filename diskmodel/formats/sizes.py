"""Sizes of requests behind means that programs print rounded."""

from __future__ import annotations

import math

_PAGE_BYTES, _SECTOR_BYTES = 4096, 512

#: Relative precision of figures that are printed with three digits.
THREE_DIGITS = 0.01

#: Requests up to which all counts are tried: those of a run of a day with fewer than a hundred a second.
_MOST_COUNTED = 10_000_000


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


def likely_count(total_kib: int, bandwidth_kib: int, iops: int, runtime_ms: int) -> int | None:
    """Return how many requests a program counted that cuts its figures to whole numbers; None where it cannot be.

    Of the counts that fit, one that makes requests of a power of two, else of whole pages, else of whole sectors; of
    several the one whose size is nearest to a page.

    Parameters
    ----------
    total_kib, bandwidth_kib, iops, runtime_ms : int
        Moved in all, KiB and requests per second, length of the run; each cut to a whole number.
    """
    from_bandwidth = total_kib * 1000 / (bandwidth_kib + 1)
    least = math.ceil(iops * max(from_bandwidth, runtime_ms) / 1000)
    # the bandwidth was cut, so that the run was longer than this
    least += from_bandwidth >= runtime_ms and least * 1000 == iops * from_bandwidth
    most = math.ceil((iops + 1) * (runtime_ms + 1) / 1000) - 1
    fitting: list[tuple[int, float, int]] = []
    for n in range(max(least, 1), min(most, _MOST_COUNTED) + 1):
        size = math.ceil(total_kib * 1024 / n / _SECTOR_BYTES) * _SECTOR_BYTES
        if not size or n * size > total_kib * 1024 + 1023:
            continue
        rank = 0 if size & (size - 1) == 0 else 1 if size % _PAGE_BYTES == 0 else 2
        fitting.append((rank, abs(math.log(size / _PAGE_BYTES)), n))
    return min(fitting)[2] if fitting else None
