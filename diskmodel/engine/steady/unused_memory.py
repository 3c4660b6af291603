"""Memory that the C library keeps for later: for the next run, and back to the system where it is much.

Each thread has memory of its own, and of what a run or a sort has used the library returns little by itself, but the
large columns of each run, which the system then has to clear for the next one.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

#: Resident memory from which on, bytes, and the seconds between two times. At half, questions about large caches take a
#: third longer; at double, they take more than 1 GB.
_MUCH_BYTES, _SELDOM_S = 600_000_000, 0.1
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
#: Of GNU's C library; others have none.
_library = ctypes.CDLL(None) if sys.platform == "linux" else None
_trim, _set = (getattr(_library, name, None) for name in ("malloc_trim", "mallopt"))
_RESIDENT = Path("/proc/self/statm")
_last_s = 0.0
#: Of `mallopt`: unused memory at the end of the heap that is kept, what is so large that the system gives it by itself,
#: and the heaps that threads may have; and their values, bytes, for columns of all but the longest runs. At half, those
#: of 100,000 requests are cleared for each run; at double, nothing is quicker.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_KEPT_BYTES, _COLUMN_BYTES = 1 << 28, 1 << 25


def keep_unused_memory() -> None:
    """Let this process use the memory of a run for the next one: for programs that make many, before they make threads.

    Clearing new memory takes a twentieth of a plan's processor time. One heap for all threads, of which the kernel asks
    for little meanwhile, takes less than one for each.
    """
    if _set is not None:
        for parameter, value in ((_TRIM_THRESHOLD, _KEPT_BYTES), (_MMAP_THRESHOLD, _COLUMN_BYTES), (_ARENA_MAX, 1)):
            _set(parameter, value)


def give_back_memory() -> None:
    """Return memory that is not used to the system, if this process has much and the C library can."""
    global _last_s
    now_s = time.monotonic()
    if _trim is None or now_s - _last_s < _SELDOM_S:
        return
    _last_s = now_s
    if _resident_bytes() > _MUCH_BYTES:
        _trim(0)


def _resident_bytes() -> int:
    try:
        return int(_RESIDENT.read_text().split()[1]) * _PAGE_BYTES
    except OSError:  # a system without it
        return 0
