"""The host as the user writes it."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.host.page_cache import PageCache
from diskmodel.units import Length, Nanoseconds


class Host(Description):
    """What the operating system does with a request before the array sees it. The default is transparent: direct I/O
    that costs nothing.

    Attributes
    ----------
    submission_ns : int
        Processor time of a request, one request after the other (one submitting thread): it bounds the rate.
    is_buffered : bool
        Reads go through the page cache, page by page where nothing reads ahead; writes pass it by.
    read_ahead_bytes : int
        Largest window that is read ahead of a sequential reader (buffered reads only); 0: off.
    largest_request_bytes : int
        Longest request that the device takes; the rest of a larger window becomes further requests at the same time.
    page_bytes : int
        Unit of the page cache.
    page_cache : PageCache or None
        Memory that keeps what was read and takes writes. None: nothing is kept, and writes go to the array at once.
    """

    submission_ns: Nanoseconds = 0
    is_buffered: bool = False
    read_ahead_bytes: Length = 0
    largest_request_bytes: Length = Field(default=512 << 10, gt=0)
    page_bytes: Length = Field(default=4096, ge=512)
    page_cache: PageCache | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.read_ahead_bytes and not self.is_buffered:
            raise ValueError("read_ahead_bytes: direct I/O is not read ahead; set is_buffered = true")
        if self.page_cache is not None and not self.is_buffered:
            raise ValueError("page_cache: direct I/O passes it by; set is_buffered = true or leave it out")
        if self.largest_request_bytes % self.page_bytes:
            raise ValueError(f"largest_request_bytes: must be a multiple of page_bytes={self.page_bytes}; round it")
        return self

    @property
    def is_transparent(self) -> bool:
        """Whether requests reach the controller at once and as they are."""
        return not (self.submission_ns or self.is_buffered)
