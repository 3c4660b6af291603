"""Linux page-cache write-back: three regimes by the share of dirty memory."""

from __future__ import annotations

from enum import Enum

from diskmodel.analytic.checks import Checks
from diskmodel.loading import dataclass


class Regime(Enum):
    """Who writes dirty pages back."""

    #: Only pages older than the expiry age are written, at every wake-up of the flusher.
    OLD_PAGES = "old pages only"
    #: The flusher writes while writers go on.
    BACKGROUND = "background"
    #: Writers are blocked and write back themselves.
    BLOCKED = "writers blocked"


@dataclass(frozen=True)
class WritebackThresholds:
    """Thresholds of write-back; the defaults are those of the 2.6 kernels of the field measurements.

    Attributes
    ----------
    dirty_background_ratio, dirty_ratio : float, in [0, 1]
        Shares of memory.
    dirty_expire_s, dirty_writeback_s : float, seconds
        Age at which a page is always written; period of the flusher.
    """

    dirty_background_ratio: float = 0.10
    dirty_ratio: float = 0.40
    dirty_expire_s: float = 30.0
    dirty_writeback_s: float = 5.0

    def regime(self, dirty_share: float) -> Regime:
        """Regime at a share of dirty memory, in [0, 1]; a threshold belongs to the regime above it.

        Examples
        --------
        >>> WritebackThresholds().regime(0.25).value
        'background'
        """
        Checks().ratio(dirty_share=dirty_share).done()
        if dirty_share >= self.dirty_ratio:
            return Regime.BLOCKED
        return Regime.BACKGROUND if dirty_share >= self.dirty_background_ratio else Regime.OLD_PAGES

    def seconds_to_block(self, write_bytes_per_s: float, disk_bytes_per_s: float, memory_bytes: int) -> float | None:
        """Seconds of a steady burst until writers block; None when the disk keeps up.

        Notes
        -----
        Fluid model: memory fills at the write rate up to the background threshold (or at once at the difference of
        the rates when pages expire earlier) and at the difference from there on.
        """
        Checks().positive(
            write_bytes_per_s=write_bytes_per_s, disk_bytes_per_s=disk_bytes_per_s, memory_bytes=memory_bytes
        ).done()
        if write_bytes_per_s <= disk_bytes_per_s:
            return None
        background, limit = self.dirty_background_ratio * memory_bytes, self.dirty_ratio * memory_bytes
        free_s = min(background / write_bytes_per_s, self.dirty_expire_s)
        return free_s + (limit - free_s * write_bytes_per_s) / (write_bytes_per_s - disk_bytes_per_s)
