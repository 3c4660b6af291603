"""Counters of disks of Prometheus' node_exporter: what it answers, snapshot after snapshot, and `query_range`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from diskmodel.errors import FormatError
from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.recorders.counters import recording_of
from diskmodel.formats.sysstat.tables import Recording
from diskmodel.limits import parse_json

#: Metric → counter and the factor to its unit; names before version 0.16 too.
_METRICS: Mapping[str, tuple[str, float]] = {
    "node_disk_reads_completed_total": ("reads", 1),
    "node_disk_writes_completed_total": ("writes", 1),
    "node_disk_read_bytes_total": ("read_bytes", 1),
    "node_disk_written_bytes_total": ("write_bytes", 1),
    "node_disk_read_time_seconds_total": ("read_s", 1),
    "node_disk_write_time_seconds_total": ("write_s", 1),
    "node_disk_io_time_seconds_total": ("busy_s", 1),
    "node_disk_io_time_weighted_seconds_total": ("weighted_s", 1),
    "node_disk_flush_requests_total": ("flushes", 1),
    "node_disk_discards_completed_total": ("discards", 1),
    "node_disk_reads_completed": ("reads", 1),
    "node_disk_writes_completed": ("writes", 1),
    "node_disk_bytes_read": ("read_bytes", 1),
    "node_disk_bytes_written": ("write_bytes", 1),
    "node_disk_sectors_read": ("read_bytes", 512),
    "node_disk_sectors_written": ("write_bytes", 512),
    "node_disk_read_time_ms": ("read_s", 1e-3),
    "node_disk_write_time_ms": ("write_s", 1e-3),
    "node_disk_io_time_ms": ("busy_s", 1e-3),
    "node_disk_io_time_weighted": ("weighted_s", 1e-3),
}
_LINE = re.compile(
    r"(node_[A-Za-z0-9_]{1,80})(?:\{([^}]{0,400})\})?\s+([-+0-9.eE]{1,40}|NaN|[+-]Inf)(?:\s+(\d{1,16}))?\s*\Z", re.ASCII
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_EPOCH = re.compile(r"#?\s*(\d{9,10}(?:\.\d{1,9})?)\s*\Z", re.ASCII)
_AGAIN = "record with: while sleep 15; do date +%s; curl -s HOST:9100/metrics | grep node_disk; done"
_BYTES = "node_disk_read_bytes_total and node_disk_written_bytes_total"
_MAX = 1e18


def is_exposition(text: str) -> bool:
    """Whether a text holds node_exporter's metrics of disks, or metrics of node_exporter at all."""
    return bool(re.search(r"^node_(disk_\w+\{|time_seconds |time |cpu_\w*\{)", text, re.MULTILINE))


def read_exposition(text: str, source: str) -> Recording:
    """Return the differences of what node_exporter answered several times; the times are in the text."""
    snapshots: list[tuple[float | None, dict[str, dict[str, float]]]] = []
    seen: set[tuple[str, str]] = set()
    pending: float | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if epoch := _EPOCH.match(line.strip()):
            pending = float(epoch[1])
            seen = set()
            snapshots.append((pending, {}))
            continue
        match = _LINE.match(line.strip())
        if match is None:
            if line.startswith("node_disk_"):
                raise LineError(source, number, 0, "", line, "is no line of a metric")
            continue
        name, labels = match[1], dict(_LABEL.findall(match[2] or ""))
        device = labels.get("device", "")
        if not snapshots or (name, device + match[2] if match[2] else "") in seen:
            snapshots.append((None, {}))
            seen = set()
        seen.add((name, device + match[2] if match[2] else ""))
        value = _number(match[3])
        if name in ("node_time_seconds", "node_time") and value is not None:
            snapshots[-1] = (value, snapshots[-1][1])
        if name in _METRICS and value is not None:
            counter, factor = _METRICS[name]
            snapshots[-1][1].setdefault(device, {}).setdefault(counter, value * factor)
            if match[4] and snapshots[-1][0] is None:
                snapshots[-1] = (int(match[4]) / 1e3, snapshots[-1][1])
    snapshots = [snapshot for snapshot in snapshots if snapshot[1]]
    what = "is output of node_exporter"
    if not snapshots:
        raise file_error(source, f"{what} without its metrics of disks", _AGAIN)
    if len(snapshots) < 2:
        raise file_error(source, f"{what}, one snapshot of its counters: rates need two or more", _AGAIN)
    known = [(time, found) for time, found in snapshots if time is not None]
    if len(known) < len(snapshots):
        raise file_error(source, f"{what} without the times of its snapshots (node_time_seconds)", _AGAIN)
    _check_bytes(known[-1][1], source, what)
    return recording_of(known)


def _check_bytes(devices: Mapping[str, Mapping[str, float]], source: str, what: str) -> None:
    names = {name for counters in devices.values() for name in counters}
    if not names & {"read_bytes", "write_bytes"}:
        raise file_error(source, f"{what} without bytes: the sizes of requests are unknown", f"include {_BYTES}")
    if not names & {"reads", "writes"}:
        fix = "include node_disk_reads_completed_total and node_disk_writes_completed_total"
        raise file_error(source, f"{what} without numbers of requests", fix)


def _number(text: object) -> float | None:
    try:
        value = float(str(text)[:60])
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MAX else None


def is_answer(text: str) -> bool:
    """Whether a text is the answer of Prometheus' HTTP interface to a query."""
    head = text.lstrip()[:4096]
    return head.startswith("{") and '"resultType"' in head


def read_answer(text: str, source: str) -> Recording:
    """Return the differences of counters that `query_range` answered.

    Raises
    ------
    FormatError
        When it is no matrix of `node_disk_*`, or lacks numbers of requests or bytes.
    """
    what = "is an answer of Prometheus"
    fix = 'query counters without rate(): query_range?query={__name__=~"node_disk_.*_total"}&step=15&start=…&end=…'
    document = _document(text, source)
    data = document.get("data")
    results = data.get("result") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or data.get("resultType") != "matrix" or not isinstance(results, list):
        raise file_error(source, f"{what} that is no range of values over time", fix)
    hosts = {_host(result) for result in results if isinstance(result, Mapping)}
    series: dict[float, dict[str, dict[str, float]]] = {}
    for result in results:
        metric = result.get("metric") if isinstance(result, Mapping) else None
        values = result.get("values") if isinstance(result, Mapping) else None
        name = str(metric.get("__name__")) if isinstance(metric, Mapping) else ""
        if name not in _METRICS or not isinstance(metric, Mapping) or not isinstance(values, list):
            continue
        prefix = f"{_host(result)}:" if len(hosts) > 1 else ""
        counter, factor = _METRICS[name]
        for pair in values:
            if not isinstance(pair, list) or len(pair) != 2:
                raise file_error(source, f"{what} whose values are no pairs of time and value")
            time, value = _number(pair[0]), _number(pair[1])
            if time is not None and value is not None:
                device = prefix + str(metric.get("device", ""))
                series.setdefault(time, {}).setdefault(device, {})[counter] = value * factor
    if not series:
        raise file_error(source, f"{what} without counters of disks by name (node_disk_*_total)", fix)
    if len(series) < 2:
        raise file_error(source, f"{what} with one value of each counter: rates need two or more", fix)
    _check_bytes({device: c for found in series.values() for device, c in found.items()}, source, what)
    return recording_of(sorted(series.items()))


def _host(result: Mapping[str, Any]) -> str:
    metric = result.get("metric")
    instance = str(metric.get("instance", "")) if isinstance(metric, Mapping) else ""
    return re.sub(r":\d+\Z", "", instance)


def _document(text: str, source: str) -> Mapping[str, Any]:
    try:
        document = parse_json(text)
    except (ValueError, RecursionError) as error:
        problem = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise _broken(source, problem) from None
    if not isinstance(document, Mapping):
        raise _broken(source, "it is no object")
    return document


def _broken(source: str, problem: str) -> FormatError:
    return file_error(source, f"is not usable JSON: {problem}", "was it cut short?")
