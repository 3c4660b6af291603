"""What is kept back from the fit of a closed-loop drive, and how well it is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence.cells import Cells, Key
from diskmodel.result import demerit

#: Depth that is kept back where it was measured.
PREFERRED_DEPTH = 16
_MIN_DEPTHS = 4
PERCENTILES = (50, 95, 99)
#: Simulated requests that a held-out distribution is compared with: some 120 lie beyond the 99th percentile. Half as
#: many scatter by a fifth more; twice as many cost as much time again.
N_REQUESTS = 12_000
#: Requests beyond a percentile that make it worth telling.
_MIN_BEYOND = 5


def choose_held_out(cells: Cells) -> tuple[Key, ...]:
    """Random reads of the usual size at one queue depth: 16, or else a middle one of at least four; maybe none."""
    sizes: dict[int, list[int]] = {}
    for key in cells:
        if key.op == "read" and not key.is_sequential:
            sizes.setdefault(key.length_bytes, []).append(key.queue_depth)
    if not sizes:
        return ()
    length = max(sizes, key=lambda size: (len(sizes[size]), -size))
    depths = sorted(sizes[length])
    if len(depths) < _MIN_DEPTHS:
        return ()
    depth = PREFERRED_DEPTH if PREFERRED_DEPTH in depths[1:-1] else depths[len(depths) // 2]
    return (Key("read", False, length, depth),)


def held_out_report(cells: Cells, responses: Mapping[Key, Floats]) -> dict[str, Any]:
    """Errors of predicted responses on cells that were kept back, beside how well the measurement repeats.

    Returns
    -------
    dict
        `mean_error_ratio` (predicted mean response less measured, by measured), `iops_error_ratio`, `demerit_ratio`
        (median over repetitions; None without single responses) beside `repeatability_demerit_ratio` (of one
        repetition against another), `percentile_error_ratios`, `repeatability_ratio` (range of the repetitions by their
        median), the means, and `what` was kept back.
    """
    key, predicted = next(iter(responses.items()))
    cell = cells[key]
    measured = cell.mean_ns
    error = float(predicted.mean()) / measured - 1.0
    report: dict[str, Any] = {
        "what": str(key),
        "queue_depth": key.queue_depth,
        "n": int(sum(len(part) for part in cell.latency_ns)) or None,
        "measured_mean_ms": measured / 1e6,
        "predicted_mean_ms": float(predicted.mean()) / 1e6,
        "measured_iops": key.queue_depth * 1e9 / measured,
        "predicted_iops": key.queue_depth * 1e9 / float(predicted.mean()),
        "mean_error_ratio": error,
        "iops_error_ratio": 1.0 / (1.0 + error) - 1.0,
        "repeatability_ratio": repeatability(cell.response_ns),
        "n_repetitions": len(cell.response_ns),
        "demerit_ratio": None,
        "repeatability_demerit_ratio": None,
    }
    if cell.latency_ns:
        report["demerit_ratio"] = float(np.median([demerit(part, predicted).ratio for part in cell.latency_ns]))
        report["percentile_error_ratios"] = percentile_errors(np.concatenate(cell.latency_ns), predicted)
        report["repeatability_demerit_ratio"] = repeatability_demerit(cell.latency_ns)
    return report


def agreement_of(measured_ns: Floats, predicted_ns: Floats) -> dict[str, Any]:
    """Means, their error, those of percentiles, and the demerit of responses."""
    measured, predicted = float(measured_ns.mean()), float(predicted_ns.mean())
    return {
        "n": len(measured_ns),
        "measured_mean_ms": measured / 1e6,
        "predicted_mean_ms": predicted / 1e6,
        "mean_error_ratio": predicted / measured - 1.0,
        "percentile_error_ratios": percentile_errors(measured_ns, predicted_ns),
        "demerit_ratio": demerit(measured_ns, predicted_ns).ratio,
    }


def percentile_errors(measured_ns: Floats, predicted_ns: Floats) -> dict[str, float]:
    """Predicted percentiles less the measured ones, by these; those that so many requests tell."""
    told = [percent for percent in PERCENTILES if len(measured_ns) * (100 - percent) >= 100 * _MIN_BEYOND]
    found = np.percentile(predicted_ns, told) / np.maximum(np.percentile(measured_ns, told), 1.0) - 1.0
    return {f"p{percent}": float(error) for percent, error in zip(told, found, strict=True)}


def nothing_held_out(why: str) -> dict[str, Any]:
    """The report where nothing could be kept back."""
    return {"what": None, "why": why, "demerit_ratio": None, "mean_error_ratio": None, "repeatability_ratio": None}


def repeatability(repetitions: Sequence[float]) -> float | None:
    """Range of repetitions as a part of their median; None for fewer than two."""
    if len(repetitions) < 2:
        return None
    return float((max(repetitions) - min(repetitions)) / np.median(repetitions))


def repeatability_demerit(parts: Sequence[Floats]) -> float | None:
    """Median demerit of one repetition against another; None for fewer than two."""
    if len(parts) < 2:
        return None
    pairs = [demerit(a, b).ratio for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return float(np.median(pairs))
