"""Results of elbencho (`--csvfile`): one row a phase."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import replace

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options

_COLUMNS = ("operation", "threads", "block size", "IO depth", "IOPS [last]", "MiB/s [last]")
_PHASES = ("READ", "WRITE", "RWMIX", "RWMIX-T")
_MIB = 2**20
_MAX = 1e18


def is_results(text: str) -> bool:
    """Whether a text is elbencho's table of results."""
    words = {word.strip() for word in text.lstrip()[:4000].partition("\n")[0].split(",")}
    return set(_COLUMNS) <= words


def jobs_of_results(text: str, source: str) -> list[FioJob]:
    """Return the phases that read or write, one after the other; those that make or delete files are left out.

    Raises
    ------
    LineError
        For a figure that is no number.
    FormatError
        When no phase reads or writes.
    """
    lines = text.strip("\n").split("\n")
    rows = csv.DictReader(lines)
    jobs: list[FioJob] = []
    try:
        for row in rows:
            if str(row.get("operation")).upper() not in _PHASES:
                continue
            jobs.append(_Row(row, rows.line_num, lines, source).job(len(jobs)))
    except csv.Error as error:
        raise file_error(source, f"is elbencho's results with a row that cannot be read: {error}") from None
    if not jobs:
        raise file_error(source, "is elbencho's results without a phase that reads or writes", "use -w or -r")
    return jobs


class _Row:
    def __init__(self, row: Mapping[str, str | None], number: int, lines: list[str], source: str) -> None:
        self._row, self._number, self._lines, self._source = row, number, lines, source

    def job(self, group: int) -> FioJob:
        phase = str(self._row["operation"]).upper()
        block = round(self._figure("block size") or 0)
        threads = round((self._figure("threads") or 1) * (self._figure("hosts") or 1))
        seconds = (self._figure("time ms [last]") or 0.0) / 1e3
        is_random = bool(self._figure("random"))
        parts: dict[str, FioDirection | None] = {}
        for kind, prefix in (("write", ""), ("read", "rwmix read ")) if "MIX" in phase else ((phase.lower(), ""),):
            parts[kind] = self._direction(prefix, seconds)
        parts = {kind: part for kind, part in parts.items() if part is not None}
        if not parts:
            raise self._error("IOPS [last]", "must be more than 0: the phase did nothing")
        mean = next(part.bandwidth_bytes_per_s / part.iops for part in parts.values() if part is not None)
        kind = "rw" if len(parts) > 1 else next(iter(parts))
        depth = max(round(self._figure("IO depth") or 1), 1)
        options = {
            "rw": ("rand" if is_random else "") + kind,
            "bs": str(block or max(round(mean / 512), 1) * 512),
            "numjobs": str(max(threads, 1)),
            "iodepth": str(depth),
            "ioengine": "libaio" if depth > 1 else "psync",
            "direct": str(int(bool(self._figure("direct IO")))),
            "filename": "elbencho",
        }
        n_files = (self._figure("files") or 1) * (self._figure("dirs") or 1)
        size = (self._figure("file size") or 0) * (
            n_files * threads if self._row.get("path type") == "dir" else self._figure("paths") or 1
        )
        if 0 < size <= 2**60:
            options["size"] = str(round(size))
        if is_random and self._row.get("random aligned") == "0":
            options["blockalign"] = "512"
        version = str(self._row.get("version") or "").strip()
        name = str(self._row.get("label") or "").strip() or f"elbencho {phase.lower()}"
        job = job_from_options(
            name, options, group=group, fio_version=f"elbencho-{version}", source=self._source, results=parts
        )
        notes = []
        if self._row.get("path type") == "dir":
            notes.append("files are taken as one region: that each is opened, made and closed is left out")
        return replace(job, notes=tuple(notes))

    def _direction(self, prefix: str, seconds: float) -> FioDirection | None:
        iops, mib = self._figure(f"{prefix}IOPS [last]") or 0.0, self._figure(f"{prefix}MiB/s [last]") or 0.0
        if not iops:
            return None
        total = (self._figure(f"{prefix}MiB [last]") or 0.0) * _MIB
        low, mean, high = (self._figure(f"{prefix}IO lat us [{name}]") for name in ("min", "avg", "max"))
        latency = FioLatency((low or 0.0) * 1e3, (high or mean) * 1e3, mean * 1e3, 0.0) if mean else None
        n_bytes = total or mib * _MIB * seconds
        # MiB/s are cut to whole numbers
        bandwidth = n_bytes / seconds if seconds else mib * _MIB
        return FioDirection(
            round(iops * seconds) or None, round(n_bytes), round(seconds * 1e9), iops, bandwidth, lat=latency
        )

    def _figure(self, name: str) -> float | None:
        text = (self._row.get(name) or "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 <= value <= _MAX:
            return value
        raise self._error(name, "must be a number")

    def _error(self, name: str, rule: str) -> LineError:
        line = self._lines[self._number - 1] if 0 < self._number <= len(self._lines) else ""
        return LineError(self._source, self._number, 0, name, line, rule)
