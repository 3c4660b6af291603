"""A queue in whole numbers, as the kernel reads it."""

from __future__ import annotations

from typing import NamedTuple, Self

from diskmodel.queue.description import Queue
from diskmodel.queue.rpo import miss_256ths, weight_ppm


class QueueTables(NamedTuple):
    """A scheduler, and the tunables of all schedulers; named as in `Queue`.

    Attributes
    ----------
    scheduler : str
    age_ns, miss_margin_ns, miss_256ths, age_weight_ppm, committed : int
    read_expire_ns, write_expire_ns, fifo_batch, writes_starved : int
    """

    scheduler: str
    age_ns: int
    miss_margin_ns: int
    miss_256ths: int
    age_weight_ppm: int
    committed: int
    read_expire_ns: int
    write_expire_ns: int
    fifo_batch: int
    writes_starved: int

    @classmethod
    def of(cls, queue: Queue) -> Self:
        """Return the tables of a queue."""
        return cls(
            scheduler=queue.scheduler,
            age_ns=queue.age_ns,
            miss_margin_ns=queue.miss_margin_ns,
            miss_256ths=miss_256ths(queue.miss_ratio),
            age_weight_ppm=weight_ppm(queue.age_weight),
            committed=queue.committed,
            read_expire_ns=queue.read_expire_ns,
            write_expire_ns=queue.write_expire_ns,
            fifo_batch=queue.fifo_batch,
            writes_starved=queue.writes_starved,
        )
