"""sysstat: `iostat -x` as JSON and text, `sadf -j -- -d` as JSON, `sar -d` as text.

Its kB are 1024 bytes. The first report of iostat covers the time since the machine was started and is dropped; sadf and
sar have no such report.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.device_load import DeviceLoad, loads_of
from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.opening import read_document
from diskmodel.limits import parse_json

KINDS = ("iostat-json", "iostat-text", "sadf-json", "sar-text")

_MS, _KB, _MB, _SECTOR = 1e6, 1024.0, 1024.0**2, 512.0

#: Column or key → series and the factor to its unit. Older versions of sysstat used other names.
_FIGURES: dict[str, tuple[str, float]] = {
    "r/s": ("reads_per_s", 1), "w/s": ("writes_per_s", 1), "tps": ("ios_per_s", 1),
    "rkB/s": ("read_bytes_per_s", _KB), "wkB/s": ("write_bytes_per_s", _KB),
    "rMB/s": ("read_bytes_per_s", _MB), "wMB/s": ("write_bytes_per_s", _MB),
    "rsec/s": ("read_bytes_per_s", _SECTOR), "wsec/s": ("write_bytes_per_s", _SECTOR),
    "rd_sec/s": ("read_bytes_per_s", _SECTOR), "wr_sec/s": ("write_bytes_per_s", _SECTOR),
    "rkB": ("read_bytes_per_s", _KB), "wkB": ("write_bytes_per_s", _KB),
    "r_await": ("read_await_ns", _MS), "w_await": ("write_await_ns", _MS), "await": ("await_ns", _MS),
    "aqu-sz": ("queue_length", 1), "avgqu-sz": ("queue_length", 1),
    "util": ("utilization_ratio", 0.01), "%util": ("utilization_ratio", 0.01),
    "util-percent": ("utilization_ratio", 0.01),
}  # fmt: skip

_DEVICE_KEYS = ("disk_device", "disk-device", "device", "Device")
_SAR_LINE = re.compile(r"(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+(.*)\Z", re.ASCII)

#: Far above any figure; keeps products of them finite.
_MOST = 1e15
_RULE = f"must be a number from 0 to {_MOST:g}"

Sample = dict[str, dict[str, float]]


def kind_of(text: str) -> str | None:
    """Which of sysstat's outputs a text is, or None."""
    if text.lstrip().startswith("{") and '"sysstat"' in text[:1000]:
        return "iostat-json" if '"disk_device"' in text or '"avg-cpu"' in text else "sadf-json"
    for line in text.split("\n")[:200]:
        words = line.split()
        if words and words[0] in ("Device", "Device:") and {"r/s", "w/s"} <= set(words):
            return "iostat-text"
        match = _SAR_LINE.match(line)
        if match and match[1].split()[:2] == ["DEV", "tps"]:
            return "sar-text"
    return None


def read_sysstat(path: str | Path, *, kind: str | None = None, keep_first: bool = False) -> list[DeviceLoad]:
    """Loads by device of a file of iostat, sadf or sar, plain or compressed.

    Parameters
    ----------
    path : str or Path
    kind : {"iostat-json", "iostat-text", "sadf-json", "sar-text"}, optional
        Told by content when left out.
    keep_first : bool
        Keep iostat's first report: right for `iostat -y`, which leaves out the one since start-up.

    Raises
    ------
    FormatError
        When the file cannot be read, is none of these, is malformed, or holds no sample of a device.
    """
    return loads_of_text(read_document(path), str(path), kind=kind, keep_first=keep_first)


def loads_of_text(
    text: str, source: str = "", *, kind: str | None = None, keep_first: bool = False
) -> list[DeviceLoad]:
    """As `read_sysstat`, for text already in memory."""
    kind = kind or kind_of(text)
    interval: float | None = None
    if kind in ("iostat-json", "sadf-json"):
        samples, interval = _json_samples(text, source)
    elif kind in ("iostat-text", "sar-text"):
        samples = _iostat_text(text, source) if kind == "iostat-text" else _sar_text(text, source)
    else:
        raise file_error(
            source, "is no output of sysstat", "make one with iostat -x -o JSON 1 600, sadf -j -- -d or sar -d",
            value=kind,
        )  # fmt: skip
    if kind.startswith("iostat") and not keep_first:
        samples = samples[1:]
    loads = loads_of(samples, interval)
    if not loads:
        fix = "let iostat run for more than one report" if kind.startswith("iostat") else "include the disks: -d"
        raise file_error(source, "holds no sample of a device", fix)
    return loads


def _json_samples(text: str, source: str) -> tuple[list[Sample], float | None]:
    try:
        document = parse_json(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise FormatError(Fault(place, None, f"is not valid JSON: {error.msg}", "was it cut short?"), source) from None
    except (ValueError, RecursionError) as error:
        raise file_error(source, f"is not usable JSON: {error}") from None
    faults: list[Fault] = []
    samples: list[Sample] = []
    intervals: list[float] = []
    root = document.get("sysstat") if isinstance(document, Mapping) else None
    for host in _list(root, "hosts"):
        for number, entry in enumerate(_list(host, "statistics")):
            sample: Sample = {}
            for disk in _list(entry, "disk"):
                _json_disk(disk, f"statistics.{number}.disk", sample, faults)
            samples.append(sample)
            stamp = entry.get("timestamp") if isinstance(entry, Mapping) else None
            seconds = stamp.get("interval") if isinstance(stamp, Mapping) else None
            if isinstance(seconds, int | float) and 0 < seconds < 1e9:
                intervals.append(float(seconds))
    if faults:
        raise FormatError(faults, source)
    return samples, sum(intervals) / len(intervals) if intervals else None


def _list(data: Any, key: str) -> list[Any]:
    found = data.get(key) if isinstance(data, Mapping) else None
    return found if isinstance(found, list) else []


def _json_disk(disk: Any, place: str, sample: Sample, faults: list[Fault]) -> None:
    if not isinstance(disk, Mapping):
        faults.append(Fault(place, None, "must be an object"))
        return
    name = next((disk[key] for key in _DEVICE_KEYS if key in disk), None)
    if not isinstance(name, str):
        faults.append(Fault(place, None, "has no name of a device"))
        return
    figures: dict[str, float] = {}
    for key, value in disk.items():
        if key not in _FIGURES:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
            faults.append(Fault(f"{place}.{name}.{key}", value, _RULE))
            continue
        series, factor = _FIGURES[key]
        figures[series] = value * factor
    sample[name] = _completed(figures)


def _completed(figures: dict[str, float]) -> dict[str, float]:
    """Sums and weighted means where a program gives only the parts."""
    reads, writes = figures.get("reads_per_s"), figures.get("writes_per_s")
    if reads is not None and writes is not None:
        figures.setdefault("ios_per_s", reads + writes)
        if "read_await_ns" in figures and "write_await_ns" in figures and reads + writes > 0:
            total = reads * figures["read_await_ns"] + writes * figures["write_await_ns"]
            figures.setdefault("await_ns", total / (reads + writes))
    return figures


def _figures(header: list[str], cells: list[str], number: int, line: str, source: str) -> dict[str, float]:
    if len(cells) != len(header):
        raise LineError(source, number, 0, "", line, f"has {len(cells)} columns instead of {len(header)}")
    figures: dict[str, float] = {}
    for place, (name, cell) in enumerate(zip(header, cells, strict=True), start=1):
        if name not in _FIGURES:
            continue
        try:
            # Some locales write a comma.
            value = float(cell.replace(",", "."))
        except ValueError:
            value = math.nan
        if not 0 <= value <= _MOST:
            raise LineError(source, number, place, name, line, _RULE)
        series, factor = _FIGURES[name]
        figures[series] = value * factor
    return _completed(figures)


def _iostat_text(text: str, source: str) -> list[Sample]:
    samples: list[Sample] = []
    header: list[str] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if words and words[0] in ("Device", "Device:"):
            header = words
            # `iostat -s` and wide terminals keep one table; a second header within a report would have other columns.
            samples.append({})
        elif not words or words[0] == "avg-cpu:":
            header = None
        elif header is not None:
            samples[-1][words[0]] = _figures(header, words, number, line, source)
    return samples


def _sar_text(text: str, source: str) -> list[Sample]:
    samples: list[Sample] = []
    header: list[str] | None = None
    stamp = ""
    for number, line in enumerate(text.split("\n"), start=1):
        match = _SAR_LINE.match(line)
        if match is None or line.startswith("Average:"):
            header = header if match is None and line.strip() else None
            continue
        words = match[1].split()
        if words[:1] == ["DEV"]:
            header, stamp = words, ""
        elif header is not None:
            if line[: match.start(1)] != stamp:
                stamp = line[: match.start(1)]
                samples.append({})
            samples[-1][words[0] if words else ""] = _figures(header, words, number, line, source)
    return samples
