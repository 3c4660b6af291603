"""Shortest positioning time first, plain and aged (rule Q6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from diskmodel.queue.policy import Head, Policy, Waiting

if TYPE_CHECKING:
    from diskmodel.queue.description import Queue


class Sptf(Policy):
    """The command that the head reaches soonest, rotation included.

    References
    ----------
    Seltzer, Chen, Ousterhout, *Disk scheduling revisited*, USENIX Winter 1990.
    Jacobson, Wilkes, *Disk scheduling algorithms based on rotational position*, HPL-CSP-91-7, 1991.
    """

    name = "sptf"
    title = "SPTF: shortest positioning time first"
    rule = "Q6"
    shortens = "positioning"

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        return min(range(len(waiting)), key=lambda i: head.positioning_ns(waiting[i]))


class SptfAged(Policy):
    """SPTF whose positioning time shrinks with waiting: T · (M - wait) / M, 0 from the age limit M on.

    Commands beyond the limit go in order of arrival. Under a saturating load the limit has to exceed queue depth
    divided by the FCFS rate, or everything is old and the order falls back to FCFS.

    References
    ----------
    Seltzer, Chen, Ousterhout 1990 (aged shortest access time first).
    """

    name = "sptf-aged"
    reads = ("age_ns",)
    title = "SPTF with aging"
    rule = "Q6"
    shortens = "positioning"

    @classmethod
    def of(cls, queue: Queue) -> Self:
        return cls(queue.age_ns)

    def __init__(self, age_ns: int) -> None:
        self.age_ns = age_ns

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        def weighted(i: int) -> int:
            left_ns = self.age_ns - min(now_ns - waiting[i].arrived_ns, self.age_ns)
            return head.positioning_ns(waiting[i]) * left_ns if left_ns else 0

        return min(range(len(waiting)), key=weighted)
