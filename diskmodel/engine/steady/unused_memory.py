"""Memory that the C library keeps for later goes back to the system, where it is much.

Each thread has memory of its own, and of what a run or a sort has used the library returns little by itself.
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
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
_RESIDENT = Path("/proc/self/statm")
_last_s = 0.0


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
