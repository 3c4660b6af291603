"""Linux's mq-deadline: sorted batches, reads preferred, no command waits forever (rule Q8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from diskmodel.queue.policy import Head, Policy, Waiting
from diskmodel.records import READ, WRITE

if TYPE_CHECKING:
    from diskmodel.queue.description import Queue


class MqDeadline(Policy):
    """Batches of up to `fifo_batch` commands of one direction in rising block order.

    A batch starts with reads unless none waits or writes were passed over `writes_starved` times; it starts at the
    command after the last one served in that direction, or at the oldest one when that has expired (or when nothing
    lies ahead).

    References
    ----------
    Linux kernel, block/mq-deadline.c (`__dd_dispatch_request`), version 6.1.
    """

    name = "mq-deadline"
    reads = ("read_expire_ns", "write_expire_ns", "fifo_batch", "writes_starved")
    title = "mq-deadline (Linux)"
    rule = "Q8"
    shortens = "seek"
    is_in_drives = False

    @classmethod
    def of(cls, queue: Queue) -> Self:
        return cls(queue.read_expire_ns, queue.write_expire_ns, queue.fifo_batch, queue.writes_starved)

    def __init__(self, read_expire_ns: int, write_expire_ns: int, fifo_batch: int, writes_starved: int) -> None:
        self.expire_ns = (read_expire_ns, write_expire_ns)
        self.fifo_batch = fifo_batch
        self.writes_starved = writes_starved
        self.batch_op = int(READ)
        self.batched = 0
        self.starved = 0
        self.next_lba = [0, 0]

    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        by_op = [[i for i, command in enumerate(waiting) if command.op == op] for op in (READ, WRITE)]
        ahead = self._ahead(waiting, by_op[self.batch_op], self.batch_op)
        if not (ahead and 0 < self.batched < self.fifo_batch):
            self.batch_op = self._direction(by_op)
            self.batched = 0
            ahead = self._ahead(waiting, by_op[self.batch_op], self.batch_op)
            oldest = by_op[self.batch_op][0]
            if not ahead or now_ns - waiting[oldest].arrived_ns >= self.expire_ns[self.batch_op]:
                ahead = [oldest]
        chosen = min(ahead, key=lambda i: waiting[i].lba)
        self.batched += 1
        self.next_lba[self.batch_op] = waiting[chosen].lba + waiting[chosen].n_sectors
        return chosen

    def _ahead(self, waiting: Sequence[Waiting], indices: Sequence[int], op: int) -> list[int]:
        return [i for i in indices if waiting[i].lba >= self.next_lba[op]]

    def _direction(self, by_op: Sequence[Sequence[int]]) -> int:
        reads, writes = by_op
        if reads and not (writes and self.starved >= self.writes_starved):
            if writes:
                self.starved += 1
            return READ
        self.starved = 0
        return WRITE
