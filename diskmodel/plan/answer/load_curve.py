"""Latency against load, and how much load can be added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.result.statistics import Interval

#: The highest stable rate, among the statistics of differences.
MOST = "most"
#: Statistics of which more is better; of the others, which are times, less is.
RATES = ("iops", MOST)


@dataclass(frozen=True)
class LoadPoint(Record):
    """The outcome at one load.

    Attributes
    ----------
    load_factor : float
        Load as a multiple of the workload's own.
    offered : float
        Requests per second of an open workload; clients of a closed one.
    outcome : Outcome
    """

    load_factor: float
    offered: float
    outcome: Outcome

    def json_fields(self) -> Mapping[str, Any]:
        """Return the load and the main figures of the outcome."""
        data = self.outcome.to_dict()
        kept = ("stable", "iops", "latency_ms", "utilization_ratio")
        return {"load_factor": self.load_factor, "offered": self.offered} | {key: data[key] for key in kept}


#: Names of arrays, each with its latency against load.
Curves = Sequence[tuple[str, Sequence[LoadPoint]]]


@dataclass(frozen=True)
class Headroom(Record):
    """How much load can be added to an array; nan where only loads next to the highest were simulated.

    Attributes
    ----------
    knee_iops : float
        Rate with the best ratio of throughput to response time (Kleinrock's power) among the loads tried.
    most_iops : float
        Highest stable rate.
    rate : float
        Highest simulated rate of which all lower ones meet the limit too; 0 where none does.
    p99_ms : float
        p99 latency at that rate; nan where there is none.
    limit_ms : float or None
        p99 limit that the rate meets; None: the rate is the knee, beyond which latency grows faster than throughput.
    ratio : float
        Load that can be added up to that rate, as a share of the present one; negative: too much load already.
    months : float or None
        Until then at the given growth; None without growth.
    """

    knee_iops: float
    most_iops: float
    rate: float
    p99_ms: float
    limit_ms: float | None
    ratio: float
    months: float | None


def most_fields(most: Interval, middle: Interval | None) -> dict[str, float | None]:
    """Return a highest rate with the ends of its intervals; those of the middle null where only the runs are known."""
    return {
        "most_per_s": most.value,
        "most_low_per_s": most.low,
        "most_high_per_s": most.high,
        "most_p10_per_s": None if middle is None else middle.low,
        "most_p90_per_s": None if middle is None else middle.high,
    }
