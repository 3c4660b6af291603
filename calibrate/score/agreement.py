"""How well predicted response times agree with measured ones."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats


def demerit_ms(measured_ms: Floats, predicted_ms: Floats) -> float:
    """Return the root mean square distance of two distributions of response time, rank by rank, in ms.

    Parameters
    ----------
    measured_ms, predicted_ms : (n,) and (m,) float64, ms
        May differ in length: predicted quantiles are then interpolated at the measured ranks.

    Notes
    -----
    `diskmodel.result.demerit` integrates over the two step functions instead. With as many predictions as measurements
    both are the same; with many draws per measurement this one leaves out their spread within a rank.

    References
    ----------
    Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994.
    """
    measured = np.sort(measured_ms)
    if len(predicted_ms) == len(measured):
        predicted = np.sort(predicted_ms)
    else:
        rank = (np.arange(len(measured)) + 0.5) / len(measured)
        last = len(predicted_ms) - 1
        # as `np.quantile`, which takes five times as long for so many ranks
        predicted = np.interp(rank * last, np.arange(last + 1), np.sort(predicted_ms))
    return float(np.sqrt(np.mean((measured - predicted) ** 2)))


def agreement(measured_ms: Floats, expected_ms: Floats, draws_ms: Floats) -> dict[str, float | int | None]:
    """Return the scores of one prediction, with the keys that `diskmodel validate --json` prints.

    Parameters
    ----------
    measured_ms : (n,) float64
    expected_ms : (n,) float64
        The value predicted for each request, for mean absolute error and correlation (None if it is the same for all).
    draws_ms : (n, k) float64
        Draws from the predictive distribution of each request, for mean and demerit.
    """
    n = len(measured_ms)
    if n == 0:
        return {"n": 0}
    mean = float(measured_ms.mean())
    predicted_mean = float(draws_ms.mean())
    demerit = demerit_ms(measured_ms, draws_ms.ravel())
    varies = n > 1 and np.ptp(expected_ms) > 0 and np.ptp(measured_ms) > 0
    return {
        "n": n,
        "measured_mean_ms": mean,
        "predicted_mean_ms": predicted_mean,
        "mean_error_ratio": predicted_mean / mean - 1.0,
        "demerit_ms": demerit,
        "demerit_ratio": demerit / mean,
        "mae_ms": float(np.abs(expected_ms - measured_ms).mean()),
        "correlation": float(np.corrcoef(expected_ms, measured_ms)[0, 1]) if varies else None,
    }
