"""Fork and join: each request forks to K queues, and completes with its last part."""

from __future__ import annotations

import math

from diskmodel.analytic.checks import Checks
from diskmodel.analytic.queueing import mm1


def harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    return math.fsum(1 / k for k in range(1, n + 1))


def fork_join_two_s(arrival_per_s: float, service_s: float) -> float:
    """Mean response of a fork to two M/M/1 queues and their join, exact: R₂ = (12 - ρ)/8 · S / (1 - ρ).

    References
    ----------
    L. Flatto, S. Hahn, "Two parallel queues created by arrivals with two demands I", SIAM J. Appl. Math. 44, 1984.

    Examples
    --------
    >>> fork_join_two_s(0.5, 1.0)
    2.875
    """
    queue = mm1(arrival_per_s, service_s)
    return (12 - queue.utilization_ratio) / 8 * queue.response_s if queue.is_stable else math.inf


def fork_join_s(arrival_per_s: float, service_s: float, n_servers: int) -> float:
    """Mean response of a fork to K M/M/1 queues and their join, approximately.

    Notes
    -----
    R_K ≈ [H_K/H_2 + (4/11) (1 - H_K/H_2) ρ] R_2, within 5 % up to K = 32; exact for K of 1 and 2.

    References
    ----------
    R. Nelson, A. N. Tantawi, "Approximate analysis of fork/join synchronization in parallel queues",
    IEEE Transactions on Computers 37(6), 1988.
    """
    Checks().count(n_servers=n_servers).done()
    if n_servers == 1:
        return mm1(arrival_per_s, service_s).response_s
    two = fork_join_two_s(arrival_per_s, service_s)
    if math.isinf(two):
        return two
    ratio = harmonic(n_servers) / harmonic(2)
    return (ratio + 4 / 11 * (1 - ratio) * arrival_per_s * service_s) * two


def fork_join_bound_s(arrival_per_s: float, service_s: float, n_servers: int) -> float:
    """Upper bound of the mean response of a fork and join over K M/M/1 queues: H_K R_1.

    The responses of the parts are associated, so their maximum is at most that of independent ones.
    """
    Checks().count(n_servers=n_servers).done()
    return harmonic(n_servers) * mm1(arrival_per_s, service_s).response_s
