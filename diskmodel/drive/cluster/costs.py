"""What the daemons and clients of a cluster cost: times of processors, and how many threads share them."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from diskmodel.description import Description
from diskmodel.drive.perturbation import scaled_ns
from diskmodel.units import BytesPerSecond, Nanoseconds

#: What a write takes of daemons without optimization, of what it takes with it.
_UNOPTIMIZED = 2
Release = Literal["luminous", "mimic", "nautilus", "octopus", "pacific", "quincy", "reef", "squid", "tentacle"]
#: Releases of Ceph that store data with BlueStore, in their order.
RELEASES: tuple[Release, ...] = get_args(Release)


def is_before(release: Release, other: Release) -> bool:
    """Return whether a release came before another."""
    return RELEASES.index(release) < RELEASES.index(other)


#: What daemons before Octopus take, of what those since take: 64 NVMe drives with two OSDs each did 1.5 million reads/s
#: and 235,000 writes/s with Nautilus, 2.6 million and 410,000 with Pacific (ceph.io, Ceph Reef: 1 or 2 OSDs per NVMe,
#: 2023, first chart): 1.7 times both. With one OSD for each drive it was 3.4 and 2.4 times.
_BEFORE_OCTOPUS = 1.7
#: What a client of librbd before Pacific takes, of what those since take: one virtual machine did 80,000 and 126,000
#: reads/s (ceph.io, QEMU/KVM and Ceph librbd performance, 2022).
_BEFORE_PACIFIC = 1.58


class Costs(Description):
    """Times of processors of Ceph's classic OSD and of its RBD clients.

    What delays a request is calibrated to one OSD alone, without copies: 130,000 reads/s with 4.4 cores and 104,000
    writes/s with 11.6 (ceph.io, Crimson and Seastore against the classic OSD, 2025: 34 and 112 us of a processor each).
    A read of 4 KiB is two messages, and its ceiling three busy messengers: 3 / 130,000 = 23.1 us of a messenger, 4.6 of
    them for the data. What remains is work of 11 us for a read, and of 89 us for a write, of which about half comes
    before its commit.

    OSDs of a cluster take two to three times as much of their processors, at any load: 30 OSDs of Reef 100 us for a
    read and 250 us for a copy of a write (ceph.io, Ceph Reef: 1 or 2 OSDs per NVMe, 2023), 60 of Pacific 130 and 290 us
    (ceph.io, Ceph OSD CPU scaling, 2022), 12 of Reef 130 us for each of both. Here it is 115 us for a read, and 240 us
    for each of three copies: `waking_ns` comes on top of the work of each thread.

    Attributes
    ----------
    message_ns : int
        To receive or to send a message in an OSD, headers and checksums included.
    payload_bytes_per_s : float
        Rate at which a messenger copies data and computes its checksum. One OSD read and wrote 64 KiB at 2.3 and 2.7
        GB/s with three of them: 0.9 GB/s each.
    messengers : int
        Threads of an OSD for messages (`ms_async_op_threads`).
    workers : int or None
        Threads of an OSD for operations (shards times threads of each). None: 16 on flash, 5 on hard disks.
    read_work_ns, write_work_ns : int
        Work of a worker for a read, and for a write or a copy of it, before the drive has its turn.
    after_write_ns : int
        Work for a write after its commit, in other threads: it delays nobody but takes a processor.
    kernel_ns : int
        Of the kernel for a message that an OSD sends or receives, beside the OSD's threads: a TCP segment and an
        interrupt. It delays nobody but takes a processor.
    stack_ns : int
        Of a node's network stack for a message in one direction. "We consistently hit a wall at around 400-600K random
        read IOPS per node and we've seen it in multiple deployments" (ceph.io, A Journey to 1 TiB/s, 2024), the
        processors idle for a good part: 500,000. At half, nodes of many cores do a third more.
    waking_ns : int
        Of processors for each piece of a thread's work: it is woken for it, and others of its group wake in vain. It
        delays nobody but takes a processor. Twelve OSDs took 3 to 4 cores each under one client's 119,000 requests/s,
        and 11 to 12 under 16 clients' 714,000 (ceph.io, 10k IOPS, 2023): 2.7 and 16 here.
    commit_syncs : int
        Times that BlueFS makes a commit of RocksDB's log safe, each with a write and a flush: 2, of the data and of the
        file's length; 1 where `bluefs_wal_envelope_mode` is on (Tentacle; github.com/ceph/ceph/pull/62224).
    commit_work_ns : int
        Work of the one thread that commits, for each write: 104,000 writes/s are its ceiling.
    client_read_ns, client_write_ns : int
        Of one client's connection for a request: 126,000 reads/s and 64,100 writes/s of one virtual machine with librbd
        (ceph.io, QEMU/KVM and Ceph librbd performance, 2022).
    client_bytes_per_s : float
        Rate of one client's connection, of long requests: 2.5 GB/s there.
    later_writes : int
        Writes of a drive for each small write after its answer, where data and metadata go to a journal first.
    """

    message_ns: Nanoseconds = 9_250
    payload_bytes_per_s: BytesPerSecond = 0.9e9
    messengers: Annotated[int, Field(ge=1, le=64)] = 3
    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    read_work_ns: Nanoseconds = 11_000
    write_work_ns: Nanoseconds = 45_000
    after_write_ns: Nanoseconds = 34_000
    kernel_ns: Nanoseconds = 5_000
    stack_ns: Nanoseconds = 2_000
    waking_ns: Nanoseconds = 25_000
    commit_syncs: Annotated[int, Field(ge=1, le=4)] = 2
    commit_work_ns: Nanoseconds = 9_600
    client_read_ns: Nanoseconds = 7_900
    client_write_ns: Nanoseconds = 15_600
    client_bytes_per_s: BytesPerSecond = 2.5e9
    later_writes: Annotated[int, Field(ge=0, le=8)] = 0

    @property
    def read_processor_ns(self) -> int:
        """What a read takes of the processors of its node."""
        return 2 * self.message_ns + self.read_work_ns + 3 * self.waking_ns + 2 * self.kernel_ns

    @property
    def write_processor_ns(self) -> int:
        """What each of three copies of a write takes of processors: ten messages and three pieces of work in all."""
        shared = 10 * self.message_ns + 13 * self.waking_ns + 2 * self.kernel_ns
        return shared // 3 + self.write_work_ns + self.after_write_ns + 2 * self.kernel_ns

    def of_release(self, release: Release) -> Costs:
        """Return the same of daemons and clients of a release, one of `RELEASES`; these are of Pacific and later."""
        daemons = _BEFORE_OCTOPUS if is_before(release, "octopus") else 1.0
        clients = _BEFORE_PACIFIC if is_before(release, "pacific") else 1.0
        update = {
            "client_read_ns": round(self.client_read_ns * clients),
            "client_write_ns": round(self.client_write_ns * clients),
            "client_bytes_per_s": self.client_bytes_per_s / clients,
        }
        return self.scaled(daemons, daemons).model_copy(update=update)

    def busier(self, log_factor: float) -> Costs:
        """Return the same where daemons take more of processors and network stacks without being later for it."""
        names = ("waking_ns", "kernel_ns", "stack_ns", "after_write_ns")
        return self.model_copy(update={name: scaled_ns(getattr(self, name), log_factor) for name in names})

    def unoptimized(self) -> Costs:
        """Return the same where RocksDB was built without optimization: what a write takes in a daemon is doubled.

        Packages for Ubuntu and Debian from ceph.com were, perhaps since some release of Luminous, until early 2024: "in
        some cases random 4K write performance is doubled" by the others (ceph.io, Silver bullet for RocksDB
        performance, 2024; github.com/ceph/ceph/pull/54918).
        """
        more = _UNOPTIMIZED - 1
        update = {
            "write_work_ns": _UNOPTIMIZED * self.write_work_ns,
            "commit_work_ns": _UNOPTIMIZED * self.commit_work_ns,
            # its compactions, which delay nobody: all that a write takes of processors is doubled
            "after_write_ns": self.after_write_ns + more * (self.write_processor_ns - self.write_work_ns),
        }
        return self.model_copy(update=update)

    def scaled(self, reads: float, writes: float) -> Costs:
        """Return the same with other times: factors of what reads take, and of what only writes do."""

        def times(value: int, factor: float) -> int:
            return max(round(value * factor), 0)

        return self.model_copy(
            update={
                "message_ns": times(self.message_ns, reads),
                "payload_bytes_per_s": self.payload_bytes_per_s / reads,
                "read_work_ns": times(self.read_work_ns, reads),
                "write_work_ns": times(self.write_work_ns, writes),
                "after_write_ns": times(self.after_write_ns, writes),
                "waking_ns": times(self.waking_ns, reads),
                "kernel_ns": times(self.kernel_ns, reads),
                "stack_ns": times(self.stack_ns, reads),
                "commit_work_ns": times(self.commit_work_ns, writes),
                "client_read_ns": times(self.client_read_ns, reads),
                "client_write_ns": times(self.client_write_ns, writes),
                "client_bytes_per_s": self.client_bytes_per_s / reads,
            }
        )
