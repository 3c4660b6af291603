"""What the daemons and clients of a cluster cost: times of processors, and how many threads share them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from diskmodel.description import Description
from diskmodel.units import BytesPerSecond, Nanoseconds

#: What a write takes of daemons without optimization, of what it takes with it.
_UNOPTIMIZED = 2


class Costs(Description):
    """Times of processors of Ceph's classic OSD and of its RBD clients.

    The times of an OSD are calibrated to one OSD alone, without copies: 130,000 reads/s with 4.4 cores and 104,000
    writes/s with 11.6 (ceph.io, Crimson and Seastore against the classic OSD, 2025: 34 and 112 us of a processor each).
    A read of 4 KiB is two messages, and its ceiling three busy messengers: 3 / 130,000 = 23.1 us of a messenger, 4.6 of
    them for the data. What remains is work of 11 us for a read, and of 89 us for a write, of which about half comes
    before its commit.

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
    waking_ns : int
        Of processors for each thread that has to be woken, and for others of its group that wake in vain: more of them
        at low load, where queues are often empty. It delays nobody but takes a processor. Twelve OSDs took 3 to 4 cores
        each under one client's 119,000 requests/s, and 11 to 12 under 16 clients' 714,000 (ceph.io, 10k IOPS, 2023).
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
    """

    message_ns: Nanoseconds = 9_250
    payload_bytes_per_s: BytesPerSecond = 0.9e9
    messengers: Annotated[int, Field(ge=1, le=64)] = 3
    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    read_work_ns: Nanoseconds = 11_000
    write_work_ns: Nanoseconds = 45_000
    after_write_ns: Nanoseconds = 34_000
    kernel_ns: Nanoseconds = 5_000
    waking_ns: Nanoseconds = 25_000
    commit_syncs: Annotated[int, Field(ge=1, le=4)] = 2
    commit_work_ns: Nanoseconds = 9_600
    client_read_ns: Nanoseconds = 7_900
    client_write_ns: Nanoseconds = 15_600
    client_bytes_per_s: BytesPerSecond = 2.5e9

    def unoptimized(self) -> Costs:
        """Return the same where RocksDB was built without optimization: what a write takes in a daemon is doubled.

        Packages for Ubuntu and Debian from ceph.com were, perhaps since some release of Luminous, until early 2024: "in
        some cases random 4K write performance is doubled" by the others (ceph.io, Silver bullet for RocksDB
        performance, 2024; github.com/ceph/ceph/pull/54918).
        """
        names = ("write_work_ns", "after_write_ns", "commit_work_ns")
        return self.model_copy(update={name: _UNOPTIMIZED * getattr(self, name) for name in names})

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
                "commit_work_ns": times(self.commit_work_ns, writes),
                "client_read_ns": times(self.client_read_ns, reads),
                "client_write_ns": times(self.client_write_ns, writes),
                "client_bytes_per_s": self.client_bytes_per_s / reads,
            }
        )
