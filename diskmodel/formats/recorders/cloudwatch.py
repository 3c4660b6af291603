"""Metrics of Amazon's EBS volumes from CloudWatch: answers of get-metric-statistics and get-metric-data."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from diskmodel.formats.faults import file_error
from diskmodel.formats.sysstat.figures import Sample, completed
from diskmodel.formats.sysstat.tables import Recording
from diskmodel.limits import check_json

_METRIC = re.compile(
    r"\b(VolumeReadOps|VolumeWriteOps|VolumeReadBytes|VolumeWriteBytes|VolumeTotalReadTime|VolumeTotalWriteTime"
    r"|VolumeIdleTime|VolumeQueueLength)\b"
)
_VOLUME = re.compile(r"\bvol-[0-9a-f]{4,40}\b")
#: Metrics that are sums over a period → series of their rate.
_RATES = {
    "VolumeReadOps": "reads_per_s",
    "VolumeWriteOps": "writes_per_s",
    "VolumeReadBytes": "read_bytes_per_s",
    "VolumeWriteBytes": "write_bytes_per_s",
}
_NEEDED = "VolumeReadOps, VolumeWriteOps, VolumeReadBytes and VolumeWriteBytes"
_FIX = f"get the sums of {_NEEDED} (aws cloudwatch get-metric-data, or get-metric-statistics --statistics Sum)"
_MAX = 1e18

#: Metric → time in seconds → value, by volume.
_Volumes = dict[str, dict[str, dict[float, float]]]


def is_statistics(text: str) -> bool:
    """Whether a text is an answer of CloudWatch."""
    head = text.lstrip()[:65536]
    return head.startswith(("{", "[")) and bool(
        re.search(r'"MetricDataResults"|"Datapoints"', head) and re.search(r'"Label"|"Id"', head)
    )


def read_statistics(text: str, source: str) -> Recording:
    """Return the samples of one or several answers of CloudWatch about EBS volumes, one after the other in the text.

    Raises
    ------
    FormatError
        When one is malformed, is about other metrics, holds averages instead of sums, or lacks operations or bytes.
    """
    volumes: _Volumes = {}
    for answer in _documents(text, source):
        for label, pairs in _metrics(answer, source):
            metric = _METRIC.search(label)
            if metric is None:
                continue
            named = _VOLUME.search(label)
            series = volumes.setdefault(named[0] if named else "volume", {}).setdefault(metric[1], {})
            series.update(pairs)
    metrics = {name for found in volumes.values() for name in found}
    what = "is CloudWatch's statistics"
    if not metrics:
        raise file_error(source, f"{what} of no EBS volume", _FIX)
    missing = [name for name in _RATES if name not in metrics]
    if not metrics & {"VolumeReadOps", "VolumeWriteOps"} or not metrics & {"VolumeReadBytes", "VolumeWriteBytes"}:
        raise file_error(source, f"{what} without {' and '.join(missing)}", _FIX)
    times = sorted({time for found in volumes.values() for series in found.values() for time in series})
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    if not gaps:
        raise file_error(source, f"{what} of one point in time: its period is unknown", "get two or more")
    period_s = min(gaps)
    found = Recording(interval_s=period_s)
    for time in times:
        sample: Sample = {}
        for volume, by_metric in volumes.items():
            values = {name: series[time] for name, series in by_metric.items() if time in series}
            sample[volume] = completed(_figures(values, period_s)) if values else None
        found.samples.append(sample)
    if missing:
        found.notes.append(f"{', '.join(missing)} is not in the file: taken as none")
    found.notes.append(
        f"each sample is the mean of {period_s:g} s, as CloudWatch counts; EBS merges sequential requests of up to "
        "256 KiB (SSD) or 1 MiB (disks) into one"
    )
    return found


def _figures(values: Mapping[str, float], period_s: float) -> dict[str, float]:
    found = {series: values.get(name, 0.0) / period_s for name, series in _RATES.items()}
    for kind in ("Read", "Write"):
        total_s, count = values.get(f"VolumeTotal{kind}Time"), values.get(f"Volume{kind}Ops")
        if total_s is not None and count:
            found[f"{kind.lower()}_await_ns"] = total_s / count * 1e9
    if "VolumeQueueLength" in values:
        found["queue_length"] = values["VolumeQueueLength"]
    if "VolumeIdleTime" in values:
        found["utilization_ratio"] = min(max(1 - values["VolumeIdleTime"] / period_s, 0.0), 1.0)
    return found


def _documents(text: str, source: str) -> Iterator[Mapping[str, Any]]:
    decoder = json.JSONDecoder()
    place = 0
    text = text.strip()
    try:
        check_json(text)
        while place < len(text):
            value, place = decoder.raw_decode(text, place)
            yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Mapping))
            while place < len(text) and text[place] in " \t\r\n,":
                place += 1
    except (ValueError, RecursionError) as error:
        raise file_error(source, f"is not usable JSON: {error}", "was it cut short?") from None


def _metrics(answer: Mapping[str, Any], source: str) -> Iterator[tuple[str, dict[float, float]]]:
    results = answer.get("MetricDataResults")
    for result in results if isinstance(results, list) else []:
        if not isinstance(result, Mapping):
            continue
        times, values = result.get("Timestamps"), result.get("Values")
        if not isinstance(times, list) or not isinstance(values, list) or len(times) != len(values):
            raise file_error(source, "is CloudWatch's statistics with other numbers of times and values")
        label = f"{result.get('Label', '')} {result.get('Id', '')}"
        yield label, {_seconds(t, source): _value(v, source) for t, v in zip(times, values, strict=True)}
    points = answer.get("Datapoints")
    if isinstance(points, list):
        label = str(answer.get("Label", ""))
        # a queue's length is no sum over time
        statistic = "Average" if "QueueLength" in label else "Sum"
        pairs: dict[float, float] = {}
        for point in points:
            if not isinstance(point, Mapping):
                continue
            if statistic not in point:
                rule = f"is CloudWatch's statistics of {label[:80]} without {statistic}"
                raise file_error(source, rule, _FIX)
            pairs[_seconds(point.get("Timestamp"), source)] = _value(point[statistic], source)
        yield label, pairs


def _value(value: object, source: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX:
        return float(value)
    raise file_error(source, "is CloudWatch's statistics with a value that is no number from 0", value=str(value)[:40])


def _seconds(stamp: object, source: str) -> float:
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 <= stamp <= 1e11:
        return float(stamp)
    try:
        # without a zone the times of one file have the same one
        seconds = datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        seconds = math.nan
    if math.isfinite(seconds):
        return seconds
    raise file_error(source, "is CloudWatch's statistics with a time that cannot be read", value=str(stamp)[:40])
