"""Histograms of response times without a load: biolatency of bcc, and maps of bpftrace.

They say how long requests took, and neither how many a second nor how long they were: beside a recording of the same
time they are the shape of its latencies.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import read_document

KINDS = ("biolatency", "bpftrace-histogram")

#: From which to which time, ns, and how many requests.
Class = tuple[float, float]

_UNITS = {"n": 1.0, "u": 1e3, "m": 1e6}
_BCC_HEAD = re.compile(r"\s{0,20}([num])?secs\s{1,30}:\s{1,10}count\s{1,10}distribution")
_BCC_ROW = re.compile(r"\s{0,30}(\d{1,20}) -> (\d{1,20})\s{0,30}: (\d{1,18})\s")
_BCC_KEY = re.compile(r"\s{0,4}(flags|disk) = (.{1,80})\Z")
_MAP = re.compile(r"@(\w{0,60})(?:\[([^\]]{0,200})\])?:[ \t]{0,10}\Z")
_MAP_ROW = re.compile(r"[\[(](\.\.\.|-?\d{1,20}[KMGT]?)?,?\s{0,3}(\.\.\.|\d{1,20}[KMGT]?)?[\])]\s{0,40}(\d{1,18})\s")
#: No class of times ends later: beyond it, both ends of one may be the same number.
_MOST = 1 << 50
_LETTERS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_UNIT_OF_NAME = re.compile(r"(?:\A|_)(n|u|m)(?:s|secs?)?(?:\Z|_)|(nano|micro|milli)sec")
_BEHIND_UNIT = "call the map @usecs, as biolatency.bt does, or @nsecs or @msecs"


@dataclass
class Latencies:
    """Response times that were counted.

    Attributes
    ----------
    counts : mapping of str to mapping of class to float
        By "reads", "writes", and "all" where the program counts them together.
    devices : set of str
        That the program counts apart; they are added up.
    n_reports : int
    """

    counts: dict[str, dict[Class, float]] = field(default_factory=dict)
    devices: set[str] = field(default_factory=set)
    n_reports: int = 0

    def add(self, part: str, low_ns: float, high_ns: float, n: float) -> None:
        """Count requests."""
        if n:
            own = self.counts.setdefault(part, {})
            own[low_ns, high_ns] = own.get((low_ns, high_ns), 0.0) + n

    def n(self, part: str) -> float:
        """Return how many requests were counted."""
        return sum(self.counts.get(part, {}).values())

    def quantile_ns(self, part: str, level: float) -> float | None:
        """Return the time that a share of the requests does not exceed, spread over the logarithm within a class."""
        own = sorted(self.counts.get(part, {}).items())
        if not own:
            return None
        counts = np.array([n for _, n in own])
        ends = np.cumsum(counts)
        at = min(int(np.searchsorted(ends, level * ends[-1], side="left")), len(own) - 1)
        share = min(max((level * ends[-1] - (ends[at] - counts[at])) / counts[at], 0.0), 1.0)
        low, high = own[at][0]
        return float(low * (high / low) ** share if low > 0 else high * share)

    def mean_ns(self, part: str) -> float | None:
        """Return the mean, with times spread over the logarithm within each class; None where nothing was counted."""
        n = self.n(part)
        return sum(count * _middle(low, high) for (low, high), count in self.counts[part].items()) / n if n else None


def _middle(low: float, high: float) -> float:
    return (high - low) / math.log(high / low) if low > 0 and high > low else (low + high) / 2


def kind_of(text: str) -> str | None:
    """Return which kind of histogram a text is, or None."""
    if re.search(r"^ {0,20}[num]?secs +: count +distribution|^Tracing block device I/O\.\.\.", text, re.MULTILINE):
        return "biolatency"
    if re.search(r'"val_type"\s*:\s*"[num]?secs"', text) and '"interval-start"' in text:
        return "biolatency"
    if re.search(r"^@\w{0,60}(\[[^\]\n]{0,200}\])?:[ \t]*\n[\[(]", text, re.MULTILINE):
        return "bpftrace-histogram"
    return None


def read_latencies(path: str | Path, kind: str) -> Latencies:
    """Return the response times of a histogram, all its reports added up.

    Raises
    ------
    FormatError
        When it counts nothing, or does not say its unit.
    """
    return latencies_of_text(read_document(path), str(path), kind)


def latencies_of_text(text: str, source: str, kind: str) -> Latencies:
    """As `read_latencies`, for text already in memory."""
    lines = text.replace("\r\n", "\n").split("\n")
    found = Latencies()
    if kind == "biolatency":
        _of_bcc(lines, found)
    else:
        _of_bpftrace(lines, found, source)
    if not found.counts:
        raise file_error(source, "counts no request", "let it run for longer")
    return found


def _part_of(words: str) -> str | None:
    """Return the direction that flags or a key name; None for what neither reads nor writes."""
    lowered = words.lower()
    if re.search(r"discard|flush(?!.*write)|unknown|trim", lowered) and "write" not in lowered:
        return None
    if re.search(r"read|\br\b|\A0\Z", lowered):
        return "reads"
    return "writes" if re.search(r"write|\bw\b|\A1\Z", lowered) else "all"


def _of_bcc(lines: list[str], found: Latencies) -> None:
    part: str | None = "all"
    unit = 1e3
    for line in lines:
        if line.lstrip().startswith("{") and '"val_type"' in line:
            _of_bcc_json(line, found)
        elif head := _BCC_HEAD.match(line):
            unit = _UNITS.get(head[1] or "", 1e9)
            found.n_reports += 1
        elif key := _BCC_KEY.match(line):
            if key[1] == "flags":
                part = _part_of(key[2])
            else:
                found.devices.add(key[2].strip())
        elif (row := _BCC_ROW.match(line + " ")) and part is not None:
            # "128 -> 255": both whole units
            low, high = int(row[1]), int(row[2])
            if low <= high < _MOST:
                found.add(part, low * unit, (high + 1) * unit, int(row[3]))


def _of_bcc_json(line: str, found: Latencies) -> None:
    try:
        data = json.loads(line.strip().rstrip(","))
    except (ValueError, RecursionError):
        return
    rows = data.get("data")
    part = _part_of(str(data.get("flags", "")))
    unit = _UNITS.get(str(data.get("val_type", ""))[:1], 1e9)
    found.n_reports += 1
    for row in rows if isinstance(rows, list) and part is not None else []:
        if not isinstance(row, Mapping):
            continue
        values = [row.get(name) for name in ("interval-start", "interval-end", "count")]
        low, high, n = (value if isinstance(value, int) else -1 for value in values)
        if part is not None and 0 <= low <= high < _MOST and 0 < n < 1 << 62:
            found.add(part, low * unit, (high + 1) * unit, n)


def _of_bpftrace(lines: list[str], found: Latencies, source: str) -> None:
    part: str | None = None
    unit: float | None = None
    for line in lines:
        if head := _MAP.match(line):
            unit, part = _unit_of(head[1]), _part_of(head[2] or head[1])
            found.n_reports += 1
        elif (row := _MAP_ROW.match(line + " ")) and found.n_reports:
            if unit is None:
                raise file_error(source, "is a histogram of bpftrace whose name does not say its unit", _BEHIND_UNIT)
            for low, high in _bounds(row):
                if part is not None:
                    found.add(part, low * unit, high * unit, int(row[3]))


def _bounds(row: re.Match[str]) -> Iterator[tuple[float, float]]:
    """Yield the bounds of a row, where both are known and in order."""
    low = _number(row[1])
    high = _number(row[2]) if row[2] else (low + 1 if low is not None else None)
    if low is not None and high is not None and 0 <= low < high:
        yield low, high


def _number(text: str | None) -> float | None:
    if not text or text == "...":
        return None
    return float(int(text.rstrip("KMGT")) * _LETTERS[text.lstrip("-0123456789")])


def _unit_of(name: str) -> float | None:
    found = _UNIT_OF_NAME.search(name.lower())
    return _UNITS[{"nano": "n", "micro": "u", "milli": "m"}.get(found[2] or "", found[1])] if found else None
