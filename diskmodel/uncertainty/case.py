"""An array under a load, as the unknowns look at it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.uncertainty.moved import AnyWorkload
from diskmodel.uncertainty.origin import Origin, array_class, class_of, origin_of
from diskmodel.uncertainty.seen import Seen
from diskmodel.uncertainty.spread import Spread, spread_of


@dataclass(frozen=True)
class Case:
    """An array under a load.

    Attributes
    ----------
    array : Array
    workload : Workload or TraceWorkload
    seen : Seen
    as_measured : bool
        Whether the drive counts as if one such drive had been measured.
    """

    array: Array
    workload: AnyWorkload
    seen: Seen
    as_measured: bool = False

    @cached_property
    def origin(self) -> Origin:
        """Where the drive's description comes from."""
        own = origin_of(self.array.drive)
        return "measured" if self.as_measured and own != "exact" else own

    @property
    def is_sheet(self) -> bool:
        """Whether only the drive's class is known."""
        return self.origin == "sheet"

    @cached_property
    def drive_class(self) -> str:
        """The class of the drive, or of drives that were measured or fitted like it."""
        if self.is_sheet:
            return class_of(self.array.drive)
        return f"{self.origin}-{self.array.drive.kind}"

    def spread(self, quantity: str) -> Spread | None:
        """Return the spread of a quantity between drives of this one's class; None where nothing is known."""
        return spread_of(self.drive_class, quantity)

    def remaining(self, statistic: str) -> Spread | None:
        """Return the spread of what is left when all else is known.

        A drive on its own has that of its class, an array of drives known by their sheets that of such arrays, and one
        of measured drives both that of these drives and that of layouts. A profile that predicts held-out evidence
        worse has this error instead of its class's.
        """
        if self.is_sheet:
            return spread_of(array_class(self.array), "model", statistic)
        own = spread_of(self.drive_class, "model", statistic) or Spread()
        log_sd = own.log_sd
        if not self.as_measured:
            log_sd = max(log_sd, _held_out(self.array.drive.provenance, statistic))
        if self.array.layout.disks > 1:
            layout = spread_of("layout", "model", statistic) or Spread()
            log_sd = math.hypot(log_sd, layout.log_sd)
        return Spread(own.median, log_sd, own.dof)

    @property
    def is_hdd(self) -> bool:
        """Whether the drives are hard disks."""
        return isinstance(self.array.drive, Hdd)


def _held_out(provenance: object, statistic: str) -> float:
    """Return the error of a statistic on the evidence that was held out of a calibration, as a logarithm."""
    error = provenance.get("held_out", {}) if isinstance(provenance, dict) else {}
    ratio = error.get("mean_error_ratio") or 0.0
    if statistic == "p99":
        ratio = (error.get("percentile_error_ratios") or {}).get("p99", ratio) or ratio
    return abs(math.log1p(max(float(ratio), -0.9)))
