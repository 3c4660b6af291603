"""Results of diskspd, Microsoft's load generator, as text and XML, in the form of fio's jobs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from diskmodel.formats.benchmarks.diskspd_settings import BINARY, Target, command_of, options_of, text_targets
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options
from diskmodel.formats.opening import read_document

KINDS = ("diskspd-text", "diskspd-xml")

_NINES = re.compile(r"(\d)-nines")


def kind_of(text: str) -> str | None:
    """Which of diskspd's outputs a text is, or None."""
    head = text[:4096]
    if "<Results>" in head and "<Tool>" in head:
        return "diskspd-xml"
    if "Results for timespan" in text or ("Command Line:" in head and "Input parameters:" in head):
        return "diskspd-text" if "outstanding I/O operations" in text or command_of(text) else None
    return None


def read_diskspd(path: str | Path, kind: str | None = None) -> list[FioJob]:
    """Return the time spans of a result, each as a job; they ran one after the other.

    Raises
    ------
    FormatError
        When it cannot be read, is no result of diskspd, or its targets have different settings.
    """
    text = read_document(path)
    kind = kind or kind_of(text)
    if kind == "diskspd-xml":
        return list(_xml_jobs(text, str(path)))
    if kind == "diskspd-text":
        return list(_text_jobs(text, str(path)))
    raise file_error(path, "is no result of diskspd", "make one with diskspd -L -Rtext or -Rxml")


def jobs_of_text(text: str, source: str) -> list[FioJob]:
    """As `read_diskspd`, for the text form."""
    return list(_text_jobs(text, source))


def jobs_of_xml(text: str, source: str) -> list[FioJob]:
    """As `read_diskspd`, for the XML form."""
    return list(_xml_jobs(text, source))


def _job(
    name: str,
    group: int,
    version: str,
    options: dict[str, str],
    results: dict[str, FioDirection | None],
    source: str,
    notes: tuple[str, ...] = (),
) -> FioJob:
    job = job_from_options(name, options, group=group, fio_version=version, source=source, results=results)
    if not job.directions:
        raise file_error(source, "holds no requests", "was the test cut short?")
    return replace(job, notes=notes)


# ---------------------------------------------------------------- XML


def _xml_jobs(text: str, source: str) -> Iterator[FioJob]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise file_error(source, "is XML with definitions of its own", "give diskspd's own output")
    try:
        root = ElementTree.fromstring(text[text.index("<Results") :].encode())
    except (ElementTree.ParseError, ValueError) as error:
        raise file_error(source, f"is not valid XML: {error}", "was it cut short?") from None
    version = root.findtext("System/Tool/Version", "")
    asked = root.findall("Profile/TimeSpans/TimeSpan")
    for number, (settings, done) in enumerate(zip(asked, root.findall("TimeSpan"), strict=False)):
        targets = settings.findall("Targets/Target")
        if not targets:
            raise file_error(source, "holds no target")
        found = [_xml_target(target, source) for target in targets]
        seconds = _number(done, "TestTimeSeconds", source)
        if seconds <= 0:
            raise file_error(source, "holds no time of the test")
        pool = int(_number(settings, "ThreadCount", source, 0)), int(_number(settings, "RequestCount", source, 0))
        n_threads = max(int(_number(done, "ThreadCount", source)), 1)
        options, notes = options_of(found, n_threads, source, pool_threads=pool[0], pool_depth=pool[1])
        results: dict[str, FioDirection | None] = {}
        for kind, prefix in (("read", "Read"), ("write", "Write")):
            count = sum(_number(t, f"{prefix}Count", source, 0) for t in done.findall("Thread/Target"))
            n_bytes = sum(_number(t, f"{prefix}Bytes", source, 0) for t in done.findall("Thread/Target"))
            mean = done.findtext(f"Latency/Average{prefix}Milliseconds")
            latency = None
            if mean is not None:
                percentiles = {
                    _number(bucket, "Percentile", source): _number(bucket, f"{prefix}Milliseconds", source) * 1e6
                    for bucket in done.findall("Latency/Bucket")
                    if bucket.find(f"{prefix}Milliseconds") is not None
                }
                deviation = _number(done, f"Latency/{prefix}LatencyStdev", source, 0) * 1e6
                mean_ns = _number(done, f"Latency/Average{prefix}Milliseconds", source) * 1e6
                latency = _latency(mean_ns, deviation, percentiles)
            results[kind] = _direction(int(count), int(n_bytes), seconds, latency)
        yield _job(found[0].path, number, f"diskspd-{version}", options, results, source, tuple(notes))


def _xml_target(target: ElementTree.Element, source: str) -> Target:
    def number(tag: str, default: float | None = 0) -> int:
        return int(_number(target, tag, source, default))

    block = number("BlockSize", None)
    is_random = target.find("Random") is not None
    throughput = target.find("Throughput")
    in_iops = throughput is not None and throughput.get("unit") == "IOPS"
    limit = _number(target, "Throughput", source, 0)
    ranges = [
        (_range_number(item.get("IO"), source), _range_number(item.text, source))
        for kind in ("Percent", "Absolute")
        for item in target.findall(f"Distribution/{kind}/Range")
    ]
    return Target(
        path=target.findtext("Path", "diskspd"),
        block_bytes=block,
        write_percent=number("WriteRatio"),
        depth=max(number("RequestCount"), 1),
        is_random=is_random,
        random_percent=number("RandomRatio", 100),
        alignment_bytes=number("Random") if is_random else number("StrideSize") or block,
        is_interlocked=target.findtext("InterlockedSequential") == "true",
        is_direct=target.findtext("DisableOSCache") == "true" or target.findtext("DisableAllCache") == "true",
        is_written_through=target.findtext("WriteThrough") == "true" or target.findtext("DisableAllCache") == "true",
        offset_bytes=number("BaseFileOffset"),
        thread_stride_bytes=number("ThreadStride"),
        file_bytes=number("FileSize"),
        max_bytes=number("MaxFileSize"),
        think_ms=number("ThinkTime"),
        burst=number("BurstSize"),
        limit_iops=limit if in_iops else limit * 1000 / max(block, 1),
        distribution=tuple(ranges),
        is_absolute=target.find("Distribution/Absolute") is not None,
    )


def _range_number(text: str | None, source: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if 0 <= value <= 1e18:
        return value
    raise file_error(source, "has no usable range of a distribution", value=text)


def _number(parent: ElementTree.Element, tag: str, source: str, default: float | None = None) -> float:
    text = parent.findtext(tag)
    try:
        value = math.nan if text is None else float(text)
    except ValueError:
        value = math.nan
    if 0 <= value <= 1e18:
        return value
    if text is None and default is not None:
        return default
    raise file_error(source, f"has no usable {tag}", value=text)


def _latency(mean_ns: float, deviation_ns: float, percentiles: dict[float, float]) -> FioLatency:
    ordered = dict(sorted(percentiles.items()))
    values = list(ordered.values())
    known = {percent: value for percent, value in ordered.items() if 0 < percent < 100}
    return FioLatency(
        values[0] if values else 0.0, values[-1] if values else mean_ns, mean_ns, deviation_ns, percentiles=known
    )


def _direction(count: int, n_bytes: int, seconds: float, latency: FioLatency | None) -> FioDirection | None:
    if not count:
        return None
    return FioDirection(
        count, n_bytes, round(seconds * 1e9), count / seconds, n_bytes / seconds, clat=latency, lat=latency
    )


# ---------------------------------------------------------------- text

_TOTAL = re.compile(
    r"total:\s+(\d{1,18}) \|\s+(\d{1,15}) \|\s+[\d.]+ \|\s+(\d{1,15}(?:\.\d{1,9})?)"
    r"(?: \|\s+(\d{1,15}(?:\.\d{1,9})?|N/A))?(.*)",
    re.ASCII,
)
_FILE = re.compile(r"\|\s+(\S[^|\n]*?) \((\d{1,9})([KMGT]iB|B)\)", re.ASCII)
_ROW = re.compile(
    r"\s*(\S+) \|\s+(\d{1,15}(?:\.\d{1,9})?|N/A) \|\s+(\d{1,15}(?:\.\d{1,9})?|N/A) \|\s+(\d{1,15}(?:\.\d{1,9})?|N/A)",
    re.ASCII,
)


def _text_jobs(text: str, source: str) -> Iterator[FioJob]:
    settings, *spans = re.split(r"Results for timespan \d+:", text)
    if not spans:
        raise file_error(source, "holds no results of diskspd", "is it the whole output?")
    asked = text_targets(settings, source)
    files = {path: int(n) * BINARY[unit.upper()] for path, n, unit in _FILE.findall(text)}
    files = {path.strip(): size for path, size in files.items()}
    asked = [
        replace(target, file_bytes=target.file_bytes or files.get(target.path, max(files.values(), default=0)))
        for target in asked
    ]
    version = re.search(r"diskspd\.(\d+\.\d+[\d.]*\d)", text)
    pool = re.search(
        r"thread pool with (\d{1,6}) threads\s+number of outstanding I/O operations per thread: (\d{1,9})", text
    )
    for group, span in enumerate(spans):
        seconds = re.search(r"test time:\s+(\d{1,9}(?:\.\d{1,9})?)s", span, re.ASCII)
        threads = re.search(r"thread count:\s+(\d{1,9})", span, re.ASCII)
        if seconds is None or threads is None or float(seconds[1]) <= 0:
            raise file_error(source, "holds no time of the test or no number of threads", "is it the whole output?")
        options, notes = options_of(
            asked,
            int(threads[1]),
            source,
            pool_threads=int(pool[1]) if pool else int(bool(re.search(r"thread pool with", settings))),
            pool_depth=int(pool[2]) if pool else 0,
        )
        percentiles = _text_percentiles(span)
        results: dict[str, FioDirection | None] = {}
        for place, name in enumerate(("read", "write")):
            total = _total_of(span, f"{name.capitalize()} IO", percentiles[place], float(seconds[1]))
            if total is None and f"{name.capitalize()} IO" in span:
                raise file_error(source, f"holds no total of its {name}s", "is it the whole output?")
            results[name] = None if total is None else total[0]
        if not any(re.search(rf"^{name} IO", span, re.MULTILINE) for name in ("Read", "Write")):
            results, note = _of_total(span, asked[0].write_percent, float(seconds[1]), source)
            notes += note
        yield _job(
            asked[0].path, group, f"diskspd-{version[1] if version else ''}", options, results, source, tuple(notes)
        )


def _total_of(
    span: str, heading: str, percentiles: dict[float, float], seconds: float
) -> tuple[FioDirection | None] | None:
    """The total below a heading, in a tuple; None where it is missing."""
    table = re.search(rf"^{heading}\s*\n(.*?)^total:.*?$", span, re.MULTILINE | re.DOTALL)
    total = _TOTAL.search(table[0]) if table else None
    if total is None:
        return None
    latency = None
    if total[4] not in (None, "N/A"):
        deviation = re.findall(r"\d{1,15}(?:\.\d{1,9})?", total[5])
        mean_ns, deviation_ns = float(total[4]) * 1e6, float(deviation[-1]) * 1e6 if deviation else 0.0
        latency = _latency(mean_ns, deviation_ns, percentiles)
    return (_direction(int(total[2]), int(total[1]), seconds, latency),)


def _of_total(
    span: str, write_percent: int, seconds: float, source: str
) -> tuple[dict[str, FioDirection | None], list[str]]:
    """Reads and writes of a result that has only their total."""
    found = _total_of(span, "Total IO", {}, seconds)
    if found is None or found[0] is None:
        raise file_error(source, "holds no total of its requests", "is it the whole output?")
    whole = found[0]
    if write_percent in (0, 100):
        return {"write" if write_percent else "read": whole}, []
    results: dict[str, FioDirection | None] = {}
    for name, share in (("read", 1 - write_percent / 100), ("write", write_percent / 100)):
        count, n_bytes = round((whole.n_ios or 0) * share), round(whole.total_bytes * share)
        results[name] = _direction(count, n_bytes, seconds, whole.lat)
    return results, ["reads and writes are not counted apart: the mix asked for is taken"]


def _text_percentiles(span: str) -> tuple[dict[float, float], dict[float, float]]:
    """Percent → ns of reads and of writes."""
    found: tuple[dict[float, float], dict[float, float]] = ({}, {})
    _, _, table = span.partition("%-ile |")
    for line in table.split("\n"):
        row = _ROW.match(line)
        if row is None:
            continue
        nines = _NINES.match(row[1])
        if nines:
            percent = 100 - 10.0 ** (2 - int(nines[1]))
        elif row[1] in ("min", "max"):
            percent = 0.0 if row[1] == "min" else 100.0
        elif re.fullmatch(r"\d+(st|nd|rd|th)", row[1]):
            percent = float(row[1][:-2])
        else:
            continue
        for place in (0, 1):
            if row[place + 2] != "N/A":
                found[place][percent] = float(row[place + 2]) * 1e6
    return found
