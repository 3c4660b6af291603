"""The one list of the statistics of latency. Results, objectives, tables, files and the lab read it."""

from __future__ import annotations

from typing import NamedTuple


class Statistic(NamedTuple):
    """One statistic of a latency distribution.

    Attributes
    ----------
    name : str
        Key in JSON, and the beginning of the names of fields and columns: `p999_ms`, `p999_ns`.
    label : str
        Name in tables.
    level : float or None
        Share of the requests that are as fast or faster; None: it is not a percentile.
    least_requests : int
        Fewest requests from which on it is reported.
    """

    name: str
    label: str
    level: float | None = None
    least_requests: int = 1


#: The least number of requests leaves ten beyond the percentile. With fewer, p99.9 is one of the largest few: with half
#: as many, its standard error is 45 % in terms of rank instead of 32 %; twice as many would hide it from runs of usual
#: length. Nearer percentiles have their intervals instead.
STATISTICS = (
    Statistic("mean", "mean"),
    Statistic("p50", "p50", 0.5),
    Statistic("p95", "p95", 0.95),
    Statistic("p99", "p99", 0.99),
    Statistic("p999", "p99.9", 0.999, least_requests=10_000),
)

#: Each statistic by its name.
BY_NAME = {one.name: one for one in STATISTICS}

#: Level of each percentile by its name.
PERCENTILES = {one.name: one.level for one in STATISTICS if one.level is not None}
