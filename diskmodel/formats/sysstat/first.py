"""Whether iostat's first report is one of an interval (`iostat -y`) or of the time since the machine was started.

A report does not say how long it covers. Where rates and totals are printed, their quotient is its length. Elsewhere
whole requests and sectors in a whole number of seconds give it away: over the uptime, rates are no whole multiples.
"""

from __future__ import annotations

from collections.abc import Sequence

#: A table's row: its columns and its cells.
Row = tuple[list[str], list[str]]

#: Rate and total of the tables without -x.
_PAIRS = (
    ("kB_read/s", "kB_read"),
    ("kB_wrtn/s", "kB_wrtn"),
    ("MB_read/s", "MB_read"),
    ("MB_wrtn/s", "MB_wrtn"),
    ("Blk_read/s", "Blk_read"),
    ("Blk_wrtn/s", "Blk_wrtn"),
)
#: Lengths of reports as close to each other as rates of two decimals give them.
_SAME_LENGTH = 0.1
#: A rate below this is too coarse to give a length.
_LEAST_RATE = 1.0

#: Columns whose values are whole numbers in an interval of a second, or halves (kB of 512-byte sectors).
_COUNTS = {"r/s": 1.0, "w/s": 1.0, "tps": 1.0, "rkB/s": 2.0, "wkB/s": 2.0, "rsec/s": 1.0, "wsec/s": 1.0}
_SECONDS = (1.0, 2.0, 5.0, 10.0)
#: Chance that figures over an uptime look like those of an interval by accident; ten times as much would show up in a
#: collection of a few thousand recordings.
_CHANCE = 1e-5
#: The first report is no further from the others than this: over the uptime, loads are far from those of a recording.
_LIKE_OTHERS = 10.0


def first_is_interval(reports: Sequence[Sequence[Row]]) -> bool:
    """Whether the figures of the first of several reports are those of an interval like the others'."""
    if len(reports) < 2 or not all(len(columns) == len(cells) for rows in reports for columns, cells in rows):
        return False
    lengths = [_length(rows) for rows in reports]
    if lengths[0] is not None:
        others = sorted(length for length in lengths[1:] if length is not None)
        return bool(others) and abs(lengths[0] / others[len(others) // 2] - 1) <= _SAME_LENGTH
    values = [_counts(rows) for rows in reports]
    first, rest = values[0], [value for report in values[1:] for value in report]
    for seconds in _SECONDS:
        if not first or not rest or not all(_is_whole(value, seconds) for value in (*first, *rest)):
            continue
        chance = 1.0
        for _, per_unit in set(first):
            chance *= min(seconds * per_unit / 100, 1.0)
        mean = sum(value for report in values[1:] for value, _ in report) / (len(values) - 1)
        total = sum(value for value, _ in first)
        return chance <= _CHANCE and mean / _LIKE_OTHERS <= total <= mean * _LIKE_OTHERS
    return False


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1e12 else None


def _length(rows: Sequence[Row]) -> float | None:
    """Seconds that a report covers, from the largest rate whose total is printed too."""
    best = (0.0, 0.0)
    for columns, cells in rows:
        row = dict(zip(columns, cells, strict=True))
        for rate_name, total_name in _PAIRS:
            rate, total = _number(row.get(rate_name, "")), _number(row.get(total_name, ""))
            if rate and total:
                best = max(best, (rate, total / rate))
    return best[1] if best[0] >= _LEAST_RATE else None


def _counts(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The counts of a report that are not 0, each with the units that one of its column has."""
    found = []
    for columns, cells in rows:
        for name, cell in zip(columns, cells, strict=True):
            if name in _COUNTS and (value := _number(cell)):
                found.append((value, _COUNTS[name]))
    return found


def _is_whole(value: tuple[float, float], seconds: float) -> bool:
    n = value[0] * value[1] * seconds
    return abs(n - round(n)) <= 0.005 * value[1] * seconds * 0.99 if seconds > 1 else abs(n - round(n)) < 1e-6
