"""Reports of zpool iostat (OpenZFS), with -v of disks, and else of pools; with -l also how long commands took."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from diskmodel.formats.faults import LineError
from diskmodel.formats.pools.figures import FIGURE, POWERS, scaled
from diskmodel.formats.sysstat.figures import Figures, Sample, completed
from diskmodel.formats.sysstat.tables import Recording

_HEADER = re.compile(r"[ \t]*capacity[ \t]+operations[ \t]+bandwidth\b(.*)\Z")
_COLUMNS = re.compile(r"(?:pool|vdev)[ \t]+alloc[ \t]+free[ \t]+read[ \t]+write\b(.*)\Z")
_RULE = re.compile(r"[- \t]+\Z")
#: A time (`zfs_nicetime`).
_TIME = re.compile(r"(\d{1,18}(?:[.,]\d{1,6})?)(ns|us|ms|s|)\Z", re.ASCII)
_NS = {"": 1.0, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: Columns of numbers behind the name: alloc, free, operations and bandwidth, each read and write.
_N_FIGURES = 6


@dataclass
class _Row:
    """A line of a report: how far it is indented, and its figures; None: it has none, as the word "logs"."""

    name: str
    indent: int
    figures: Figures


@dataclass
class _Reports:
    """Reports one after the other; a pool that comes again begins the next."""

    reports: list[list[_Row]] = field(default_factory=list)

    def add(self, row: _Row) -> None:
        known = {other.name for other in self.reports[-1] if not other.indent} if self.reports else set()
        if not self.reports or (not row.indent and row.figures is not None and row.name in known):
            self.reports.append([])
        self.reports[-1].append(row)


def is_zpool_iostat(text: str) -> bool:
    """Whether a text holds a report of zpool iostat with rates."""
    lines = text[:65536].split("\n")
    return any(_HEADER.match(line) and _COLUMNS.match(below.strip()) for line, below in pairwise(lines))


def read_zpool_iostat(text: str, source: str) -> Recording:
    """Return the reports by disk, or by pool where disks are not shown; the first is since the pool was imported.

    Raises
    ------
    LineError
        For a line with fewer columns than its header, or a figure that is none.
    """
    found, reports = Recording(), _Reports()
    lines = text.split("\n")
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    wait_at: int | None = None
    n_columns = 0
    for number, line in enumerate(lines):
        words = line.split()
        if header := _HEADER.match(line):
            groups = header[1].split()
            # every group in front of these has two columns
            wait_at = _N_FIGURES + 2 * groups.index("disk_wait") if "disk_wait" in groups else None
        elif columns := _COLUMNS.match(line.strip()):
            least = _N_FIGURES if wait_at is None else wait_at + 2
            n_columns = max(5 + len(columns[1].split()), 1 + least)
        elif n_columns and words and not _RULE.match(line) and not _is_a_time(words):
            if len(words) < n_columns:
                if number == last and len(reports.reports) > 1:
                    found.notes.append("the last report is cut short and was left out")
                    reports.reports.pop()
                    break
                raise LineError(source, number + 1, 0, "", line, "has fewer columns than the header of zpool iostat")
            indent = len(line) - len(line.lstrip())
            sample = _sample(words[1:], wait_at, (source, number + 1, line))
            reports.add(_Row(words[0], indent, sample))
    return _recording(reports.reports, found)


def _is_a_time(words: list[str]) -> bool:
    """Whether a line is what -T adds: seconds, or a date."""
    return (len(words) == 1 and words[0].isdecimal()) or any(re.match(r"\d{1,2}:\d\d:\d\d\Z", word) for word in words)


def _sample(words: list[str], wait_at: int | None, place: tuple[str, int, str]) -> Figures:
    if all(word == "-" for word in words[2:_N_FIGURES]):
        return None
    reads, writes, read_bytes, written = (_figure(word, FIGURE, POWERS, place) for word in words[2:_N_FIGURES])
    figures = {
        "reads_per_s": reads,
        "writes_per_s": writes,
        "read_bytes_per_s": read_bytes,
        "write_bytes_per_s": written,
    }
    if wait_at is not None:
        for name, word in zip(("read_await_ns", "write_await_ns"), words[wait_at : wait_at + 2], strict=True):
            if word != "-":
                figures[name] = _figure(word, _TIME, _NS, place)
    return completed(figures)


def _figure(word: str, pattern: re.Pattern[str], factors: dict[str, float], place: tuple[str, int, str]) -> float:
    if word == "-":
        return 0.0
    match = pattern.match(word)
    if match is None:
        source, number, line = place
        raise LineError(source, number, line.find(word) + 1, word, line, "is no figure of zpool iostat")
    return scaled(match[1], match[2], factors)


def _is_rounded_away(figures: Figures) -> bool:
    """Whether bytes were read or written by a rate that was rounded to 0."""
    ways = (("reads_per_s", "read_bytes_per_s"), ("writes_per_s", "write_bytes_per_s"))
    return figures is not None and any(not figures[rate] and figures[n_bytes] > 0 for rate, n_bytes in ways)


def _recording(reports: list[list[_Row]], found: Recording) -> Recording:
    has_disks = False
    for rows in reports:
        sample: Sample = {}
        for row, below in zip(rows, [*rows[1:], None], strict=True):
            if row.figures is not None and (below is None or below.indent <= row.indent):
                sample[row.name] = row.figures
                has_disks = has_disks or row.indent > 0
        if sample:
            found.samples.append(sample)
    found.leave_out_first("the pool was imported", "zpool iostat -vly 1 600")
    if any(_is_rounded_away(own) for sample in found.samples for own in sample.values()):
        found.notes.append(
            "rates below 1/s are shown as 0, and are left out with their bytes; longer intervals have more"
        )
    of_disks = (
        "these are commands of the disks, with parity, copies, metadata and what OpenZFS joined: fewer or more than "
        "programs ask for"
    )
    found.notes.append(of_disks if has_disks else f"{of_disks}; with -v they are shown by disk")
    return found
