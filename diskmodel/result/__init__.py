"""What a run tells: estimates with confidence intervals, laws checked, overload recognised."""

from diskmodel.result.batches import Interval, mean_interval
from diskmodel.result.demerit import Demerit, demerit
from diskmodel.result.devices import DiskUse
from diskmodel.result.histogram import LatencyHistogram
from diskmodel.result.latency import Latency
from diskmodel.result.quantiles import quantile_interval, quantiles
from diskmodel.result.result import Result
from diskmodel.result.run_length import needs_more, suggest_n
from diskmodel.result.stability import Stability, judge_stability
from diskmodel.result.summary import summarize
from diskmodel.result.warmup import mser5, warm_up

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
