"""Results of quick tests that people paste: dd, hdparm -t, pg_test_fsync, CrystalDiskMark and rados bench.

Each has a rate and hardly more. They become jobs as fio has them, with notes on what their programs do not say.
"""

from __future__ import annotations

import re
from dataclasses import replace

from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options

_N = r"(\d{1,15}(?:[.,]\d{1,9})?)"
_MIB = 1 << 20

_DD_RESULT = re.compile(
    rf"^(\d{{1,18}}) bytes(?: \([^)\n]*\))? (?:copied|transferred)[, ]+(?:in )?{_N} s", re.MULTILINE
)
_DD_COMMAND = re.compile(r"\bdd\s++([^\n|;&]*)")
_DD_OPERAND = re.compile(r"\b(?:if|of)=")
_DD_RECORDS = re.compile(r"^(\d{1,12})\+(\d{1,12}) records out", re.MULTILINE)
_HDPARM = re.compile(rf"Timing (buffered|O_DIRECT) disk reads:\s+{_N} MB in\s+{_N} seconds", re.MULTILINE)
#: What hdparm reads at once, bytes (`TIMING_BUF_BYTES`).
_HDPARM_BYTES = 2 * _MIB
_PG = re.compile(rf"^[ \t]+(open_datasync|fdatasync|fsync|open_sync)\s+{_N} ops/sec\s+{_N} usecs/op", re.MULTILINE)
_PG_SECTION = re.compile(r"Compare file sync methods using one (\d{1,6})kB write", re.IGNORECASE)
_CDM = re.compile(
    r"^[ \t]*(SEQ|RND)\s*(\d{1,6})([KM])iB \(Q=\s*(\d{1,6}), T=\s*(\d{1,6})\):"
    rf"\s+{_N} MB/s \[\s*{_N} IOPS\](?: <\s*{_N} us>)?",
    re.MULTILINE,
)
_CDM_SECTION = re.compile(r"^\[(Read|Write|Mix)[^\]\n]*\]", re.MULTILINE)
_RADOS_OPS = re.compile(r"^Total (writes|reads) made:\s+(\d{1,12})", re.MULTILINE)


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def quick_job(
    name: str,
    options: dict[str, str],
    iops: float,
    seconds: float,
    source: str,
    group: int,
    mean_ns: float | None,
    notes: tuple[str, ...],
) -> FioJob:
    """Return a job of one direction with its rate, and its mean time where that is known."""
    kind = "read" if "read" in options["rw"] else "write"
    size = int(options["bs"])
    n = max(round(iops * seconds), 1)
    lat = None if mean_ns is None else FioLatency(0.0, mean_ns, mean_ns, 0.0, n)
    found = FioDirection(n, n * size, round(seconds * 1e9), iops, iops * size, lat=lat)
    job = job_from_options(name, options, group=group, source=source, results={kind: found}, fio_version=name)
    return replace(job, notes=notes)


def is_dd(text: str) -> bool:
    """Whether a text is a run of dd with its command."""
    return _DD_RESULT.search(text) is not None and _DD_RECORDS.search(text) is not None


def jobs_of_dd(text: str, source: str) -> list[FioJob]:
    """Return the runs of dd in a text.

    Raises
    ------
    FormatError
        Where the command is missing: without it nobody knows what was read or written, or how.
    """
    commands = [found for found in _DD_COMMAND.finditer(text) if _DD_OPERAND.search(found[1])]
    results = list(_DD_RESULT.finditer(text))
    if len(commands) < len(results):
        fix = "put the line `dd if=… of=… bs=…` above each result, or say it with --measured"
        raise file_error(source, "is a result of dd without its command", fix)
    jobs: list[FioJob] = []
    for group, (command, result) in enumerate(zip(commands, results, strict=False)):
        words = dict(word.split("=", 1) for word in command[1].split() if "=" in word)
        records = _DD_RECORDS.search(text, command.end(), result.start() + 1)
        n_bytes, seconds = int(result[1]), max(_number(result[2]), 1e-9)
        n = max(int(records[1]) + int(records[2]), 1) if records else 1
        size = max(round(n_bytes / n), 512)
        is_read = words.get("of", "") == "/dev/null"
        flags = f"{words.get('iflag' if is_read else 'oflag', '')},{words.get('conv', '')}"
        options = {"rw": "read" if is_read else "write", "bs": str(size), "ioengine": "psync", "iodepth": "1"}
        options["direct"] = str(int("direct" in flags))
        notes = ["dd asks for one request after the other, in order"]
        if re.search(r"\b(dsync|sync)\b", flags):
            options["sync"] = "1"
        elif "direct" not in flags:
            until = "until the end of the run" if re.search(r"fdatasync|fsync", flags) else "and may still be in memory"
            notes.append(f"without direct, memory is between dd and the disks: data are there {until}")
        jobs.append(quick_job("dd", options, n / seconds, seconds, source, group, None, tuple(notes)))
    return jobs


def is_hdparm(text: str) -> bool:
    """Whether a text is a result of hdparm -t."""
    return _HDPARM.search(text) is not None


def jobs_of_hdparm(text: str, source: str) -> list[FioJob]:
    """Return the timed reads of a text; those from the host's cache (-T) say nothing of a disk."""
    jobs: list[FioJob] = []
    for group, found in enumerate(_HDPARM.finditer(text)):
        seconds = max(_number(found[3]), 1e-9)
        rate = _number(found[2]) * _MIB / seconds / _HDPARM_BYTES
        options = {"rw": "read", "bs": str(_HDPARM_BYTES), "ioengine": "psync", "iodepth": "1", "direct": "1"}
        notes = ("hdparm reads the first three seconds of the device, in order: the fastest part of a disk",)
        jobs.append(quick_job("hdparm", options, rate, seconds, source, group, None, notes))
    return jobs


def is_pg_test_fsync(text: str) -> bool:
    """Whether a text is a result of pg_test_fsync."""
    return _PG_SECTION.search(text) is not None and _PG.search(text) is not None


def jobs_of_pg_test_fsync(text: str, source: str) -> list[FioJob]:
    """Return the methods that were compared with one write each.

    Raises
    ------
    FormatError
        Where the heading with the size of a write is missing.
    """
    section = _PG_SECTION.search(text)
    if section is None:
        raise file_error(source, "does not say how much pg_test_fsync writes at once", "is it the whole output?")
    end = text.find("Compare", section.end())
    jobs: list[FioJob] = []
    for found in _PG.finditer(text, section.end(), end if end > 0 else len(text)):
        options = {"rw": "write", "bs": str(int(section[1]) * 1024), "ioengine": "psync", "iodepth": "1"}
        options |= {"open_datasync": {"sync": "dsync"}, "open_sync": {"sync": "1"}}.get(found[1], {found[1]: "1"})
        rate = _number(found[2])
        # five seconds each by default; of a write and its flush together
        job = quick_job(f"pg_test_fsync {found[1]}", options, rate, 5.0, source, len(jobs), None, ())
        jobs.append(job)
    return jobs


def is_crystaldiskmark(text: str) -> bool:
    """Whether a text is a result of CrystalDiskMark."""
    return "CrystalDiskMark" in text and _CDM.search(text) is not None


def jobs_of_crystaldiskmark(text: str, source: str) -> list[FioJob]:
    """Return the reads and writes of a text, each by size, queue and threads."""
    jobs: list[FioJob] = []
    sections = [(found.start(), found[1]) for found in _CDM_SECTION.finditer(text)]
    for found in _CDM.finditer(text):
        kind = next((name for start, name in reversed(sections) if start < found.start()), "Read")
        rate = _number(found[7])
        if kind == "Mix" or not rate:
            continue
        size = int(found[2]) << {"K": 10, "M": 20}[found[3]]
        pattern = ("" if found[1] == "SEQ" else "rand") + kind.lower()
        options = {"rw": pattern, "bs": str(size), "iodepth": found[4], "numjobs": found[5]}
        options |= {"ioengine": "windowsaio", "direct": "1"}
        mean_ns = _number(found[8]) * 1e3 if found[8] else None
        name = f"{pattern} {found[2]}{found[3]}iB Q{found[4]}T{found[5]}"
        jobs.append(quick_job(name, options, rate, 5.0, source, len(jobs), mean_ns, ()))
    return jobs


def is_rados_bench(text: str) -> bool:
    """Whether a text is the summary of rados bench."""
    return _RADOS_OPS.search(text) is not None and "Total time run" in text


def jobs_of_rados_bench(text: str, source: str) -> list[FioJob]:
    """Return the runs of a text: objects of one size, so many at a time.

    Raises
    ------
    FormatError
        Where the number of objects at a time is missing.
    """
    jobs: list[FioJob] = []
    for found in _RADOS_OPS.finditer(text):
        own = text[text.rfind("Total time run", 0, found.start()) :]
        seconds = _value(r"Total time run:\s+", own)
        size = _value(r"(?:Write size|Read size|Object size):\s+", own)
        latency = _value(r"Average Latency(?:\(s\))?:\s+", own)
        at_once = re.search(r"Maintaining (\d{1,6}) concurrent", text)
        if not seconds or not size:
            raise file_error(source, "is a result of rados bench without its time or size", "is it the whole output?")
        if at_once is None and not latency:
            fix = "keep the line `Maintaining N concurrent writes`"
            raise file_error(source, "is a result of rados bench without how many are outstanding", fix)
        rate = int(found[2]) / seconds
        depth = int(at_once[1]) if at_once else max(round(rate * (latency or 0.0)), 1)
        options = {"rw": "randwrite" if found[1] == "writes" else "randread", "bs": str(int(size))}
        options |= {"iodepth": str(depth), "ioengine": "libaio", "direct": "1"}
        notes = ("rados bench: requests to the pool, each of which is several on its disks",)
        mean_ns = latency * 1e9 if latency else None
        jobs.append(quick_job("rados bench", options, rate, seconds, source, len(jobs), mean_ns, notes))
    return jobs


def _value(before: str, text: str) -> float:
    found = re.search(before + _N, text)
    return _number(found[1]) if found else 0.0
