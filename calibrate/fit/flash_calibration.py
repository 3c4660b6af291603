"""Calibration of a flash-like drive: cells from the evidence, the fit, what was kept back, the profile."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.fit.calibration import Calibration
from calibrate.fit.cells import Cells, Key
from calibrate.fit.flash import FlashFit, fit_flash, run_length
from calibrate.fit.flash_model import responses_by_simulation
from calibrate.fit.flash_profile import assumed_writes, parameters_of, profile_of
from calibrate.fit.held_out import choose_held_out, held_out_report, nothing_held_out
from diskmodel.drive import Flash
from diskmodel.errors import Fault, InputError

_FEWEST_CELLS = 2
NOTES = (
    "Writes were not fitted: they are assumed to cost what reads of the same pattern cost, and 12 % more, without "
    "garbage collection."
)
_SMALLEST_SPAN = 1 << 30
#: Requests of the simulation that a distribution is compared with.
_HELD_OUT_REQUESTS = 12_000
_MISFIT = 0.35


def calibrate_flash(
    cells: Cells, *, span_bytes: int, capacity_bytes: int, name: str, provenance: dict[str, Any], warnings: list[str],
    seed: int = 0,
) -> Calibration:  # fmt: skip
    """The flash drive behind cells.

    Raises
    ------
    InputError
        When there are too few reads to fit anything.
    """
    reads = Cells({key: cell for key, cell in cells.items() if key.op == "read"})
    if len(reads) < _FEWEST_CELLS:
        rule = "holds too few read measurements: at least two queue depths or sizes are needed"
        raise InputError(Fault("evidence", len(reads), rule, "measure random reads at several queue depths"))
    held = choose_held_out(reads)
    fit = fit_flash(reads.without(held), capacity_bytes=max(span_bytes, _SMALLEST_SPAN), seed=seed)
    parameters = parameters_of(fit)
    drive = profile_of(
        fit,
        parameters,
        capacity_bytes=capacity_bytes,
        name=name,
        provenance=provenance,
        writes=assumed_writes(fit.shape),
        notes=NOTES,
    )
    if held:
        responses = {key: predict(drive, key, seed=seed + 1, span_bytes=span_bytes) for key in held}
        report = held_out_report(reads, responses)
    else:
        report = nothing_held_out("fewer than four queue depths of random reads were measured")
    rows = _residuals(reads, fit)
    typical = float(np.median([abs(row["error_ratio"]) for row in rows]))
    has_converged = fit.has_converged and typical < _MISFIT
    message = fit.message
    if typical >= _MISFIT:
        message = f"the model misses the measurements by {typical:.0%} at the median; this may not be a flash drive"
    return Calibration(
        drive, has_converged, message, parameters, report, {"residuals": rows, "warnings": warnings, "chi2": fit.chi2}
    )


def predict(drive: Flash, key: Key, *, seed: int, span_bytes: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Responses in ns of reads by a drive, long enough for a distribution."""
    pages = max(key.length_bytes // drive.page_bytes, 1)
    n = max(_HELD_OUT_REQUESTS // pages, 40 * key.queue_depth, 200)
    return responses_by_simulation(drive, key, n_requests=n, seed=seed, span_bytes=span_bytes)


def _residuals(cells: Cells, fit: FlashFit) -> list[dict[str, Any]]:
    return [
        {
            "what": str(key),
            "measured_mean_ms": cells[key].mean_ns / 1e6,
            "predicted_mean_ms": float(predicted) / 1e6,
            "error_ratio": float(predicted) / cells.expected_ns(key) - 1.0,
            "stderr_ratio": cells.sigma_ratio(key),
            "n_simulated": run_length(key, fit.shape),
        }
        for key, predicted in zip(fit.keys, fit.predicted_ns, strict=True)
    ]
