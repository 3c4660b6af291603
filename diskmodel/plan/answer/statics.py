"""Figures of an array that need no simulation of requests."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


def rebuild_fields(hours: float) -> dict[str, Any]:
    """Return how long a rebuild takes, and whether it ends: None without redundancy."""
    return {"rebuild_hours": hours, "rebuild_ends": None if math.isnan(hours) else math.isfinite(hours)}


class Statics(NamedTuple):
    """Space, money, rack units, rebuild and data loss of an array.

    Attributes
    ----------
    usable_bytes : int
    cost_usd : float
        nan where the price of the drive is not known.
    rack_units : int
    rebuild_hours : float
        Of one disk at the given utilization, over the day where the load runs for a part of it; nan for levels
        without redundancy.
    loss_per_year, mttdl_hours : float
        Probability of data loss in a year, and mean time to data loss.
    read_error_ratio : float
        Share of rebuilds that meet a sector that cannot be read, where that loses data; nan where it does not.
    """

    usable_bytes: int
    cost_usd: float
    rack_units: int
    rebuild_hours: float
    loss_per_year: float
    mttdl_hours: float
    read_error_ratio: float = math.nan
