"""The result of a calibration: a drive, its parameters with their errors, and how well it predicts held-out
evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import MISFIT, NOT_CONVERGED, TAIL_MISFIT, Drive

#: Entries of a profile's provenance that its last calibration writes anew.
_OWN_ENTRIES = (NOT_CONVERGED, MISFIT, TAIL_MISFIT)
#: Least p99 that counts, as a share of the measured one: one of 0 would make all others nothing.
_LEAST_RATIO = 0.05
#: Relative standard error up to which a parameter counts as identified. Half of it would call every rate of a short
#: measurement unidentified; at twice, a value could be off by more than itself and still be shown as known.
MAX_IDENTIFIED_RATIO = 0.35


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter.

    Attributes
    ----------
    value : float
        In `unit`.
    stderr : float or None
        Standard error in `unit`; None where the evidence cannot determine it.
    unit : str
    is_identified : bool
        False: the evidence does not determine it, and `value` is a prior of the class of drives or a bound.
    why : str
        What the value rests on, or why it is not identified.
    """

    value: float
    stderr: float | None
    unit: str
    is_identified: bool
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; numbers that are not finite become None."""
        stderr = self.stderr if self.stderr is not None and math.isfinite(self.stderr) else None
        return {
            "value": self.value,
            "stderr": stderr,
            "unit": self.unit,
            "identified": self.is_identified,
            "why": self.why,
        }


def error_of(held_out: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error on held-out evidence that a profile carries; empty where nothing was held out.

    For a trace it is the error of the profile that the engines run, not that of the trace model.
    """
    error: dict[str, Any] = {}
    scored = held_out.get("engine") or held_out
    if scored.get("mean_error_ratio") is not None:
        error["what"] = held_out.get("what") or f"the last {held_out['n']:,} requests"
        error |= {key: scored.get(key) for key in ("mean_error_ratio", "demerit_ratio", "percentile_error_ratios")}
    error["mixed_read_write"] = held_out.get("mixed_read_write")
    found: dict[str, Any] = _known(error)
    return found


def misfit_of(residuals: Iterable[Mapping[str, Any]]) -> float:
    """Return by how much a fit misses the means that it was fitted to: root mean square of relative errors.

    What the measurement itself scatters is taken off. 0 without residuals of means.

    Examples
    --------
    >>> misfit_of([{"error_ratio": 0.2, "stderr_ratio": 0.0}, {"error_ratio": 0.01, "stderr_ratio": 0.05}])
    0.1414
    """
    rows = [row for row in residuals if row.get("error_ratio") is not None]
    squares = [max(float(row["error_ratio"]) ** 2 - float(row.get("stderr_ratio") or 0.0) ** 2, 0.0) for row in rows]
    return round(math.sqrt(sum(squares) / len(squares)), 4) if squares else 0.0


def tail_misfit_of(residuals: Iterable[Mapping[str, Any]]) -> float:
    """Return by how much a fit misses the p99 that it was fitted to: root mean square of logarithms; 0 without any.

    Examples
    --------
    >>> tail_misfit_of([{"p99_error_ratio": -0.5}, {"p99_error_ratio": 1.0}, {"what": "no p99"}])
    0.6931
    """
    errors = [row["p99_error_ratio"] for row in residuals if row.get("p99_error_ratio") is not None]
    logs = [math.log1p(max(float(error), _LEAST_RATIO - 1)) for error in errors]
    return round(math.sqrt(sum(log**2 for log in logs) / len(logs)), 4) if logs else 0.0


def _known(value: Any) -> Any:
    """Return the value without None, which TOML does not have, and rounded to the digits that errors are worth."""
    if isinstance(value, Mapping):
        return {name: _known(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


def correlations_of(drive: Drive) -> dict[str, Any] | None:
    """Return `names` and `matrix` of correlations of the parameters whose uncertainty a profile has; None without."""
    if drive.uncertainty is None:
        return None
    covariance = np.array(drive.uncertainty.covariance)
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale[scale == 0.0] = 1.0
    return {"names": list(drive.uncertainty.names), "matrix": (covariance / np.outer(scale, scale)).round(3).tolist()}


@dataclass(frozen=True)
class Calibration:
    """A drive fitted to evidence.

    Attributes
    ----------
    drive : Drive
        The profile, with provenance; the error on held-out evidence is added to it, and why the fit has not converged.
    has_converged : bool
    message : str
        Outcome of the fit; the reason, when it has not converged.
    parameters : dict of str to Parameter
    held_out : dict
        Errors on held-out evidence: `demerit_ratio`, `mean_error_ratio`, `repeatability_ratio` and what they refer to;
        None where nothing could be held out.
    report : dict
        `residuals` (one row per fitted or held-out observation) and `warnings`.
    array : Array or None
        The measured array with the drive in it, where the evidence was of an array.
    """

    drive: Drive
    has_converged: bool
    message: str
    parameters: Mapping[str, Parameter]
    held_out: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)
    array: Array | None = None

    def __post_init__(self) -> None:
        known = {name: item for name, item in self.drive.provenance.items() if name not in _OWN_ENTRIES}
        if error := error_of(self.held_out):
            known["held_out"] = error
        residuals = self.report.get("residuals", ())
        for name, misfit in ((MISFIT, misfit_of(residuals)), (TAIL_MISFIT, tail_misfit_of(residuals))):
            if misfit:
                known[name] = misfit
        if not self.has_converged:
            known[NOT_CONVERGED] = self.message
        if known != self.drive.provenance:
            object.__setattr__(self, "drive", self.drive.model_copy(update={"provenance": known}))
        if self.array is not None:
            object.__setattr__(self, "array", self.array.model_copy(update={"drive": self.drive}))

    @property
    def kind(self) -> str:
        """Return "hdd", "flash" or "virtual"."""
        return self.drive.kind

    def to_dict(self) -> dict[str, Any]:
        """Return what `diskmodel calibrate --json` prints."""
        return {
            "converged": self.has_converged,
            "message": self.message,
            "kind": self.kind,
            "parameters": {name: parameter.to_dict() for name, parameter in self.parameters.items()},
            "correlations": correlations_of(self.drive),
            "held_out": dict(self.held_out),
            "last_stage": self.drive.provenance.get("last_stage"),
            "residuals": list(self.report.get("residuals", ())),
            "warnings": list(self.report.get("warnings", ())),
            "array": None if self.array is None else self.array.to_dict(),
        }
