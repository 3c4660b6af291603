"""How doubt is said to people, everywhere alike: the typical value, and the bad one of ten.

Of ten systems that are built as described, one is at least as bad as the second figure: it is slower, or serves less.
"""

from __future__ import annotations

import math

from diskmodel.result.statistics.batches import Interval
from diskmodel.units import in_digits

#: Name of a column of such figures.
COLUMN = "in one of ten"
#: In place of a figure that more than one of ten systems do not have.
OVERLOADED = "overloaded"


def bad_end(statistic: str, middle: Interval) -> float:
    """Return the figure of the bad one of ten, in the unit of the interval.

    Parameters
    ----------
    statistic : str
        Less of "iops" is worse; more of everything else.
    middle : Interval
        What the statistic lies between in eight of ten systems.
    """
    return middle.low if statistic == "iops" else middle.high


def in_one_of_ten(typical: str, bad: float, digits: int = 3) -> str:
    """Return a typical figure in words, and that of the bad one of ten.

    Parameters
    ----------
    typical : str
        With its unit.
    bad : float
        In that unit; infinite where the load overloads it, nan where it is not known.

    Examples
    --------
    >>> in_one_of_ten("26 ms", 34.2)
    '26 ms, 34.2 in one of ten'
    >>> in_one_of_ten("26 ms", math.inf)
    '26 ms, overloaded in one of ten'
    """
    if math.isnan(bad):
        return typical
    return f"{typical}, {in_digits(bad, digits) if math.isfinite(bad) else OVERLOADED} {COLUMN}"


def beside(typical: str, bad: float) -> str:
    """Return a typical figure and that of the bad one of ten in a cell of a row that is named so (`doubted`).

    Parameters
    ----------
    typical : str
    bad : float
        In its unit; infinite where the load overloads it, nan where it is not known.

    Examples
    --------
    >>> beside("26", 34.2)
    '26, 34.2'
    """
    if math.isnan(bad):
        return typical
    return f"{typical}, {in_digits(bad) if math.isfinite(bad) else OVERLOADED}"


def doubted(name: str, *, is_known: bool) -> str:
    """Return the name of a row, with what its cells have after the typical value where that is known."""
    return f"{name}, {COLUMN}" if is_known else name


def overload_words(chance: float) -> str:
    """Return the chance of an overload, as a sentence begins; "" without any.

    Examples
    --------
    >>> overload_words(1 / 16)
    'overloaded with a chance of 6 %'
    """
    return f"overloaded with a chance of {in_digits(100 * chance, 2 if chance >= 0.1 else 1)} %" if chance else ""
