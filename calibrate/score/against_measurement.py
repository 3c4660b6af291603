"""A drive against measurements and fio results: the same requests outstanding at the same places, simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import cells_of, host_ns_of, is_limited_by_host, read_evidence, read_jobs
from calibrate.provenance import HOST_APART
from calibrate.score.agreement import agreement, demerit_ms
from calibrate.score.held_out import repeatability
from calibrate.settled import settled
from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.errors import Fault, FormatError
from diskmodel.formats import FioJob, FioLatency, fio_workload
from diskmodel.host import Host
from diskmodel.workload import Workload

#: Every run counts alike, by so many quantiles of its distribution; its reads and writes share them.
N_RANKS = 200
RANKS = (np.arange(N_RANKS) + 0.5) / N_RANKS
#: Requests of each simulation, or more at great depths. Half makes demerits noisier by a factor of 1.4.
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
    mean_ms : float
        Measured.
    ranks : (m,) float64, in (0, 1), ascending
        Where the measured distribution is known.
    quantiles_ms : (m,) float64
        Measured response times at `ranks`.
    repeatability_ratio : float or None
        Range of the means of repetitions as a share of their median.
    weight : float, above 0
        Share of this operation in the requests of its run.
    host_ns : float
        Processor time of the measuring host for a request, where it limits some rate.
    """

    what: str
    workload: Workload
    op: str
    n: int
    mean_ms: float
    ranks: Floats
    quantiles_ms: Floats
    repeatability_ratio: float | None = None
    weight: float = 1.0
    host_ns: float = 0.0

    def spread(self, quantiles_ms: Floats) -> Floats:
        """Return quantiles at `ranks`, measured or predicted, at as many ranks as the condition counts for."""
        n = max(round(N_RANKS * self.weight), 1)
        return np.asarray(np.interp((np.arange(n) + 0.5) / n, self.ranks, quantiles_ms))


@dataclass(frozen=True)
class Predicted:
    """The simulated condition: mean, and response times at its ranks."""

    mean_ms: float
    quantiles_ms: Floats


def repeat(subject: Drive | Array, paths: Iterable[str | Path], *, seed: int = 0) -> dict[str, Any]:
    """Compare a drive or an array with measurements and fio results: what `diskmodel validate --json` prints.

    Random reads of measurements (by queue depth and size) and every group of jobs of fio results are compared, with a
    row for each. The value expected of a request is the predicted mean of its condition.

    Raises
    ------
    InputError
        When the files cannot be read, have nothing to compare, or do not fit what they are compared with.
    """
    evidence = read_evidence(paths)
    found = list(conditions_of(evidence.measurements))
    for path, kind in zip(evidence.paths, evidence.kinds, strict=True):
        if kind != "measurement":
            found += _of_jobs(read_jobs(path, kind), path)
    if not found:
        raise FormatError(Fault("evidence", None, "has no response times that can be compared", "measure again"))
    alone = {"level": "jbod", "disks": 1}
    array = subject if isinstance(subject, Array) else Array.parse({"drive": subject, "layout": alone})
    pairs = [(condition, _predicted(array, condition, seed)) for condition in found]
    scores = [_score([pair for pair in pairs if op in ("", pair[0].op)]) for op in ("", "read", "write")]
    rows = [_row(condition, predicted) for condition, predicted in pairs]
    return {**scores[0], "reads": scores[1], "writes": scores[2], "conditions": rows}


def conditions_of(measurements: Iterable[Any]) -> Iterator[Condition]:
    """Yield random reads and writes of measurements, by queue depth and size."""
    for measurement in measurements:
        for key, cell in sorted(cells_of(measurement).items()):
            if key.is_sequential or key.op == "mix" or not cell.latency_ns:
                continue
            workload = Workload.parse(
                {
                    "size_bytes": key.length_bytes,
                    "read_ratio": key.read_ratio,
                    "clients": key.queue_depth,
                    "span_bytes": measurement.size_bytes,
                }
            )
            together = np.concatenate(cell.latency_ns) / 1e6
            yield Condition(
                what=str(key),
                workload=workload,
                op=key.op,
                n=len(together),
                mean_ms=float(together.mean()),
                ranks=RANKS,
                quantiles_ms=np.quantile(together, RANKS),
                repeatability_ratio=repeatability(cell.response_ns),
            )


def _of_jobs(found: list[FioJob], path: Path) -> Iterator[Condition]:
    """Yield the conditions of the groups of a result, one after the other as they ran."""
    groups: dict[int, list[FioJob]] = {}
    for job in found:
        groups.setdefault(job.group, []).append(job)
    is_limited = any(is_limited_by_host(job) for jobs in groups.values() for job in jobs)
    for jobs in groups.values():
        name = path.name if len(groups) == 1 else f"{path.name}, {jobs[0].name}"
        host_ns = host_ns_of(jobs[0]) if is_limited and len(jobs) == 1 else 0.0
        yield from (replace(condition, host_ns=host_ns) for condition in _of_group(jobs, path, name))


#: Operation → share of reads of a stream that has none of it.
_LACKING = {"read": 0.0, "write": 1.0}


def _of_group(jobs: list[FioJob], path: Path, name: str) -> Iterator[Condition]:
    """Yield reads and writes of jobs that ran at the same time."""
    workload = Workload.parse(fio_workload(jobs, str(path)), str(path))
    # A result of writes may also hold reads that verified them, at another time.
    asked = {op: any(stream.read_ratio != lacking for stream in workload.streams) for op, lacking in _LACKING.items()}
    found = {op: [part for job in jobs if (part := _latency(job, op)) is not None] for op in asked if asked[op]}
    total = sum(count for parts in found.values() for count, _ in parts)
    for op, parts in found.items():
        if not parts:
            continue
        n = sum(count for count, _ in parts)
        shares = [count / n for count, _ in parts]
        ranks, _ = _known(parts[0][1])
        # jobs of one group are equal: their quantiles are averaged where those of the first are known
        quantiles = [np.interp(ranks, *_known(latency)) for _, latency in parts]
        yield Condition(
            what=f"{op}s of {name}",
            workload=workload,
            op=op,
            n=n,
            mean_ms=sum(share * latency.mean_ns for share, (_, latency) in zip(shares, parts, strict=True)) / 1e6,
            ranks=ranks,
            quantiles_ms=np.asarray(np.average(quantiles, axis=0, weights=shares)) / 1e6,
            weight=n / total,
        )


def _latency(job: FioJob, op: str) -> tuple[int, FioLatency] | None:
    """Return the number of requests of one direction of a job, and the latency whose distribution fio reports."""
    direction = job.directions.get(op)
    for latency in (direction.clat, direction.lat) if direction is not None else ():
        if direction is not None and latency is not None and (latency.bins or len(latency.percentiles) > 1):
            return direction.n_ios or latency.n_samples or 1, latency
    return None


def _known(latency: FioLatency) -> tuple[Floats, Floats]:
    """Return ranks and response times (ns) where a distribution is known."""
    if latency.bins:
        values = np.array(sorted(latency.bins), np.float64)
        counts = np.array([latency.bins[int(value)] for value in values], np.float64)
        return (np.cumsum(counts) - counts / 2) / counts.sum(), values
    ranks = sorted(latency.percentiles)
    return np.array(ranks, np.float64) / 100, np.array([latency.percentiles[rank] for rank in ranks], np.float64)


def _predicted(array: Array, condition: Condition, seed: int) -> Predicted:
    n = max(N_REQUESTS, 40 * condition.workload.queue_depth)
    if condition.host_ns and array.host.is_transparent and HOST_APART in array.drive.provenance:
        array = array.model_copy(update={"host": Host(submission_ns=round(condition.host_ns))})
    requests, run, rows = settled(array, condition.workload, n=n, warm_up=None, seed=seed)
    done, is_write = run.completions, requests.op[rows] != 0
    chosen = (done.done_ns - done.issue_ns)[rows][is_write == (condition.op == "write")] / 1e6
    return Predicted(float(chosen.mean()), np.asarray(np.quantile(chosen, condition.ranks)))


def _score(pairs: list[tuple[Condition, Predicted]]) -> dict[str, Any]:
    if not pairs:
        return {"n": 0}
    measured = np.concatenate([condition.spread(condition.quantiles_ms) for condition, _ in pairs])
    draws = np.concatenate([condition.spread(predicted.quantiles_ms) for condition, predicted in pairs])
    n_ranks = [len(condition.spread(condition.quantiles_ms)) for condition, _ in pairs]
    expected = np.repeat([predicted.mean_ms for _, predicted in pairs], n_ranks)
    found: dict[str, Any] = agreement(measured, expected, draws[:, None])
    weights = [condition.weight for condition, _ in pairs]
    mean = float(np.average([condition.mean_ms for condition, _ in pairs], weights=weights))
    predicted_mean = float(np.average([predicted.mean_ms for _, predicted in pairs], weights=weights))
    return found | {
        "n": sum(condition.n for condition, _ in pairs),
        "measured_mean_ms": mean,
        "predicted_mean_ms": predicted_mean,
        "mean_error_ratio": predicted_mean / mean - 1.0,
        "demerit_ratio": found["demerit_ms"] / mean,
    }


def _row(condition: Condition, predicted: Predicted) -> dict[str, Any]:
    off_ms = demerit_ms(condition.spread(condition.quantiles_ms), condition.spread(predicted.quantiles_ms))
    return {
        "what": condition.what,
        "n": condition.n,
        "measured_mean_ms": condition.mean_ms,
        "predicted_mean_ms": predicted.mean_ms,
        "mean_error_ratio": predicted.mean_ms / condition.mean_ms - 1.0,
        "demerit_ratio": off_ms / condition.mean_ms,
        "repeatability_ratio": condition.repeatability_ratio,
    }
