"""What was measured of a disk or an array: rates and percentiles of random requests over queue depths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import Measurement, cells_of
from diskmodel.formats import FioJob, fio_workload
from diskmodel.workload import Workload

#: Percentiles that are compared, where the evidence has them.
PERCENTILES = (1.0, 50.0, 90.0, 95.0, 99.0)
#: Relative errors that the fit allows a rate and a percentile: those of a simulation of `N_REQUESTS`, and fio's bins.
RATE_ERROR, PERCENTILE_ERROR = 0.02, 0.04
#: fio's pattern → the operations that are compared.
_PATTERNS = {"randread": ("read",), "randwrite": ("write",), "randrw": ("read", "write"), "rwrandom": ("read", "write")}


@dataclass(frozen=True)
class Condition:
    """Random requests of one operation, alone or among others, at one depth.

    Attributes
    ----------
    op : "read" or "write"
    workload : Workload
        A single closed stream: sizes, shares, region, requests outstanding.
    iops : float
        Requests of this operation per second.
    mean_ns : float
        Of the responses.
    percentiles_ns : mapping
        Percent → response.
    """

    op: str
    workload: Workload
    iops: float
    mean_ns: float
    percentiles_ns: Mapping[float, float] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Return the number of outstanding requests."""
        return self.workload.queue_depth

    @property
    def length_bytes(self) -> int:
        """Return the size of a request."""
        return round(self.workload.streams[0].mean_size_bytes)

    @property
    def is_mixed(self) -> bool:
        """Return whether reads and writes ran together."""
        return 0.0 < self.workload.streams[0].read_ratio < 1.0

    def __str__(self) -> str:
        share = self.workload.streams[0].read_ratio if self.op == "read" else 1 - self.workload.streams[0].read_ratio
        mixed = f", {share:.0%} of the requests" if self.is_mixed else ""
        return f"random {self.op}s of {self.length_bytes} bytes at queue depth {self.depth}{mixed}"

    @property
    def targets(self) -> Floats:
        """Return the logarithms that are fitted: rate, then percentiles."""
        return np.log([self.iops, *self.percentiles_ns.values()])

    @property
    def errors(self) -> Floats:
        """Return the standard errors of `targets`."""
        return np.array([RATE_ERROR] + [PERCENTILE_ERROR] * len(self.percentiles_ns))


def conditions_of(jobs: Iterable[FioJob], measurements: Iterable[Measurement] = ()) -> list[Condition]:
    """Return the random reads and writes, alone and mixed, by operation and depth; a repeated one once."""
    found: dict[tuple[bool, str, float, int, int], Condition] = {}
    for condition in (*_of_fio(jobs), *_of_measurements(measurements)):
        ratio = condition.workload.streams[0].read_ratio
        key = (condition.is_mixed, condition.op, round(ratio, 1), condition.length_bytes, condition.depth)
        found.setdefault(key, condition)
    return [found[key] for key in sorted(found)]


def _of_fio(jobs: Iterable[FioJob]) -> Iterator[Condition]:
    for job in jobs:
        asked = {op: job.directions.get(op) for op in _PATTERNS.get(job.pattern or "", ())}
        if not asked or job.error or job.was_limited:
            continue
        lengths = {job.block_bytes.get(op, 0) for op in asked}
        if len(lengths) > 1 or not all(0 < length == int(length) for length in lengths):
            continue
        workload = Workload.parse(fio_workload([job], job.name))
        for op, direction in asked.items():
            if direction is None or direction.iops <= 0 or workload.is_open:
                continue
            latency, mean_ns = direction.clat or direction.lat, direction.response_ns
            if latency is None or mean_ns is None:
                continue
            # the soonest read waited for those that were committed; the soonest write for nothing but room in the cache
            wanted = PERCENTILES if op == "read" else PERCENTILES[1:]
            known = {p: latency.percentiles[p] for p in wanted if latency.percentiles.get(p, 0) > 0}
            yield Condition(op, workload, direction.iops, mean_ns, known)


def _of_measurements(measurements: Iterable[Measurement]) -> Iterator[Condition]:
    """Yield the random reads and writes of the micro-benchmark; its mixes are compared elsewhere."""
    for measurement in measurements:
        for key, cell in cells_of(measurement).items():
            if key.is_sequential or key.op == "mix" or not cell.latency_ns:
                continue
            request = {"size_bytes": key.length_bytes, "read_ratio": key.read_ratio, "clients": key.queue_depth}
            workload = Workload.parse(request | {"span_bytes": measurement.size_bytes})
            responses = np.concatenate(cell.latency_ns)
            wanted = PERCENTILES if key.op == "read" else PERCENTILES[1:]
            known = {p: float(np.percentile(responses, p)) for p in wanted}
            yield Condition(key.op, workload, key.queue_depth / cell.mean_ns * 1e9, float(responses.mean()), known)
