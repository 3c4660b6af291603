"""Measure a disk and calibrate a model of it."""
