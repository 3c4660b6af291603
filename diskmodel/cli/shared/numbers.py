"""Numbers, shares and ranges of requests, as options of commands give them."""

from __future__ import annotations

import re
from collections.abc import Callable

from diskmodel.errors import DescriptionError, Fault


def plain_number(text: str) -> float:
    """Return the number that an option gives: digits from 0 to 9, a point before decimals, groups of three by commas.

    Raises
    ------
    DescriptionError
        When it is none; the command line knows the name of the option.
    """
    from diskmodel.units import RATE_UNITS, parse

    try:
        return float(parse(text, {"": 1, **dict.fromkeys(RATE_UNITS, 1)}))
    except (ValueError, OverflowError) as error:
        rule, _, fix = str(error).partition("; ")
        if "write" not in fix or "followed by" in fix:
            rule, fix = "must be a number", "write digits from 0 to 9, for example 8000"
        raise DescriptionError(Fault("", text, rule, fix)) from None


def ratios(**texts: str) -> list[float]:
    """Return the numbers that options give as "70%" or 0.7, in their order; whether they are shares is not checked.

    Raises
    ------
    DescriptionError
        With every text that is no number, by the name of its option.
    """
    found, faults = [], []
    for name, text in texts.items():
        try:
            if not text.isascii() or "_" in text:
                raise ValueError(text)
            found.append(float(text[:-1]) / 100 if text.endswith("%") else float(text))
        except ValueError:
            faults.append(Fault(f"--{name.replace('_', '-')}", text, *_share_fault(text)))
    if faults:
        raise DescriptionError(faults)
    return found


def _share_fault(text: str) -> tuple[str, str]:
    """Return the rule and the fix of a text that is no share."""
    from diskmodel.units import parse

    try:
        parse(text, {"%": 1, "": 1})
    except ValueError as error:
        rule, _, fix = str(error).partition("; ")
        if "separat" in rule or "script" in rule:
            return rule, fix
    return "must be a share", "write 70% or 0.7"


def request_range(text: str | None) -> Callable[[int], tuple[int, int]]:
    """Return a function from n requests to the first and the end of the range "A:B", in numbers or percentages.

    Raises
    ------
    DescriptionError
        When the text has another form; from the returned function, when the range contains no request.
    """
    found = _RANGE.fullmatch("0:" if text is None else text)
    if found is None:
        rule = "must be A:B, each a whole number or a percentage up to 100 %, or left out"
        raise DescriptionError(Fault("requests", text, rule, "write for example 0:10000 or 50%:"))
    first, last = found["first"] or "0", found["last"] or "100%"

    def of(n: int) -> tuple[int, int]:
        a, b = (_place(end, n) for end in (first, last))
        if a >= min(b, n):
            rule = f"contains none of the {n} requests"
            raise DescriptionError(Fault("requests", text, rule, f"choose a part of 0:{n} with B above A"))
        return a, min(b, n)

    return of


_RANGE = re.compile(r"(?P<first>\d{1,18}|(?:\d{1,2}|100)%)?:(?P<last>\d{1,18}|(?:\d{1,2}|100)%)?", re.ASCII)


def _place(end: str, n: int) -> int:
    return n * int(end[:-1]) // 100 if end.endswith("%") else int(end)
