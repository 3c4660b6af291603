"""Predicted less measured: of fitted conditions, of the held-out one, and of mixes, which are never fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrate.hdd.from_fio.conditions import RATE_ERROR, Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.drive import Hdd

#: A fitted rate or p99 that is off by more shows that the model does not describe the drive. Half would fail on fio's
#: bins and a minute's noise; double would pass a drive that orders differently.
MAX_RATE_MISFIT, MAX_P99_MISFIT = 0.1, 0.25
#: Requests of a simulation that is compared: p99 scatters by 2 to 3 %, with a third as many by 4 %.
N_REQUESTS = 12_000


def residual(array: MeasuredArray, drive: Hdd, condition: Condition, seed: int) -> dict[str, Any]:
    """Return the errors on a condition."""
    predicted = replace(array, n_requests=N_REQUESTS).predict(drive, condition, seed)
    p99 = condition.percentiles_ns.get(99.0)
    row = {
        "what": str(condition),
        "measured_mean_ms": condition.mean_ns / 1e6,
        "predicted_mean_ms": predicted.mean_ns / 1e6,
        "error_ratio": predicted.mean_ns / condition.mean_ns - 1,
        "stderr_ratio": RATE_ERROR,
        "measured_iops": condition.iops,
        "predicted_iops": predicted.iops,
        "iops_error_ratio": predicted.iops / condition.iops - 1,
    }
    return row if p99 is None else row | {"p99_error_ratio": predicted.percentiles_ns[99.0] / p99 - 1}


def held_out(array: MeasuredArray, drive: Hdd, condition: Condition, seed: int) -> dict[str, Any]:
    """Return the errors on a condition that was not fitted, as `Calibration.held_out` has them."""
    row = residual(array, drive, condition, seed)
    return row | {
        "mean_error_ratio": row["error_ratio"],
        "percentile_error_ratios": {"p99": row.get("p99_error_ratio")},
    }


def held_out_mixes(array: MeasuredArray, drive: Hdd, mixes: Sequence[Condition], seed: int) -> dict[str, Any]:
    """Return the errors on mixes of reads and writes, each operation apart, and the medians of their sizes."""
    rows = [held_out(array, drive, condition, seed) for condition in mixes]
    medians = {
        f"median_{name}": float(np.median([abs(row[name]) for row in rows if name in row]))
        for name in ("mean_error_ratio", "iops_error_ratio", "p99_error_ratio")
        if any(name in row for row in rows)
    }
    return {"n_conditions": len(rows), **medians, "conditions": rows}


def verdict(rows: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    """Return the worst residual in words, and whether all are small."""

    def size(row: Mapping[str, Any]) -> float:
        rate, p99 = abs(row["iops_error_ratio"]), abs(row.get("p99_error_ratio", 0.0))
        return float(max(rate / MAX_RATE_MISFIT, p99 / MAX_P99_MISFIT))

    worst = max(rows, key=size)
    p99 = f", p99 {worst['p99_error_ratio']:+.0%}" if "p99_error_ratio" in worst else ""
    return f"{worst['what']}, rate {worst['iops_error_ratio']:+.0%}{p99}", size(worst) <= 1
