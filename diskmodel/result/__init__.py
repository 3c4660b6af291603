"""Results of a run: estimates with confidence intervals, checked laws, detected overload."""

from typing import TYPE_CHECKING

from diskmodel.naming import face
from diskmodel.result.devices import DiskUse
from diskmodel.result.latency import Latency
from diskmodel.result.result import Result
from diskmodel.result.run_length import needs_more, suggest_n
from diskmodel.result.statistics.batches import Interval, mean_interval
from diskmodel.result.statistics.demerit import Demerit, demerit
from diskmodel.result.statistics.histogram import LatencyHistogram
from diskmodel.result.statistics.quantiles import quantile_interval, quantiles
from diskmodel.result.statistics.stability import Stability, judge_stability
from diskmodel.result.statistics.warmup import mser5, warm_up
from diskmodel.result.summary import summarize

if TYPE_CHECKING:
    from diskmodel.result.burst import AbsorbedBurst
    from diskmodel.result.commits import COMMITS, has_syncs
    from diskmodel.result.devices import OWN_DEVICES
    from diskmodel.result.figure import Figure, InMilliseconds
    from diskmodel.result.laws import check_laws
    from diskmodel.result.levels import drifts
    from diskmodel.result.prediction import (
        MIDDLE,
        RUN,
        STATISTICS,
        UTILIZATION,
        Prediction,
        combined,
        half_width_ratio,
        middle_around,
        middle_of,
        sources_of,
    )
    from diskmodel.result.rebuild import PASSES, RebuildRate
    from diskmodel.result.reserve import no_reserve
    from diskmodel.result.result import subset_of_stream
    from diskmodel.result.rounds import measured_round
    from diskmodel.result.run_length import overflow_requests
    from diskmodel.result.segments import Segment
    from diskmodel.result.streamed import Tally, summarize_tally
    from diskmodel.result.summary import DEFAULT_PRECISION, estimates_by_operation, estimates_by_subset, point_estimates
    from diskmodel.result.timeline import Timeline
    from diskmodel.result.utilization import utilization_interval

__getattr__ = face(
    __name__,
    {
        "burst": "AbsorbedBurst",
        "commits": "COMMITS has_syncs",
        "devices": "OWN_DEVICES",
        "figure": "Figure InMilliseconds",
        "laws": "check_laws",
        "levels": "drifts",
        "prediction": (
            "MIDDLE RUN Prediction STATISTICS UTILIZATION combined half_width_ratio middle_around middle_of sources_of"
        ),
        "rebuild": "PASSES RebuildRate",
        "reserve": "no_reserve",
        "result": "subset_of_stream",
        "rounds": "measured_round",
        "run_length": "overflow_requests",
        "segments": "Segment",
        "streamed": "Tally summarize_tally",
        "summary": "DEFAULT_PRECISION estimates_by_operation estimates_by_subset point_estimates",
        "timeline": "Timeline",
        "utilization": "utilization_interval",
    },
)
