"""C-LOOK and C-SCAN: sweep upwards only, then start again at the lowest (rule Q5)."""

from collections.abc import Sequence

from diskmodel.queue.policy import Head, Policy, Waiting


class CLook(Policy):
    """Nearest command at or above the head; from the highest one back to the lowest."""

    name = "c-look"
    title = "C-LOOK: one way"
    rule = "Q5"
    shortens = "seek"

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        ahead = [i for i, command in enumerate(waiting) if command.lba >= head.lba]
        self.turned = not ahead
        return min(ahead or range(len(waiting)), key=lambda i: waiting[i].lba)


class CScan(CLook):
    """C-LOOK whose arm goes on to the last cylinder, then across to the first."""

    name = "c-scan"
    title = "C-SCAN: one way, edge to edge"
    rule = "Q5"
    edge = "wrap"
