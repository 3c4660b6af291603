"""Closed networks with a fixed number of requests: exact mean value analysis and asymptotic bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskmodel.analytic.checks import Checks
from diskmodel.loading import dataclass


@dataclass(frozen=True)
class ClosedNetwork:
    """Steady state of a closed network.

    Attributes
    ----------
    throughput_per_s : float
        Requests completed per second by the whole network.
    response_s : float
        Mean time of a request in the stations, without the delay.
    queue_lengths : float64, shape (n_stations,)
    utilization_ratios : float64, shape (n_stations,)
    """

    throughput_per_s: float
    response_s: float
    queue_lengths: NDArray[np.float64]
    utilization_ratios: NDArray[np.float64]


def mean_value_analysis(demands_s: Sequence[float], n_clients: int, think_s: float = 0.0) -> ClosedNetwork:
    """Exact mean value analysis of one class over single-server stations and a delay.

    Parameters
    ----------
    demands_s : sequence of float, seconds, shape (n_stations,)
        Service demand of a request at each station: visits times service time.
    n_clients : int
        Requests that circulate.
    think_s : float, seconds
        Delay between the end of a request and the next.

    Notes
    -----
    R_k(n) = D_k (1 + Q_k(n-1)); X(n) = n / (Z + Σ R_k(n)); Q_k(n) = X(n) R_k(n). Exact for exponential FCFS
    stations and for processor sharing with any service time; with less variable service times the true throughput
    is higher.

    References
    ----------
    M. Reiser, S. S. Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 27(2), 1980.

    Examples
    --------
    >>> mean_value_analysis([0.01, 0.01], 2).throughput_per_s
    66.66666666666667
    """
    checks = Checks().count(n_clients=n_clients).not_negative(think_s=think_s)
    for index, demand in enumerate(demands_s):
        checks.not_negative(**{f"demands_s[{index}]": demand})
    if not demands_s or sum(demands_s) + think_s <= 0:
        checks.fault("demands_s", list(demands_s), "must have a station with work", "give a demand above 0")
    checks.done()
    demands = np.asarray(demands_s, dtype=np.float64)
    lengths = np.zeros_like(demands)
    throughput, responses = 0.0, demands
    for n in range(1, n_clients + 1):
        responses = demands * (1 + lengths)
        throughput = n / (think_s + float(responses.sum()))
        lengths = throughput * responses
    return ClosedNetwork(throughput, float(responses.sum()), lengths, throughput * demands)


@dataclass(frozen=True)
class Bounds:
    """Bounds that apply to all distributions.

    Attributes
    ----------
    throughput_low_per_s, throughput_high_per_s : float
    response_low_s : float, seconds
    knee_clients : float
        Number of clients at which the bottleneck could be saturated.
    """

    throughput_low_per_s: float
    throughput_high_per_s: float
    response_low_s: float
    knee_clients: float


def asymptotic_bounds(demands_s: Sequence[float], n_clients: int, think_s: float = 0.0) -> Bounds:
    """Asymptotic bounds of a closed network: N/(N D + Z) <= X <= min(1/D_max, N/(D + Z)); R >= max(D, N D_max - Z).

    References
    ----------
    E. D. Lazowska et al., *Quantitative System Performance*, 1984, chapter 5.

    Examples
    --------
    >>> asymptotic_bounds([0.004, 0.006], 1).throughput_high_per_s
    100.0
    """
    checks = Checks().count(n_clients=n_clients).not_negative(think_s=think_s)
    if not demands_s or min(demands_s) < 0 or max(demands_s) <= 0:
        checks.fault("demands_s", list(demands_s), "must be 0 or above with one above 0", "check the demands")
    checks.done()
    total, largest = sum(demands_s), max(demands_s)
    return Bounds(
        n_clients / (n_clients * total + think_s),
        min(1 / largest, n_clients / (total + think_s)),
        max(total, n_clients * largest - think_s),
        (total + think_s) / largest,
    )
