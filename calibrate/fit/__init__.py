"""Fit a drive to evidence: measurements of the micro-benchmark and results of fio."""

from calibrate.fit.calibration import Calibration, Parameter
from calibrate.fit.run import calibrate, validate

__all__ = ["Calibration", "Parameter", "calibrate", "validate"]
