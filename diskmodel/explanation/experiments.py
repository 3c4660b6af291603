"""Which measurement would separate the causes that are left, as a job of fio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from diskmodel.engine.ledger import current
from diskmodel.explanation.causes.cause import Change
from diskmodel.explanation.hypotheses import Hypothesis, by_causes, together
from diskmodel.explanation.measured import PARTS, SHAPE, Measured
from diskmodel.explanation.simulator import Floats, Simulator
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.units import pretty_bytes
from diskmodel.workload import Workload

#: Hypotheses that are compared, and the least probability of one that counts.
_MOST, _LEAST = 5, 0.02
#: Standard deviation, as a logarithm, of a figure that is predicted after the array was measured once: what is not
#: known of its drives is then known in part. At half, measurements that separate nothing seem to; at double, none does.
_AFTER = {"iops": 0.15, "mean": 0.15, "p50": 0.2, "p95": 0.2, "p99": 0.3}
#: Draws of what would be measured, for each hypothesis.
_DRAWS = 400
#: Information, in bits, below which another measurement is not worth its time.
_WORTH = 0.05
_KIB = 1 << 10

#: Jobs that may be next: pattern of fio, size, depth.
_JOBS: tuple[tuple[str, int, int], ...] = (
    ("randread", 4 * _KIB, 1),
    ("randread", 4 * _KIB, 32),
    ("randread", 64 * _KIB, 4),
    ("randwrite", 4 * _KIB, 1),
    ("randwrite", 4 * _KIB, 32),
    ("read", 1024 * _KIB, 1),
    ("read", 1024 * _KIB, 16),
    ("write", 1024 * _KIB, 4),
)


@dataclass(frozen=True)
class Experiment(Record):
    """A measurement that would separate causes.

    Attributes
    ----------
    what : str
        In words.
    bits : float
        Expected information: 1 decides between two causes that are equally likely.
    predicts : mapping of str to float
        By the causes that are left, joined by " + ": requests per second.
    job : str
        fio's job file.
    """

    what: str
    bits: float
    predicts: Mapping[str, float]
    job: str

    def json_fields(self) -> Mapping[str, Any]:
        """Return all fields."""
        return {"what": self.what, "bits": self.bits, "predicts": self.predicts, "job": self.job}


def next_experiment(simulator: Simulator, hypotheses: Sequence[Hypothesis], seed: int = 0) -> Experiment | None:
    """Return the measurement that says most about which hypothesis holds; None where one is left, or none says much.

    Parameters
    ----------
    simulator : Simulator
    hypotheses : sequence of Hypothesis
        Weighed, the most probable first.
    seed : int
        Of the draws of what would be measured.
    """
    left = _distinct(hypotheses)
    if len(left) < 2 or not current().has_time_for("what to measure next"):
        return None
    weights = np.array([one.probability for one in left])
    weights /= weights.sum()
    found: list[Experiment] = []
    for job in _JOBS:
        # one after the other, so that none begins for which there is no time
        if not current().has_time_for("some of what may be measured next"):
            break
        load = _load(job)
        runs = together("simulating what to measure next", left, partial(_run, simulator, load))
        own = [run for run in runs if run is not None]
        if len(own) < len(left):
            continue
        bits = _information(own, weights, load, seed)
        predicts = {" + ".join(one.names) or "as described": run["iops"] for one, run in zip(left, own, strict=True)}
        found.append(Experiment(load.name, bits, predicts, _text(job)))
    best = max(found, key=lambda one: one.bits, default=None)
    return best if best is not None and best.bits >= _WORTH else None


def _distinct(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the likeliest strength of each probable cause, with the probability of all its strengths."""
    groups = by_causes([one for one in hypotheses if not one.is_unknown])
    found = [
        Hypothesis(own[0].causes, own[0].prior, own[0].figures, probability=sum(one.probability for one in own))
        for own in groups
    ]
    found.sort(key=lambda one: -one.probability)
    return [one for one in found[:_MOST] if one.probability >= _LEAST]


def _load(job: tuple[str, int, int]) -> Measured:
    pattern, size, depth = job
    fields: dict[str, Any] = {"size_bytes": size, "clients": depth, "read_ratio": float("read" in pattern)}
    if not pattern.startswith("rand"):
        fields["addresses"] = "sequential"
    return Measured(f"{pattern} of {pretty_bytes(size)}, {depth} outstanding", Workload.parse(fields), {}, {})


def _run(simulator: Simulator, load: Measured, one: Hypothesis) -> dict[str, float] | None:
    start = Change(simulator.array.behind_host(load.workload), load.workload)
    change = simulator.with_causes(start, *((cause, value) for cause, value, _ in one.causes)) or start
    found = simulator.simulate(load, change)
    return None if found is None else found.figures


def _information(runs: Sequence[dict[str, float]], weights: Floats, load: Measured, seed: int) -> float:
    """Return the expected information about which hypothesis holds, in bits, from draws of what would be measured."""
    part = next(part for part in PARTS if all(f"{part}.mean" in run for run in runs))
    names = ["iops", *SHAPE]
    values = np.array(
        [
            [math.log(run["iops"]), *(math.log(run[f"{part}.{kind}"] / run[f"{part}.mean"]) for kind in SHAPE)]
            for run in runs
        ]
    )
    spread = np.array([_AFTER[name] for name in names])
    rng = np.random.default_rng(seed)
    before = -float(np.sum(weights * np.log2(weights)))
    after = 0.0
    for weight, center in zip(weights, values, strict=True):
        drawn = center + spread * rng.standard_normal((_DRAWS, len(names)))
        squared = (((drawn[:, None, :] - values[None]) / spread) ** 2).sum(axis=2)
        logs = np.log(weights) - squared / 2
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        entropy = -(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=1)
        after += weight * float(entropy.mean())
    return max(before - after, 0.0)


def _text(job: tuple[str, int, int]) -> str:
    pattern, size, depth = job
    warning = "; this job WRITES: name a file, or a device without data\n" if "write" in pattern else ""
    return (
        f"{warning}[global]\nioengine=libaio\ndirect=1\ntime_based=1\nruntime=60\n"
        "; the array, or a file on it that is as large as all of it\nfilename=/dev/CHANGE-ME\n\n"
        f"[next]\nrw={pattern}\nbs={size // _KIB}k\niodepth={depth}\n"
    )
