"""LOOK and SCAN: sweep in one direction, turn when nothing waits ahead (rule Q4)."""

from collections.abc import Sequence

from diskmodel.queue.policy import Head, Policy, Waiting


class Look(Policy):
    """Nearest command ahead in the direction of the sweep; turns at the last one."""

    name = "look"
    title = "LOOK: back and forth"
    rule = "Q4"
    shortens = "seek"

    def __init__(self) -> None:
        self.direction = 1

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        self.swept = self.direction
        ahead = self._ahead(waiting, head)
        self.turned = not ahead
        if not ahead:
            self.direction = -self.direction
            ahead = self._ahead(waiting, head)
        return min(ahead, key=lambda i: abs(waiting[i].lba - head.lba))

    def _ahead(self, waiting: Sequence[Waiting], head: Head) -> list[int]:
        return [i for i, command in enumerate(waiting) if (command.lba - head.lba) * self.direction >= 0]


class Scan(Look):
    """LOOK whose arm goes on to the edge before it turns."""

    name = "scan"
    title = "SCAN: back and forth, edge to edge"
    rule = "Q4"
    edge = "turn"
