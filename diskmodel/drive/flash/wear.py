"""How fast a load wears out flash drives."""

from __future__ import annotations

import math

from diskmodel.drive.flash.description import Flash
from diskmodel.drive.profile import Profile
from diskmodel.units import in_digits

#: Times a day that its whole capacity is written from which a drive's endurance is pointed out where its maker's figure
#: is not known. Consumer drives are rated for about 0.3 over five years (600 TB written of 1 TB), read-intensive drives
#: of servers for 1, mixed-use drives for 3 (`kioxia-cd6-r-15360` cites both). At half, drives that last ten years are
#: pointed out, too; at double, a consumer drive that is worn out after half of its time is not.
POINTED_OUT_PER_DAY = 0.3
#: Years below which it is pointed out where that figure is known: arrays are kept for five to seven. At half, drives
#: that have to be replaced within the warranty are passed over; at double, those are named that outlast their array.
POINTED_OUT_YEARS = 7.0
_DAY_S = 86_400
_YEAR_S = 365 * _DAY_S


def wear_years(drive: Profile, written_bytes_per_s: float) -> float:
    """Return the years after which a flash drive has been written what its maker rates it for.

    Makers count what the host writes, whatever the drive programs for that: they rate drives of servers under random
    writes over all of it (JESD219), so that writes in order, or to a part of it, wear it out later.

    Parameters
    ----------
    drive : Profile
    written_bytes_per_s : float
        What the array writes to the drive.

    Returns
    -------
    float
        Infinity where nothing is written; nan of other drives, and where their endurance or what is written is unknown.

    Examples
    --------
    >>> from diskmodel.drive import load_drive
    >>> round(wear_years(load_drive("samsung-870-evo-1tb"), 10e6), 1)
    1.9
    """
    if not isinstance(drive, Flash) or drive.endurance_bytes is None or math.isnan(written_bytes_per_s):
        return math.nan
    return drive.endurance_bytes / (written_bytes_per_s * _YEAR_S) if written_bytes_per_s else math.inf


def wear(drive: Profile, written_bytes_per_s: float) -> str:
    """Return how often a day a flash drive is written, and for how long, where that may wear it out; "" elsewhere.

    Parameters
    ----------
    drive : Profile
    written_bytes_per_s : float
        What the array writes to the drive; nan where unknown.

    Examples
    --------
    >>> from diskmodel.drive import load_drive
    >>> wear(load_drive("intel-d3-s4510-960"), 24e6)[:66]
    'each disk is written 2.07 TB a day at this load, 2.16 times its si'
    >>> wear(load_drive("intel-d3-s4510-960"), 2e6), wear(load_drive("generic-15k"), 24e6)
    ('', '')
    >>> wear(load_drive("samsung-870-evo-1tb"), 10e6)[67:]
    'ize: its maker rates it for 600 TB, which is 1.9 years'
    >>> wear(load_drive("samsung-870-evo-1tb"), 2e6)
    ''
    """
    day_bytes = written_bytes_per_s * _DAY_S
    per_day = day_bytes / drive.capacity_bytes
    if not isinstance(drive, Flash):
        return ""
    amount = f"{day_bytes / 1e12:.3g} TB a day at this load, {in_digits(per_day)} times its size"
    written = f"each disk is written {amount}: "
    if drive.endurance_bytes is not None:
        years = wear_years(drive, written_bytes_per_s)
        rated = f"its maker rates it for {drive.endurance_bytes / 1e12:,.0f} TB, which is {in_digits(years)} years"
        return f"{written}{rated}" if years < POINTED_OUT_YEARS else ""
    if not per_day >= POINTED_OUT_PER_DAY:
        return ""
    return (
        f"{written}flash wears out, and drives are rated for about 0.3 (consumer), 1 (read-intensive) or 3 (mixed use) "
        "times a day over five years; compare with the data sheet"
    )
