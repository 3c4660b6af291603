"""Figures as zpool prints them: five characters of a number, and a letter for powers of 1024 (`zfs_nicenum`)."""

from __future__ import annotations

import re

#: A figure alone in its column; a locale may write a comma. With -p whole numbers.
FIGURE = re.compile(r"(\d{1,18}(?:[.,]\d{1,6})?)([KMGTPE]?)\Z", re.ASCII)
#: A size inside a sentence, in two groups: "1.26T", "0B".
SIZE = r"(\d+(?:[.,]\d+)?)([KMGTPEB]?)B?"
#: What the letters stand for.
POWERS = {"": 1.0, "B": 1.0, **{letter: 1024.0**power for power, letter in enumerate("KMGTPE", start=1)}}


def scaled(number: str, unit: str, factors: dict[str, float] = POWERS) -> float:
    """Return a figure from its digits and what stands behind them."""
    return float(number.replace(",", ".")) * factors[unit]
