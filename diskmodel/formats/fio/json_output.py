"""fio's JSON and json+ output, of version 2 (microseconds) and 3 (nanoseconds)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import (
    DIRECTIONS,
    PURE_PATTERNS,
    FioDirection,
    FioJob,
    FioLatency,
    job_from_options,
)
from diskmodel.formats.fio.options import canonical
from diskmodel.formats.fio.snapshots import contains, continues, said
from diskmodel.limits import check_json

#: A mean size of requests that differs by more from the only size asked for is that of other requests; short ones at
#: the end of a file make less.
_OTHER_SIZE = 0.05

#: Results of one run give its start to a second each way.
_SAME_START_S = 2.0

#: Largest figure of a document: thirty years in nanoseconds, an exabyte. Anything larger is damage.
_MAX = 1e18


def _cpu_ratio(entry: Mapping[str, Any]) -> float | None:
    """Return the share of a processor that a job used, where the document says."""
    percents = [entry.get(name) for name in ("usr_cpu", "sys_cpu")]
    if not all(isinstance(value, int | float) and 0 <= value <= _MAX for value in percents):
        return None
    return sum(float(value) for value in percents if value) / 100 or None


def find_document(text: str, source: str) -> dict[str, Any] | None:
    """The last JSON document of fio in a text; see `find_documents`. None if none."""
    found = find_documents(text, source)
    return found[-1] if found else None


def find_documents(text: str, source: str) -> list[dict[str, Any]]:
    """The JSON documents of fio in a text that may hold warnings and other formats beside them, in their order.

    Raises
    ------
    FormatError
        When a line that opens a document is not followed by valid JSON.
    """
    decoder = json.JSONDecoder()
    try:
        check_json(text)
    except ValueError as error:
        raise file_error(source, f"is not usable JSON: {error}") from None
    found: list[dict[str, Any]] = []
    place = 0 if text.startswith("{") else text.find("\n{") + 1
    first = True
    while first or place > 0:
        first = False
        if not text.startswith("{", place):
            return found
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise _broken(text, place, error, source) from None
        if isinstance(value, dict) and isinstance(value.get("jobs", value.get("client_stats")), list):
            found.append(value)
        place = text.find("\n{", end) + 1
    return found


def _broken(text: str, place: int, error: ValueError | RecursionError, source: str) -> FormatError:
    if isinstance(error, json.JSONDecodeError):
        line = text.count("\n", 0, error.pos) + 1
        shown = text[error.pos : error.pos + 40].partition("\n")[0]
        return FormatError(
            Fault(f"line {line}, column {error.colno}", shown, f"is not valid JSON: {error.msg}"), source
        )
    return file_error(source, f"is not usable JSON: {error}")


def jobs_of_all(documents: Sequence[Mapping[str, Any]], source: str = "") -> list[FioJob]:
    """Return the jobs of several documents: the last of each run, the runs one after the other as later groups.

    fio prints a document for each `--status-interval`, and one at the end; a file may also hold several runs.
    """
    runs: list[tuple[list[FioJob], int]] = []
    before: Mapping[str, Any] | None = None
    for document in documents:
        jobs = jobs_of(document, source)
        if runs and before is not None and _is_same_run(before, runs[-1][0], document, jobs):
            runs[-1] = (jobs, runs[-1][1] + 1)
        else:
            runs.append((jobs, 1))
        before = document
    found: list[FioJob] = []
    for jobs, n in runs:
        first = max((job.group for job in found), default=-1) + 1
        notes = (said(n),) if n > 1 else ()
        found += [replace(job, group=job.group + first, notes=(*job.notes, *notes)) for job in jobs]
    return found


def _is_same_run(
    before: Mapping[str, Any], earlier: list[FioJob], after: Mapping[str, Any], later: list[FioJob]
) -> bool:
    """Whether a document is a later result of the run that another is of: it started then, or contains all of it."""
    if continues(earlier, later) or _began_before(before, after, earlier, later):
        return True
    starts = [_start_s(before), _start_s(after)]
    names = [[job.name for job in jobs] for jobs in (earlier, later)]
    if names[0] != names[1] or any(start is None for start in starts):
        return False
    (first_s, first_elapsed), (second_s, second_elapsed) = (start or (0.0, 0.0) for start in starts)
    return abs(first_s - second_s) <= _SAME_START_S and second_elapsed > first_elapsed


def _began_before(
    before: Mapping[str, Any], after: Mapping[str, Any], earlier: list[FioJob], later: list[FioJob]
) -> bool:
    """Whether a document contains an earlier one, and its run began long before that one was printed.

    The last result of a run may follow within milliseconds of the one before.
    """
    if not contains(earlier, later):
        return False
    printed, in_s = _printed_s(before), _printed_s(after)
    runtime_s = max((part.runtime_ns for job in later for part in job.directions.values()), default=0) / 1e9
    if printed is None or in_s is None or (printed[1] and not in_s[1]):
        return False
    return in_s[0] - runtime_s < printed[0] - runtime_s / 2 - (0.0 if printed[1] else _SAME_START_S / 2)


def _printed_s(document: Mapping[str, Any]) -> tuple[float, bool] | None:
    """When a document was printed, in seconds, and whether that is exact to milliseconds."""
    for key, scale in (("timestamp_ms", 1e-3), ("timestamp", 1.0)):
        value = document.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX:
            return float(value) * scale, scale < 1
    return None


def _start_s(document: Mapping[str, Any]) -> tuple[float, float] | None:
    """When a run started, in seconds, and for how long it had run when it was reported."""
    entries = document.get("jobs")
    stamp = document.get("timestamp")
    elapsed = [entry.get("elapsed") for entry in entries if isinstance(entry, Mapping)] if entries else []
    whole = [value for value in elapsed if isinstance(value, int) and 0 <= value <= _MAX]
    if not isinstance(stamp, int | float) or not whole or len(whole) < len(elapsed) or not 0 <= stamp <= _MAX:
        return None
    longest = float(max(whole))
    return float(stamp) - longest, longest


def jobs_of(document: Mapping[str, Any], source: str = "") -> list[FioJob]:
    """Return the jobs of a parsed document, in its order; options may be in the job or only in "global options".

    Raises
    ------
    FormatError
        When it has no jobs or a figure of the wrong kind; all faults at once.
    """
    reader = _Reader()
    version = str(document.get("fio version", ""))
    shared = document.get("global options", {})
    if isinstance(shared, list):
        shared = shared[0] if shared else {}
    entries = document.get("jobs", document.get("client_stats", []))
    jobs: list[FioJob] = []
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, Mapping):
            reader.fault(f"jobs.{number}", entry, "must be an object")
            continue
        if entry.get("jobname") == "All clients":
            continue
        place = f"jobs.{number}"
        options = {str(k): str(v) for k, v in shared.items()} if isinstance(shared, Mapping) else {}
        own = entry.get("job options", {})
        options |= {str(k): str(v) for k, v in own.items()} if isinstance(own, Mapping) else {}
        results = {name: reader.direction(entry, name, place) for name in DIRECTIONS}
        is_unified = "mixed" in entry and results["read"] is results["write"] is None
        if is_unified:
            results["read"] = reader.direction(entry, "mixed", place)
        group = reader.number(entry, "groupid", place, 0)
        error = reader.number(entry, "error", place, 0, low=-_MAX)
        if (
            options
            and not {canonical(name) for name in options} & {"rw"}
            and results["write"] is results["trim"] is None
        ):
            options = {"rw": "read"} | options  # fio's default
        sync, n_syncs = reader.flushes(entry, place)
        try:
            job = job_from_options(
                str(entry.get("jobname", "")),
                options,
                group=int(group),
                fio_version=version,
                error=int(error),
                results=results,
                source=source,
                cpu_ratio=_cpu_ratio(entry),
                is_complete=bool(options),  # fio before 2.2 prints none
                sync=sync,
                n_syncs=n_syncs,
            )
            jobs.append(replace(job, combined=None if is_unified else _combined(job), is_unified=is_unified))
        except FormatError as problem:
            reader.faults += problem.faults
    if not jobs and not reader.faults:
        reader.fault("jobs", None, "holds no job", "run fio again with --output-format=json, and let it finish")
    if reader.faults:
        raise FormatError(reader.faults, source)
    jobs = with_groups_of_time(jobs)
    # Without group reporting every clone has an entry of its own, which still shows the option.
    n_entries = Counter((job.name, job.group) for job in jobs)
    return [_one_clone(job) if n_entries[job.name, job.group] > 1 else job for job in jobs]


def _combined(job: FioJob) -> dict[str, str] | None:
    """Return the patterns by direction of a job that shows the results of other sections too; None for any other.

    fio's `group_reporting` adds up all sections of a group and shows the options of one of them. Where it is written
    without a value fio does not record it, so that a direction that nothing asked for has to show it.
    """
    if job.pattern is None or "read_iolog" in job.options:
        return None
    is_recorded = job.options.get("group_reporting", "0").strip() != "0"
    verifies = job.options.get("verify", "0").strip() not in ("0", "null")
    asked = [PURE_PATTERNS[job.pattern]] if job.pattern in PURE_PATTERNS else ["read", "write"]
    if "trim" in job.pattern:
        return None
    others = [name for name in job.directions if name not in asked and name != "trim"]
    has_others = bool(others) and not verifies
    for name in asked if is_recorded else ():
        part, sizes = job.directions.get(name), job.sizes.get(name, {})
        if part is not None and part.mean_bytes and len(sizes) == 1:
            has_others = has_others or abs(part.mean_bytes / next(iter(sizes)) - 1) > _OTHER_SIZE
    if not has_others:
        return None
    known = "random" if job.pattern.startswith("rand") else "sequential"
    # a mean size that was not asked for: another section has the same direction
    is_own = {name: _has_asked_size(job, name) for name in job.directions}
    return {name: known if name in asked and is_own[name] else "" for name in job.directions if name != "trim"}


def _has_asked_size(job: FioJob, name: str) -> bool:
    part, sizes = job.directions[name], job.sizes.get(name, {})
    if not part.mean_bytes or len(sizes) != 1:
        return True
    return abs(part.mean_bytes / next(iter(sizes)) - 1) <= _OTHER_SIZE


def _one_clone(job: FioJob) -> FioJob:
    rates = {direction: rate / job.n_jobs for direction, rate in job.rates_per_s.items()}
    return replace(job, n_jobs=1, rates_per_s=rates)


def with_groups_of_time(jobs: list[FioJob]) -> list[FioJob]:
    """Jobs with groups that ran one after the other; fio also counts groups of results that `new_group` opens.

    Such jobs run together with those before them unless they wait.
    """
    found: list[FioJob] = []
    group = 0
    for before, job in zip([None, *jobs], jobs, strict=False):
        waits = any(job.options.get(name, "0") != "0" for name in ("stonewall", "wait_for_previous", "wait_for"))
        is_new = before is not None and job.group != before.group
        group += is_new and (waits or "new_group" not in job.options)
        found.append(replace(job, group=group))
    return found


class _Reader:
    """Takes figures out of a document and collects what is wrong with them."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, place: str, value: object, rule: str, fix: str = "") -> None:
        self.faults.append(Fault(place, None if isinstance(value, Mapping | list) else value, rule, fix))

    def number(
        self, data: Mapping[str, Any], key: str, place: str, default: float | None = None, low: float = 0
    ) -> float:
        value = data.get(key, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= _MAX:
            rule = f"must be a number from {low:g} to {_MAX:g}" if key in data else "is missing"
            self.fault(f"{place}.{key}", value, rule)
            return 0.0
        return float(value) if isinstance(value, float) else value

    def direction(self, job: Mapping[str, Any], name: str, place: str) -> FioDirection | None:
        data = job.get(name)
        if data is None:
            return None
        place = f"{place}.{name}"
        if not isinstance(data, Mapping):
            self.fault(place, data, "must be an object")
            return None
        # fio before 2.1.3 did not count requests.
        n_ios = int(self.number(data, "total_ios", place)) if "total_ios" in data else None
        io_bytes = data.get("io_bytes")
        if n_ios == 0 or (n_ios is None and not io_bytes):
            return None
        total = int(self.number(data, "io_bytes", place)) if "io_kbytes" in data or "clat_ns" in data else None
        if total is None:  # fio 2 counted io_bytes in KiB
            total = 1024 * int(self.number(data, "io_bytes", place)) if io_bytes is not None else 0
        bandwidth = (
            self.number(data, "bw_bytes", place) if "bw_bytes" in data else 1024 * self.number(data, "bw", place)
        )
        runtime_ms = self.number(data, "runtime", place, 0)
        iops = self.number(data, "iops", place)
        return FioDirection(
            n_ios=round(iops * runtime_ms / 1e3) or None if n_ios is None else n_ios,
            total_bytes=total,
            runtime_ns=int(runtime_ms * 1e6),
            iops=iops,
            bandwidth_bytes_per_s=bandwidth,
            slat=self.latency(data, "slat", place),
            clat=self.latency(data, "clat", place),
            lat=self.latency(data, "lat", place),
        )

    def flushes(self, job: Mapping[str, Any], place: str) -> tuple[FioLatency | None, int | None]:
        """Latency and number of flushes; None where the document does not say."""
        data = job.get("sync")
        if not isinstance(data, Mapping) or not isinstance(data.get("lat_ns"), Mapping):
            return None, None
        latency = self.latency(data, "lat", f"{place}.sync")
        n = int(self.number(data, "total_ios", f"{place}.sync", 0))
        times = data.get("lat_ns")
        if not n and isinstance(times, Mapping):  # fio 3.33 counts no flush of a run that is limited in time
            n = int(self.number(times, "N", f"{place}.sync.lat_ns", 0))
        return latency if n else None, n

    def latency(self, data: Mapping[str, Any], kind: str, place: str) -> FioLatency | None:
        for key, scale in ((f"{kind}_ns", 1), (kind, 1000)):
            block = data.get(key)
            if not isinstance(block, Mapping):
                continue
            place = f"{place}.{key}"
            n_samples = int(self.number(block, "N", place)) if "N" in block else None
            if n_samples == 0:
                return None
            return FioLatency(
                min_ns=self.number(block, "min", place) * scale,
                max_ns=self.number(block, "max", place) * scale,
                mean_ns=self.number(block, "mean", place) * scale,
                stddev_ns=self.number(block, "stddev", place, 0) * scale,
                n_samples=n_samples,
                percentiles=self.table(block, "percentile", place, scale),
                bins={int(k * scale): int(v) for k, v in self.table(block, "bins", place, 1).items()},
            )
        return None

    def table(self, block: Mapping[str, Any], key: str, place: str, scale: int) -> dict[float, float]:
        """Numbers by number; fio pads unused percentiles with "0.00"."""
        found: dict[float, float] = {}
        data = block.get(key, {})
        if not isinstance(data, Mapping):
            self.fault(f"{place}.{key}", data, "must be an object")
            return found
        for name, value in data.items():
            try:
                position = float(name)
            except ValueError:
                position = math.nan
            if not 0 <= position <= _MAX:
                self.fault(f"{place}.{key}", name, "must have numbers as keys")
            elif key == "bins" or 0 < position <= 100:
                found[position] = self.number({name: value}, name, f"{place}.{key}") * scale
        return found
