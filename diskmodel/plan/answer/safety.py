"""What happens to an array when a disk fails: speed, time without full redundancy, and the chance of data loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.statics import rebuild_fields
from diskmodel.units import chance_words, in_digits

#: Largest probability of losing data within a year that a recommendation may have without a word, unless the objective
#: states its own: one array in fifty. It is a convention, far above what makers advertise for RAID 6 and below what
#: wide RAID 5 of large disks has. At half, 12 mirrored disks of 18 TB are passed over for 19 in RAID 6; at double,
#: RAID 5 of seven such disks is an answer, in which a rebuild meets an unreadable sector once in two times.
USUAL_LOSS_PER_YEAR = 0.02

#: Share of the offered requests that an overloaded array completes, from which the numbers would look like all of them.
#: At half of the rest, 19.9 of 20 are printed as 19.9 of 20; at double, 19.6 of 20 are not printed.
_ALL = 0.99

#: Share of rebuilds that meet an unreadable sector from which that is why data are lost. At half, second failures
#: during rebuilds of weeks are as likely; at double, RAID 5 of four disks of 4 TB would not say why.
_OFTEN_UNREADABLE = 0.1


@dataclass(frozen=True)
class Safety(Record):
    """An array with a disk missing.

    Attributes
    ----------
    degraded, rebuilding : Outcome or None
        Under the whole load with a disk failed, and while that disk is rebuilt: at the beginning or half-way, where
        requests wait longer. None without redundancy.
    rebuild_hours : float
        Of that rebuild over the day: beside the load where it runs, alone in the rest; nan without redundancy, infinite
        where the array cannot serve both.
    loss_per_year : float
        Probability of losing data within a year, unrecoverable read errors during rebuilds included.
    limit_per_year : float
        Largest accepted probability: the objective's, else `USUAL_LOSS_PER_YEAR`.
    rebuild_alone_hours : float
        Of a rebuild without any load, by formula; nan where unknown.
    offered_per_s : float
        By the hosts; nan where they wait for their responses.
    rebuild_beside_hours : float
        Of a rebuild with the load beside it all day; nan where unknown.
    busy_hours : float
        Of each day in which the load runs.
    loss_if_idle_per_year : float
        Probability of losing data with rebuilds without any load; nan where unknown.
    read_error_ratio : float
        Share of rebuilds that meet a sector that cannot be read, where that loses data; nan where it does not.
    unknown : str
        Why neither the length of a rebuild nor the chance of data loss is known; "" where they are.
    """

    degraded: Outcome | None
    rebuilding: Outcome | None
    rebuild_hours: float
    loss_per_year: float
    limit_per_year: float
    rebuild_alone_hours: float = math.nan
    offered_per_s: float = math.nan
    rebuild_beside_hours: float = math.nan
    busy_hours: float = 24.0
    loss_if_idle_per_year: float = math.nan
    read_error_ratio: float = math.nan
    unknown: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether the probability of data loss is accepted, and a failed disk is rebuilt in a time that is known."""
        return not self.unknown and not self.loss_per_year > self.limit_per_year and not math.isinf(self.rebuild_hours)

    @property
    def is_overloaded(self) -> bool:
        """Whether the rebuild was simulated, and the array cannot serve the load beside it."""
        return self.rebuilding is not None and not self.rebuilding.is_stable

    @property
    def completes(self) -> str:
        """What an array completes that cannot serve the load beside its rebuild, in words; "" elsewhere."""
        if self.rebuilding is None or not self.is_overloaded:
            return ""
        done, offered = self.rebuilding.iops.value, self.offered_per_s
        if done == 0:
            return "no request completes while it runs"
        if offered * _ALL <= done:
            return f"at {in_digits(offered)} requests/s the queue grows without end"
        if math.isnan(offered):
            return f"it completes {in_digits(done)} requests/s"
        return f"it completes {in_digits(done)} of {in_digits(offered)} requests/s"

    @property
    def warning(self) -> str:
        """What is not accepted, as a clause; "" where nothing is."""
        if self.is_safe:
            return ""
        if self.unknown:
            return self.unknown
        if self.is_overloaded:
            return f"with a disk failed, they cannot serve the whole load during the rebuild: {self.completes}"
        if math.isinf(self.rebuild_hours):
            return "with a disk failed, the rebuild does not end beside the whole load"
        loss, limit = chance_words(self.loss_per_year), chance_words(self.limit_per_year)
        if loss == limit:
            loss = f"a little more than {loss}"
        why = ""
        if self.read_error_ratio >= _OFTEN_UNREADABLE:
            why = f", as {100 * self.read_error_ratio:.0f} % of rebuilds meet a sector that cannot be read"
        return f"the chance of data loss is {loss}{why}; accepted is at most {limit}"

    def p99_ms(self, outcome: Outcome | None) -> float | None:
        """Return the p99 latency of one of the outcomes; None where it is unknown or the array is overloaded."""
        p99 = outcome.latency_of("p99") if outcome is not None and outcome.is_stable else None
        return None if p99 is None else p99.value / 1e6

    def json_fields(self) -> Mapping[str, Any]:
        """Return the main figures with a disk failed and during the rebuild, and the chance of data loss."""
        data: dict[str, Any] = {}
        for name, outcome in (("degraded", self.degraded), ("rebuilding", self.rebuilding)):
            data[f"{name}_stable"] = None if outcome is None else outcome.is_stable
            data[f"{name}_p99_ms"] = self.p99_ms(outcome)
        return data | {
            **rebuild_fields(self.rebuild_hours),
            "rebuild_beside_hours": self.rebuild_beside_hours,
            "rebuild_idle_hours": self.rebuild_alone_hours,
            "busy_hours": self.busy_hours,
            "data_loss_per_year": self.loss_per_year,
            "data_loss_if_idle_per_year": self.loss_if_idle_per_year,
            "read_error_ratio": self.read_error_ratio,
            "data_loss_limit_per_year": self.limit_per_year,
            "safe": self.is_safe,
        }
