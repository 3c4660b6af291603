"""Measured mixes of reads and writes: never fitted, compared with the finished profile.

The drive gets the very requests of each run, in their order and with as many outstanding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.closed_loop import closed_loop, scenario_of, start_angle
from calibrate.evidence import READ, Key, Measurement, Run, key_of, turn_round_ns
from calibrate.score.held_out import agreement_of, repeatability, repeatability_demerit
from diskmodel.drive import Drive
from diskmodel.engine import Scenario

EXPERIMENT = "mixed_read_write"
#: Requests that a run needs to count.
MIN_ROWS = 40


@dataclass(frozen=True)
class Mix:
    """All runs of one mix at one size and depth."""

    key: Key
    runs: tuple[Run, ...]


def mixes_of(measurements: Iterable[Measurement], *, with_writes: bool) -> tuple[Mix, ...]:
    """Return the mixes in measurements, and `with_writes` the runs of writes only, where these are not fitted
    either."""
    found: dict[Key, list[Run]] = {}
    for measurement in measurements:
        experiment = measurement.experiment(EXPERIMENT)
        for run in experiment.runs if experiment is not None else ():
            asked, samples = run.parameters.get("read_fraction"), run.samples
            if len(samples) < MIN_ROWS:
                continue
            ratio = float((samples.op == READ).mean()) if asked is None else min(float(asked), 1.0)
            key = key_of(ratio, False, int(samples.length_bytes[0]), run.queue_depth)
            if key.op == "mix" or (with_writes and key.op == "write"):
                found.setdefault(key, []).append(run)
    return tuple(Mix(key, tuple(runs)) for key, runs in sorted(found.items()))


def mixes_report(drive: Drive, mixes: Sequence[Mix], *, seed: int) -> dict[str, Any] | None:
    """Return how well a profile predicts mixes; None without any.

    Returns
    -------
    dict
        `n_conditions`; medians over them of the size of `mean_error_ratio`, `demerit_ratio` and of the measurement's
        own `repeatability_ratio`; and the `conditions`, each with the same, the errors of percentiles, and `reads` and
        `writes` apart.
    """
    if not mixes:
        return None
    scenario = scenario_of(drive, seed)
    rows = [_condition(scenario, drive.capacity_bytes, mix) for mix in mixes]
    own = [row["repeatability_ratio"] for row in rows if row["repeatability_ratio"] is not None]
    return {
        "n_conditions": len(rows),
        "median_mean_error_ratio": float(np.median([abs(row["mean_error_ratio"]) for row in rows])),
        "median_demerit_ratio": float(np.median([row["demerit_ratio"] for row in rows])),
        "median_repeatability_ratio": float(np.median(own)) if own else None,
        "conditions": rows,
    }


def _condition(scenario: Scenario, capacity_bytes: int, mix: Mix) -> dict[str, Any]:
    measured: list[Floats] = []
    predicted: list[Floats] = []
    reads = []
    for k, run in enumerate(mix.runs):
        samples = run.samples
        order = np.argsort(samples.issue_ns, kind="stable")
        # the user may have given the profile a smaller capacity than was measured
        order = order[samples.offset_bytes[order] + samples.length_bytes[order] <= capacity_bytes]
        is_read = samples.op[order] == READ
        done = closed_loop(
            scenario,
            samples.offset_bytes[order],
            samples.length_bytes[order],
            run.queue_depth,
            op=(~is_read).astype(np.int64),
            start_ns=round(start_angle(k) * int(scenario.revolution_ns.max())),
        )
        predicted.append((done.done_ns - done.issue_ns).astype(np.float64))
        measured.append(np.asarray(samples.latency_ns[order] + turn_round_ns(run), np.float64))
        reads.append(is_read)
    rows: dict[str, Any] = {
        "what": str(mix.key),
        "read_percent": round(100 * mix.key.read_ratio),
        "queue_depth": mix.key.queue_depth,
        **agreement_of(np.concatenate(measured), np.concatenate(predicted)),
        "repeatability_ratio": repeatability([float(part.mean()) for part in measured]),
        "repeatability_demerit_ratio": repeatability_demerit(measured),
    }
    together = np.concatenate(reads)
    for name, chosen in (("reads", together), ("writes", ~together)):
        if chosen.any():
            rows[name] = agreement_of(np.concatenate(measured)[chosen], np.concatenate(predicted)[chosen])
    return rows
