"""Schedulers: which waiting command a disk serves next. One policy, one file."""

from typing import TYPE_CHECKING

from diskmodel.naming import face
from diskmodel.queue.description import Queue
from diskmodel.queue.policy import Head, Policy, Positioning, Waiting
from diskmodel.queue.registry import SCHEDULERS


def make_policy(queue: Queue) -> Policy:
    """Return a scheduler with fresh state, as `queue` describes it."""
    return SCHEDULERS[queue.scheduler].of(queue)


__all__ = ["SCHEDULERS", "Head", "Policy", "Positioning", "Queue", "Waiting", "make_policy"]

if TYPE_CHECKING:
    from diskmodel.queue.registry import DriveSchedulerName
    from diskmodel.queue.rpo import AGE_WEIGHT, COMMITTED, MISS_MARGIN_NS, AgeWeight, Committed, MissMargin, MissRatio
    from diskmodel.queue.tables import QueueTables
    from diskmodel.queue.write_throttle import WriteThrottle

__getattr__ = face(
    __name__,
    {
        "registry": "DriveSchedulerName",
        "rpo": "AGE_WEIGHT AgeWeight COMMITTED Committed MISS_MARGIN_NS MissMargin MissRatio",
        "tables": "QueueTables",
        "write_throttle": "WriteThrottle",
    },
)
