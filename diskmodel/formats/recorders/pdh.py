r"""Tables of Windows' performance counters, as perfmon, typeperf and Export-Counter write them, and esxtop -b.

One column a counter, named `\\HOST\Object(instance)\Counter`; one row a sample. The first cell of the heading begins
with (PDH-CSV 4.0), or (PDH-TSV 4.0) where tabs separate the cells.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.sysstat.figures import Figures, Sample, completed
from diskmodel.formats.sysstat.tables import Recording

_FIRST = re.compile(r'\s*"?\(PDH-([CT])SV 4\.0\)')
_COLUMN = re.compile(r"\\\\[^\\]*\\([^\\(]+)\((.*)\)\\([^\\]+)\Z")
_MB = 2.0**20

#: Counter of Windows → series and the factor to its unit.
_WINDOWS: Mapping[str, tuple[str, float]] = {
    "Disk Reads/sec": ("reads_per_s", 1),
    "Disk Writes/sec": ("writes_per_s", 1),
    "Disk Transfers/sec": ("ios_per_s", 1),
    "Disk Read Bytes/sec": ("read_bytes_per_s", 1),
    "Disk Write Bytes/sec": ("write_bytes_per_s", 1),
    "Disk Bytes/sec": ("bytes_per_s", 1),
    "Avg. Disk Bytes/Read": ("mean_read", 1),
    "Avg. Disk Bytes/Write": ("mean_write", 1),
    "Avg. Disk Bytes/Transfer": ("mean_all", 1),
    "Avg. Disk sec/Read": ("read_await_ns", 1e9),
    "Avg. Disk sec/Write": ("write_await_ns", 1e9),
    "Avg. Disk sec/Transfer": ("await_ns", 1e9),
    "Avg. Disk Queue Length": ("queue_length", 1),
    "% Idle Time": ("idle", 0.01),
}
_ESX: Mapping[str, tuple[str, float]] = {
    "Commands/sec": ("ios_per_s", 1),
    "Reads/sec": ("reads_per_s", 1),
    "Writes/sec": ("writes_per_s", 1),
    "MBytes Read/sec": ("read_bytes_per_s", _MB),
    "MBytes Written/sec": ("write_bytes_per_s", _MB),
    "Average Guest MilliSec/Read": ("read_await_ns", 1e6),
    "Average Guest MilliSec/Write": ("write_await_ns", 1e6),
    "Average Guest MilliSec/Command": ("await_ns", 1e6),
    "Average MilliSec/Read": ("read_await_ns", 1e6),
    "Average MilliSec/Write": ("write_await_ns", 1e6),
}

#: Objects of disks, the one to be taken first where a file has several: they count the same requests.
_WINDOWS_OBJECTS = ("PhysicalDisk", "LogicalDisk")
_ESX_OBJECTS = (
    "Physical Disk SCSI Device",
    "Physical Disk NFS Volume",
    "Virtual Disk",
    "Physical Disk",
    "Physical Disk Adapter",
)
_ESX_SIGNS = re.compile(r"\\(Physical Disk|Virtual Disk|Physical Cpu|Group Cpu|Vcpu|Group Memory|Physical Cpu Load)\b")
#: Largest figure that is taken; keeps products finite.
_MAX = 1e18


def _heading(text: str) -> str:
    return text.partition("\n")[0] if _FIRST.match(text[:200]) else ""


def is_esxtop(text: str) -> bool:
    """Whether a text is a table of counters of ESXi."""
    return bool(_ESX_SIGNS.search(_heading(text)))


def is_perfmon(text: str) -> bool:
    """Whether a text is a table of counters of Windows, of disks or others; typeperf may print a blank line first."""
    return bool(_heading(text.lstrip("\n"))) and not is_esxtop(text)


def read_perfmon(text: str, source: str) -> Recording:
    """Return the samples of a log of Windows' performance counters; `_Total` and `% Disk Time` are left out."""
    table = _Table(text.lstrip("\n"), source)
    named = table.of_objects(_WINDOWS_OBJECTS, _WINDOWS)
    if not named.columns:
        others = ", ".join(sorted(table.objects)[:4]) or "none"
        rule = f"is a log of Windows' performance counters without those of disks in English; its objects: {others}"
        fix = (
            r'record with typeperf "\PhysicalDisk(*)\*" -si 1 -o log.csv (names in English: on an English system, or '
            "with relog)"
        )
        raise file_error(source, rule, fix)
    found = table.recording(named, lambda instance: instance != "_Total")
    if named.what == "LogicalDisk":
        found.notes.append("the counters are of volumes (LogicalDisk): a volume may lie on several disks")
    found.notes.append("perfmon counts requests as Windows issues them, above any RAID controller")
    return found


def read_esxtop(text: str, source: str) -> Recording:
    """Return the samples of `esxtop -b`; of several counts of the same requests that of devices is taken."""
    table = _Table(text, source)
    named = table.of_objects(_ESX_OBJECTS, _ESX)
    if not named.columns:
        rule = "is esxtop's batch output without disks' reads and writes"
        raise file_error(source, rule, "record with esxtop -b -a -d 5 -n 720")
    instances = {instance for instance, *_ in named.columns.values()}
    parts = {instance for instance in instances if re.search(r":(scsi|sata|nvme|ide)\d", instance)}
    found = table.recording(named, lambda instance: not parts or instance in parts)
    if named.what != "Physical Disk SCSI Device":
        found.notes.append(f"the counters are of {named.what}")
    found.notes.append("esxtop counts requests of all virtual machines together as ESXi issues them, above any array")
    return found


@dataclass
class _Named:
    """Columns of one object: place → instance, series, factor."""

    what: str
    columns: dict[int, tuple[str, str, float]]


class _Table:
    def __init__(self, text: str, source: str) -> None:
        self._source = source
        first = _FIRST.match(text[:200])
        delimiter = "\t" if first and first[1] == "T" else ","
        self._lines = text.split("\n")
        self._rows = csv.reader(iter(self._lines), delimiter=delimiter)
        try:
            self._header = next(self._rows)
        except (csv.Error, StopIteration) as error:
            raise file_error(source, f"has a heading that cannot be read: {error}") from None
        self._columns: dict[int, tuple[str, str, str]] = {}
        for place, name in enumerate(self._header):
            if match := _COLUMN.match(name.strip()):
                self._columns[place] = match[1].strip(), match[2], match[3].strip()
        self.objects = {what for what, _, _ in self._columns.values()}

    def of_objects(self, names: Sequence[str], counters: Mapping[str, tuple[str, float]]) -> _Named:
        """The columns of the first of the objects that the table counts reads or writes of."""
        for name in names:
            columns = {
                place: (instance, *counters[counter])
                for place, (what, instance, counter) in self._columns.items()
                if what == name and counter in counters
            }
            if any(series.endswith("s_per_s") for _, series, _ in columns.values()):
                return _Named(name, columns)
        return _Named("", {})

    def recording(self, named: _Named, is_taken: object) -> Recording:
        """The samples of the columns' instances."""
        assert callable(is_taken)
        columns = {place: column for place, column in named.columns.items() if is_taken(column[0])}
        columns = columns or named.columns
        found = Recording()
        times: list[float] = []
        for number, cells in self._cells():
            values = {place: _value(cells[place]) for place in columns if place < len(cells)}
            if not any(value is not None for value in values.values()):
                continue  # the first row has no differences yet
            figures: dict[str, dict[str, float]] = {}
            is_unknown: set[str] = set()
            for place, (instance, series, factor) in columns.items():
                value = values.get(place)
                if value is None:
                    is_unknown.add(instance) if series.endswith("_per_s") else None
                elif math.isnan(value):
                    line = self._lines[number - 1] if number <= len(self._lines) else ""
                    raise LineError(self._source, number, place + 1, self._header[place][:80], line, "must be a number")
                else:
                    figures.setdefault(instance, {})[series] = value * factor
            sample: Sample = {name: _completed(figures[name]) for name in figures if name not in is_unknown}
            found.samples.append(sample | dict.fromkeys(sorted(is_unknown), None))
            times += [seconds] if (seconds := _seconds(cells[0])) is not None else []
        gaps = sorted(later - earlier for earlier, later in itertools.pairwise(times) if later > earlier)
        found.interval_s = round(gaps[len(gaps) // 2], 3) if gaps else None
        return found

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Rows of the table, with their line's number; typeperf's last words are no rows."""
        try:
            for cells in self._rows:
                if len(cells) > 1 and cells[0][:1].isdecimal():
                    yield self._rows.line_num, cells
        except csv.Error as error:
            raise file_error(self._source, f"has a row that cannot be read: {error}") from None


def _value(cell: str) -> float | None:
    """The number in a cell; None for an empty or negative one (a counter that failed), NaN for anything else."""
    text = cell.strip()
    if not text:
        return None
    try:
        value = float(text) if re.fullmatch(r"[-+0-9.eE]{1,40}", text) else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        return math.nan
    return value if 0 <= value <= _MAX else None


def _seconds(stamp: str) -> float | None:
    """Seconds of a time of PDH: month/day/year, with or without milliseconds."""
    for form in ("%m/%d/%Y %H:%M:%S.%f", "%m/%d/%Y %H:%M:%S"):
        try:
            when = datetime.strptime(stamp.strip(), form)
        except ValueError:
            continue
        return (when - datetime(1970, 1, 1)).total_seconds()
    return None


def _completed(found: dict[str, float]) -> Figures:
    """Figures with bytes from mean sizes where only these are recorded."""
    for kind in ("read", "write"):
        mean, count = found.pop(f"mean_{kind}", None), found.get(f"{kind}s_per_s")
        if mean is not None and count is not None:
            found.setdefault(f"{kind}_bytes_per_s", mean * count)
    mean, count = found.pop("mean_all", None), found.get("ios_per_s")
    if mean is not None and count is not None:
        found.setdefault("bytes_per_s", mean * count)
    idle = found.pop("idle", None)
    if idle is not None:
        found["utilization_ratio"] = min(max(1.0 - idle, 0.0), 1.0)
    return completed(found)
