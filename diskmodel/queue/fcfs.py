"""First come, first served (rule Q2)."""

from collections.abc import Sequence

from diskmodel.queue.policy import Head, Policy, Waiting


class Fcfs(Policy):
    """Commands in order of arrival."""

    name = "fcfs"
    title = "FCFS: first come, first served"
    rule = "Q2"

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        return 0
