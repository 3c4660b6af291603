"""Parameters as people read them: in a unit that leaves few digits, without exponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Larger units of a unit, by what they are worth, the largest first.
_LARGER = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us")),
    "bytes/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")),
    "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")),
}


def shown(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Value, standard error ("" where there is none) and unit of a row of `Calibration.to_dict()["parameters"]`."""
    value, stderr, unit = float(row["value"]), row["stderr"], str(row["unit"])
    for worth, larger in _LARGER.get(unit, ()):
        if abs(value) >= worth:
            value, unit = value / worth, larger
            stderr = None if stderr is None else stderr / worth
            break
    return _digits(value, 5), "" if stderr is None else _digits(stderr, 2), "" if unit == "1" else unit


def label(name: str) -> str:
    """A parameter's name without the unit that JSON gives it in."""
    return name.removesuffix("_ns").removesuffix("_ms").removesuffix("_bytes_per_s")


def _digits(number: float, n: int) -> str:
    """So many significant digits, or all that a whole number has."""
    return f"{number:,.0f}" if abs(number) >= 10 ** (n - 1) else f"{number:.{n}g}"


def remark(row: Mapping[str, Any]) -> str:
    """What a parameter rests on, and that the evidence does not determine it where it does not."""
    why = str(row.get("why", ""))
    if row["identified"]:
        return why
    return f"not identified: {why}" if why else "not identified"
