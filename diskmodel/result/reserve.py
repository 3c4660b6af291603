"""Whether disks have a reserve for more load."""

from __future__ import annotations

#: Utilization of the busiest disk from which it is pointed out that there is no reserve: a tenth more load is too much.
#: At 0.8 the usual plan is pointed out, too; at 0.95 one that fails with a twentieth more load is not.
BUSY_RATIO = 0.9


def no_reserve(busiest_ratio: float, part: str = "disk") -> str:
    """Return how little more an open load may grow, where a disk, or another part, is nearly always busy; "" elsewhere.

    Parameters
    ----------
    busiest_ratio : float
        Utilization of the busiest disk; nan where unknown.
    part : str
        What it is of instead of a disk.

    Examples
    --------
    >>> no_reserve(0.8), no_reserve(float("nan"))
    ('', '')
    >>> no_reserve(0.96)
    'the busiest disk works 96.0% of the time: at 4% more load it may not keep up'
    """
    if not busiest_ratio >= BUSY_RATIO:
        return ""
    more = max(1 / busiest_ratio - 1, 0.01)
    return f"the busiest {part} works {busiest_ratio:.1%} of the time: at {more:.0%} more load it may not keep up"
