"""The host in front of an array of flash drives where nobody describes it: a server with Linux."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from diskmodel.host.description import Host, HostKind


class Assumed(NamedTuple):
    """What is assumed of the hosts of some years.

    Attributes
    ----------
    title : str
        Such a host in words.
    submission_ns : int
        Processor time of a request of one submitting thread that does nothing else.
    measured : str
        Requests per second of one thread that it stands for, and of which systems.
    """

    title: str
    submission_ns: int
    measured: str


#: Hosts that a description can choose, the newest last. By how much others of the same years differ,
#: `diskmodel/uncertainty/assumed.toml` says; at half or double, arrays that one thread loads are twice or half as fast.
HOSTS: Mapping[HostKind, Assumed] = {
    "libaio-2014": Assumed(
        "a host of 2014 to 2019 (libaio)",
        10_000,
        "64,000, 74,000, 98,000 and 173,000/s of four servers (docs/explanation/validation-arrays.md)",
    ),
    "libaio-2020": Assumed(
        "a host of 2020 to 2025 (libaio)",
        5_300,
        "180,000 to 195,000/s, Xeon Gold 6242 and 6342 (vitalif/vitastor @b30635b, docs/performance)",
    ),
    "tuned-2020": Assumed(
        "a tuned host of 2020 to 2025",
        2_200,
        "344,000 to 621,000/s, one thread, 128 outstanding (BU-DiSC/SSD-Benchmark @3e6881d, results)",
    ),
}
#: The host of which nobody says anything.
TYPICAL: HostKind = "libaio-2020"

#: What the host of a data sheet's test takes of the latency that it prints: all of a request's time of the processor,
#: which nothing overlaps while there is one request at a time, on a host like those of today. Single writes of a Micron
#: 7450 take 13.0 us with fio and libaio (rook issue 15036) and 9 us with threads that submit by io_uring
#: (tests/data/flash), where its sheet prints 15. At half or double, they are 3 us later or 5 us sooner.
HOST_OF_SHEETS_NS = HOSTS[TYPICAL].submission_ns

#: Requests per second that one processor submits on the slowest of all. At half, hosts that have time left are
#: limited; at double, one that is saturated is not.
ONE_PROCESSOR_PER_S = 60_000

#: Outstanding requests for which there is one processor that submits them, as jobs of fio with a depth of 32 have:
#: published measurements with more than 64 outstanding used 8 jobs or more, each with 1 to 64 of them. At half, one job
#: of depth 32 would be taken for two.
OUTSTANDING_PER_PROCESSOR = 32

#: Most processors that submit, and those of a rate that takes more than one: the host has what it takes to send it. A
#: server with two sockets of 2014 to 2020 has 16 to 128; half would limit arrays of NVMe drives to 1.6 million.
MOST_PROCESSORS = 32

#: Time for which a request holds the lock of Linux md's RAID 5 and 6. Reads of RAM disks: 0.5 us, and 0.26 us since
#: Linux 5.14; of eight NVMe drives 0.63 us at most. Writes of null devices: 1 to 2.2 us by version, with eight threads
#: for parity (`group_thread_cnt`). At half or double they would be those of another version.
LOCK_NS, WRITE_LOCK_NS = 500, 2_000

#: Time for which a request holds the counter of requests that are in an array of Linux md (`active_io`), which is one
#: for all processors before Linux 6.3: it is counted in and out, and each time the cache line comes from another
#: processor, in 115 ns from another socket (P. McKenney, Is Parallel Programming Hard, 2023, table 3.1: an atomic
#: operation off-socket). With it 4.3 million requests a second pass; on a server with two sockets a RAID 0 made 3.8
#: million where its drives alone made 7 (github.com/neilbrown/mdadm/issues/28). One socket has half of it.
COUNTER_NS = 230


class AssumedHost(Host):
    """A host of which something is assumed."""

    is_assumed: ClassVar[bool] = True


def kind_of(host: Host) -> Assumed:
    """Return what is assumed of a host: of the years that its description chooses, or of those today."""
    return HOSTS[host.kind or TYPICAL]


def assumed(host: Host, *, outstanding: int, per_s: float, n_locks: int, is_counted: bool = False) -> Host:
    """Return the host with what it takes for requests where that is not described.

    A host that buffers or pauses is left as it is described, and so is one that sends requests at a rate that one
    processor submits: what a request takes is in the latencies that drives have on their sheets.

    Parameters
    ----------
    host : Host
    outstanding : int
        Requests of closed streams.
    per_s : float
        Rate of open streams.
    n_locks : int
        Arrays of Linux md with parity that the requests are divided among, each with a lock of its own; 0: none.
    is_counted : bool
        Whether requests pass md's counter instead, which only hosts that submit more than it lets through wait for.

    Examples
    --------
    >>> host = assumed(Host(), outstanding=64, per_s=0, n_locks=0)
    >>> host.submission_ns, host.processors, host.lock_ns
    (5300, 2, None)
    >>> assumed(Host(processors=64), outstanding=4096, per_s=0, n_locks=0, is_counted=True).lock_ns
    230
    >>> assumed(Host(submission_ns=0), outstanding=64, per_s=0, n_locks=0).is_transparent
    True
    """
    jobs = -(-outstanding // OUTSTANDING_PER_PROCESSOR) if per_s <= ONE_PROCESSOR_PER_S else MOST_PROCESSORS
    if host.is_buffered or host.pause_ns or not jobs:
        return host
    found: dict[str, int] = {}
    if host.submission_ns is None:
        found["submission_ns"] = kind_of(host).submission_ns
        if host.processors is None:
            found["processors"] = min(jobs, MOST_PROCESSORS)
    if n_locks and host.lock_ns is None and host.write_lock_ns is None:
        found |= {"lock_ns": LOCK_NS // n_locks, "write_lock_ns": WRITE_LOCK_NS // n_locks}
    elif is_counted and host.lock_ns is None and host.write_lock_ns is None and _passes_counter(host, found):
        found["lock_ns"] = COUNTER_NS
    if not found:
        return host
    given = {name: getattr(host, name) for name in host.model_fields_set}
    return AssumedHost.parse(given | found)


def _passes_counter(host: Host, found: dict[str, int]) -> bool:
    """Return whether the processors submit more than md's counter lets through; one alone has it in its cache."""
    submission = found.get("submission_ns", host.submission_ns) or 0
    processors = found.get("processors", host.processors) or 1
    return not submission or processors * COUNTER_NS > submission
