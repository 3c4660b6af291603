"""F-SCAN: LOOK over a frozen batch, newcomers wait for the next one (rule Q7)."""

from collections.abc import Sequence

from diskmodel.queue.look import Look
from diskmodel.queue.policy import Head, Waiting


class FScan(Look):
    """LOOK among the commands that waited when the last batch ended."""

    name = "f-scan"
    title = "F-SCAN: back and forth, new requests wait"
    rule = "Q7"

    def __init__(self) -> None:
        super().__init__()
        self.last_of_batch = -1

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        batch = [i for i, command in enumerate(waiting) if command.seq <= self.last_of_batch]
        if not batch:
            self.last_of_batch = max(command.seq for command in waiting)
            batch = list(range(len(waiting)))
        return batch[super().choose([waiting[i] for i in batch], head, now_ns)]
