"""The spread of each quantity between drives of a class, as `spread.toml` has it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

#: Estimated from published measurements, leaving one drive out; and what these do not determine.
TABLES = tuple(Path(__file__).parent / name for name in ("spread.toml", "assumed.toml"))

#: Terms of a continued fraction at most, and the change of the last one that ends it. A tenth of the terms would do for
#: up to a thousand degrees of freedom.
_TERMS, _EXACT = 1_000, 1e-15


class Spread(NamedTuple):
    """Distribution of a factor between what is predicted and what is true.

    Attributes
    ----------
    median : float
        Above 1: more than predicted.
    log_sd : float
        Standard deviation of its logarithm between drives.
    dof : float
        Degrees of freedom of its estimate: those of Student's t.
    """

    median: float = 1.0
    log_sd: float = 0.0
    dof: float = math.inf

    def log_factor(self, score: float) -> float:
        """Return the logarithm of the factor at a normal score.

        Notes
        -----
        The quantile of Student's t is expanded in powers of 1 / dof (Abramowitz and Stegun, 26.7.5, three terms), which
        for 4 degrees of freedom and scores up to 2 is off by less than 2 %.
        """
        return math.log(self.median) + self.log_sd * student(score, self.dof)


def student(z: float, dof: float) -> float:
    """Return the quantile of Student's t whose level is that of the normal score `z`."""
    if math.isinf(dof):
        return z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / dof + second / dof**2 + third / dof**3


def chance_below(t: float, dof: float) -> float:
    """Return the chance that a variable of Student's t is below `t`; without end of degrees a normal one.

    Notes
    -----
    From the incomplete beta function by its continued fraction (Abramowitz and Stegun, 26.5.8), to 14 digits;
    `scipy.special` has it, too, but takes longer to load than a hundred thousand of these.
    """
    if math.isinf(dof):
        return math.erfc(-t / math.sqrt(2)) / 2
    outside = _incomplete_beta(dof / 2, 0.5, dof / (dof + t * t), t * t / (dof + t * t))
    return 1 - outside / 2 if t > 0 else outside / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function; `rest` is 1 - x, which has more digits near 0."""
    if not x or not rest:
        return float(not rest)
    if x > (a + 1) / (a + b + 2):  # where the fraction of the complement is the faster one
        return 1 - _incomplete_beta(b, a, rest, x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)) / a
    # Lentz's method: numerators of even and odd terms in turn
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            value *= c * d
        if abs(c * d - 1) < _EXACT:
            break
    return front * value


def spread_of(name: str, *path: str) -> Spread | None:
    """Return the spread of a quantity in a class, or in the nearest class above it; None where nothing is known.

    Parameters
    ----------
    name : str
        Of the class.
    path : str
        The quantity, and of one that differs by statistic or load also these: "model", "p99".

    Examples
    --------
    >>> spread_of("hdd-sas", "overhead") == spread_of("hdd", "overhead")
    True
    >>> spread_of("flash", "positioning") is None
    True
    """
    table = _table()
    at: str | None = name
    while at is not None:
        found: Any = table["class"].get(at, {})
        for part in path:
            found = (found or {}).get(part)
        if found is not None:
            return Spread(found["median"], found["log_sd"], found["dof"])
        at = table["parents"].get(at)
    return None


@cache
def _table() -> Mapping[str, Any]:
    return joined(tomllib.loads(path.read_text(encoding="utf-8")) for path in TABLES)


def slower_systems() -> str:
    """Return how many published systems do not do what their parts can, as a sentence: no interval is about these."""
    found = _table()["systems"]
    return (
        f"{found['slower']} of {found['judged']} published systems with complete descriptions were far slower than "
        "their parts: a broken part, or one that holds the others back. No figure here is about such a system; "
        "diskmodel explain compares a measurement."
    )


def joined(tables: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return tables together; of a quantity that two of them have, the later one."""
    found: dict[str, Any] = {"parents": {}, "class": {}, "systems": {}}
    for table in tables:
        found["systems"] |= table.get("systems", {})
        found["parents"] |= table["parents"]
        for name, quantities in table["class"].items():
            found["class"].setdefault(name, {}).update(quantities)
    return found
