"""Mean responses by pattern, size and queue depth, with repetitions: what a drive without moving parts is fitted to.

A response here is the time between two requests of one client, ``queue_depth / iops``: latency plus the short time
that the measuring program takes to issue the next request. With it the model has the measured throughput at each
queue depth, as Little's law requires of a closed loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.evidence.measurement import DURABLE_WRITE, READ, Measurement, Run
from diskmodel.formats import FioJob
from diskmodel.host import BOUND_RATIO

#: Smallest relative standard error of a mean. At half, lucky repetitions decide a fit; at double, all conditions count
#: nearly alike.
MIN_SIGMA_RATIO = 0.015

#: Queue depth from which on batches can be separated from coincidence.
MIN_BATCH_DEPTH = 8

#: Slices of a run, whose median a stall does not move. Half lets two stalls decide; double leaves few rounds of the
#: queue in a slice.
N_SLICES = 10


@dataclass(frozen=True, order=True)
class Key:
    """A kind of request: operation, order of addresses, bytes per request, requests outstanding.

    `op` is "read", "write" or "mix"; of a mix, `read_percent` of the requests read.
    """

    op: str
    is_sequential: bool
    length_bytes: int
    queue_depth: int
    read_percent: int = 100

    @property
    def read_ratio(self) -> float:
        """Return the share of requests that read."""
        return {"read": 1.0, "write": 0.0}.get(self.op, self.read_percent / 100)

    def __str__(self) -> str:
        order = "sequential" if self.is_sequential else "random"
        what = f"requests, {self.read_percent} % of them reads," if self.op == "mix" else f"{self.op}s"
        return f"{order} {what} of {self.length_bytes} bytes at queue depth {self.queue_depth}"


def key_of(read_ratio: float, is_sequential: bool, length_bytes: int, queue_depth: int) -> Key:
    """Return the key of requests of which a share `read_ratio` reads."""
    percent = round(100 * read_ratio)
    if percent in (0, 100):
        return Key("read" if percent else "write", is_sequential, length_bytes, queue_depth)
    return Key("mix", is_sequential, length_bytes, queue_depth, percent)


@dataclass
class Cell:
    """All repetitions of one key.

    Attributes
    ----------
    response_ns : list of float
        Mean response of each repetition.
    slices_ns : list of float
        Mean responses of short slices of all repetitions.
    latency_ns : list of int64 arrays
        Responses one by one, where the evidence has them.
    host_ns : list of float
        Processor time of the measuring host for a request, where it is known and limits some rate.
    """

    key: Key
    response_ns: list[float] = field(default_factory=list)
    slices_ns: list[float] = field(default_factory=list)
    latency_ns: list[Floats] = field(default_factory=list)
    host_ns: list[float] = field(default_factory=list)

    @property
    def mean_ns(self) -> float:
        """Return the median over repetitions, which one disturbed repetition does not move."""
        return float(np.median(self.response_ns))

    @property
    def undisturbed_ns(self) -> float:
        """Return the median over slices, which stalls do not move."""
        return float(np.median(self.slices_ns)) if self.slices_ns else self.mean_ns

    @property
    def spread_ratio(self) -> float:
        """Return the standard deviation between repetitions as a share of their mean; 0 for a single one."""
        if len(self.response_ns) < 2:
            return 0.0
        return float(np.std(np.log(self.response_ns), ddof=1))


class Cells(dict[Key, Cell]):
    """Cells by key."""

    def add(
        self,
        key: Key,
        response_ns: float,
        latency_ns: Floats | None = None,
        slices_ns: Iterable[float] = (),
    ) -> None:
        """Add a repetition."""
        cell = self.setdefault(key, Cell(key))
        cell.response_ns.append(response_ns)
        cell.slices_ns.extend(slices_ns)
        if latency_ns is not None:
            cell.latency_ns.append(latency_ns)

    @property
    def stall_ratio(self) -> float:
        """Return the ratio of mean to undisturbed responses, on average over the cells.

        Stalls are rare and long: most repetitions have none and a few have nearly all of them, so that a median would
        leave them out, unlike a long run, whose mean is to be predicted.
        """
        return float(np.mean([np.mean(cell.response_ns) / cell.undisturbed_ns for cell in self.values()]))

    def expected_ns(self, key: Key) -> float:
        """Return a cell's mean if stalls were spread over all cells alike, which a model without stalls is fitted
        to."""
        return self[key].undisturbed_ns * self.stall_ratio

    def host_ns(self, keys: Iterable[Key]) -> Floats:
        """Return the host's processor time (ns) for a request of each key; 0 where the drive limits every rate."""
        return np.array([np.median(self[key].host_ns or [0.0]) for key in keys], np.float64)

    def without_host(self) -> Cells:
        """Return the cells as if nothing were known of the host."""
        return Cells({key: replace(cell, host_ns=[]) for key, cell in self.items()})

    def without(self, held_out: Iterable[Key]) -> Cells:
        """Return the cells that are not held out."""
        left_out = set(held_out)
        return Cells({key: cell for key, cell in self.items() if key not in left_out})

    def sigma_ratio(self, key: Key) -> float:
        """Return the relative standard error of a cell's mean, which is a median.

        The scatter is pooled with that of all cells, since three to five repetitions determine it poorly.
        """
        pooled = float(np.sqrt(np.mean([c.spread_ratio**2 for c in self.values() if len(c.response_ns) > 1] or [0.0])))
        cell = self[key]
        n = len(cell.response_ns)
        own = cell.spread_ratio if n > 1 else pooled
        scatter = np.sqrt((own**2 + pooled**2) / 2)
        # of a median, which is the mean of two and less certain than the mean of more
        return float(max(scatter * np.sqrt(1 / n if n < 3 else np.pi / (2 * n + 1)), MIN_SIGMA_RATIO))


def cells_of(measurement: Measurement) -> Cells:
    """Return the cells of a measurement: random reads by depth and size, sequential reads, and random mixes and
    writes."""
    cells = Cells()
    for name, is_sequential in _EXPERIMENTS:
        experiment = measurement.experiment(name)
        for run in experiment.runs if experiment is not None else ():
            samples = run.samples
            if len(samples) >= 20 and not bool((samples.op == DURABLE_WRITE).any()):
                asked = run.parameters.get("read_fraction")
                asked = float((samples.op == READ).mean()) if asked is None else min(float(asked), 1.0)
                length, depth = int(samples.length_bytes[0]), run.queue_depth
                _add(cells, run, key_of(asked, is_sequential, length, depth))
    return cells


#: Experiments whose runs keep one size and one depth, and whether their addresses ascend.
_EXPERIMENTS = (
    ("random_reads", False),
    ("block_sizes", False),
    ("zones", True),
    ("mixed_read_write", False),
    ("gc_onset", False),
)


def cells_of_fio(jobs: Iterable[FioJob]) -> Cells:
    """Return the cells of fio results: jobs of reads, writes or both, of one size."""
    cells, jobs = Cells(), list(jobs)
    is_limited = any(map(is_limited_by_host, jobs))
    for job in jobs:
        if job.pattern is None or job.error or job.was_limited or not set(job.directions) <= {"read", "write"}:
            continue
        iops = {op: direction.iops for op, direction in job.directions.items() if direction.iops > 0}
        lengths = {job.block_bytes.get(op, 0) for op in iops}
        length = next(iter(lengths), 0)
        if len(lengths) == 1 and length == int(length) > 0:
            total = sum(iops.values())
            is_sequential = not job.pattern.startswith("rand")
            key = key_of(iops.get("read", 0.0) / total, is_sequential, int(length), job.outstanding)
            cells.add(key, job.outstanding * 1e9 / total)
            if is_limited and (taken := host_ns_of(job)):
                cells[key].host_ns.append(taken)
    return cells


def host_ns_of(job: FioJob) -> float:
    """Return the processor time (ns) of a request of a job of one process; 0 where it is unknown."""
    total = sum(direction.iops for direction in job.directions.values())
    return job.cpu_ratio * 1e9 / total if job.cpu_ratio is not None and job.n_jobs == 1 and total > 0 else 0.0


def is_limited_by_host(job: FioJob) -> bool:
    """Return whether the job's processor was busy all the time: its rate is the host's, not the drive's."""
    return job.cpu_ratio is not None and job.cpu_ratio >= BOUND_RATIO


def _add(cells: Cells, run: Run, key: Key) -> None:
    samples, depth = run.samples, run.queue_depth
    rate = rate_per_ns(run)
    if rate <= 0:
        return
    cells.add(key, depth / rate, samples.latency_ns.astype(np.float64) + turn_round_ns(run), slices_of(run))


def turn_round_ns(run: Run) -> float:
    """Return the time (ns) that the measuring program takes from a completion to the next issue, on average.

    It is part of the response of a closed loop; 0 where the run is too short to have a rate.
    """
    rate = rate_per_ns(run)
    return max(run.queue_depth / rate - float(run.samples.latency_ns.mean()), 0.0) if rate > 0 else 0.0


def slices_of(run: Run) -> list[float]:
    """Return mean responses of slices of equal numbers of completions, without start and drain."""
    done, depth = _completions(run), run.queue_depth
    rounds = (len(done) - 1) // depth // N_SLICES
    if rounds * depth < 8:
        return []
    return [float(step) / rounds for step in np.diff(done[:: rounds * depth]) if step > 0]


def rate_per_ns(run: Run) -> float:
    """Return requests per ns between the first completion and the last one while the run was issuing.

    Neither the start, with an empty queue, nor the drain counts.
    """
    done, depth = _completions(run), run.queue_depth
    n = (len(done) - 1) // depth * depth
    return n / float(done[n] - done[0]) if n > 0 and done[n] > done[0] else 0.0


def _completions(run: Run) -> Ints:
    """Return times of completion without start and drain.

    Compare them at distances of whole multiples of the queue depth: a drive that answers in batches has
    each batch complete almost at once, and completions that far apart have the same place in their batches.
    """
    done = np.sort(run.samples.completion_ns)
    if run.queue_depth > 1 and len(done):
        done = done[done <= int(run.samples.issue_ns.max())]
    return done[min(run.queue_depth, len(done) // 4) :]


def answered_together(measurements: Iterable[Measurement]) -> float | None:
    """Return the share of outstanding random reads that complete at one instant; None without deep enough runs.

    It is the median over runs at depths of at least `MIN_BATCH_DEPTH`.

    A drive that answers one by one has a share of about 1 / depth. The program's clock stands still while it takes in
    completions that are already there.
    """
    shares = []
    for measurement in measurements:
        experiment = measurement.experiment("random_reads")
        for run in experiment.runs if experiment is not None else ():
            done = _completions(run)
            if run.queue_depth >= MIN_BATCH_DEPTH and len(done) >= 4 * run.queue_depth:
                _, counts = np.unique(done, return_counts=True)
                # by request, not by batch: most requests are in large batches
                shares.append(float(np.sum(counts.astype(np.float64) ** 2) / len(done) / run.queue_depth))
    return float(np.median(shares)) if shares else None
