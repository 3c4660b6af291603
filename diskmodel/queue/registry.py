"""The one list of schedulers. The native kernel has its own, in `engine/kernel/src/queue/registry.rs`."""

from __future__ import annotations

from typing import Annotated

from diskmodel.queue.c_look import CLook, CScan
from diskmodel.queue.f_scan import FScan
from diskmodel.queue.fcfs import Fcfs
from diskmodel.queue.look import Look, Scan
from diskmodel.queue.mq_deadline import MqDeadline
from diskmodel.queue.policy import Policy
from diskmodel.queue.rpo import Rpo
from diskmodel.queue.sptf import Sptf, SptfAged
from diskmodel.queue.sstf import Sstf
from diskmodel.registry import OneOf

#: Every scheduler by its name.
SCHEDULERS: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        Fcfs,
        Sstf,
        Scan,
        CScan,
        Look,
        CLook,
        FScan,
        Sptf,
        SptfAged,
        Rpo,
        MqDeadline,
    )
}


def drive_schedulers() -> tuple[str, ...]:
    """Return the names of the schedulers that the firmware of a drive may use."""
    return tuple(name for name, policy in SCHEDULERS.items() if policy.is_in_drives)


#: Name of a scheduler above a disk, and of one inside a hard disk.
SchedulerName = Annotated[str, OneOf(SCHEDULERS.keys)]
DriveSchedulerName = Annotated[str, OneOf(drive_schedulers)]
