"""Description of the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskmodel.description import Description, Reader
from diskmodel.host.page_cache import PageCache
from diskmodel.units import Length, Nanoseconds

#: Read-ahead of Linux where nobody sets another one, bytes (`VM_READAHEAD_PAGES`, 128 KiB since 2.4).
READ_AHEAD_BYTES = 128 << 10
#: Hosts that are assumed in front of arrays of flash drives (`diskmodel.host.assumed`).
HostKind = Literal["libaio-2014", "libaio-2020", "tuned-2020"]


class Host(Description):
    """What the operating system does with a request before it reaches the array.

    By default I/O is direct. It takes no time, except in front of arrays of flash drives, where what is None is taken
    to be that of a Linux server (`diskmodel.host.assumed`).

    Attributes
    ----------
    kind : str or None
        Whose processor time requests to an array of flash drives take where `submission_ns` is not given: that of a
        host of 2014 to 2019 ("libaio-2014"), of 2020 to 2025 ("libaio-2020", as unless said), or of one that was tuned
        ("tuned-2020").
    submission_ns : int or None
        Processor time of a request; with the number of processors it limits the rate. 0: none.
    submission_sequential_ns : int or None
        Processor time of a request that continues where the previous one ended; None: the same.
    write_cost_ratio : float
        Processor time of a write relative to that of a read (file times, copies).
    processors : int or None
        Processors that submit requests, each one request at a time: one for each fio job or submitting thread. None:
        one, where `submission_ns` is given.
    lock_ns, write_lock_ns : int or None
        Time for which a request holds what only one can hold, whatever the number of processors: a lock or the single
        thread of Linux md's RAID 5, an interrupt handler; 0: none. None for writes: the same as reads, if those are
        given.
    pause_ns, pause_interval_ns : int
        The processor pauses at random (other programs, interrupts, a hypervisor that deschedules it): mean length of a
        pause, and mean time from the end of one to the beginning of the next, both exponential; 0: never.
    is_buffered : bool
        Whether reads go through the page cache; writes bypass it.
    read_ahead_bytes : int or None
        Largest read-ahead window of a sequential reader (buffered reads only); 0: off, and every read fetches its pages
        one after the other. None: Linux's 128 KiB (`read_ahead_kb`).
    largest_request_bytes : int
        Longest request that the device accepts; the rest of a larger window becomes further requests at the same time.
    page_bytes : int
        Unit of the page cache.
    page_cache : PageCache or None
        Memory that caches reads and buffers writes. None: nothing is cached, and writes go to the array at once.
    """

    #: Whether something of it is assumed.
    is_assumed: ClassVar[bool] = False

    kind: HostKind | None = None
    submission_ns: Nanoseconds | None = None
    submission_sequential_ns: Nanoseconds | None = None
    write_cost_ratio: float = Field(default=1.0, gt=0, le=1000)
    processors: int | None = Field(default=None, ge=1, le=1024)
    lock_ns: Nanoseconds | None = None
    write_lock_ns: Nanoseconds | None = None
    pause_ns: Nanoseconds = 0
    pause_interval_ns: Nanoseconds = 0
    is_buffered: bool = False
    read_ahead_bytes: Length | None = None
    largest_request_bytes: Length = Field(default=512 << 10, gt=0)
    page_bytes: Length = Field(default=4096, ge=512)
    page_cache: PageCache | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.kind and self.submission_ns is not None and not self.is_assumed:
            raise ValueError(f"kind={self.kind}: says what a request takes unless submission_ns does; leave out one")
        if self.read_ahead_bytes and not self.is_buffered:
            raise ValueError("read_ahead_bytes: does not apply to direct I/O; set is_buffered = true, or leave it out")
        if self.page_cache is not None and not self.is_buffered:
            raise ValueError("page_cache: is bypassed by direct I/O; set is_buffered = true, or leave it out")
        if bool(self.pause_ns) != bool(self.pause_interval_ns):
            raise ValueError("pause_ns: needs pause_interval_ns as well; give both or neither")
        if self.pause_ns and ((self.processors or 1) > 1 or self.has_lock):
            raise ValueError(
                "pause_ns: is the pause of a host with one processor and no lock; leave out the pauses, or processors, "
                "lock_ns and write_lock_ns"
            )
        if self.largest_request_bytes % self.page_bytes:
            raise ValueError(f"largest_request_bytes: must be a multiple of page_bytes={self.page_bytes}; round it up")
        return self

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return what else a host needs for a field to be read."""
        buffered = Reader("a host with is_buffered = true", lambda array: array.host.is_buffered)
        working = Reader("a host with processor time (submission)", lambda array: array.host.has_work)
        return {
            "kind": Reader("an array of flash drives", lambda array: array.host.is_assumed),
            "page_bytes": buffered,
            "largest_request_bytes": buffered,
            "processors": Reader(
                "a host with processor time (submission), or a pool with record_work",
                lambda array: array.host.has_work or array.layout.record_work_ns,
            ),
            "write_cost_ratio": working,
            "submission_sequential_ns": Reader(
                "requests that begin where the last one ended", lambda array: array.may_go_on
            ),
        }

    @property
    def has_work(self) -> bool:
        """Whether some request takes processor time."""
        return bool(self.submission_ns or self.submission_sequential_ns)

    @property
    def window_bytes(self) -> int:
        """Largest read-ahead window; 0: none."""
        if self.read_ahead_bytes is None:
            return READ_AHEAD_BYTES if self.is_buffered else 0
        return self.read_ahead_bytes

    @property
    def has_lock(self) -> bool:
        """Whether some request holds a lock."""
        return bool(self.lock_ns or self.write_lock_ns)

    @property
    def is_transparent(self) -> bool:
        """Whether requests reach the controller at once and unchanged."""
        costs = self.submission_ns or self.submission_sequential_ns or self.pause_ns or self.has_lock
        return not (costs or self.is_buffered)
