"""Linux's write-back throttling above one disk, as plain state (rule Q10).

Linux limits the writes in flight at a disk by how long its reads take. Direct writes of applications are
exempt. Flushes are not, nor are writes of files through the page cache, nor those that md's mirrors and parity send to
their members, which have lost the mark that exempts them.
"""

from __future__ import annotations

from math import isqrt

from diskmodel.records import READ

#: Length of an observation window, and the longest time that the fastest read of a window may take on a rotating disk.
WINDOW_NS = 100_000_000
TARGET_NS = 75_000_000

#: Writes allowed at step 0, and the fewest completed writes that make a window count.
DEFAULT_DEPTH = 16
MIN_WRITES = 3

#: Windows without writes after which the limit returns toward step 0.
IDLE_WINDOWS = 5


class WriteThrottle:
    """Limits the writes in flight at one disk.

    Attributes
    ----------
    most : int
        Capacity of the disk's block queue in requests; the limit never exceeds three quarters of it.
    has_cache : bool
        The disk has a cache that holds writes: those that wait are woken only when no write is in flight.
    step : int
        How far the limit is scaled down (positive) or up.
    limit : int
        Writes allowed at once.
    n_writes : int
        Writes in flight at the disk.

    References
    ----------
    Linux kernel 6.1, block/blk-wbt.c and `rq_depth_calc_max_depth` of block/blk-rq-qos.c.
    """

    def __init__(self, most: int, *, has_cache: bool = False) -> None:
        self.most = most
        self.has_cache = has_cache
        self.step = self.limit = self.n_writes = self.n_idle_windows = 0
        self.is_open = self.is_highest = False
        #: The read that is timed while it is in flight: its number, and when it was dispatched.
        self.watched: tuple[int, int] | None = None
        self._scale(0)
        self.window_ns = WINDOW_NS
        self._forget()

    def _forget(self) -> None:
        self.fastest_read_ns: int | None = None
        self.n_writes_done = 0

    def _scale(self, step: int) -> None:
        self.step, self.n_idle_windows = step, 0
        depth = min(DEFAULT_DEPTH, self.most)
        self.is_highest = False
        if self.step > 0:
            depth = 1 + ((depth - 1) >> min(31, self.step))
        elif self.step < 0:
            highest = 3 * self.most // 4
            depth = 1 + ((depth - 1) << -self.step)
            self.is_highest = depth > highest
            depth = min(depth, highest)
        self.limit = depth

    def open_window(self) -> int:
        """Begin a window and return its length in ns. Windows are shorter the further the limit is scaled down."""
        self.window_ns = WINDOW_NS if self.step <= 0 else 16 * WINDOW_NS // isqrt((self.step + 1) << 8)
        self.is_open = True
        self._forget()
        return self.window_ns

    def close_window(self, now_ns: int) -> bool:
        """Judge the window that ends now, scale the limit, and return whether another window follows."""
        self.is_open = False
        if self._is_too_slow(now_ns):
            if self.limit > 1:
                self._scale(0 if self.step < 0 else self.step + 1)
        elif self.n_writes_done or self.n_writes:
            if not self.is_highest:
                self._scale(self.step - 1)
        else:
            self.n_idle_windows += 1
            if self.n_idle_windows >= IDLE_WINDOWS and self.step:
                self._scale(self.step + (1 if self.step < 0 else -1))
        return bool(self.step or self.n_writes)

    def _is_too_slow(self, now_ns: int) -> bool:
        waited_ns = 0 if self.watched is None else now_ns - self.watched[1]
        if waited_ns > self.window_ns or (waited_ns > TARGET_NS and self.fastest_read_ns is None):
            return True
        fastest = self.fastest_read_ns
        return fastest is not None and self.n_writes_done >= MIN_WRITES and fastest > TARGET_NS

    def issued(self, seq: int, op: int, now_ns: int) -> None:
        """Account for a command that is dispatched: a write takes a place, a read may become the timed one."""
        if op != READ:
            self.n_writes += 1
        elif self.watched is None:
            self.watched = (seq, now_ns)

    def exempt_completed(self) -> None:
        """Account for a completed write that took no place: a window counts it all the same."""
        self.n_writes_done += self.is_open

    def completed(self, seq: int, op: int, response_ns: int) -> bool:
        """Account for a completed command and return whether waiting writes are woken.

        They are woken when the writes have fallen well below half the limit, not one by one.
        """
        if op == READ:
            if self.watched is not None and self.watched[0] == seq:
                self.watched = None
            if self.is_open and (self.fastest_read_ns is None or response_ns < self.fastest_read_ns):
                self.fastest_read_ns = response_ns
            return False
        self.n_writes_done += self.is_open
        return self.left()

    def left(self) -> bool:
        """Free a place, and return whether those that wait are woken. A flush does so, and is no timed write."""
        self.n_writes -= 1
        if not self.n_writes:
            return True
        if self.has_cache:
            return False
        if self.limit <= 2:
            low, gap = self.limit, 0
        else:
            low, gap = (self.limit + 1) // 2, (self.limit + 3) // 4 // 2
        return self.n_writes < low and low - self.n_writes >= gap
