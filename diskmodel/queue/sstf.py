"""Shortest seek time first, by distance in blocks (rule Q3)."""

from collections.abc import Sequence

from diskmodel.queue.policy import Head, Policy, Waiting


class Sstf(Policy):
    """The command nearest to the head."""

    name = "sstf"
    title = "SSTF: shortest seek first"
    rule = "Q3"
    shortens = "seek"

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        return min(range(len(waiting)), key=lambda i: abs(waiting[i].lba - head.lba))
