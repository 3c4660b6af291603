"""Quantities with units, as people write them: "300 GB", "64KiB", "4.7 ms", "10k rpm", "125 MB/s".

Powers of ten and of two are different things: 1 kB = 1000 bytes, 1 KiB = 1024 bytes. Upper and lower case are alike
where that leaves one meaning: "10tb" is 10 TB, "64kib" 64 KiB; "mb/s" may be bits or bytes, and is refused. Sizes of
requests follow fio: "8k" and "8kb" are 8 KiB. A bare number is taken in the unit in the field's name (`_bytes`, `_ns`,
`_bytes_per_s`, `rpm`, …).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

#: Nanoseconds of a second.
NS_PER_S = 1_000_000_000

_BYTES = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "PiB": 2**50,
}
#: Sizes of requests also as fio writes them: k, m and g are powers of two, and so are kb, mb and gb in small letters.
_LENGTH = _BYTES | {
    name: factor for low, factor in (("k", 2**10), ("m", 2**20), ("g", 2**30)) for name in (low, low.upper(), f"{low}b")
}
_TIME = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
    "y": 31_557_600 * 10**9,
}
_RATE = {f"{name}/s": factor for name, factor in _BYTES.items()} | {
    "Mb/s": Fraction(10**6, 8),
    "Gb/s": Fraction(10**9, 8),
    "Mbit/s": Fraction(10**6, 8),
    "Gbit/s": Fraction(10**9, 8),
}
_RPM = {"rpm": 1, "k rpm": 1000, "krpm": 1000, "k": 1000}
#: Units of requests per second.
RATE_UNITS = ("/s", "iops", "IOPS")
_PER_SECOND = dict.fromkeys(RATE_UNITS, 1) | {"k": 1000, "K": 1000, "k/s": 1000}
_RATIO = {"%": Fraction(1, 100), "": 1}
_PPM = {"ppm": 1}

#: Units that the message about a missing one shows as examples.
_USUAL = ("ms", "KiB", "GB", "MB/s", "rpm", "/s")

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9][0-9_,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*(.*?)\s*$")
#: A number whose whole part may be separated into groups of three digits.
_GROUPED = re.compile(
    r"[+-]?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
)
#: Longest number accepted, in characters: converting a text to an integer takes time quadratic in its length. The
#: largest limit below has 19 digits.
_MAX_DIGITS = 400
#: Longest quantity accepted, in characters: the regular expression takes quadratic time to reject a text.
_MAX_TEXT = 1000

# Limits that keep every product and sum in the engines within 64 bits. Doubling one can overflow the kernel, which
# checks the same limits again (kernel/src/rule.rs); halving one refuses descriptions that are accepted today.
#: Bytes of anything: 1 EiB.
MAX_BYTES = 2**60
#: Bytes of one request or transfer: 4 GiB.
MAX_LENGTH = 2**32
#: Nanoseconds that a device may need for one step: an hour.
MAX_DEVICE_NS = 3600 * 10**9
#: Nanoseconds between requests, and of a whole run: 417 days.
MAX_NS = 2**55
#: Per second, of bytes or of requests: far above and far below any device, so that only slips of the unit are refused.
MAX_RATE = 1e18
MIN_RATE = 1e3
MIN_PER_SECOND = 1e-9
#: Requests per second: one a nanosecond, the clock's step. The fastest arrays do a tenth of it.
MAX_PER_SECOND = 1e9
#: A larger quantity would overflow a float (1.8e308) once it is multiplied by a unit.
_MAX_FLOAT = 10**300


def parse(text: str, units: dict[str, Any]) -> Fraction:
    """Value of a quantity such as "64 KiB" in the base unit of `units`, exactly.

    Raises
    ------
    ValueError
        When the text is not a number followed by one of the units; the message lists the units.
    """
    match = _NUMBER.match(text) if len(text) <= _MAX_TEXT else None
    known = ", ".join(name for name in units if name and "μ" not in name)
    if other := _in_plain_digits(text):
        raise ValueError(f"has digits of another script; write {other!r}, with digits from 0 to 9")
    if match is None or match.end(1) > _MAX_DIGITS:
        raise ValueError(f"must be a number with a unit; write a number followed by one of {known}")
    number, unit = match.groups()
    if not _GROUPED.fullmatch(number) or unit.startswith((",", ".", "_")):
        whole = text.strip().removesuffix(unit.lstrip("0123456789,._")).strip()
        meant = _with_point(whole)
        how = "with a decimal point" if "." in meant else "without separators"
        named = unit.lstrip("0123456789,._").strip()
        if named in units and named.isalpha():  # not one that an option has added
            meant = f"{meant} {named}"
        raise ValueError(f"has separators that do not separate groups of three digits; write {meant!r}, {how}")
    if not unit and unit not in units and not float(number.replace(",", "").replace("_", "")):
        return Fraction(0)  # nothing is nothing in any unit
    if unit not in units:
        unit = _in_other_letters(unit, units)
    if unit not in units:
        raise ValueError(_unknown(number, unit, units, known))
    return Fraction(number.replace(",", "").replace("_", "")) * Fraction(units[unit])


def _in_other_letters(unit: str, units: dict[str, Any]) -> str:
    """Return the unit that a text means: in other letters ("tb") where one value has them, "Gbps"; else the text."""
    if unit.endswith("ps") and f"{unit[:-2]}/s" in units:
        return f"{unit[:-2]}/s"  # Gbps, MBps
    found = {units[name]: name for name in units if name.lower() == unit.lower()} if len(unit) > 1 else {}
    return next(iter(found.values())) if len(found) == 1 else unit


def _in_plain_digits(text: str) -> str:
    """Return a text with digits of another script (Arabic, full width) as those from 0 to 9; "" where it has none."""
    if text.isascii() or len(text) > _MAX_TEXT:
        return ""
    plain = "".join(str(unicodedata.decimal(letter, letter)) for letter in text)
    return "" if plain == text else plain


def _with_point(number: str) -> str:
    """Return a number as it was probably meant: the last of several separators parts decimals."""
    if len(set(re.findall(r"[,._]", number))) == 1 and len(re.findall(r"[,._]", number)) > 1:
        return re.sub(r"[,._]", "", number)  # one separator several times parts groups
    whole, last, decimals = re.fullmatch(r"(.*?)(?:([,._])([^,._]*))?", number, re.DOTALL).groups()  # type: ignore[union-attr]
    digits = re.sub(r"[,._]", "", whole)
    return f"{digits}.{decimals}" if last else digits


def _unknown(number: str, unit: str, units: dict[str, Any], known: str) -> str:
    """Return the rule and the fix for a unit that is none of `units`."""
    if not unit:
        usual = ("B", "KiB") if "k" in units and "B" in units else _USUAL  # small ones for the size of a request
        examples = " or ".join(f'"{number} {name}"' for name in usual if name in units)
        return (
            f"has no unit; write for example {examples}; the units are {known}"
            if examples
            else (f"has no unit; use one of {known}")
        )
    meant = [name for name in units if len(name) > 1 and name.lower() == unit.lower()]
    if not meant and len(unit) == 1:
        meant = [name for name in units if len(name) > 1 and name[0].lower() == unit.lower() and name[-1] == "B"]
    if not meant:
        return f"has the unknown unit {unit!r}; use one of {known}"
    # "kb" may mean 1000 bytes or 1024: say both, rather than guess
    both = [*meant, *(f"{name[0].upper()}iB" for name in meant if len(name) == 2 and name[-1] == "B")]
    both = list(dict.fromkeys(name for name in both if name in units and name != "KB"))
    if "k" in units:  # requests have sizes of whole sectors, powers of two
        both = [name for name in both if name.endswith("iB")] or both
    choices = " or ".join(f'"{number} {name}"' for name in sorted(both, key=lambda name: units[name]))
    return f"has the unknown unit {unit!r}; write {choices}"


def _quantity(units: dict[str, Any], *, whole: bool) -> BeforeValidator:
    def convert(value: object) -> object:
        if isinstance(value, bool):
            raise ValueError("must be a number, not true or false; write a number")
        if isinstance(value, str):
            exact = parse(value, units)
            if abs(exact) > _MAX_FLOAT:
                raise ValueError("is too large to calculate with; check the unit")
            return round(exact) if whole else float(exact)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError("must be a finite number; write a number other than inf and nan")
            return round(value) if whole else value
        return value

    return BeforeValidator(convert)


Bytes = Annotated[int, _quantity(_BYTES, whole=True), Field(ge=0, le=MAX_BYTES)]
#: Bytes moved by one request or transfer.
Length = Annotated[int, _quantity(_LENGTH, whole=True), Field(ge=0, le=MAX_LENGTH)]
Nanoseconds = Annotated[int, _quantity(_TIME, whole=True), Field(ge=0, le=MAX_DEVICE_NS)]
#: A difference between two times of a device.
SignedNanoseconds = Annotated[int, _quantity(_TIME, whole=True), Field(ge=-MAX_DEVICE_NS, le=MAX_DEVICE_NS)]
#: Time between requests.
Pause = Annotated[int, _quantity(_TIME, whole=True), Field(ge=0, le=MAX_NS)]
BytesPerSecond = Annotated[float, _quantity(_RATE, whole=False), Field(ge=MIN_RATE, le=MAX_RATE)]
Rpm = Annotated[float, _quantity(_RPM, whole=False), Field(ge=1, le=100_000)]
PerSecond = Annotated[float, _quantity(_PER_SECOND, whole=False), Field(ge=MIN_PER_SECOND, le=MAX_PER_SECOND)]
#: A rate that may be zero.
PerSecondOrZero = Annotated[float, _quantity(_PER_SECOND, whole=False), Field(ge=0, le=MAX_PER_SECOND)]
#: A share relative to other shares; within these limits none of them is rounded to zero.
Weight = Annotated[float, Field(ge=1e-9, le=1e18)]
Ratio = Annotated[float, _quantity(_RATIO, whole=False), Field(ge=0, le=1)]
Ppm = Annotated[float, _quantity(_PPM, whole=False)]

#: Endings of field names that give a unit; a file may leave them out when the value itself has a unit.
SUFFIXES = {
    "_bytes_per_s": _RATE,
    "_bytes": _BYTES,
    "_ns": _TIME,
    "_ratio": _RATIO,
    "_per_s": _PER_SECOND,
    "_ppm": _PPM,
}


def pretty_bytes(value: int) -> str:
    """Bytes in the largest binary or decimal unit that is exact, e.g. "64 KiB", "300 GB"."""
    return _pretty(value, [(u, _BYTES[u]) for u in ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB", "B")])


def binary_bytes(value: float) -> str:
    """Return the size of a request to four digits, in the largest binary unit that it fills: "1 MiB", "12.5 KiB"."""
    for unit in ("GiB", "MiB", "KiB"):
        if value >= _BYTES[unit]:
            return f"{in_digits(value / _BYTES[unit], 4)} {unit}"
    return f"{in_digits(value, 4)} B"


def nominal_bytes(value: int) -> str:
    """Return a capacity to three digits, as data sheets print it, e.g. "14.4 TB"."""
    return f"{in_digits(value / 1e12)} TB" if value >= 0.9995e12 else f"{in_digits(value / 1e9)} GB"


def exact_bytes(value: int) -> str:
    """Return a number of bytes to the byte, and from a gigabyte on rounded as well: "2,000,000,000 bytes (2 GB)"."""
    return f"{value:,} bytes ({nominal_bytes(value)})" if value >= 1e9 else f"{value:,} bytes"


def pretty_ns(value: int) -> str:
    """Nanoseconds in the largest unit that needs at most three decimals, e.g. "4.7 ms"."""
    for unit in ("h", "min", "s", "ms", "us"):
        if value >= _TIME[unit] and value % (_TIME[unit] // 1000) == 0:
            whole, thousandths = divmod(value // (_TIME[unit] // 1000), 1000)
            return f"{whole}.{thousandths:03}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{value} ns"


def pretty_rate(value: float) -> str:
    """Bytes per second in a decimal unit, e.g. "125 MB/s"."""
    for unit in ("GB/s", "MB/s", "kB/s"):
        text = f"{value / float(_RATE[unit]):.9g}"
        if value >= _RATE[unit] and float(parse(f"{text} {unit}", _RATE)) == value:
            return f"{text} {unit}"
    return f"{value!r} B/s"


def _pretty(value: int, units: list[tuple[str, int]]) -> str:
    for unit, factor in units:
        if value and value % factor == 0:
            return f"{value // factor} {unit}"
    return f"{value} B"


def in_digits(value: float, digits: int = 3) -> str:
    """Return a figure with so many digits, and whole numbers beyond: never with an exponent where it is large."""
    return f"{value:,.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def in_minutes(seconds: float) -> str:
    """Return a length of time in the unit that suits it: "90 s", "38 minutes", "2.5 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} h"


#: Times longer than this many hours are given in days.
_MOST_HOURS = 48


def in_hours_or_days(hours: float) -> str:
    """Return a length of time as people say it: in minutes below an hour, in hours up to 48, then in days."""
    if hours < 1:
        return f"{in_digits(60 * hours, 2)} min"
    return f"{in_digits(hours / 24)} days" if hours > _MOST_HOURS else f"{in_digits(hours)} h"


#: Chances a year that are as good as certain, and one over those that are as good as none.
_CERTAIN, _RARE = 0.9, 1e9


def chance_words(per_year: float) -> str:
    """Return a chance as people say it: "1 in 9,000 a year"."""
    if math.isnan(per_year):
        return "not known"
    if per_year >= _CERTAIN:
        return "almost certain within a year"
    if not per_year * _RARE > 1:
        return "less than 1 in a billion a year"
    return f"1 in {in_digits(float(f'{1 / per_year:.2g}'))} a year"


def listed(items: Sequence[str]) -> str:
    """Return items as a sentence lists them: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def in_disks(n: int) -> str:
    """Return a number of disks in words: "1 disk", "2 disks"."""
    return f"{n} disk{'' if n == 1 else 's'}"
