"""How well a trace determines the parameters of the profile that the engines run, and how their errors are correlated.

Averaged over all angles of the platter, a delay of the head by dt makes responses dt longer: now and then an access
loses a revolution. So the expected response is linear in overheads, seeks and settle, and the residuals of the engines,
regressed on these sensitivities, show how far each parameter may be off. Neighboring requests have similar errors, so
the variance is taken from stretches of the trace (a cluster-robust "sandwich").

References
----------
H. White, "Maximum likelihood estimation of misspecified models", Econometrica 50(1), 1982.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.calibration import MAX_IDENTIFIED_RATIO, Parameter
from calibrate.evidence import RequestTrace
from calibrate.trace.engine.joint import free_parameters
from diskmodel.drive import Hdd, place_of, scalar_of

#: Stretches of the trace that count as independent. With half the variance itself is uncertain by 28 %; with many
#: more, errors that last are taken for independent ones.
N_STRETCHES = 50
#: Residuals are limited to this many mean sensitivities and a standard deviation: beyond, a request was answered
#: otherwise (hit or miss), whatever overheads and seeks are.
MAX_MISS = 2.0
_WHY = {
    "read_overhead_ns": "responses of all reads",
    "write_overhead_ns": "responses of all writes",
    "seek.time_ms": "mean of the table; how responses grow with distance",
    "write_seek.time_ms": "mean of the table; how responses of writes grow with distance",
    "write_settle_ns": "writes that move the arm, beside those that do not",
    "revolution_ns": "angles of the platter over the whole trace",
}


def sensitivities(drive: Hdd, trace: RequestTrace, reached_platter: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    """Return the expected change of each response, ms, when the logarithm of each of `free_parameters` grows by 1.

    Returns
    -------
    (n, p) float64
    """
    tables = drive.tables()
    at = np.asarray(place_of(tables, trace.lba).cylinder)
    left = np.asarray(place_of(tables, np.minimum(trace.end, drive.n_sectors) - 1).cylinder)
    distance = np.abs(at - np.concatenate([at[:1], left[:-1]]))
    media = reached_platter & ~(trace.is_write & (tables.dirty_sectors > 0))
    own = None if tables.write_seek_ns is None else tables.write_seek_ns[distance]
    seek = tables.seek_ns[distance] / 1e6 * media
    columns = {
        "write_seek.time_ms": trace.is_write * media * (0.0 if own is None else own / 1e6),
        "read_overhead_ns": ~trace.is_write * drive.read_overhead_ns / 1e6,
        "write_overhead_ns": trace.is_write * drive.write_overhead_ns / 1e6,
        "seek.time_ms": seek if own is None else seek * ~trace.is_write,
        "write_settle_ns": (media & trace.is_write & (distance > 0)) * drive.settle_ns / 1e6,
    }
    return np.column_stack([columns[name] for name in free_parameters(drive)]).astype(np.float64)


def relative_covariance(sensitivity_ms: Floats, missed_ms: Floats) -> Floats:
    """Return the covariance of the logarithms of the parameters, (p, p).

    Parameters
    ----------
    sensitivity_ms : (n, p) float64
    missed_ms : (n,) float64
        Measured less simulated responses, in the order of issue.
    """
    most = MAX_MISS * float(np.abs(sensitivity_ms).sum(axis=1).mean()) + float(np.std(missed_ms))
    missed = np.clip(missed_ms, -most, most)
    square = sensitivity_ms.T @ sensitivity_ms
    bread = np.linalg.pinv(square, rcond=1e-10, hermitian=True)
    stretch = np.arange(len(missed)) * N_STRETCHES // len(missed)
    pulls = np.zeros((N_STRETCHES, sensitivity_ms.shape[1]))
    np.add.at(pulls, stretch, sensitivity_ms * missed[:, None])
    spread = pulls @ bread * np.sqrt(N_STRETCHES / (N_STRETCHES - sensitivity_ms.shape[1]))
    return np.asarray(spread.T @ spread)


def uncertainty_of(
    drive: Hdd,
    trace: RequestTrace,
    reached_platter: np.ndarray[Any, np.dtype[np.bool_]],
    response_ms: Floats,
    revolution_stderr_ms: float,
) -> dict[str, Any]:
    """Return the `uncertainty` of a profile: overheads, seek table and settle jointly, and the revolution.

    Parameters
    ----------
    response_ms : (n,) float64
        Of the drive, run by the engines.
    """
    names = free_parameters(drive)
    value = np.array([scalar_of(drive, name) for name in names])
    relative = relative_covariance(
        sensitivities(drive, trace, reached_platter), np.asarray(trace.response_ms - response_ms)
    )
    covariance = np.zeros((len(names) + 1, len(names) + 1))
    covariance[:-1, :-1] = relative * np.outer(value, value)
    covariance[-1, -1] = (revolution_stderr_ms * 1e6) ** 2
    return {"names": [*names, "revolution_ns"], "covariance": covariance.tolist()}


def parameters_of(drive: Hdd) -> dict[str, Parameter]:
    """Return the parameters whose uncertainty is in a profile, with their standard errors."""
    if drive.uncertainty is None:
        return {}
    found = {}
    for k, name in enumerate(drive.uncertainty.names):
        value, stderr = scalar_of(drive, name), float(np.sqrt(drive.uncertainty.covariance[k][k]))
        unit = "ms" if name.endswith("_ms") else "ns"
        known = stderr < MAX_IDENTIFIED_RATIO * value
        why = _WHY.get(name, "") if known else "the trace cannot separate it from the others"
        found[f"profile {name}"] = Parameter(value, stderr, unit, known, why)
    return found
