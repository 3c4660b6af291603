"""fio's JSON, written: predictions in the form that fio's plotters and parsers read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.job import DIRECTIONS, FioDirection, FioJob, FioLatency
from diskmodel.formats.fio.options import PATTERNS
from diskmodel.formats.writing import text_file
from diskmodel.result.statistics import PERCENTILES

VERSION = "fio-3.33"

#: Percent by name: the percentiles of a prediction, and two more of fio's that another program may have predicted.
_PERCENTILES = {name: round(100 * level, 6) for name, level in PERCENTILES.items()} | {"p90": 90.0, "p9999": 99.99}
#: Runtime of a written job: a prediction has none, but readers of fio's output divide by it.
_MEASURED_S = 1.0
_NO_LATENCY = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}


def job_of_prediction(
    prediction: Mapping[str, Any],
    *,
    name: str,
    pattern: str,
    block_bytes: int,
    depth: int,
    n_jobs: int = 1,
    read_fraction: float | None = None,
    engine: str = "libaio",
    duration_s: float = _MEASURED_S,
) -> FioJob:
    """A job with the predicted rates and latencies, as if fio had run for `duration_s`.

    Parameters
    ----------
    prediction : mapping
        As `diskmodel simulate --json` prints it: "iops" and "latency_ms" with "mean" and any of "p50", …, "p9999",
        "min", "max", "stddev". "reads" and "writes" may hold the same for each direction.
    pattern : str
        fio's `rw`.
    block_bytes, depth, n_jobs : int
        Asked of each of the jobs; more than 0.
    read_fraction : float, optional
        For mixed patterns, from 0 to 1; half by default.

    Raises
    ------
    FormatError
        When the prediction lacks "iops" or "latency_ms", or the pattern is not one of fio's.
    """
    if PATTERNS.get(pattern) is None or "trim" in pattern:
        raise FormatError(Fault("pattern", pattern, "must be a pattern of reads and writes of fio"))
    is_mixed = PATTERNS[pattern] in ("rw", "randrw")
    share = (0.5 if read_fraction is None else read_fraction) if is_mixed else float("read" in pattern)
    options = {
        "rw": pattern,
        "bs": str(block_bytes),
        "iodepth": str(depth),
        "numjobs": str(n_jobs),
        "ioengine": engine,
        "direct": "1",
    }
    if is_mixed:
        options["rwmixread"] = str(round(100 * share))
    parts = {"read": ("reads", share), "write": ("writes", 1 - share)}
    found = {}
    for direction, (key, part) in parts.items():
        own = prediction.get(key)
        if part > 0:
            figures, own_share = (own, 1.0) if isinstance(own, Mapping) else (prediction, part)
            found[direction] = _direction(figures, own_share, block_bytes, duration_s)
    return FioJob(
        name=name,
        fio_version=VERSION,
        options=options,
        pattern=PATTERNS[pattern],
        read_fraction=share,
        block_bytes=dict.fromkeys(DIRECTIONS, float(block_bytes)),
        depth=depth,
        n_jobs=n_jobs,
        engine=engine,
        is_direct=True,
        read=found.get("read"),
        write=found.get("write"),
    )


def _direction(figures: Mapping[str, Any], share: float, block_bytes: int, duration_s: float) -> FioDirection:
    latency = figures.get("latency_ms")
    iops = figures.get("iops")
    if not isinstance(latency, Mapping) or "mean" not in latency or not isinstance(iops, int | float):
        raise FormatError(Fault("prediction", None, 'must hold "iops" and "latency_ms" with "mean"'))
    n_ios = max(round(iops * share * duration_s), 1)
    percentiles = {percent: latency[key] * 1e6 for key, percent in _PERCENTILES.items() if latency.get(key) is not None}
    whole = FioLatency(
        min_ns=(latency.get("min") or 0.0) * 1e6,
        max_ns=(latency.get("max") or max([latency["mean"], *(p / 1e6 for p in percentiles.values())])) * 1e6,
        mean_ns=latency["mean"] * 1e6,
        stddev_ns=(latency.get("stddev") or 0.0) * 1e6,
        n_samples=n_ios,
        percentiles=percentiles,
    )
    return FioDirection(
        n_ios=n_ios,
        total_bytes=n_ios * block_bytes,
        runtime_ns=round(duration_s * 1e9),
        iops=iops * share,
        bandwidth_bytes_per_s=iops * share * block_bytes,
        clat=whole,
        lat=whole,
    )


def to_fio_json(jobs: Iterable[FioJob]) -> dict[str, Any]:
    """Document in the form of fio 3's JSON output; `diskmodel.formats.fio.json_output.jobs_of` reads it back.

    Times of day and processor use, which a prediction doesn't have, are zero.
    """
    return {
        "fio version": VERSION,
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": {},
        "jobs": [_job(job) for job in jobs],
        "disk_util": [],
    }


def write_fio_json(path: str | Path, jobs: Iterable[FioJob]) -> None:
    """Write `to_fio_json` to a file, atomically."""
    with text_file(path) as file:
        file.write(json.dumps(to_fio_json(jobs), indent=2) + "\n")


def _job(job: FioJob) -> dict[str, Any]:
    runtime_ms = max((d.runtime_ns // 10**6 for d in job.directions.values()), default=0)
    return {
        "jobname": job.name,
        "groupid": job.group,
        "error": job.error,
        "eta": 0,
        "elapsed": -(-runtime_ms // 1000),
        "job options": dict(job.options),
        **{name: _direction_json(getattr(job, name)) for name in DIRECTIONS},
        "sync": {"total_ios": 0, "lat_ns": dict(_NO_LATENCY)},
        "job_runtime": runtime_ms,
        "usr_cpu": round(100 * (job.cpu_ratio or 0.0), 9),
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": {str(job.depth) if job.depth < 64 else ">=64": 100.0},
        "latency_ns": {},
        "latency_us": {},
        "latency_ms": {},
        "latency_depth": job.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _direction_json(direction: FioDirection | None) -> dict[str, Any]:
    d = direction or FioDirection(0, 0, 0, 0.0, 0.0)
    n_ios = d.n_ios if d.n_ios is not None else round(d.iops * d.runtime_ns / 1e9)
    kib_per_s = d.bandwidth_bytes_per_s / 1024
    return {
        "io_bytes": d.total_bytes,
        "io_kbytes": d.total_bytes // 1024,
        "bw_bytes": d.bandwidth_bytes_per_s,
        "bw": int(kib_per_s),
        "iops": d.iops,
        "runtime": d.runtime_ns // 10**6,
        "total_ios": n_ios,
        "short_ios": 0,
        "drop_ios": 0,
        **{f"{kind}_ns": _latency_json(getattr(d, kind)) for kind in ("slat", "clat", "lat")},
        **{"bw_min": int(kib_per_s), "bw_max": int(kib_per_s), "bw_agg": 100.0 if n_ios else 0.0},
        **{"bw_mean": kib_per_s, "bw_dev": 0.0, "bw_samples": 0},
        **{"iops_min": int(d.iops), "iops_max": int(d.iops), "iops_mean": d.iops, "iops_stddev": 0.0},
        "iops_samples": 0,
    }


def _latency_json(latency: FioLatency | None) -> dict[str, Any]:
    if latency is None:
        return dict(_NO_LATENCY)
    found: dict[str, Any] = {
        "min": latency.min_ns,
        "max": latency.max_ns,
        "mean": latency.mean_ns,
        "stddev": latency.stddev_ns,
    }
    if latency.n_samples is not None:
        found["N"] = latency.n_samples
    if latency.percentiles:
        found["percentile"] = {f"{percent:.6f}": value for percent, value in sorted(latency.percentiles.items())}
    if latency.bins:
        found["bins"] = {str(position): count for position, count in sorted(latency.bins.items())}
    return found
