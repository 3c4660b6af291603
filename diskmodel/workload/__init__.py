"""What hosts ask of an array: descriptions of streams, and the requests drawn from them."""

from diskmodel.workload.addresses import (
    ExcerptPlaces,
    HotSpot,
    ReuseWalk,
    Sequential,
    SortedBatches,
    Strided,
    Uniform,
    Zipf,
    Zone,
    Zoned,
)
from diskmodel.workload.arrivals import Bursts, Closed, ExcerptTimes, Given, Poisson, Profile
from diskmodel.workload.commits import log_of_commits
from diskmodel.workload.description import Workload
from diskmodel.workload.excerpts import Excerpts
from diskmodel.workload.fit import FittedWorkload, fit_workload
from diskmodel.workload.fitted import Fitted
from diskmodel.workload.spc1 import spc1_like
from diskmodel.workload.stream import SizeShare, Stream
from diskmodel.workload.trace import TraceWorkload

__all__ = [
    "Bursts",
    "Closed",
    "ExcerptPlaces",
    "ExcerptTimes",
    "Excerpts",
    "Fitted",
    "FittedWorkload",
    "Given",
    "HotSpot",
    "Poisson",
    "Profile",
    "ReuseWalk",
    "Sequential",
    "SizeShare",
    "SortedBatches",
    "Stream",
    "Strided",
    "TraceWorkload",
    "Uniform",
    "Workload",
    "Zipf",
    "Zone",
    "Zoned",
    "fit_workload",
    "log_of_commits",
    "spc1_like",
]
