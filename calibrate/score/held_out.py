"""The held-out condition of a closed loop: which one it is, and how well it is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import Cells, Key
from diskmodel.result import demerit
from diskmodel.result.statistics import STATISTICS

#: Queue depth that is held out if it was measured and is neither the lowest nor the highest.
PREFERRED_DEPTH = 16
#: Depths needed to hold one out. With four, three would be left: one request at a time, the deepest, and one between,
#: which is all that shows where the rate stops to grow.
_MIN_DEPTHS = 5
#: Percentiles that are compared, in percent by name: those that any number of requests has.
PERCENTILES = {one.name: 100 * one.level for one in STATISTICS if one.level is not None and one.least_requests == 1}
#: Simulated requests that a held-out distribution is compared with: some 120 lie beyond the 99th percentile. Half as
#: many scatter by a fifth more; twice as many cost as much time again.
N_REQUESTS = 12_000
#: Requests beyond a percentile that it takes to report it: with five its rank has an error of 45 %.
_MIN_BEYOND = 5
#: Errors of the mean and of percentiles on held-out data from which on they contradict a fit, beyond the repeatability
#: of the measurement. Drives that the model describes are off by 1 to 3 % and, at percentiles, by up to 10 %. At half,
#: a busy host refuses good fits; at double, a drive passes whose firmware orders its queue in another way.
MAX_MEAN_ERROR, MAX_PERCENTILE_ERROR = 0.1, 0.25
#: Percentiles that are looked at: those which a measurement of a minute has at every depth.
_JUDGED = ("p50", "p95", "p99")


def choose_held_out(cells: Cells) -> tuple[Key, ...]:
    """Return the key to hold out: random reads of the usual size at depth 16, else a middle one of at least five
    depths."""
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
    """Return errors of predicted responses on held-out cells, beside the repeatability of the measurement.

    Returns
    -------
    dict
        `mean_error_ratio` (predicted mean response less measured, by measured), `iops_error_ratio`, `demerit_ratio`
        (median over repetitions; None without single responses) beside `repeatability_demerit_ratio` (of one
        repetition against another), `percentile_error_ratios`, `repeatability_ratio` (range of the repetitions by their
        median), the means, and `what` was held out.
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


def contradiction(held_out: Mapping[str, Any]) -> str:
    """Return in words why held-out data contradict a fit; "" where they do not.

    Parameters
    ----------
    held_out : mapping
        As `held_out_report` returns it; of a trace, that of the profile which the engines run.

    Examples
    --------
    >>> contradiction({"mean_error_ratio": 0.51, "iops_error_ratio": -0.336, "what": "reads at queue depth 16"})
    'held-out data contradict the fit: reads at queue depth 16, rate -34 %'
    >>> contradiction({"mean_error_ratio": 0.03, "percentile_error_ratios": {"p99": 0.1}})
    ''
    """
    mean = held_out.get("mean_error_ratio")
    if mean is None:
        return ""
    percentiles = held_out.get("percentile_error_ratios") or {}
    noise = held_out.get("repeatability_ratio") or 0.0
    found = []
    if abs(mean) > MAX_MEAN_ERROR + noise:
        rate = held_out.get("iops_error_ratio")
        found.append(f"mean response {100 * mean:+.0f} %" if rate is None else f"rate {100 * rate:+.0f} %")
    for name in _JUDGED:
        error = percentiles.get(name) or 0.0
        if abs(error) > MAX_PERCENTILE_ERROR + noise:
            found.append(f"{name} {100 * error:+.0f} %")
    what = held_out.get("what") or "the last requests"
    return f"held-out data contradict the fit: {what}, {', '.join(found)}" if found else ""


def agreement_of(measured_ns: Floats, predicted_ns: Floats) -> dict[str, Any]:
    """Return means, their error, those of percentiles, and the demerit of responses."""
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
    """Return relative errors of the percentiles that the number of requests supports."""
    n = len(measured_ns)
    supported = {name: percent for name, percent in PERCENTILES.items() if n * (100 - percent) >= 100 * _MIN_BEYOND}
    percents = list(supported.values())
    found = np.percentile(predicted_ns, percents) / np.maximum(np.percentile(measured_ns, percents), 1.0) - 1.0
    return {name: float(error) for name, error in zip(supported, found, strict=True)}


def nothing_held_out(why: str) -> dict[str, Any]:
    """Return the report when nothing could be held out."""
    return {"what": None, "why": why, "demerit_ratio": None, "mean_error_ratio": None, "repeatability_ratio": None}


def repeatability(repetitions: Sequence[float]) -> float | None:
    """Return the range of repetitions as a share of their median; None for fewer than two."""
    if len(repetitions) < 2:
        return None
    return float((max(repetitions) - min(repetitions)) / np.median(repetitions))


def repeatability_demerit(parts: Sequence[Floats]) -> float | None:
    """Return the median demerit of one repetition against another; None for fewer than two."""
    if len(parts) < 2:
        return None
    pairs = [demerit(a, b).ratio for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return float(np.median(pairs))
