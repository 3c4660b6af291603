"""Results of diskspd, Microsoft's load generator, as text and XML, in the form of fio's jobs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency, job_from_options
from diskmodel.formats.opening import read_document

KINDS = ("diskspd-text", "diskspd-xml")

_BINARY = {"": 1, "B": 1, "K": 2**10, "KIB": 2**10, "M": 2**20, "MIB": 2**20, "G": 2**30, "GIB": 2**30, "TIB": 2**40}
_NINES = re.compile(r"(\d)-nines")


def kind_of(text: str) -> str | None:
    """Which of diskspd's outputs a text is, or None."""
    head = text[:4096]
    if "<Results>" in head and "<Tool>" in head:
        return "diskspd-xml"
    if "Results for timespan" in text or ("Command Line:" in head and "Input parameters:" in head):
        return "diskspd-text" if "outstanding I/O operations" in text else None
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


def _options(
    *,
    pattern: str,
    block_bytes: int,
    write_percent: int,
    depth: int,
    threads: int,
    is_direct: bool,
    file_bytes: int,
    name: str,
) -> dict[str, str]:
    suffix = "write" if write_percent == 100 else "rw" if write_percent else "read"
    options = {
        "rw": pattern + suffix,
        "bs": str(block_bytes),
        "iodepth": str(depth),
        "numjobs": str(threads),
        "ioengine": "windowsaio",
        "direct": str(int(is_direct)),
        "filename": name.replace(":", r"\:"),  # fio separates files by colons
    }
    if 0 < write_percent < 100:
        options["rwmixwrite"] = str(write_percent)
    if file_bytes:
        options["size"] = str(file_bytes)
    return options


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
        keys = ("BlockSize", "WriteRatio", "RequestCount", "Random", "RandomRatio", "Throughput", "DisableOSCache")
        if len({tuple(target.findtext(key) for key in keys) for target in targets}) > 1:
            raise file_error(source, "holds targets of different settings", "test one at a time")
        target = targets[0]
        seconds = _number(done, "TestTimeSeconds", source)
        if seconds <= 0:
            raise file_error(source, "holds no time of the test")
        name = target.findtext("Path", "diskspd")
        options = _options(
            pattern="" if target.find("Random") is None else "rand",
            block_bytes=int(_number(target, "BlockSize", source)),
            write_percent=int(_number(target, "WriteRatio", source)),
            depth=max(int(_number(target, "RequestCount", source)), 1),
            threads=max(int(_number(done, "ThreadCount", source)), 1),
            is_direct=target.findtext("DisableOSCache") == "true" or target.findtext("DisableAllCache") == "true",
            file_bytes=int(_number(target, "MaxFileSize", source, 0) or _number(target, "FileSize", source, 0)),
            name=name,
        )
        notes = []
        if _number(target, "Throughput", source, 0) > 0:
            notes.append("the throughput of each thread was limited: the check of requests outstanding shows it")
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
                latency = _latency(float(mean) * 1e6, deviation, percentiles)
            results[kind] = _direction(int(count), int(n_bytes), seconds, latency)
        yield _job(name, number, f"diskspd-{version}", options, results, source, tuple(notes))


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

_SETTING = {
    "block": re.compile(r"block size: (\d+)\s*([KMG]?(?:iB)?)", re.ASCII),
    "depth": re.compile(r"number of outstanding I/O operations(?: per thread)?: (\d+)", re.ASCII),
    "mix": re.compile(r"performing (read|write|mix) test(?: \(read/write ratio: (\d+)/(\d+)\))?", re.ASCII),
}
_TOTAL = re.compile(r"total:\s+(\d+) \|\s+(\d+) \|\s+[\d.]+ \|\s+([\d.]+)(?: \|\s+([\d.]+|N/A))?(.*)", re.ASCII)
_ROW = re.compile(r"\s*(\S+) \|\s+([\d.]+|N/A) \|\s+([\d.]+|N/A) \|\s+([\d.]+|N/A)", re.ASCII)


def _text_jobs(text: str, source: str) -> Iterator[FioJob]:
    settings, *spans = re.split(r"Results for timespan \d+:", text)
    if not spans:
        raise file_error(source, "holds no results of diskspd", "is it the whole output?")
    found = {name: sorted(set(pattern.findall(settings))) for name, pattern in _SETTING.items()}
    for name, values in found.items():
        if len(values) != 1:
            rule = "holds several targets or time spans of different settings" if values else f"does not say its {name}"
            raise file_error(source, rule, "use -Rxml, or test one at a time")
    number, unit = found["block"][0]
    kind, _, writes = found["mix"][0]
    write_percent = {"read": 0, "write": 100}.get(kind, int(writes or 50))
    is_random = "using random I/O" in settings
    path = re.search(r"path: '(.*)'", settings)
    size = re.search(r"\((\d+)([KMGT]iB)\)", text)
    notes = [] if "mixed random/sequential" not in settings else ["the sequential part is taken as random"]
    if "throughput rate limit" in settings:
        notes.append("the throughput of each thread was limited: the check of requests outstanding shows it")
    version = re.search(r"diskspd\.(\d+\.\d+[\d.]*\d)", text)
    for group, span in enumerate(spans):
        seconds = re.search(r"test time:\s+([\d.]+)s", span)
        threads = re.search(r"thread count:\s+(\d+)", span)
        if seconds is None or threads is None or float(seconds[1]) <= 0:
            raise file_error(source, "holds no time of the test or no number of threads", "is it the whole output?")
        options = _options(
            pattern="rand" if is_random or notes[:1] == ["the sequential part is taken as random"] else "",
            block_bytes=int(number) * _BINARY[unit.upper()],
            write_percent=write_percent,
            depth=int(found["depth"][0]),
            threads=int(threads[1]),
            is_direct="software cache disabled" in settings,
            file_bytes=int(size[1]) * _BINARY[size[2].upper()] if size else 0,
            name=path[1] if path else "diskspd",
        )
        percentiles = _text_percentiles(span)
        results: dict[str, FioDirection | None] = {}
        for place, name in enumerate(("read", "write")):
            table = re.search(rf"^{name.capitalize()} IO\s*\n(.*?)^total:.*?$", span, re.MULTILINE | re.DOTALL)
            total = _TOTAL.search(table[0]) if table else None
            if total is None:
                raise file_error(source, f"holds no total of its {name}s", "is it the whole output?")
            latency = None
            if total[4] not in (None, "N/A"):
                deviation = re.findall(r"[\d.]+", total[5])
                mean_ns, deviation_ns = float(total[4]) * 1e6, float(deviation[-1]) * 1e6 if deviation else 0.0
                latency = _latency(mean_ns, deviation_ns, percentiles[place])
            results[name] = _direction(int(total[2]), int(total[1]), float(seconds[1]), latency)
        name = path[1] if path else "diskspd"
        yield _job(name, group, f"diskspd-{version[1] if version else ''}", options, results, source, tuple(notes))


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
