"""From the request trace of a real disk to a physical model of it.

Addresses and sizes are blocks of 512 bytes, times are milliseconds, angles are turns of the platter.

The thresholds in these modules have no published source unless a comment names one. They are judgments, and their
history does not record what each was tuned on. Two sets of tests guard them: six real traces, fitted on the first half
and judged on the second (`tests/calibrate/trace/real_drives.py`), and drives drawn at random
(`tests/calibrate/trace/random_drives.py`). A comment says what goes wrong at about half or double the value.
"""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.trace.fit import calibrate_trace, validate_traces

__getattr__ = face(
    __name__,
    {
        "fit": "calibrate_trace validate_traces",
    },
)
