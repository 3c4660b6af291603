"""What a source does not say, and whether its description is complete without it.

That is decided from the text of the source alone, before anything is simulated: a drive that is far from its prediction
is no less complete than one that is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diskmodel.array import Array
from diskmodel.drive.hdd import Hdd
from diskmodel.workload import Workload

#: What sources leave out, and what that means.
WORDS = {
    "model": "which drive it was",
    "sheet": "the drive is named, but no data sheet was found: another of its class stands for it",
    "span": "how much of the drive the requests are spread over",
    "place": "where on the drive the file lies",
    "cache": "whether the drive's write cache was on",
    "controller": "what lies between host and drives",
    "controller-cache": "how large the cache of a controller was, or how it was set",
    "state": "whether a flash drive had been filled before it was written",
    "written": "whether the blocks that were read had ever been written",
    "members": "how many drives, or which",
    "level": "the RAID level, or its strip where that matters",
    "depth": "how many requests were outstanding",
    "size": "the size of the requests",
    "direct": "whether requests went past the page cache of the host, or how many found their block there",
    "beside": "what else the drive or the host did at the time",
    "host": "the host, its driver and scheduler",
    "reading": "the figure is rough: read off a plot by eye, or called typical",
}
#: What changes little, or nothing that the description has: it does not make one incomplete.
MINOR = ("host", "place")
#: What matters for some loads only.
OF_WRITES = ("cache", "state", "controller-cache")
OF_READS = ("written",)
#: Part of writes (or reads) from which a load has any.
_SOME = 0.01

#: "complete": as the source describes it, the product can; "no sheet": so it would be with a data sheet; "incomplete":
#: something that matters is not said; "held back": the source itself shows that the system does not do what its parts
#: can.
Standing = Literal["complete", "no sheet", "incomplete", "held back"]
STANDINGS: tuple[Standing, ...] = ("complete", "no sheet", "incomplete", "held back")


@dataclass(frozen=True)
class Said:
    """What is known of how figures came about.

    Attributes
    ----------
    not_said : tuple of str
        Of `WORDS`.
    held_back : str
        How the source shows that the system does not do what its parts can; empty where it does not.
    """

    not_said: tuple[str, ...] = ()
    held_back: str = ""

    def __post_init__(self) -> None:
        unknown = set(self.not_said) - set(WORDS)
        if unknown:
            raise ValueError(f"not_said: {', '.join(sorted(unknown))}: one of {', '.join(WORDS)}")

    def missing(self, array: Array, workload: Workload) -> tuple[str, ...]:
        """Return what is not said and matters for a load."""
        return tuple(word for word in self.not_said if word not in MINOR and _matters(word, array, workload))

    def standing(self, array: Array, workload: Workload) -> Standing:
        """Return whether the description of a load is complete."""
        if self.held_back:
            return "held back"
        missing = self.missing(array, workload)
        if missing == ("sheet",):
            return "no sheet"
        return "incomplete" if missing else "complete"


def _matters(word: str, array: Array, workload: Workload) -> bool:
    ratios = [float(stream.read_ratio) for stream in workload.streams]
    is_written, is_read = any(r < 1 - _SOME for r in ratios), any(r > _SOME for r in ratios)
    is_disk = isinstance(array.drive, Hdd)
    if word in OF_WRITES:
        return is_written and {"cache": is_disk, "state": not is_disk}.get(word, True)
    if word in OF_READS:
        return is_read and not is_disk
    return True
