"""Results of sysbench's fileio test, versions 0.4, 0.5, 1.0 and 1.1."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, job_from_options

_MODE = re.compile(
    r"^[ \t]*Doing (random r/w|random read|random write|sequential read|sequential write \(creation\)"
    r"|sequential rewrite|sequential write) test",
    re.MULTILINE,
)
_PATTERNS = {
    "random r/w": "randrw",
    "random read": "randread",
    "random write": "randwrite",
    "sequential read": "read",
    "sequential write": "write",
    "sequential write (creation)": "write",
    "sequential rewrite": "write",
}
_F = r"(\d{1,12}(?:\.\d{1,6})?)"
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = rf"{_F}\s*([kKMGT]?)(?:i?[bB])"
#: sysbench's own number of threads where the output does not show it.
_THREADS = 1


def is_fileio(text: str) -> bool:
    """Whether a text is the result of a fileio test."""
    return bool(re.search(r"^[ \t]*sysbench \d|sysbench", text)) and _MODE.search(text) is not None


def jobs_of_fileio(text: str, source: str) -> list[FioJob]:
    """Return the runs of a text; one after the other where it holds several.

    Raises
    ------
    FormatError
        When a run lacks its rates, or did nothing.
    """
    starts = [match.start() for match in _MODE.finditer(text)]
    # what a run says of itself stands before its mode, too
    edges = [0, *(_split(text, earlier, later) for earlier, later in itertools.pairwise(starts)), len(text)]
    return [_job(text[edges[n] : edges[n + 1]], n, source) for n in range(len(starts))]


def _split(text: str, earlier: int, later: int) -> int:
    """Where the lines of the next run begin between two runs."""
    place = text.rfind("sysbench ", earlier, later)
    return place if place > 0 else text.rfind("\n", earlier, later)


def _job(text: str, group: int, source: str) -> FioJob:
    mode = _MODE.search(text)
    pattern = _PATTERNS[mode[1]] if mode else "randrw"
    block = _amount(rf"Block size {_SIZE}", text)
    if not block:
        raise file_error(source, "is a result of sysbench without its block size", "is it the whole output?")
    rates = _rates(text, block, source)
    if not sum(rates.values()):
        raise file_error(source, "is a result of sysbench without requests", "was the test cut short?")
    notes = []
    threads = _first(r"Number of threads:\s*(\d{1,6})", text)
    if threads is None:
        notes.append(f"the number of threads is not in the file: {_THREADS}, sysbench's default, is assumed")
    n_threads = max(int(threads or _THREADS), 1)
    flags = re.search(r"Extra file open flags:\s*(\S+)", text)
    is_asynchronous = "asynchronous I/O mode" in text
    options = {
        "rw": pattern,
        "bs": str(block),
        "numjobs": str(n_threads),
        "ioengine": "libaio" if is_asynchronous else "mmap" if "mmaped I/O mode" in text else "psync",
        "direct": str(int(flags is not None and "direct" in flags[1])),
        "filename": "sysbench",
    }
    if is_asynchronous:
        backlog = _first(r"backlog[^\d\n]{0,20}(\d{1,6})", text)
        options["iodepth"] = str(int(backlog or 128))
        notes += (
            [] if backlog else ["the depth of asynchronous requests is not in the file: 128, the default, is taken"]
        )
    if size := _amount(rf"{_SIZE} total file size", text):
        options["size"] = str(size)
    if flags is not None and re.search(r"sync", flags[1]):
        options["sync"] = "1"
    dropped = ""
    every = _first(r"Periodic FSYNC enabled, calling fsync\(\) each (\d{1,9}) requests", text)
    flushes = float(_first(rf"fsyncs/s:\s+{_F}", text) or _first(rf"fsync: IOPS={_F}", text) or 0)
    if every or flushes:
        known = f", {flushes:,.4g} a second" if flushes else ""
        after = f" after each {int(every):,} requests" if every else ""
        dropped = f"flushes (fsync{after}{known}) of all files are left out"
        notes.append(dropped)
    seconds = float(_first(rf"(?:total time|time elapsed):\s+{_F}s", text) or 0)
    results: dict[str, FioDirection | None] = {
        kind: FioDirection(
            round(rate * seconds) or None, round(rate * block * seconds), round(seconds * 1e9), rate, rate * block
        )
        for kind, rate in rates.items()
        if rate > 0
    }
    ratio = _first(rf"Read/Write ratio for combined random IO test:\s+{_F}", text)
    if pattern == "randrw" and ratio:
        options["rwmixread"] = str(round(100 * float(ratio) / (1 + float(ratio))))
    version = re.search(r"sysbench (\d+\.\d+[\w.\-]{0,20})", text)
    job = job_from_options(
        f"sysbench {mode[1] if mode else ''}".strip(),
        options,
        group=group,
        fio_version=f"sysbench-{version[1]}" if version else "sysbench",
        source=source,
        results=results,
    )
    asked = float(_first(rf"Target transaction rate:\s*{_F}", text) or 0)
    if asked and (done := sum(rates.values()) + flushes):
        # its events are reads, writes and flushes, at random times, whatever their kind
        job = replace(
            job,
            options={**job.options, "rate_process": "poisson"},
            rates_per_s={kind: asked * rate / done for kind, rate in rates.items() if rate > 0},
        )
    return replace(job, notes=tuple(notes), dropped_flushes=dropped)


def _rates(text: str, block_bytes: int, source: str) -> dict[str, float]:
    """Reads and writes a second, in any version's words."""
    found = {}
    for kind, word in (("read", "reads"), ("write", "writes")):
        rate = _first(rf"^[ \t]*{word}/s:\s+{_F}", text) or _first(rf"^[ \t]*{kind}:\s+IOPS={_F}", text)
        if rate is not None:
            found[kind] = float(rate)
    if found:
        return found
    done = re.search(r"Operations performed:\s+(\d{1,15}) [Rr]eads?, (\d{1,15}) [Ww]rites?,", text)
    seconds = float(_first(rf"total time:\s+{_F}s", text) or 0)
    if done is None or not seconds:
        raise file_error(source, "is a result of sysbench without its rates", "is it the whole output?")
    return {"read": int(done[1]) / seconds, "write": int(done[2]) / seconds}


def _first(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def _amount(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return round(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
