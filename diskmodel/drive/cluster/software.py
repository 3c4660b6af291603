"""Programs that keep copies of blocks in several nodes: what each takes, and which way its requests go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from diskmodel.drive.cluster.costs import Costs
from diskmodel.loading import dataclass

SoftwareName = Literal["ceph", "vitastor", "drbd", "ideal"]

#: What only the daemons of Ceph take, beside messages and the work of writes: others write one thing, and once.
_NOTHING_BESIDE: Mapping[str, Any] = {
    "read_work_ns": 0,
    "after_write_ns": 0,
    "kernel_ns": 0,
    "stack_ns": 0,
    "waking_ns": 0,
    "commit_syncs": 1,
    "commit_work_ns": 0,
}
#: Vitastor with TCP, from what its author printed of one cluster (github.com/vitalif/vitastor, docs/performance/
#: bench2.en.md, 24 drives, 2 replicas): 54,400 reads/s took 0.98 of a processor for each drive, 18.1 us each; 55,000
#: copies of writes 1.73, 31.5 us each. A read is two messages and the data of one, of two copies each has three
#: messages and the data of one and a half; what is left of a copy is work of 6 us. 547 MB/s of long reads took 0.3 of a
#: processor: 1.8 GB/s. One thread of an OSD does everything. Clients: 108,800 reads and 55,000 writes/s took 1.0 and
#: 0.72 of one, and one connection does 2 to 3 GB/s (docs/config/client.en.md).
_VITASTOR = Costs(
    **_NOTHING_BESIDE,
    message_ns=7_900,
    payload_bytes_per_s=1.8e9,
    messengers=1,
    workers=1,
    write_work_ns=6_000,
    client_read_ns=9_200,
    client_write_ns=13_000,
)
#: DRBD 9: one volume over TCP did 79,000 writes/s (a pair with Kioxia CD6-R, protocol C, al-updates off; "Storage
#: Benchmarks, palma", 2026): 12.7 us of the one thread that sends and hears of them, two messages. Three-fold copies of
#: 96 volumes had 14.8 million reads/s of other nodes (linbit.com, 2020), 6.5 us each: no slower. Of the requests of one
#: program the block layer takes a few microseconds, as of any drive.
_DRBD = Costs(
    **_NOTHING_BESIDE,
    message_ns=5_200,
    payload_bytes_per_s=1.8e9,
    messengers=1,
    workers=16,
    write_work_ns=0,
    client_read_ns=2_000,
    client_write_ns=2_000,
    client_bytes_per_s=10e9,
)
#: No program at all: drives and network alone.
_IDEAL = Costs(
    **_NOTHING_BESIDE,
    message_ns=0,
    payload_bytes_per_s=1e12,
    messengers=64,
    workers=64,
    write_work_ns=0,
    client_read_ns=0,
    client_write_ns=0,
    client_bytes_per_s=1e12,
)


@dataclass(frozen=True)
class Software:
    """What keeps the copies.

    Attributes
    ----------
    title : str
    costs : Costs
    replicas : int
        Copies where nothing else is said.
    filled_ratio : float
        Up to where drives are filled where nothing else is said.
    one_client : bool
        Whether one node uses the volumes where nothing else is said.
    is_local : bool
        Whether requests come from a node that has a copy: reads need no network, and a write one round trip.
    has_log : bool
        Whether each write is also committed in a log of the program's own, whose thread commits all that wait.
    always_flushes : bool
        Whether a flush of the host goes to all copies; otherwise only where a drive has to be flushed.
    may_be_coded : bool
        Whether pools may be erasure-coded, by reading all fragments of the stripes that a request touches.
    doubt : str
    """

    title: str
    costs: Costs = field(default_factory=Costs)
    replicas: int = 3
    filled_ratio: float = 0.85
    one_client: bool = False
    is_local: bool = False
    has_log: bool = False
    always_flushes: bool = False
    may_be_coded: bool = False
    doubt: str = ""


SOFTWARE: Mapping[SoftwareName, Software] = {
    "ceph": Software(
        "Ceph",
        has_log=True,
        may_be_coded=True,
        doubt="published clusters differ by half in what Ceph's daemons take of their processors, and one of 2020 took "
        "three times as much (docs/explanation/validation/ceph.md)",
    ),
    "vitastor": Software(
        "Vitastor",
        _VITASTOR,
        filled_ratio=0.95,
        doubt="what Vitastor takes is that of one cluster of its author, with TCP "
        "(docs/explanation/validation/replicated.md)",
    ),
    "drbd": Software(
        "DRBD",
        _DRBD,
        replicas=2,
        filled_ratio=1.0,
        one_client=True,
        is_local=True,
        always_flushes=True,
        doubt="what DRBD takes is that of one published pair, and its activity log is taken to hold what is written "
        "(docs/explanation/validation/replicated.md)",
    ),
    "ideal": Software(
        "Ideal copies",
        _IDEAL,
        filled_ratio=1.0,
        is_local=True,
        always_flushes=True,
        may_be_coded=True,
        doubt="drives and network alone: every program that keeps the copies is slower",
    ),
}
