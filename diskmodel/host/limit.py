"""Whether the host, not the array, is what bounds a run."""

from __future__ import annotations

from diskmodel.host.description import Host

#: Share of time from which on a processor counts as the limit.
BOUND_RATIO = 0.95


def processor_message(host: Host, iops: float) -> tuple[str, ...]:
    """A message when submitting requests keeps the host's processor busy; otherwise nothing.

    Parameters
    ----------
    host : Host
    iops : float
        Requests per second that were completed.

    Examples
    --------
    >>> processor_message(Host(submission_ns=10_000), 99_000.0)[0][:45]
    "the host's processor is busy 99 % of the time"
    >>> processor_message(Host(submission_ns=10_000), 40_000.0)
    ()
    """
    busy = iops * host.submission_ns / 1e9
    if not busy >= BOUND_RATIO:
        return ()
    return (
        f"the host's processor is busy {100 * busy:.0f} % of the time with submitting requests "
        f"({host.submission_ns} ns each): it, not the array, is the limit",
    )
