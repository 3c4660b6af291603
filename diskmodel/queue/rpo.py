"""Rotational position ordering, as a drive's firmware does it (rule Q12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field

from diskmodel.queue.policy import Head, Policy, Waiting
from diskmodel.units import Nanoseconds

if TYPE_CHECKING:
    from diskmodel.queue.description import Queue

#: As recent nearline drives; drives of 2004 to 2012 have 2 ms, 0.05 and 1 to 3
#: (docs/explanation/validation-firmware.md). Half a millisecond of margin costs 10 % of the rate at depth 32; half or
#: twice the age weight moves p99 there by 15 %; one command more or less moves the rate at depth 4 by 10 %.
MISS_MARGIN_NS = 0
AGE_WEIGHT = 0.3
COMMITTED = 1

MissMargin = Annotated[Nanoseconds, Field(ge=0)]
MissRatio = Annotated[float, Field(ge=0, le=1)]
AgeWeight = Annotated[float, Field(ge=0, le=1)]
Committed = Annotated[int, Field(ge=0, le=65536)]


class Rpo(Policy):
    """The command that the head is sure to reach soonest, with a bonus for waiting, among all but the newest.

    Firmware cannot do what `sptf` does: it does not know to the microsecond when a seek ends, it must not let a command
    starve, and it has fixed its next commands before a new one comes. How late a seek ends is the less certain the
    longer it is: a part of the margin grows with the seek (`miss_ratio`). The bonus is the age weight times the wait,
    divided by the number of waiting commands: what a command is overtaken by in excess of its turn counts alike at all
    depths.

    References
    ----------
    Worthington, Ganger, Patt, *Scheduling algorithms for modern disk drives*, SIGMETRICS 1994 (weighted aging).
    US patent 6,725,327 (2004): expected access time, with the probability of a missed revolution.
    US patent 8,498,074 (2013): penalty for the risk of missing the first sector.
    """

    name = "rpo"
    reads = ("miss_margin_ns", "miss_ratio", "age_weight", "committed")
    title = "RPO: as firmware orders, by seek and rotation"
    rule = "Q12"
    shortens = "positioning"

    @classmethod
    def of(cls, queue: Queue) -> Self:
        return cls(queue.miss_margin_ns, queue.age_weight, queue.committed, queue.miss_ratio)

    def __init__(self, miss_margin_ns: int, age_weight: float, committed: int, miss_ratio: float = 0.0) -> None:
        self.miss_margin_ns = miss_margin_ns
        self.miss_256ths = miss_256ths(miss_ratio)
        self.weight_ppm = weight_ppm(age_weight)
        self.committed = committed

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        def score(i: int) -> int:
            bonus_ns = (now_ns - waiting[i].arrived_ns) * self.weight_ppm // (1_000_000 * len(waiting))
            return head.positioning_ns(waiting[i], self.miss_margin_ns, self.miss_256ths) - bonus_ns

        return min(range(max(len(waiting) - self.committed, 1)), key=score)


def miss_256ths(miss_ratio: float) -> int:
    """Return a part of a move in 256ths, as both engines use it."""
    return round(miss_ratio * 256)


def weight_ppm(age_weight: float) -> int:
    """Return an age weight in parts per million, as both engines use it."""
    return round(age_weight * 1_000_000)
