"""Estimators: warm-up, batch means, quantiles and their intervals, stability."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.result.statistics.batches import Interval, lag1_correlation, student_t
    from diskmodel.result.statistics.doubt import COLUMN, bad_end, beside, doubted, in_one_of_ten, overload_words
    from diskmodel.result.statistics.heat_map import HeatMap
    from diskmodel.result.statistics.quantiles import percentiles
    from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES, STATISTICS
    from diskmodel.result.statistics.stability import MIN_JUDGED, falls_behind
    from diskmodel.result.statistics.window import (
        MIN_CYCLES,
        MIN_ROUNDS,
        UNKNOWN_CYCLE,
        cycle_of,
        enough_cycles,
        enough_for,
        last_full_mix_ns,
        measuring_window,
        sees_too_few_cycles,
    )

__getattr__ = face(
    __name__,
    {
        "batches": "Interval lag1_correlation student_t",
        "doubt": "COLUMN bad_end beside doubted in_one_of_ten overload_words",
        "heat_map": "HeatMap",
        "quantiles": "percentiles",
        "registry": "BY_NAME PERCENTILES STATISTICS",
        "stability": "MIN_JUDGED falls_behind",
        "window": (
            "MIN_CYCLES MIN_ROUNDS UNKNOWN_CYCLE cycle_of enough_cycles enough_for last_full_mix_ns "
            "measuring_window sees_too_few_cycles"
        ),
    },
)
