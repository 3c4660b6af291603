"""Open queues with one stream of Poisson arrivals: M/M/1, M/D/1, M/G/1, M/M/c."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from diskmodel.analytic.checks import Checks
from diskmodel.loading import dataclass
from diskmodel.roots import find_root


@dataclass(frozen=True)
class OpenQueue:
    """Steady state of an open queue.

    Attributes
    ----------
    arrival_per_s : float
    utilization_ratio : float
        Offered load per server; 1 or more: the queue is not stable.
    service_s, service_variance_s2 : float
        Mean and variance of the service time.
    wait_s, wait_variance_s2 : float
        Mean and variance of the wait; infinite when the queue is not stable, the variance nan when it needs a moment
        that was not given.
    wait_share : float, in [0, 1]
        Share of the requests that wait at all.
    """

    arrival_per_s: float
    utilization_ratio: float
    service_s: float
    service_variance_s2: float
    wait_s: float
    wait_variance_s2: float
    wait_share: float

    @property
    def is_stable(self) -> bool:
        """Whether work arrives more slowly than it can be served."""
        return self.utilization_ratio < 1

    @property
    def response_s(self) -> float:
        """Mean response: wait and service."""
        return self.wait_s + self.service_s

    @property
    def response_variance_s2(self) -> float:
        """Variance of the response."""
        return self.wait_variance_s2 + self.service_variance_s2

    @property
    def queue_length(self) -> float:
        """Mean number waiting or in service, by Little's law."""
        return self.arrival_per_s * self.response_s

    def percentile_s(self, share: float) -> float:
        """Return the response time that a `share` of the requests stay below.

        Parameters
        ----------
        share : float, in (0, 1)

        Notes
        -----
        The wait of those that wait and the service are taken as gamma distributed with their two moments, and
        independent. Exact for M/M/1 and M/M/c under FCFS (to a thousandth); within 5 % at p99 for constant and
        uniform service.
        """
        checks = Checks()
        if not 0 < share < 1:
            checks.fault("share", share, "must be between 0 and 1", "write p99 as 0.99")
        if math.isnan(self.wait_variance_s2):
            checks.fault("third_moment_s3", None, "is required for percentiles", "pass the third moment to mg1")
        checks.done()
        if not self.is_stable:
            return math.inf
        waits = self._waits()

        def below(time: float) -> float:
            without, with_wait = self._served(time), float(np.mean(self._served(time - waits)))
            return float((1 - self.wait_share) * without + self.wait_share * with_wait) - share

        high = self.response_s
        while below(high) < 0:
            high *= 2
        return find_root(below, 0.0, high, xtol=1e-9 * high, rtol=1e-9)

    def _waits(self) -> NDArray[np.float64]:
        """Return quantiles of the wait of those that wait, at the midpoints of 1000 equal shares."""
        mean = self.wait_s / self.wait_share if self.wait_share else 0.0
        if mean == 0:
            return np.zeros(1)
        variance = (self.wait_variance_s2 + self.wait_s**2) / self.wait_share - mean**2
        shares = (np.arange(1000) + 0.5) / 1000
        shape = mean**2 / max(variance, 1e-12 * mean**2)
        return np.asarray(special.gammaincinv(shape, shares) * mean / shape)

    def _served(self, time: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of service times of at most `time`."""
        if self.service_variance_s2 <= 1e-12 * self.service_s**2:
            return np.asarray(np.asarray(time) >= self.service_s, dtype=np.float64)
        shape = self.service_s**2 / self.service_variance_s2
        return np.asarray(special.gammainc(shape, np.maximum(time, 0.0) * shape / self.service_s))


def mm1(arrival_per_s: float, service_s: float) -> OpenQueue:
    """M/M/1: R = S / (1 - ρ), exponentially distributed under FCFS.

    References
    ----------
    L. Kleinrock, *Queueing Systems* I, 1975, section 3.2.

    Examples
    --------
    >>> mm1(100, 0.005).response_s
    0.01
    """
    return mg1(arrival_per_s, service_s, 2 * service_s**2, 6 * service_s**3)


def md1(arrival_per_s: float, service_s: float) -> OpenQueue:
    """M/D/1: W = ρ S / (2 (1 - ρ)).

    Examples
    --------
    >>> md1(100, 0.005).wait_s
    0.0025
    """
    return mg1(arrival_per_s, service_s, service_s**2, service_s**3)


def mg1(
    arrival_per_s: float, service_s: float, second_moment_s2: float, third_moment_s3: float | None = None
) -> OpenQueue:
    """M/G/1 under FCFS, after Pollaczek and Khinchine: W = λ E[S²] / (2 (1 - ρ)).

    Parameters
    ----------
    arrival_per_s : float
    service_s, second_moment_s2, third_moment_s3 : float
        E[S], E[S²], E[S³]; the third is only needed for the variance of the response.

    Notes
    -----
    Var[W] = W² + λ E[S³] / (3 (1 - ρ)) (Takács). The mean holds for every order of service that does not look at
    service times; an elevator does, and does better.

    References
    ----------
    L. Kleinrock, *Queueing Systems* I, 1975, section 5.6; L. Takács, *Operations Research* 10(1), 1962.
    """
    checks = Checks().not_negative(arrival_per_s=arrival_per_s).positive(service_s=service_s)
    if second_moment_s2 < service_s**2 * (1 - 1e-9):
        checks.fault("second_moment_s2", second_moment_s2, "must be at least the square of the mean", "check the unit")
    checks.done()
    utilization = arrival_per_s * service_s
    spread = max(second_moment_s2 - service_s**2, 0.0)
    if utilization >= 1:
        return OpenQueue(arrival_per_s, utilization, service_s, spread, math.inf, math.inf, 1.0)
    wait = arrival_per_s * second_moment_s2 / (2 * (1 - utilization))
    variance = math.nan
    if third_moment_s3 is not None:
        variance = wait**2 + arrival_per_s * third_moment_s3 / (3 * (1 - utilization))
    return OpenQueue(arrival_per_s, utilization, service_s, spread, wait, variance, utilization)


def erlang_c(n_servers: int, offered_load: float) -> float:
    """Probability that an arrival to M/M/c has to wait.

    Parameters
    ----------
    n_servers : int
    offered_load : float
        λ S, in erlangs; at `n_servers` and above the answer is 1.

    Notes
    -----
    By Erlang's recursion for the loss probability, B(k) = a B(k-1) / (k + a B(k-1)), which does not overflow;
    C = B / (1 - (a/c) (1 - B)).

    Examples
    --------
    >>> round(erlang_c(2, 1.0), 6)
    0.333333
    """
    Checks().count(n_servers=n_servers).not_negative(offered_load=offered_load).done()
    if offered_load >= n_servers:
        return 1.0
    loss = 1.0
    for k in range(1, n_servers + 1):
        loss = offered_load * loss / (k + offered_load * loss)
    return loss / (1 - offered_load / n_servers * (1 - loss))


def mmc(arrival_per_s: float, service_s: float, n_servers: int) -> OpenQueue:
    """M/M/c with one queue: W = C(c, a) S / (c - a).

    References
    ----------
    L. Kleinrock, *Queueing Systems* I, 1975, section 3.5.
    """
    Checks().not_negative(arrival_per_s=arrival_per_s).positive(service_s=service_s).count(n_servers=n_servers).done()
    load = arrival_per_s * service_s
    if load >= n_servers:
        return OpenQueue(arrival_per_s, load / n_servers, service_s, service_s**2, math.inf, math.inf, 1.0)
    waits = erlang_c(n_servers, load)
    drain_s = service_s / (n_servers - load)
    variance = waits * (2 - waits) * drain_s**2
    return OpenQueue(arrival_per_s, load / n_servers, service_s, service_s**2, waits * drain_s, variance, waits)


def vacation_wait_s(
    arrival_per_s: float, service_s: float, second_moment_s2: float, vacation_s: float, vacation_second_moment_s2: float
) -> float:
    """Mean wait at a disk that rebuilds whenever it is idle: M/G/1 with server vacations.

    Parameters
    ----------
    arrival_per_s, service_s, second_moment_s2 : float
        Host traffic of the disk.
    vacation_s, vacation_second_moment_s2 : float
        E[V] and E[V²] of one rebuild read or write, which is not interrupted.

    Notes
    -----
    W = λ E[S²] / (2 (1 - ρ)) + E[V²] / (2 E[V]).

    References
    ----------
    A. Thomasian, J. Menon, "RAID5 performance with distributed sparing", IEEE TPDS 8(6), 1997.
    """
    Checks().positive(vacation_s=vacation_s, vacation_second_moment_s2=vacation_second_moment_s2).done()
    host = mg1(arrival_per_s, service_s, second_moment_s2)
    return host.wait_s + vacation_second_moment_s2 / (2 * vacation_s)
