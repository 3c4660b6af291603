"""Whether the times of a trace can be in the unit in which they are read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from diskmodel.formats.faults import file_error

#: No storage completes more requests in a second: the most that one host was shown to complete is 122 million, of 24
#: Optane drives (J. Axboe, 2022), and a tracer records a hundredth of that. At half of it still no trace would be
#: refused that could be recorded; at double of it milliseconds of a slow disk would be taken for nanoseconds.
_IMPOSSIBLE_PER_S = 100e6
#: Few drives complete more, and tracers lose records there: such a rate is named.
_DOUBTFUL_PER_S = 1e6
#: Fewer requests than this may be one burst.
_MIN_REQUESTS = 10
#: So many requests within so short a time (100 ms) are rarely all that was recorded, even of a fast drive.
_MANY, _SHORT_NS = 100, 10**8
#: A trace that spans more than this (s, ten years) with times that were meant as something finer is named.
_LONG_S = 10 * 365.25 * 86400

_UNITS = {"seconds": 10**9, "milliseconds": 10**6, "microseconds": 10**3, "units of 100 ns": 100, "nanoseconds": 1}
#: Dates of recordings, s since 1970: from 1990 to 2100.
_DATES_S = (631_152_000, 4_102_444_800)
#: From 1601, the zero of Windows' clock, to 1970, s.
_FROM_1601_S = 11_644_473_600


def check_unit(path: str | Path, n: int, span_ns: int, unit_ns: int | None) -> None:
    """Refuse a trace whose rate no storage can have.

    Parameters
    ----------
    path : str or Path
        For the message.
    n : int
        Its requests.
    span_ns : int, ns
        From the first to the last.
    unit_ns : int or None
        Length of the unit in which its times were read; None where the program that wrote it leaves no doubt.

    Raises
    ------
    FormatError
        At more than 100 million requests/s.
    """
    if unit_ns and n >= _MIN_REQUESTS and span_ns > 0 and _rate(n, span_ns) > _IMPOSSIBLE_PER_S:
        rate = f"{_rate(n, span_ns):,.0f} requests/s"
        rule = f"has {rate} when its times are read as {_name(unit_ns)}: no storage does that"
        raise file_error(path, rule, _other_units(n, span_ns, unit_ns))


def doubtful_unit(n: int, span_ns: int, unit_ns: int | None, origin_ns: int | None) -> str | None:
    """Return what to say of a unit that is improbable; None where nothing is.

    Parameters
    ----------
    n, span_ns, unit_ns
        As in `check_unit`.
    origin_ns : int or None
        The first time as it was read, where the clock counts from an epoch.
    """
    if not unit_ns:
        return None
    if origin_ns is not None and (dated := _other_date(origin_ns // unit_ns, unit_ns)):
        return dated
    if n < _MIN_REQUESTS or span_ns <= 0:
        return None
    if _rate(n, span_ns) > _DOUBTFUL_PER_S:
        seen = f"{_rate(n, span_ns):,.0f} requests/s are more than a trace records"
    elif n >= _MANY and span_ns < _SHORT_NS:
        seen = f"{n:,} requests in {span_ns / 1e6:.3g} ms are a very short trace"
    elif span_ns / 1e9 > _LONG_S:
        seen = f"the trace spans {span_ns / 1e9 / (365.25 * 86400):.0f} years"
    else:
        return None
    return f"{seen} (times read as {_name(unit_ns)}): {_other_units(n, span_ns, unit_ns)}"


def _rate(n: int, span_ns: int) -> float:
    return (n - 1) / (span_ns / 1e9)


def _name(unit_ns: int) -> str:
    return {length: name for name, length in _UNITS.items()}[unit_ns]


def _other_units(n: int, span_ns: int, unit_ns: int) -> str:
    """Return with which units the trace would be plausible, and how to say so."""
    found = []
    for name, length in _UNITS.items():
        rate, span_s = _rate(n, span_ns) * unit_ns / length, span_ns / 1e9 * length / unit_ns
        if rate <= _DOUBTFUL_PER_S and span_s <= _LONG_S and length not in (unit_ns, 100):
            factor = length / unit_ns
            then = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
            found.append(f"{name} (then {then}/s) {_factor(factor)}")
    return "if they are " + ", if ".join(found) if found else "check what wrote it"


def _factor(factor: float) -> str:
    return f"{'multiply' if factor > 1 else 'divide'} them by {max(factor, 1 / factor):,.0f}"


def _other_date(origin: int, unit_ns: int) -> str | None:
    """Return what to say of a first time that is a date in another unit only."""
    if any(_is_date(second) for second in _seconds(origin, unit_ns)):
        return None
    for name, length in _UNITS.items():
        if length == unit_ns:
            continue
        for second in _seconds(origin, length):
            if _is_date(second):
                day = datetime.fromtimestamp(second, UTC).date().isoformat()
                return (
                    f"the first time, {origin}, is {day} if the file's times are {name}, and no date as "
                    f"{_name(unit_ns)}: if they are, {_factor(length / unit_ns)}"
                )
    return None


def _seconds(origin: int, length_ns: int) -> Iterator[float]:
    second = origin * length_ns / 1e9
    yield second
    if length_ns == 100:
        yield second - _FROM_1601_S


def _is_date(second: float) -> bool:
    return _DATES_S[0] <= second <= _DATES_S[1]
