"""Whether the host, not the array, limits a run."""

from __future__ import annotations

import numpy as np

from diskmodel.host.assumed import COUNTER_NS, ONE_PROCESSOR_PER_S, kind_of
from diskmodel.host.description import Host
from diskmodel.host.tables import HostTables
from diskmodel.records import Op, Requests

#: Utilization from which the host's processor is reported as the limiting factor. At 0.95 its queue already multiplies
#: the submission time by 20 (1/(1 - u)); a closed workload that it limits measures slightly below 1.
BOUND_RATIO = 0.95


def mean_submission_ns(host: Host, requests: Requests) -> float:
    """Return the mean processor time of requests issued in the order of their rows (rule H1), in nanoseconds.

    Parameters
    ----------
    host : Host
    requests : Requests
        One or more requests.
    """
    tables = HostTables.of(host, 512)
    goes_on = np.zeros(len(requests), bool)
    ends = requests.offset + requests.length
    goes_on[1:] = (requests.offset[1:] == ends[:-1]) & (requests.op[1:] == requests.op[:-1])
    is_write = (requests.op != Op.READ).astype(np.intp)  # a flush costs as a write
    costs = np.array([tables.submission_ns, tables.submission_sequential_ns], np.float64)
    return float(costs[goes_on.astype(np.intp), is_write].mean())


def mean_lock_ns(host: Host, requests: Requests) -> float:
    """Return the mean time for which a request holds what only one can hold (rule H5), in nanoseconds.

    Parameters
    ----------
    host : Host
    requests : Requests
        One or more requests.
    """
    costs = np.array(HostTables.of(host, 512).lock_ns, np.float64)
    return float(costs[(requests.op != Op.READ).astype(np.intp)].mean())


def processor_message(host: Host, iops: float, submission_ns: float, lock_ns: float = 0.0) -> tuple[str, ...]:
    """Return a message when submitting requests keeps the host's processors or its lock busy; otherwise nothing.

    Parameters
    ----------
    host : Host
    iops : float
        Requests completed per second.
    submission_ns : float
        Mean processor time of a request.
    lock_ns : float
        Mean time for which a request holds the lock.

    Examples
    --------
    >>> processor_message(Host(), 99_000.0, 10_000)[0][:45]
    "the host's processor spends 99 % of its time "
    >>> processor_message(Host(), 40_000.0, 10_000)
    ()
    >>> processor_message(Host(), 500_000.0, 0, 2_000)[0][:29]
    "the host's lock is held 100 %"
    >>> from diskmodel.host.assumed import AssumedHost
    >>> processor_message(AssumedHost(processors=2), 200_000.0, 10_000)[0][:42]
    'the host limits the rate, not the array: 2'
    """
    held = iops * lock_ns / 1e9
    if held >= BOUND_RATIO:
        if host.is_assumed:
            what = "counter of requests (before Linux 6.3)" if lock_ns == COUNTER_NS else "lock"
            return (
                f"Linux md limits the rate, not the array: its {what} is assumed to let {1e9 / lock_ns:,.0f} "
                "requests/s through; [host] lock and write_lock in the array's file describe another",
            )
        return (
            f"the host's lock is held {100 * held:.0f} % of the time ({lock_ns:.0f} ns a request): it limits the rate, "
            "not the array",
        )
    n = host.processors or 1
    busy = iops * submission_ns / 1e9 / n
    paused = host.pause_ns / (host.pause_ns + host.pause_interval_ns) if host.pause_ns else 0.0
    if not busy + paused >= BOUND_RATIO:
        return ()
    if host.is_assumed:
        threads = "one thread is" if n == 1 else f"{n} threads are"
        each = "" if n == 1 else " each"
        return (
            f"the host limits the rate, not the array: {threads} assumed to submit {1e9 / submission_ns:,.0f} "
            f"requests/s{each}, as on {kind_of(host).title}; --threads, --host or [host] in a file describe another",
        )
    pauses = f" and {100 * paused:.0f} % in pauses" if paused else ""
    who = "processor spends" if n == 1 else f"{n} processors spend"
    their, they = ("its", "it limits") if n == 1 else ("their", "they limit")
    return (
        f"the host's {who} {100 * busy:.0f} % of {their} time submitting requests "
        f"({submission_ns:.0f} ns each){pauses}: {they} the rate, not the array",
    )


def host_limit(host: Host, iops: float, requests: Requests) -> tuple[str, ...]:
    """Return a message when the host, not the array, limits the rate at which requests complete; otherwise nothing.

    Parameters
    ----------
    host : Host
    iops : float
        Requests completed per second.
    requests : Requests
        Some of them.
    """
    if host.is_transparent:
        return ()
    return processor_message(host, iops, mean_submission_ns(host, requests), mean_lock_ns(host, requests))


def left_out(host: Host, iops: float) -> str:
    """Return that the host's processors are left out, where a rate takes more than one of them; "" elsewhere.

    Examples
    --------
    >>> left_out(Host(), 200_000.0)[:62]
    "200,000 requests/s take more than one of the host's processors"
    >>> left_out(Host(), 50_000.0)
    ''
    """
    if host.submission_ns is not None or host.has_lock or iops <= ONE_PROCESSOR_PER_S:
        return ""
    return (
        f"{iops:,.0f} requests/s take more than one of the host's processors (one submits some "
        f"{ONE_PROCESSOR_PER_S:,}), which are left out: describe them as [host] (submission, processors, lock)"
    )
