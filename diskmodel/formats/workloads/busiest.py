"""The mix of the busiest samples of a recording, where it is another than that of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats.device_load import DeviceLoad
from diskmodel.loading import dataclass
from diskmodel.units import in_digits

# The busiest samples are worth a warning where the share of reads differs from that of all samples by as much as makes
# a tenth more back-end operations on RAID 5 (a write costs 4), or their requests are much longer.
_OTHER_SHARE = 0.05
_LONGER_REQUESTS = 1.5


@dataclass(frozen=True)
class _OtherMix:
    """The mix of the busiest samples, where it is another than that of all.

    Attributes
    ----------
    n : int
        The busiest samples.
    share, all_share : float
        Of reads.
    size, all_size : float
        Mean bytes of a request.
    """

    n: int
    share: float
    size: float
    all_share: float
    all_size: float

    @property
    def is_harder(self) -> bool:
        """Whether nothing about it is easier than about all: neither fewer writes nor much shorter requests."""
        return self.share < self.all_share + _OTHER_SHARE and self.size * _LONGER_REQUESTS > self.all_size

    def in_words(self, *, is_taken: bool) -> str:
        """Return what differs, and which mix the workload has."""
        where = f"the {self.n:,} samples" if self.n > 1 else "the sample"
        own = f"{self.share:.0%} are reads and the mean size is {in_digits(self.size / 1024)} KiB"
        whole = f"{self.all_share:.0%} and {in_digits(self.all_size / 1024)} KiB"
        if is_taken:
            said = f"which the workload has, because it is harder than that of all samples, {whole}"
        else:
            said = (
                f"the workload has those of all samples, {whole}: to plan for the busiest time, cut the recording to it"
            )
        joint = "," if is_taken else ";"
        return f"in {where} with at least this load {own}{joint} {said}".replace("%", " %")


def other_mix(
    loads: Sequence[DeviceLoad], is_busiest: NDArray[np.bool_], is_known: NDArray[np.bool_]
) -> _OtherMix | None:
    """Return the mix of the samples that the rates come from, where it is another than that of all, or longer."""

    def total(name: str, chosen: NDArray[np.bool_]) -> float:
        return float(sum(np.nansum(getattr(load, name)[is_known][chosen]) for load in loads))

    def mix(chosen: NDArray[np.bool_]) -> tuple[float, float]:
        reads, writes = total("reads_per_s", chosen), total("writes_per_s", chosen)
        n_bytes = total("read_bytes_per_s", chosen) + total("write_bytes_per_s", chosen)
        if reads + writes <= 0:  # of bytes, where requests are not counted apart
            reads, writes = total("read_bytes_per_s", chosen), total("write_bytes_per_s", chosen)
        return reads / (reads + writes) if reads + writes > 0 else 0.0, n_bytes / total("ios_per_s", chosen)

    (share, size), (all_share, all_size) = mix(is_busiest), mix(np.ones_like(is_busiest))
    if abs(share - all_share) < _OTHER_SHARE and not size > _LONGER_REQUESTS * all_size:
        return None
    return _OtherMix(int(np.count_nonzero(is_busiest)), share, size, all_share, all_size)
