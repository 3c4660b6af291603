"""Parameters as people read them: in a unit that leaves few digits, without exponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Larger units of a unit with their size, the largest first.
_LARGER = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us")),
    "bytes/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")),
    "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")),
}


def shown(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return value, standard error ("" without one) and unit of a row of `Calibration.to_dict()["parameters"]`."""
    value, stderr, unit = float(row["value"]), row["stderr"], str(row["unit"])
    for size, larger in _LARGER.get(unit, ()):
        if abs(value) >= size:
            value, unit = value / size, larger
            stderr = None if stderr is None else stderr / size
            break
    return _digits(value, 5), "" if stderr is None else _digits(stderr, 2), "" if unit == "1" else unit


def label(name: str) -> str:
    """Return a parameter's name without its unit in JSON."""
    return name.removesuffix("_ns").removesuffix("_ms").removesuffix("_bytes_per_s")


def _digits(number: float, n: int) -> str:
    """Return `n` significant digits, or all digits before the decimal point."""
    return f"{number:,.0f}" if abs(number) >= 10 ** (n - 1) else f"{number:.{n}g}"


def remark(row: Mapping[str, Any]) -> str:
    """Return what a parameter rests on, and whether the evidence determines it."""
    why = str(row.get("why", ""))
    if row["identified"]:
        return why
    return f"not identified: {why}" if why else "not identified"
