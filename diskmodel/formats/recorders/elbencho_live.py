"""Live statistics of elbencho (`--livecsv`): one row a second or so of what all threads did."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.sysstat.figures import completed
from diskmodel.formats.sysstat.tables import Recording

_COLUMNS = ("ISO Date", "Phase", "RuntimeMS", "Rank", "DoneBytes", "IOPS")
_MAX = 1e18


def is_live_csv(text: str) -> bool:
    """Whether a text is elbencho's table of live statistics."""
    words = text.lstrip()[:400].partition("\n")[0].split(",")
    return set(_COLUMNS) <= {word.strip() for word in words}


def read_live_csv(text: str, source: str) -> Recording:
    """Return what all threads together did between rows; phases (READ, WRITE) follow each other.

    Raises
    ------
    LineError
        For a row with a figure that is no number.
    """
    lines = text.strip("\n").split("\n")
    rows = csv.DictReader(lines)
    found = Recording()
    before: dict[tuple[str, str, str], tuple[float, float]] = {}
    gaps: list[float] = []
    try:
        for row in rows:
            if row.get("Rank") != "Total" or row.get("Phase") not in ("READ", "WRITE", "RWMIX", "TREAD", "TWRITE"):
                continue
            kind = _kind(row)
            key = (str(row.get("Label")), str(row["Phase"]), kind)
            ms, n_bytes, iops = (
                _number(row, name, rows.line_num, lines, source) for name in ("RuntimeMS", "DoneBytes", "IOPS")
            )
            last_ms, last_bytes = before.get(key, (0.0, 0.0))
            if ms <= last_ms:  # the phase began again
                last_ms, last_bytes = 0.0, 0.0
            before[key] = (ms, n_bytes)
            seconds = (ms - last_ms) / 1e3
            if seconds <= 0 or n_bytes < last_bytes:
                continue
            gaps.append(seconds)
            figures = {"reads_per_s": 0.0, "writes_per_s": 0.0, "read_bytes_per_s": 0.0, "write_bytes_per_s": 0.0}
            figures[f"{kind}s_per_s"] = iops
            figures[f"{kind}_bytes_per_s"] = (n_bytes - last_bytes) / seconds
            text_us = str(row.get("Lat IO us") or "")
            if text_us.isascii() and text_us.isdecimal() and int(text_us[:15]):
                figures[f"{kind}_await_ns"] = float(text_us[:15]) * 1e3
            # rows of a mix come in pairs
            if kind == "read" and row.get("MixType") and found.samples and gaps:
                earlier = found.samples[-1].get("elbencho")
                if earlier is not None:
                    figures = {name: max(value, earlier.get(name, 0.0)) for name, value in figures.items()}
                    found.samples.pop()
            found.samples.append({"elbencho": completed(figures)})
    except csv.Error as error:
        raise file_error(source, f"is elbencho's live statistics with a row that cannot be read: {error}") from None
    found.interval_s = round(sorted(gaps)[len(gaps) // 2], 3) if gaps else None
    found.notes.append(
        "elbencho issues requests as fast as they are served: its rates are what that storage delivered, not what "
        "users ask for; --csvfile instead of --livecsv has threads and depth"
    )
    return found


def _kind(row: Mapping[str, str | None]) -> str:
    mix = str(row.get("MixType") or "").lower()
    return mix if mix in ("read", "write") else "read" if "READ" in str(row.get("Phase")) else "write"


def _number(row: Mapping[str, str | None], name: str, number: int, lines: list[str], source: str) -> float:
    try:
        value = float(row.get(name) or "nan")
    except ValueError:
        value = math.nan
    if 0 <= value <= _MAX:
        return value
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    raise LineError(source, number, 0, name, line, "must be a number")
