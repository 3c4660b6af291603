"""Measurements and fio results repeated on a described drive: the same requests outstanding, the same places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrate.fit.cells import cells_of
from calibrate.fit.evidence import read_evidence
from calibrate.fit.held_out import repeatability
from calibrate.score import agreement, demerit_ms
from diskmodel.array import Array
from diskmodel.drive import Flash, Hdd
from diskmodel.engine.simulate import simulate
from diskmodel.errors import Fault, FormatError
from diskmodel.formats import find_workload, read_fio
from diskmodel.formats.fio.job import FioJob, FioLatency
from diskmodel.workload import Workload

Floats = NDArray[np.float64]

#: Every condition counts alike, by so many quantiles of its distribution.
RANKS = (np.arange(200) + 0.5) / 200
N_REQUESTS = 8_000


@dataclass(frozen=True)
class Condition:
    """Response times of one operation under one workload.

    Attributes
    ----------
    what : str
    workload : Workload
    op : "read" or "write"
    n : int
        Measured requests.
    measured_ms : (200,) float64
        Quantiles at `RANKS`.
    repeatability_ratio : float or None
        Range of the means of repetitions by their median.
    """

    what: str
    workload: Workload
    op: str
    n: int
    measured_ms: Floats
    repeatability_ratio: float | None = None


def repeat(drive: Hdd | Flash, paths: Iterable[str | Path], *, seed: int = 0) -> dict[str, Any]:
    """What `diskmodel validate` prints of measurements and fio results, with a row for each condition.

    Compared are random reads of measurements (by queue depth and size) and the first group of jobs of fio results.
    The value expected of a request is the predicted mean of its condition.

    Raises
    ------
    InputError
        When the files cannot be read, hold nothing that can be compared, or do not fit the drive.
    """
    evidence = read_evidence(paths)
    found = list(_measured(evidence.measurements))
    for path, kind in zip(evidence.paths, evidence.kinds, strict=True):
        if kind != "measurement":
            found += _of_fio(path)
    if not found:
        raise FormatError(Fault("evidence", None, "holds no response times that can be compared", "measure again"))
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    predicted = [_predicted_ms(array, condition, seed) for condition in found]
    scores = [_score(found, predicted, op) for op in ("", "read", "write")]
    rows = [_row(condition, draws) for condition, draws in zip(found, predicted, strict=True)]
    return {**scores[0], "reads": scores[1], "writes": scores[2], "conditions": rows}


def _measured(measurements: Iterable[Any]) -> Iterator[Condition]:
    for measurement in measurements:
        for key, cell in sorted(cells_of(measurement).items()):
            if key.is_sequential or not cell.latency_ns:
                continue
            workload = Workload.parse(
                {
                    "size_bytes": key.length_bytes,
                    "read_ratio": 1.0,
                    "clients": key.queue_depth,
                    "span_bytes": measurement.size_bytes,
                }
            )
            together = np.concatenate(cell.latency_ns) / 1e6
            yield Condition(
                str(key), workload, key.op, len(together), np.quantile(together, RANKS), repeatability(cell.response_ns)
            )


def _of_fio(path: Path) -> Iterator[Condition]:
    jobs = read_fio(path)
    first = [job for job in jobs if job.group == jobs[0].group]
    workload = Workload.parse(find_workload(path).workload, str(path))
    for op in ("read", "write"):
        parts = [part for job in first if (part := _latency(job, op)) is not None]
        if parts:
            n = sum(count for count, _ in parts)
            weights = [count / n for count, _ in parts]
            quantiles = sum(w * q for w, (_, q) in zip(weights, parts, strict=True))
            yield Condition(f"{op}s of {path.name}", workload, op, n, np.asarray(quantiles, np.float64))


def _latency(job: FioJob, op: str) -> tuple[int, Floats] | None:
    """Requests and quantiles (ms) of one direction of a job."""
    direction = job.directions.get(op)
    if direction is None:
        return None
    for latency in (direction.clat, direction.lat):
        quantiles = None if latency is None else _quantiles_ns(latency)
        if quantiles is not None and latency is not None:
            return direction.n_ios or latency.n_samples or 1, quantiles / 1e6
    return None


def _quantiles_ns(latency: FioLatency) -> Floats | None:
    if latency.bins:
        values = np.array(sorted(latency.bins), np.float64)
        counts = np.array([latency.bins[int(value)] for value in values], np.float64)
        return np.asarray(np.interp(RANKS, (np.cumsum(counts) - counts / 2) / counts.sum(), values))
    if len(latency.percentiles) < 2:
        return None
    ranks = sorted(latency.percentiles)
    inner = [latency.percentiles[rank] for rank in ranks]
    low, high = min(latency.min_ns, inner[0]), max(latency.max_ns, inner[-1])
    return np.asarray(np.interp(RANKS, [0.0, *(rank / 100 for rank in ranks), 1.0], [low, *inner, high]))


def _predicted_ms(array: Array, condition: Condition, seed: int) -> Floats:
    n = max(N_REQUESTS, 40 * condition.workload.queue_depth)
    result = simulate(array, condition.workload, seed=seed, n_requests=n)
    rows = result.window.rows
    is_write = result.requests.op[rows] != 0
    chosen = result.responses_ns()[is_write == (condition.op == "write")]
    return np.asarray(np.quantile(chosen / 1e6, RANKS))


def _score(found: list[Condition], predicted: list[Floats], op: str) -> dict[str, Any]:
    pairs = [(c, draws) for c, draws in zip(found, predicted, strict=True) if op in ("", c.op)]
    if not pairs:
        return {"n": 0}
    measured = np.concatenate([condition.measured_ms for condition, _ in pairs])
    draws = np.concatenate([part for _, part in pairs])
    expected = np.concatenate([np.full(len(part), part.mean()) for _, part in pairs])
    return {**agreement(measured, expected, draws[:, None]), "n": sum(condition.n for condition, _ in pairs)}


def _row(condition: Condition, draws: Floats) -> dict[str, Any]:
    mean, predicted = float(condition.measured_ms.mean()), float(draws.mean())
    return {
        "what": condition.what,
        "n": condition.n,
        "measured_mean_ms": mean,
        "predicted_mean_ms": predicted,
        "mean_error_ratio": predicted / mean - 1.0,
        "demerit_ratio": demerit_ms(condition.measured_ms, draws) / mean,
        "repeatability_ratio": condition.repeatability_ratio,
    }
