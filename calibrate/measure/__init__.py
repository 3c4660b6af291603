"""Measure a disk with the bundled micro-benchmark, and read what it wrote."""

from calibrate.evidence import Experiment, Measurement, Run, Samples, load
from calibrate.measure.program import MeasurementProgress, Mode, find_program, measure

__all__ = [
    "Experiment",
    "Measurement",
    "MeasurementProgress",
    "Mode",
    "Run",
    "Samples",
    "find_program",
    "load",
    "measure",
]
