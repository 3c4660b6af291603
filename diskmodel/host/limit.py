"""Whether the host, not the array, limits a run."""

from __future__ import annotations

import numpy as np

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
    is_write = (requests.op == Op.WRITE).astype(np.intp)
    costs = np.array([tables.submission_ns, tables.submission_sequential_ns], np.float64)
    return float(costs[goes_on.astype(np.intp), is_write].mean())


def processor_message(host: Host, iops: float, submission_ns: float) -> tuple[str, ...]:
    """Return a message when submitting requests keeps the host's processor busy; otherwise nothing.

    Parameters
    ----------
    host : Host
    iops : float
        Requests completed per second.
    submission_ns : float
        Mean processor time of a request.

    Examples
    --------
    >>> processor_message(Host(), 99_000.0, 10_000)[0][:45]
    "the host's processor spends 99 % of its time "
    >>> processor_message(Host(), 40_000.0, 10_000)
    ()
    """
    busy = iops * submission_ns / 1e9
    paused = host.pause_ns / (host.pause_ns + host.pause_interval_ns) if host.pause_ns else 0.0
    if not busy + paused >= BOUND_RATIO:
        return ()
    pauses = f" and {100 * paused:.0f} % in pauses" if paused else ""
    return (
        f"the host's processor spends {100 * busy:.0f} % of its time submitting requests "
        f"({submission_ns:.0f} ns each){pauses}: it limits the rate, not the array",
    )
