"""A hard disk from a measurement of the micro-benchmark: one module a stage of the fit."""
