"""The error of the engines by condition: operation, distance from the request before, and size."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import is_sequential

#: Requests that a condition needs to have a row.
MIN_REQUESTS = 25
#: Distance, in blocks of 512 bytes, up to which the head seldom moves more than a cylinder or two.
NEAR_BLOCKS = 2048
#: Classes of size in blocks: up to 4 KiB, up to 16 KiB, larger.
SIZES = ((1, 9), (9, 33), (33, None))


def residual_rows(trace: RequestTrace, response_ms: Floats) -> list[dict[str, Any]]:
    """Return rows for the report: mean measured and simulated response, error and its standard error.

    Parameters
    ----------
    response_ms : (n,) float64
        Of the calibrated drive, run by the engines.
    """
    away = np.abs(np.concatenate([[np.inf], (trace.lba[1:] - trace.end[:-1]).astype(np.float64)]))
    following = is_sequential(trace)
    far = np.quantile(away[away > NEAR_BLOCKS], 0.5) if (away > NEAR_BLOCKS).any() else np.inf
    places = (
        ("sequential", following),
        ("near", ~following & (away <= NEAR_BLOCKS)),
        ("middle distance", ~following & (away > NEAR_BLOCKS) & (away <= far)),
        ("far", ~following & (away > far)),
    )
    rows = []
    for operation, of_operation in (("reads", ~trace.is_write), ("writes", trace.is_write)):
        for place, there in places:
            for low, above in SIZES:
                fits = (trace.n_blocks >= low) & (trace.n_blocks < (above or np.inf))
                chosen = of_operation & there & fits
                if chosen.sum() >= MIN_REQUESTS:
                    size = f"{low / 2:g} to {(above - 1) / 2:g} KiB" if above else f"from {low / 2:g} KiB"
                    rows.append(_row(f"{operation}, {place}, {size}", trace.response_ms[chosen], response_ms[chosen]))
    return rows


def _row(what: str, measured_ms: Floats, simulated_ms: Floats) -> dict[str, Any]:
    mean, missed = float(measured_ms.mean()), simulated_ms - measured_ms
    return {
        "what": f"{what} ({len(measured_ms)})",
        "measured_mean_ms": mean,
        "predicted_mean_ms": float(simulated_ms.mean()),
        "error_ratio": float(missed.mean()) / mean,
        "stderr_ratio": float(missed.std() / np.sqrt(len(missed))) / mean,
    }
