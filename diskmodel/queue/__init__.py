"""Schedulers: which waiting command a disk serves next. One policy, one file."""

from collections.abc import Callable

from diskmodel.queue.c_look import CLook, CScan
from diskmodel.queue.description import Queue
from diskmodel.queue.f_scan import FScan
from diskmodel.queue.fcfs import Fcfs
from diskmodel.queue.look import Look, Scan
from diskmodel.queue.mq_deadline import MqDeadline
from diskmodel.queue.policy import Head, Policy, Waiting
from diskmodel.queue.sptf import Sptf, SptfAged
from diskmodel.queue.sstf import Sstf

#: Every scheduler by its name: how to make one for a `Queue` description.
POLICIES: dict[str, Callable[[Queue], Policy]] = {
    "fcfs": lambda queue: Fcfs(),
    "sstf": lambda queue: Sstf(),
    "scan": lambda queue: Scan(),
    "c-scan": lambda queue: CScan(),
    "look": lambda queue: Look(),
    "c-look": lambda queue: CLook(),
    "f-scan": lambda queue: FScan(),
    "sptf": lambda queue: Sptf(),
    "sptf-aged": lambda queue: SptfAged(queue.age_ns),
    "mq-deadline": lambda queue: MqDeadline(
        queue.read_expire_ns, queue.write_expire_ns, queue.fifo_batch, queue.writes_starved
    ),
}


def make_policy(queue: Queue) -> Policy:
    """A scheduler with fresh state, as `queue` describes it."""
    return POLICIES[queue.scheduler](queue)


__all__ = ["POLICIES", "Head", "Policy", "Queue", "Waiting", "make_policy"]
