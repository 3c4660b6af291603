"""Arrays with a planted cause: what they would measure, written as fio's output, and what the explanation makes of it.

The array that is measured is not the one that is described: its drives, its controller and its host are drawn from what
is not known of them, the seed is another one, and the cause is there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import Flash, Hdd
from diskmodel.engine.drawn_runs import Trials
from diskmodel.errors import InputError
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Change, Law, with_streams
from diskmodel.explanation.explain import explain
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.read import read_results
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.write import job_of_prediction, write_fio_json
from diskmodel.result.statistics.registry import PERCENTILES
from diskmodel.result.summary import estimates_by_operation
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.draws import draw
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.perturbed import AnyWorkload, perturbed
from diskmodel.workload import Stream, Workload

#: Requests of a measurement.
MEASURED_REQUESTS = 8_000
#: Computing time of it at most, by counts, s: a measurement is not cut short. Of a run that was, ten of sixteen clients
#: still waited for a full cache when it ended, and its rate times its mean was six requests.
_MEASURED_S = 20.0
#: DrawnRuns that one is drawn from.
_TRUTHS = 64
_KIB = 1 << 10


@dataclass(frozen=True)
class Job:
    """What fio is asked for."""

    pattern: str
    block_bytes: int
    depth: int
    read_fraction: float | None = None

    @property
    def name(self) -> str:
        """Name of the job."""
        return f"{self.pattern}-{self.block_bytes // _KIB}k-{self.depth}"


RANDOM = (Job("randread", 4 * _KIB, 1), Job("randread", 4 * _KIB, 32), Job("randwrite", 4 * _KIB, 1))
MIXED = (Job("randread", 8 * _KIB, 1), Job("randread", 8 * _KIB, 32), Job("randwrite", 8 * _KIB, 16))
SEQUENTIAL = (Job("read", 1024 * _KIB, 4),)

#: A volume's limits are seen with enough requests outstanding, by small ones and by large ones.
VOLUME = (*RANDOM, Job("read", 1024 * _KIB, 16))

#: A few writes among reads are cleaned as they come; nothing but writes fill any cache.
CACHED = (*MIXED, Job("randrw", 8 * _KIB, 4, 0.98))

READS = (Job("randread", 8 * _KIB, 1), Job("randread", 8 * _KIB, 32), Job("randread", 128 * _KIB, 8))

#: What is measured, by name: the array in words, and the jobs that its owner ran.
SUBJECTS: dict[str, tuple[str, tuple[Job, ...]]] = {
    "disk": ("generic-7k2", (*RANDOM, *SEQUENTIAL)),
    "raid6": ("8x seagate-exos-x18 raid6", (*MIXED, *SEQUENTIAL)),
    "raid10": ("6x generic-10k raid10", (*MIXED, *SEQUENTIAL)),
    "cached": ("8x generic-15k raid5, 1GiB cache", (*MIXED, *SEQUENTIAL)),
    "md5": ("4x samsung-pm9a3-7680 raid5", (*RANDOM, *SEQUENTIAL)),
    "ssd": ("samsung-pm893-960", (*RANDOM, *SEQUENTIAL)),
    "nvme": ("4x samsung-pm9a3-7680 raid10", (*RANDOM, *SEQUENTIAL)),
    "wide6": ("14x seagate-exos-x18 raid6, strip 128KiB", (*MIXED, *SEQUENTIAL)),
    "stripe": ("4x generic-10k raid0", (*RANDOM, *SEQUENTIAL)),
    "mirror": ("2x generic-7k2 raid1", (*MIXED, *SEQUENTIAL)),
    "raid50": ("12x generic-15k raid50", (*MIXED, *SEQUENTIAL)),
    "small5": ("3x generic-7k2 raid5", (*RANDOM, *SEQUENTIAL)),
    "ssd5": ("6x samsung-pm893-960 raid5", (*MIXED, *SEQUENTIAL)),
    "ssd6": ("8x samsung-pm893-960 raid6", (*RANDOM, *SEQUENTIAL)),
    "pool": ("2x6 seagate-exos-x18 raidz2", READS),
    "pool8": ("2x6 seagate-exos-x18 raidz2, record 8KiB", READS),
    "mirrors": ("6x2 generic-7k2 mirrors", READS),
}

#: The same of systems of their own, whose causes nothing else has.
SYSTEMS: dict[str, tuple[str, tuple[Job, ...]]] = {
    "gp3": ("aws-gp3, 16000 IOPS, 500MB/s", VOLUME),
    "gp2-full": ("aws-gp2, 200GB, full credits", VOLUME),
    "gp2": ("aws-gp2, 200GB", VOLUME),
    "bcache": ("4x generic-7k2 raid10, cached by micron-7450-pro-960 (bcache writeback)", CACHED),
    "ceph": ("ceph 4 nodes, 2x samsung-pm983-1920 each, replica 3", MIXED),
    "ceph-disks": ("ceph 4 nodes, 4x generic-7k2 each, db on micron-7450-pro-960", MIXED),
}


def subject_of(name: str) -> tuple[str, tuple[Job, ...]]:
    """Return the array in words, and the jobs that its owner ran."""
    return (SUBJECTS | SYSTEMS)[name]


@dataclass(frozen=True)
class Plant:
    """A cause of one strength in one subject."""

    subject: str
    causes: tuple[tuple[str, Any], ...]
    words: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the causes."""
        return tuple(name for name, _ in self.causes)


def measure(plant: Plant, folder: Path, seed: int) -> Path | None:
    """Write what an array with the causes measures; None where one of them changes nothing there.

    Parameters
    ----------
    plant : Plant
        Without causes: a healthy array.
    folder : Path
    seed : int
        Of the draw of what is not known, and of the measured runs.
    """
    words, asked = subject_of(plant.subject)
    array = Array.from_words(words)
    empty = folder / "asked.json"
    nothing = {"iops": 1.0, "latency_ms": {"mean": 1.0}}
    write_fio_json(empty, [_job(job, nothing, at) for at, job in enumerate(asked)])
    loads, _ = read_results([empty])
    found = [_figures(array, load, plant.causes, seed) for load in loads]
    for name in plant.names:
        others = tuple(cause for cause in plant.causes if cause[0] != name)
        if all(_is_same(own, _figures(array, load, others, seed)) for own, load in zip(found, loads, strict=True)):
            return None
    path = folder / "measured.json"
    write_fio_json(
        path, [_job(job, _prediction(own), at) for at, (job, own) in enumerate(zip(asked, found, strict=True))]
    )
    return path


def _figures(array: Array, load: Measured, causes: Sequence[tuple[str, Any]], seed: int) -> dict[str, float]:
    """Return what is measured of a load with causes."""
    own = array.model_copy(update={"drive": array.drive.in_a_test()}).behind_host(load.workload)
    change = Change(own, load.workload)
    for name, value in causes:
        change = _planted(name, change, value) or change
    figures = _true_figures(own, load.workload, change, seed)
    return figures if change.law is None else change.law(figures, load)


def _is_same(some: dict[str, float], others: dict[str, float]) -> bool:
    """Whether no figure of two runs differs by more than 1 %."""
    return all(abs(some[key] - value) <= 0.01 * abs(value) for key, value in others.items() if key in some)


def _planted(name: str, change: Change, value: Any) -> Change | None:
    """Return the array with a cause.

    Limits are planted otherwise than they are explained: by clients that keep their pace, instead of the law that the
    explanation applies to figures of clients that do not.
    """
    array, workload = change.array, change.workload
    if name in ("rate-limit", "bandwidth-limit", "slow-network"):
        assert isinstance(workload, Workload)
        rate = value if name == "rate-limit" else value / workload.mean_size_bytes
        pace_ns = workload.queue_depth * 1e9 / rate
        client_rate = 1e9 / pace_ns
        if change.law is not None:
            # what a law does to a run that keeps its pace already has no rate
            return change.then(Change(array, workload, _waiting(pace_ns, workload.queue_depth)))

        def paced(stream: Stream) -> dict[str, Any]:
            return {"arrival": stream.arrival.to_dict() | {"client_rate_per_s": client_rate}}

        return change.then(Change(array, with_streams(workload, paced) or workload, _waiting(pace_ns)))
    try:
        return change.then(CAUSES[name].change(array, workload, value))
    except InputError:
        return None


def _waiting(pace_ns: float, clients: float | None = None) -> Law:
    """Return what clients see that wait for their turn: a request takes at least as long as the pace.

    With a number of clients, their rate is that of their mean.
    """

    def law(figures: dict[str, float], _: Measured) -> dict[str, float]:
        found = {key: value if key == "iops" else max(value, pace_ns) for key, value in figures.items()}
        mean = next(value for key, value in found.items() if key.endswith(".mean"))
        return found if clients is None else found | {"iops": min(figures["iops"], clients * 1e9 / mean)}

    return law


def _true_figures(own: Array, workload: AnyWorkload, change: Change, seed: int) -> dict[str, float]:
    """Return the figures of one truth about the array, with the causes."""
    perturbation = _truth(own, workload, seed)
    if change.array.has_drive_write_cache != own.has_drive_write_cache:
        # how much later the slowest writes are is known of those that no buffer takes, and hardly of others
        perturbation = replace(perturbation, p99=_truth(change.array, change.workload, seed).p99)
    if change.array.controller.write_cache is None:
        perturbation = replace(perturbation, destaging=0.0)
    array, load = perturbed(change.array, change.workload, perturbation)
    trials = Trials(
        array,
        load,
        MEASURED_REQUESTS,
        seed=100 + seed,
        start="steady",
        estimate=estimates_by_operation,
        longest=MEASURED_REQUESTS,
        longest_s=_MEASURED_S,
    )
    found = _within_links(dict(trials.reference), change.array, change.workload)
    return {key: value * np.exp(perturbation.p99) if key.endswith("p99") else value for key, value in found.items()}


def _truth(array: Array, workload: AnyWorkload, seed: int) -> Perturbation:
    """Return by how much one truth differs from the description of an array."""
    seen = Trials(array, workload, 500, seed=seed, start="steady").seen
    truths = draw(Case(array, workload, seen), _TRUTHS, seed=1_000_003)
    return truths.perturbations[seed % _TRUTHS] if len(truths) else Perturbation()


def _within_links(figures: dict[str, float], array: Array, load: AnyWorkload) -> dict[str, float]:
    """Return figures of drives whose links carry no more than they do, however fast the drives were drawn."""
    has_cache = array.controller.has_real_cache or array.controller.read_cache is not None or array.host.is_buffered
    if has_cache or not isinstance(array.drive, Hdd | Flash):
        return figures
    most = array.layout.disks * array.drive.interface_bytes_per_s / load.mean_size_bytes
    slower = max(figures["iops"] / most, 1.0)
    return {key: value / slower if key == "iops" else value * slower for key, value in figures.items()}


def _prediction(figures: dict[str, float]) -> dict[str, Any]:
    parts: dict[str, Any] = {"iops": figures["iops"]}
    for part in ("reads", "writes"):
        if f"{part}.mean" in figures:
            levels = ("mean", *PERCENTILES)
            parts[part] = {"latency_ms": {key: figures[f"{part}.{key}"] / 1e6 for key in levels}}
    return parts


def _job(job: Job, prediction: dict[str, Any], group: int) -> FioJob:
    share = {"read": 1.0, "write": 0.0}.get(job.pattern.removeprefix("rand"), job.read_fraction)
    found = dict(prediction)
    for part, own in (("reads", share), ("writes", 1.0 - (share or 0.0))):
        if part in found:
            found[part] = found[part] | {"iops": found["iops"] * own}
    if "latency_ms" not in found:
        found["latency_ms"] = next(found[part]["latency_ms"] for part in ("reads", "writes") if part in found)
    seconds = max(MEASURED_REQUESTS / found["iops"], 1.0)
    made = job_of_prediction(
        found,
        name=job.name,
        pattern=job.pattern,
        block_bytes=job.block_bytes,
        depth=job.depth,
        read_fraction=job.read_fraction,
        duration_s=seconds,
    )
    return replace(made, group=group)


def explanation_of(plant: Plant, folder: Path, seed: int) -> Explanation | None:
    """Return what the explanation makes of a planted cause; None where it changes nothing there."""
    path = measure(plant, folder, seed)
    return None if path is None else explain(path, subject_of(plant.subject)[0])


def rank(plant: Plant, found: Explanation) -> int | None:
    """Return the place of the planted causes among those that are named, from 1; None: not named."""
    wanted = set(plant.names)
    for place, one in enumerate(found.causes, 1):
        if wanted <= set(one.names):
            return place
    return None


def main(words: Sequence[str]) -> Iterator[str]:
    """Yield the explanation of one planted cause: SUBJECT SEED NAME=VALUE…, a value in JSON."""
    subject, seed, *causes = words
    pairs = tuple((name, json.loads(value)) for name, value in (cause.split("=", 1) for cause in causes))
    with tempfile.TemporaryDirectory() as folder:
        yield str(explanation_of(Plant(subject, pairs), Path(folder), int(seed)))


if __name__ == "__main__":
    import sys

    print(*main(sys.argv[1:]))
