"""How fast a load wears out flash drives."""

from __future__ import annotations

from diskmodel.drive.flash.description import Flash
from diskmodel.drive.profile import Profile
from diskmodel.units import in_digits

#: Times a day that its whole capacity is written from which a drive's endurance is pointed out. Consumer drives are
#: rated for about 0.3 over five years (600 TB written of 1 TB), read-intensive drives of servers for 1, mixed-use
#: drives for 3 (`kioxia-cd6-r-15360` cites both). At half, drives that last ten years are pointed out, too; at double,
#: a consumer drive that is worn out after half of its time is not.
POINTED_OUT_PER_DAY = 0.3


def wear(drive: Profile, written_bytes_per_s: float) -> str:
    """Return how often a day a flash drive is written, where that may wear it out; "" elsewhere.

    The endurance of drives is not modeled; the sentence says what to compare with the data sheet.

    Parameters
    ----------
    drive : Profile
    written_bytes_per_s : float
        What the array writes to the drive; nan where unknown.

    Examples
    --------
    >>> from diskmodel.drive import load_drive
    >>> wear(load_drive("intel-d3-s4510-960"), 24e6)[:66]
    'each disk is written 2.07 TB a day at this load, 2.2 times its siz'
    >>> wear(load_drive("intel-d3-s4510-960"), 2e6), wear(load_drive("generic-15k"), 24e6)
    ('', '')
    """
    day_bytes = written_bytes_per_s * 86400
    per_day = day_bytes / drive.capacity_bytes
    if not isinstance(drive, Flash) or not per_day >= POINTED_OUT_PER_DAY:
        return ""
    return (
        f"each disk is written {day_bytes / 1e12:.3g} TB a day at this load, {in_digits(per_day)} times its size: "
        "flash wears out, and drives are rated for about 0.3 (consumer), 1 (read-intensive) or 3 (mixed use) times a "
        "day over five years; compare with the data sheet"
    )
