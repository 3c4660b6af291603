"""What Linux md does with an array of hard disks of which nobody says that it is another: Linux's own defaults."""

from __future__ import annotations

from typing import Any

from diskmodel.layout.description import Layout
from diskmodel.layout.md.fields import Bitmap

#: Longest request that a disk's adapter takes, bytes: 168 segments (`AHCI_MAX_SG` in Linux) of a page of 4 KiB. SAS
#: adapters take 128 and more segments. With 512 to 920 KiB a write of 1 MiB becomes as many commands as were counted
#: (docs/explanation/validation-md-raid.md), and its mean latency changes by up to 8 %.
LARGEST_REQUEST_BYTES = 672 << 10
#: Memory of all outstanding requests of a program from which on about half of them lie in huge pages, as was counted:
#: four buffers of 1 MiB. A single buffer of 1 MiB lies in none.
HUGE_MEMORY_BYTES, HUGE_PAGE_RATIO = 4 << 20, 0.5
#: Size of an array from which on `mdadm` makes a write-intent bitmap where it is not asked for one, bytes (100 GB, its
#: manual). That is so up to version 4.3 (`Create.c`: members above 100 GiB); since 4.4 it asks, and makes none unless
#: the answer is yes. So an array of which nobody says who made it has none; answers about writes say the other case.
BITMAP_FROM_BYTES = 100 * 10**9


def long_requests(layout: Layout, *, longest_bytes: int, outstanding_bytes: int) -> dict[str, Any]:
    """Return the fields of a layout that say how Linux md cuts long requests; none where it does not, or has them.

    Parameters
    ----------
    layout : Layout
    longest_bytes : int
        Of the requests.
    outstanding_bytes : int
        Memory of those outstanding at once.

    Examples
    --------
    >>> long_requests(Layout.parse({"level": "raid10", "disks": 4}), longest_bytes=1 << 20, outstanding_bytes=4 << 20)
    {'largest_request_bytes': 688128, 'huge_page_ratio': 0.5}
    >>> long_requests(Layout.parse({"level": "raid0", "disks": 4}), longest_bytes=1 << 20, outstanding_bytes=4 << 20)
    {}
    """
    is_whole = not layout.kind.has_striped_copies or layout.n_copies == layout.disks
    if is_whole or layout.largest_request_bytes is not None or longest_bytes <= LARGEST_REQUEST_BYTES:
        return {}
    found: dict[str, Any] = {"largest_request_bytes": LARGEST_REQUEST_BYTES}
    if outstanding_bytes >= HUGE_MEMORY_BYTES and not layout.huge_page_ratio:
        found["huge_page_ratio"] = HUGE_PAGE_RATIO
    return found


def with_bitmap(layout: Layout, usable_bytes: int) -> dict[str, Any]:
    """Return the fields of a layout with the bitmap that `mdadm` makes; none where it makes none, or one is given.

    Examples
    --------
    >>> with_bitmap(Layout.parse({"level": "raid10", "disks": 4}), 1 << 40)["bitmap"].chunk_bytes
    67108864
    >>> with_bitmap(Layout.parse({"level": "raid0", "disks": 4}), 1 << 40)
    {}
    """
    is_other = layout.consistency_policy is not None or layout.log is not None
    if not layout.kind.is_redundant or layout.bitmap is not None or is_other:
        return {}
    bitmap = Bitmap()
    fits = not layout.kind.has_rows or not bitmap.chunk_bytes % layout.strip_bytes
    return {"bitmap": bitmap} if fits and usable_bytes >= BITMAP_FROM_BYTES else {}


def in_words(described: Layout, simulated: Layout) -> str:
    """Return what was simulated of Linux md beyond the description; "" where that is nothing.

    Examples
    --------
    >>> described = Layout.parse({"level": "raid10", "disks": 4})
    >>> in_words(described, described)
    ''
    """
    if described.largest_request_bytes == simulated.largest_request_bytes:
        return ""
    return (
        "no controller is named, so long requests are cut as Linux md cuts them for mirrors on an HBA that takes "
        f"{LARGEST_REQUEST_BYTES >> 10} KiB, and disks lose revolutions over them; layout.largest_request changes that"
    )
