"""Results of a run: estimates with confidence intervals, checked laws, detected overload."""

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

__all__ = [
    "Demerit",
    "DiskUse",
    "Interval",
    "Latency",
    "LatencyHistogram",
    "Result",
    "Stability",
    "demerit",
    "judge_stability",
    "mean_interval",
    "mser5",
    "needs_more",
    "quantile_interval",
    "quantiles",
    "suggest_n",
    "summarize",
    "warm_up",
]
