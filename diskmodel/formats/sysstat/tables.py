"""The text of iostat and sar, and sadf's databases: tables among other lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diskmodel.formats.faults import LineError
from diskmodel.formats.sysstat.figures import Sample, completed, figures_of, n_known
from diskmodel.formats.sysstat.first import first_is_interval

_NAME_COLUMNS = frozenset({"Device", "Device:", "device", "DEV", "Dev"})
_OTHER_TABLES = frozenset({"avg-cpu", "Filesystem", "extended", "tty"})
_BANNER = re.compile(r"(Linux|SunOS|AIX|FreeBSD) \S+ .*\(", re.ASCII)
_STAMP = re.compile(r"(Average:|Summary:|Minimum:|Maximum:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+(\S.*)\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*[sBkKMGTP]?%?|nan|inf)\Z", re.ASCII | re.IGNORECASE)
_TIME_BEFORE = re.compile(
    r"\[?(?:(?:\d{4}-\d\d-\d\d|\d\d/\d\d/\d{2,4}|[A-Z][a-z]{2} [ \d]\d)[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"(?:Z|[+-]\d\d:?\d\d)?(?: [AP]M)?\]?:?(?: |\t|\Z)|\[?\d{10}(?:\.\d{1,9})?\]?:?(?: |\t|\Z)",
    re.ASCII,
)
_TIME_OF_DAY = re.compile(r"\b\d\d:\d\d:\d\d\b", re.ASCII)
_SADF = re.compile(r"# hostname;interval;timestamp;(.+)")
_SADF_PAIR = re.compile(r"([^\t\n]*)\t(-?\d+)\t([^\t\n]+)\t([^\t\n]+)\t(\S+)\t(\S+)\s*\Z", re.ASCII)

#: Said of a recording of iostat that has one report.
ONLY_REPORT = (
    "the only report covers the time since the machine was started: a mean without peaks; record with iostat -x 1 600"
)

#: Said of a recording of iostat that has more.
FIRST_LEFT_OUT = (
    "the first report is left out: unless iostat ran with -y, it covers the time since the machine was started "
    "(diskmodel workload --keep-first keeps it)"
)

#: Said where the figures show that the first report is one like the others.
FIRST_KEPT = "the first report is kept: its figures are those of an interval, so iostat ran with -y"

#: Device of `sar -b`, which counts all devices together.
ALL_DEVICES = "all devices"


@dataclass
class Recording:
    """What a text holds.

    Attributes
    ----------
    samples : list of Sample
    interval_s : float or None
    notes : list of str
    sizes, responses : dict
        As of `DeviceLoad`, by device, where a program has more than means.
    """

    samples: list[Sample] = field(default_factory=list)
    interval_s: float | None = None
    notes: list[str] = field(default_factory=list)
    sizes: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)
    responses: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)

    def leave_out_first(self, since: str, better: str) -> None:
        """Leave out the first report, which covers all the time since something; an only one is kept, and named.

        Parameters
        ----------
        since : str
            "the pool was imported".
        better : str
            A command whose reports cover intervals.
        """
        if len(self.samples) > 1:
            self.samples = self.samples[1:]
            self.notes.append(f"the first report is left out: it covers the time since {since}")
        elif self.samples:
            self.notes.append(
                f"the only report covers the time since {since}: a mean without peaks; record with {better}"
            )


def without_times(text: str) -> str:
    """Return iostat's text without the time before each line, as `ts`, awk or a loop with date write it."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or not all(_TIME_BEFORE.match(line) for line in lines):
        return text
    bare = [_TIME_BEFORE.sub("", line, count=1) for line in text.split("\n")]
    # sar, too, has a time before each line, behind which is no Device
    heads = (_header(line.split()) or [] for line in bare)
    return "\n".join(bare) if any(word.startswith("Device") for head in heads for word in head) else text


def kind_of(text: str) -> str | None:
    """Which of the texts this is: "iostat-text", "sar-text", "sadf-text" or None; its table may stand anywhere."""
    text = without_times(text)
    for line in text.split("\n"):
        if line.startswith("# hostname;"):
            words = line.split(";")
            if ("DEV" in words and n_known(words) > 1) or {"tps", "rtps"} <= set(words):
                return "sadf-text"
        elif "\t" in line and (pair := _SADF_PAIR.match(line)) and pair[5] in ("tps", "rtps"):
            return "sadf-text"
        elif (match := _STAMP.match(line)) and _sar_header(match[2].split()):
            return "sar-text"
        elif line and _header(_words_after_host(line)[1]):
            return "iostat-text"
    return None


def _header(words: list[str]) -> list[str] | None:
    """The words when they are the head of a table of devices, the name's column first."""
    if n_known(words) < 2:
        return None
    if words[0] in _NAME_COLUMNS:
        return words
    # `--pretty` prints names last.
    return words if words[-1] in _NAME_COLUMNS else None


def _words_after_host(line: str) -> tuple[str, list[str]]:
    """Name of the host in front of a line, as pdsh and its like put it there, and the words behind it."""
    words = line.split()
    if len(words) > 1 and words[0].endswith(":") and words[0] not in ("Device:", "avg-cpu:", "Average:"):
        return words[0].rstrip(":"), words[1:]
    return "", words


# ---------------------------------------------------------------- iostat


def read_iostat(text: str, source: str, *, keep_first: bool | None) -> Recording:
    """Return the reports of iostat's text, of one host or of several whose names stand before their lines.

    Each banner ("Linux 5.4 …") begins a run, whose first report covers the time since the machine was started, unless
    its figures show that iostat left that out (-y). `keep_first` decides it; None: the figures do.
    """
    lines = without_times(text).split("\n")
    hosts = {_words_after_host(line)[0] for line in lines if _header(_words_after_host(line)[1])}
    numbered = list(enumerate(lines, start=1))
    if hosts <= {""}:
        return _host_reports(numbered, source, "", keep_first)
    found = Recording()
    for host in sorted(hosts - {""}):
        own = [(number, line[len(host) + 1 :]) for number, line in numbered if line.startswith(f"{host}:")]
        part = _host_reports(own, source, "" if len(hosts) == 1 else f"{host}:", keep_first)
        found.samples += [{} for _ in range(len(part.samples) - len(found.samples))]
        for together, sample in zip(found.samples, part.samples, strict=False):
            together.update(sample)
        found.notes += [note for note in part.notes if note not in found.notes]
    return found


def _host_reports(numbered: list[tuple[int, str]], source: str, prefix: str, keep_first: bool | None) -> Recording:
    found = Recording()
    since_start: set[int] = set()
    cells_of: list[list[tuple[list[str], list[str]]]] = []
    header: list[str] | None = None
    is_run_new = True
    columns: set[str] = set()
    is_split = False
    parts: dict[str, tuple[list[str], list[str]]] = {}
    name = ""
    last = max((number for number, line in numbered if line.strip()), default=0)
    for number, line in numbered:
        words = line.split()
        if _BANNER.match(line.strip()):
            header, is_run_new = None, True
        elif head := _header(words):
            header, name = head, ""
            own = {word for word in head if word not in _NAME_COLUMNS}
            # `-xh` has a table of each direction, one below the other
            is_part = not is_run_new and len({"r/s", "w/s"} & columns) == 1 and not own & columns
            is_part = is_part or (not is_run_new and is_split and not own & columns)
            is_split = is_part
            columns = columns | own if is_part else own
            if is_part:
                continue
            if is_run_new:
                since_start.add(len(found.samples))
                is_run_new = False
            found.samples.append({})
            cells_of.append([])
            parts = {}
        elif not words or words[0].rstrip(":") in _OTHER_TABLES:
            header, name = None, ""
        elif header is not None and len(words) != len(header) and _TIME_OF_DAY.search(line):
            header, name = None, ""  # a time of day ends a table
        elif header is not None:
            if len(words) == 1 and header[0] in _NAME_COLUMNS and number != last:
                name = words[0]  # a long name has a line of its own
                continue
            try:
                device, cells = _row(header, [name, *words] if name else words, number, line, source)
                row_columns = [w for w in header if w not in _NAME_COLUMNS]
                if is_split and device in parts:
                    row_columns, cells = parts[device][0] + row_columns, parts[device][1] + cells
                figures = figures_of(row_columns, cells, number, line, source)
                parts[device] = row_columns, cells
            except LineError:
                if number != last or len(words) >= len(header):
                    raise
                found.notes.append("the last line is cut short and was left out")
                continue
            # Groups (-g) and totals begin with a blank, which keeps them apart from devices.
            cells_of[-1].append((row_columns, cells))
            is_group = line.startswith(" ") and header[0] in _NAME_COLUMNS and not numbered[0][1].startswith(" ")
            found.samples[-1][(" " if is_group else "") + prefix + device] = figures
            name = ""
    if keep_first is None and len(since_start) == 1 and first_is_interval(cells_of):
        found.notes.append(FIRST_KEPT)
        return found
    if not keep_first and len(since_start) < len(found.samples):
        found.samples = [sample for place, sample in enumerate(found.samples) if place not in since_start]
        found.notes.append(FIRST_LEFT_OUT)
    elif not keep_first and found.samples:
        found.notes.append(ONLY_REPORT)
    return found


def _row(header: list[str], words: list[str], number: int, line: str, source: str) -> tuple[str, list[str]]:
    """Name and figures of a row; names may hold blanks."""
    n_figures = len(header) - 1
    is_last = header[0] not in _NAME_COLUMNS
    cells = words[:n_figures] if is_last else words[len(words) - n_figures :]
    name = words[n_figures:] if is_last else words[: len(words) - n_figures]
    if not name or not all(_NUMBER.match(cell) for cell in cells if len(words) != len(header)):
        raise LineError(source, number, 0, "", line, f"has {len(words)} columns instead of {len(header)}")
    return " ".join(name), cells


# ---------------------------------------------------------------- sar


def _counts_all(header: list[str]) -> bool:
    """Whether a table is that of `sar -b`. With `--pretty`, that of `sar -d` begins with tps, too."""
    return header[:2] == ["tps", "rtps"]


def _sar_header(words: list[str]) -> list[str] | None:
    if _counts_all(words):
        return words
    return _header(words) if "DEV" in (words[0], words[-1]) else None


def read_sar(text: str, source: str) -> Recording:
    """Return the samples of `sar -d`, or of `sar -b` where the file has no table of devices."""
    devices: list[Sample] = []
    together: list[Sample] = []
    header: list[str] | None = None
    stamp = ""
    times: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _STAMP.match(line)
        if match is None or line.startswith("#"):
            continue
        words = match[2].split()
        if words[0] == "COM":
            continue  # a comment put in by sadc -C
        if not any(_NUMBER.match(word) for word in words):
            header, stamp = _sar_header(words), ""
            continue
        if header is None or not match[1][0].isdecimal():
            continue
        if _counts_all(header):
            together.append({ALL_DEVICES: _sar_row(header, words, number, line, source)[1]})
            times.append(_seconds(match[1]))
            continue
        name, figures = _sar_row(header, words, number, line, source)
        if match[1] != stamp or name in devices[-1]:
            stamp = match[1]
            devices.append({})
            times.append(_seconds(stamp))
        devices[-1][name] = figures
    found = Recording(devices or together)
    if not devices and together:
        found.notes.append("sar -b counts all devices together; record with sar -d for each of them")
    gaps = [later - earlier for earlier, later in itertools.pairwise(times) if later > earlier]
    found.interval_s = float(sorted(gaps)[len(gaps) // 2]) if gaps else None
    return found


def _sar_row(
    header: list[str], words: list[str], number: int, line: str, source: str
) -> tuple[str, dict[str, float] | None]:
    if _counts_all(header):
        if len(words) != len(header):
            raise LineError(source, number, 0, "", line, f"has {len(words)} columns instead of {len(header)}")
        return ALL_DEVICES, figures_of(header, words, number, line, source)
    name, cells = _row(header, words, number, line, source)
    return name, figures_of([word for word in header if word not in _NAME_COLUMNS], cells, number, line, source)


def _seconds(stamp: str) -> int:
    hours, minutes, seconds = (int(part) for part in stamp[:8].split(":"))
    hours = hours % 12 + 12 * stamp.endswith("PM") if stamp[-1] == "M" else hours
    return 3600 * hours + 60 * minutes + seconds


# ---------------------------------------------------------------- sadf


def read_sadf(text: str, source: str) -> Recording:
    """Return the samples of `sadf -d` (semicolons) or `sadf -p` (one figure a line)."""
    devices: dict[tuple[str, str], Sample] = {}
    together: dict[tuple[str, str], Sample] = {}
    intervals: list[int] = []
    for when, interval, name, header, cells, number, line in _sadf_rows(text, source):
        into = together if name == ALL_DEVICES else devices
        into.setdefault(when, {})[name] = figures_of(header, cells, number, line, source)
        intervals.append(interval)
    found = Recording(list((devices or together).values()))
    if together and not devices:
        found.notes.append("sar -b counts all devices together; make it again with: sadf -d -- -d")
    positive = [interval for interval in intervals if interval > 0]
    found.interval_s = sum(positive) / len(positive) if positive else None
    return found


_SadfRow = tuple[tuple[str, str], int, str, list[str], list[str], int, str]


def _sadf_rows(text: str, source: str) -> Iterator[_SadfRow]:
    header: list[str] | None = None
    n_repeated = 0
    pairs: dict[tuple[tuple[str, str], str], tuple[int, list[str], list[str], int, str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip()
        if match := _SADF.match(line):
            columns = match[1]
            n_repeated = columns.count("[...]")
            header = columns.removesuffix("[...]").split(";")
            if not (header[0] == "DEV" or {"tps", "rtps"} <= set(header)):
                header = None
            elif "[...]" in ";".join(header):
                raise LineError(
                    source,
                    number,
                    0,
                    "",
                    line,
                    "holds several tables in one line",
                    "make it again with sadf -d, without -h",
                )
        elif pair := _SADF_PAIR.match(line):
            host, interval, stamp, device, figure, value = pair.groups()
            name = ALL_DEVICES if device == "-" else device
            row = pairs.setdefault(((host, stamp), name), (int(interval), [], [], number, line))
            row[1].append(figure)
            row[2].append(value)
        elif header is not None and line and not line.startswith("#"):
            cells = line.split(";")
            if len(cells) < 4 or "RESTART" in cells[3] or cells[3] == "COM":
                continue
            when, interval = (cells[0], cells[2]), int(cells[1]) if cells[1].lstrip("-").isdecimal() else 0
            step = len(header)
            figures = cells[3:]
            if len(figures) % step or (len(figures) != step and not n_repeated):
                raise LineError(source, number, 0, "", line, f"has {len(figures)} columns instead of {step}")
            for first in range(0, len(figures), step):
                part = figures[first : first + step]
                if header[0] == "DEV":
                    yield when, interval, part[0], header[1:], part[1:], number, line
                else:
                    yield when, interval, ALL_DEVICES, header, part, number, line
    for (when, name), (interval, figures, values, number, line) in pairs.items():
        known = [(figure, value) for figure, value in zip(figures, values, strict=True) if n_known([figure])]
        # Interfaces and processors have lines of the same form.
        if "tps" in figures and len(known) > 1:
            yield when, interval, name, [f for f, _ in known], [v for _, v in known], number, line


# ---------------------------------------------------------------- /proc/diskstats

_DISKSTATS = re.compile(r"\s*(\d+)\s+(\d+)\s+([A-Za-z]\S*)((?:\s+\d+){11,20})\s*\Z", re.ASCII)
_EPOCH = re.compile(r"(?:TS |#|date )?\s*(\d{9,11}(?:\.\d{1,9})?)\b", re.ASCII)
_CLOCK = re.compile(r".*?\b(\d\d):(\d\d):(\d\d)(\.\d{1,9})?\b", re.ASCII)


def is_diskstats(text: str) -> bool:
    """Whether most of the first lines are those of /proc/diskstats."""
    lines = [line for line in text.split("\n")[:40] if line.strip()]
    return len(lines) > 1 and sum(_DISKSTATS.match(line) is not None for line in lines) > len(lines) / 2


def read_diskstats(text: str, source: str) -> Recording:
    """Return differences of snapshots of /proc/diskstats, each after a line that holds the time.

    Raises
    ------
    LineError
        When a snapshot has no time above it, or a clock goes back.
    """
    found = Recording()
    snapshots: list[tuple[float | None, dict[str, list[int]], int]] = []
    is_open = False
    for number, line in enumerate(text.split("\n"), start=1):
        row = _DISKSTATS.match(line)
        if row is None:
            time_s = _time_of(line)
            if time_s is not None:
                snapshots.append((time_s, {}, number))
                is_open = True
            continue
        figures = [int(cell) for cell in row[4].split()]
        if not is_open or row[3] in snapshots[-1][1]:
            snapshots.append((None, {}, number))
            is_open = True
        snapshots[-1][1][row[3]] = figures
    snapshots = [snapshot for snapshot in snapshots if snapshot[1]]
    fix = "record with: while sleep 1; do date +%s.%N; cat /proc/diskstats; done"
    if len(snapshots) < 2:
        raise LineError(source, 1, 0, "", text.split("\n")[0], "is the only snapshot; rates need two", fix)
    seconds: list[float] = []
    for (before_s, before, _), (after_s, after, number) in itertools.pairwise(snapshots):
        if before_s is None or after_s is None:
            line = text.split("\n")[number - 1]
            raise LineError(source, number, 0, "", line, "belongs to a snapshot without its time", fix)
        # Clocks without a date pass midnight.
        step_s = after_s - before_s
        step_s += 86400 if -86400 < step_s < -43200 else 0
        if step_s <= 0:
            continue
        seconds.append(step_s)
        found.samples.append({name: _difference(before[name], after[name], step_s) for name in after if name in before})
    found.interval_s = sum(seconds) / len(seconds) if seconds else None
    return found


def _time_of(line: str) -> float | None:
    if match := _EPOCH.match(line):
        return float(match[1])
    if match := _CLOCK.match(line):
        return 3600 * int(match[1]) + 60 * int(match[2]) + int(match[3]) + float(match[4] or 0)
    return None


def _difference(before: list[int], after: list[int], seconds: float) -> dict[str, float] | None:
    """Rates between two rows: reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, busy ms, weighted."""
    change = [later - earlier for earlier, later in zip(before, after, strict=False)]
    if any(change[place] < 0 for place in (0, 2, 3, 4, 6, 7, 9, 10)):
        return None
    reads, writes = change[0], change[4]
    found = {
        "reads_per_s": reads / seconds,
        "writes_per_s": writes / seconds,
        "read_bytes_per_s": change[2] * 512 / seconds,
        "write_bytes_per_s": change[6] * 512 / seconds,
        "queue_length": change[10] / 1e3 / seconds,
        "utilization_ratio": min(change[9] / 1e3 / seconds, 1.0),
    }
    if reads:
        found["read_await_ns"] = change[3] / reads * 1e6
    if writes:
        found["write_await_ns"] = change[7] / writes * 1e6
    if len(change) > 11:
        found["discards_per_s"] = change[11] / seconds
    if len(change) > 15:
        found["flushes_per_s"] = max(change[15], 0) / seconds
    return completed(found)
