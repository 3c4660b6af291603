"""A hard disk from a measurement of the micro-benchmark: one module per stage of the fit.

Times are nanoseconds, positions sectors, angles turns of the platter. The thresholds were chosen with drives of known
parameters: measured in simulated time (`tests/calibrate/hdd/test_known_truth.py`), on a busy host
(`tests/calibrate/hdd/noisy_drives.py`, twenty draws of each drive) and in real time
(`tests/mount/test_known_truth.py`). A comment names another source where there is one, and says what goes wrong at
about half or double the value.
"""
