"""Histograms as zpool iostat -r and -w print them, from a few figures."""

from __future__ import annotations

from collections.abc import Mapping

WAYS = ("sync_read", "sync_write", "async_read", "async_write", "scrub", "trim", "rebuild")
WAITS = ("total_wait", "disk_wait", "syncq_wait", "asyncq_wait")
SIZES = ("512", *(f"{1 << k}K" for k in range(10)), *(f"{1 << k}M" for k in range(5)))
#: As OpenZFS prints the ends of classes that each are twice as long as the one before.
TIMES = tuple(
    "1ns 3ns 7ns 15ns 31ns 63ns 127ns 255ns 511ns 1us 2us 4us 8us 16us 32us 65us 131us 262us 524us 1ms 2ms 4ms 8ms "
    "16ms 33ms 67ms 134ms 268ms 536ms 1s 2s 4s 8s 17s 34s 68s 137s".split()
)

#: Class → column → what is printed.
Rows = Mapping[str, Mapping[str, object]]


def sizes_table(name: str, rows: Rows, ways: tuple[str, ...] = WAYS) -> str:
    """Return a table of -r; columns are "sync_read ind" …."""
    columns = [f"{way} {below}" for way in ways for below in ("ind", "agg")]
    top = f"{name:<10}  " + "  ".join(f"{way:^12}" for way in ways)
    return _table(top, "req_size  ", columns, SIZES, rows)


def times_table(name: str, rows: Rows) -> str:
    """Return a table of -w; columns are "disk_wait read" … and "scrub"."""
    columns = [f"{wait} {way}" for wait in WAITS for way in ("read", "write")] + ["scrub", "trim", "rebuild"]
    top = f"{name:<10}  " + "  ".join(f"{wait:^12}" for wait in WAITS)
    return _table(top, "latency   ", columns, TIMES, rows)


def _table(top: str, bottom: str, columns: list[str], classes: tuple[str, ...], rows: Rows) -> str:
    unknown = {column for row in rows.values() for column in row} - {*columns}
    assert not unknown
    assert rows.keys() <= {*classes}
    bottom += "".join(f"  {column.split()[-1]:>5}" for column in columns)
    lines = ["", top, bottom, "-" * 10 + "  -----" * len(columns)]
    lines += [f"{one:<10}" + "".join(f"  {rows.get(one, {}).get(c, 0):>5}" for c in columns) for one in classes]
    return "\n".join([*lines, "-" * len(bottom)]) + "\n"
