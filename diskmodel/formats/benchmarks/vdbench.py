"""Results of vdbench: its flat file, and the report of its intervals (summary.html, logfile.html, standard output)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options
from diskmodel.formats.sizes import whole_size

_HEADING = re.compile(r"\s*tod\s(?:.*\s)?Run\s+Interval\s+reqrate\s+rate\s")
_TOD = re.compile(r"\s*\d\d:\d\d:\d\d\.\d{3}\s")
_START = re.compile(r"Starting RD=([^;\s]+); I/O rate: ([^;]+);(.*)")
_AVERAGE = re.compile(r"\s*\d\d:\d\d:\d\d\.\d{3}\s+avg_\d+-\d+\s+(.*)")
_ROW_HEADING = re.compile(r"interval\s+i/o\s+MB/sec\s+bytes\s+read\s+resp")
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([kmgt]?)\Z", re.ASCII)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
#: Codes of the flat file for runs without a rate ("max", "curve").
_NO_RATE = 9_999_000
_MB = 2**20
_MAX = 1e15


def is_flatfile(text: str) -> bool:
    """Whether a text is a flat file: a line of names of columns, and lines of intervals."""
    return any(_HEADING.match(line) for line in text[:65536].split("\n"))


def is_summary(text: str) -> bool:
    """Whether a text holds the table of intervals that vdbench reports of raw devices."""
    return _START.search(text) is not None and _ROW_HEADING.search(text) is not None


# ---------------------------------------------------------------- flat file


def jobs_of_flatfile(text: str, source: str) -> list[FioJob]:
    """Return the runs of a flat file, one after the other; of each the averages, which leave out the first interval.

    Raises
    ------
    LineError
        For a line of another number of columns, or one with a figure that is no number.
    """
    columns: list[str] = []
    runs: list[tuple[str, list[Mapping[str, str]], Mapping[str, str] | None]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if _HEADING.match(line):
            columns = line.split()
            continue
        if not columns or not _TOD.match(line):
            continue
        cells = line.split()
        if len(cells) != len(columns):
            raise LineError(source, number, 0, "", line, f"has {len(cells)} columns instead of {len(columns)}")
        row = dict(zip(columns, cells, strict=True))
        for name in ("reqrate", "rate", "bytes/io", "read%", "resp"):
            if _number(row.get(name, "n/a")) is None and row.get(name) not in (None, "n/a", "NaN"):
                raise LineError(source, number, columns.index(name) + 1, name, line, "must be a number")
        is_average = row["Interval"].startswith("avg")
        if not runs or runs[-1][0] != row["Run"] or runs[-1][2] is not None or (row["Interval"] == "1" and runs[-1][1]):
            runs.append((row["Run"], [], None))
        name, rows, _ = runs[-1]
        if is_average:
            runs[-1] = (name, rows, row)
        else:
            rows.append(row)
    jobs = [_flat_job(name, rows, average, source) for name, rows, average in runs if not name.startswith("format")]
    found = [job for job in jobs if job is not None]
    if not found:
        raise file_error(source, "is a flat file of vdbench without a run that did anything", "was it cut short?")
    return [replace(job, group=group) for group, job in enumerate(found)]


def _flat_job(
    name: str, rows: list[Mapping[str, str]], average: Mapping[str, str] | None, source: str
) -> FioJob | None:
    used = [average] if average is not None else rows[1:] or rows
    notes = []
    if average is None and len(rows) == 1:
        notes.append("only one interval is in the file: vdbench leaves out the first one as a warm-up")
    figures: dict[str, float] = {}
    total = sum(_number(row.get("rate", "")) or 0.0 for row in used)
    if not total:
        return None
    for column in ("bytes/io", "read%", "resp", "read_resp", "write_resp"):
        # means over requests, so intervals count by their rates
        pairs = [(_number(row.get(column, "")), _number(row.get("rate", "")) or 0.0) for row in used]
        known = [(value, weight) for value, weight in pairs if value is not None]
        if known and sum(weight for _, weight in known):
            figures[column] = sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
    rate = total / len(used)
    first = used[0]
    return _job(
        name,
        rate=rate,
        block=figures.get("bytes/io", 0.0),
        read_percent=figures.get("read%", 0.0),
        response_ms=figures.get("resp"),
        responses_ms={kind: figures.get(f"{kind}_resp") for kind in ("read", "write")},
        asked_rate=_number(first.get("reqrate", "")),
        threads=_number(first.get("threads", "")),
        seek_percent=_number(first.get("seekpct", "")),
        size=_size(first.get("lunsize", "")),
        hits=[_number(first.get(column, "")) or 0.0 for column in ("rhpct", "whpct")],
        asked_block=_number(first.get("xfersize", "")),
        notes=notes,
        source=source,
    )


def _size(text: str) -> int:
    match = _SIZE.match(text.lower())
    return round(float(match[1]) * _UNITS[match[2]]) if match else 0


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text):
        return None
    value = float(text)
    return value if value <= _MAX else None


# ---------------------------------------------------------------- reports of intervals


def jobs_of_summary(text: str, source: str) -> list[FioJob]:
    """Return the runs of a report of intervals, one after the other; of each the averages.

    Raises
    ------
    FormatError
        When no run has averages.
    """
    jobs: list[FioJob] = []
    start: re.Match[str] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        plain = re.sub(r"<[^>]{0,200}>", "", line)
        if found := _START.search(plain):
            start = found
        elif (average := _AVERAGE.match(plain)) and start is not None:
            cells = [_number(cell) for cell in average[1].split()]
            if len(cells) < 5 or any(cell is None for cell in cells[:5]):
                raise LineError(
                    source, number, 0, "", line, "is no line of averages: rate, MB/sec, bytes, read %, resp"
                )
            rate, mb_per_s, block, read_percent, response = (cell or 0.0 for cell in cells[:5])
            if rate and not start[1].startswith(("SD_format", "format")):
                threads = re.search(r"\bthreads=(\d{1,9})", start[3])
                asked = _number(start[2].strip().replace(",", ""))
                jobs.append(
                    _job(
                        start[1],
                        rate=rate,
                        block=block or mb_per_s * _MB / rate,
                        read_percent=read_percent,
                        response_ms=response or None,
                        responses_ms={},
                        asked_rate=asked,
                        threads=float(threads[1]) if threads else None,
                        seek_percent=None,
                        size=0,
                        hits=[],
                        asked_block=None,
                        notes=[],
                        source=source,
                    )
                )
            start = None
    if not jobs:
        raise file_error(
            source, "is a report of vdbench without averages of a run", "let the run end; was it cut short?"
        )
    return [replace(job, group=group) for group, job in enumerate(jobs)]


# ---------------------------------------------------------------- both


def _job(
    name: str,
    *,
    rate: float,
    block: float,
    read_percent: float,
    response_ms: float | None,
    responses_ms: Mapping[str, float | None],
    asked_rate: float | None,
    threads: float | None,
    seek_percent: float | None,
    size: int,
    hits: list[float],
    asked_block: float | None,
    notes: list[str],
    source: str,
) -> FioJob:
    if block <= 0:
        raise file_error(source, f"is a result of vdbench without bytes of run {name}", "is it the whole file?")
    share = min(read_percent / 100, 1.0)
    random = seek_percent is None or seek_percent > 0
    kind = "rw" if 0 < share < 1 else "read" if share else "write"
    options = {
        "rw": ("rand" if random else "") + kind,
        "bs": str(whole_size(asked_block or block)),
        "ioengine": "libaio",
        "direct": "1",
        "filename": name,
    }
    if seek_percent is None:
        notes.append(
            "whether places were random or sequential is not in the file: random is assumed, the harder for disks"
        )
    elif 0 < seek_percent < 100:
        options["percentage_random"] = f"{seek_percent:g}"
    if any(hits):
        notes.append(
            f"reads and writes that hit a cache ({hits[0]:g} % and {hits[1]:g} %, rhpct and whpct) are left out"
        )
    if kind == "rw":
        options["rwmixread"] = str(round(read_percent))
    if size:
        options["size"] = str(size)
    parts = {"read": share, "write": 1 - share}
    if asked_rate and asked_rate < _NO_RATE:
        rates = [max(round(asked_rate * parts[name]), 1) for name in ("read", "write")]
        options["rate_iops"] = f"{rates[0]},{rates[1]}"
    results: dict[str, FioDirection | None] = {}
    for direction, part in parts.items():
        if part > 0:
            ms = responses_ms.get(direction) or response_ms
            latency = FioLatency(0.0, ms * 1e6, ms * 1e6, 0.0) if ms else None
            results[direction] = FioDirection(
                round(rate * part) or None,
                round(rate * part * block),
                10**9,
                rate * part,
                rate * part * block,
                lat=latency,
            )
    measured = rate * response_ms / 1e3 if response_ms else None
    if threads:
        options["iodepth"] = str(max(round(threads), 1))
    elif measured is not None:
        options["iodepth"] = str(max(round(measured), 1))
        if "rate_iops" not in options:
            notes.append(
                "the number of threads is not in the file: requests outstanding follow from rate × response time"
            )
    else:
        notes.append("neither threads nor response times are in the file: one request outstanding is assumed")
    job = job_from_options(name, options, fio_version="vdbench", source=source, results=results)
    return replace(job, notes=tuple(notes))
