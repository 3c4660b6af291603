"""Schedulers: which waiting command a disk serves next. One policy, one file."""

from diskmodel.queue.description import Queue
from diskmodel.queue.policy import Head, Policy, Positioning, Waiting
from diskmodel.queue.registry import SCHEDULERS


def make_policy(queue: Queue) -> Policy:
    """Return a scheduler with fresh state, as `queue` describes it."""
    return SCHEDULERS[queue.scheduler].of(queue)


__all__ = ["SCHEDULERS", "Head", "Policy", "Positioning", "Queue", "Waiting", "make_policy"]
