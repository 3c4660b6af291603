"""A hard disk from a measurement of the micro-benchmark: one module per stage of the fit.

Times are nanoseconds, positions sectors, angles turns of the platter. The thresholds were chosen with drives of known
parameters: measured in simulated time (`tests/calibrate/hdd/test_known_truth.py`), on a busy host
(`tests/calibrate/hdd/noisy_drives.py`, twenty draws of each drive) and in real time
(`tests/mount/test_known_truth.py`). A comment names another source where there is one, and says what goes wrong at
about half or double the value.
"""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.hdd.calibrate import calibrate_hdd
    from calibrate.hdd.from_fio.calibrate import calibrate_hdd_from_fio
    from calibrate.hdd.from_fio.conditions import Condition, conditions_of
    from calibrate.hdd.rotation import find_rotation
    from calibrate.hdd.tracks import single_reads

__getattr__ = face(
    __name__,
    {
        "calibrate": "calibrate_hdd",
        "from_fio.calibrate": "calibrate_hdd_from_fio",
        "from_fio.conditions": "Condition conditions_of",
        "rotation": "find_rotation",
        "tracks": "single_reads",
    },
)
