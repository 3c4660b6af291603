"""A virtual disk: one server that processes all waiting commands and then answers them together.

A thread of the host wakes up, takes the waiting commands, moves the data of one after the other, mostly to and from the
host's memory, and notifies the guest once. So `n` clients with one request outstanding each wait for one wake-up and
for `n` commands, whatever the depth::

    response = wake + n · (share of reads · (overhead + bytes / rate)_read + the same of writes)

This is exact for rules V1 to V4 and linear in its five parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.optimize import least_squares

from calibrate.arrays import Floats
from calibrate.evidence import Cells, Key

NAMES = ("wake", "read_overhead", "read_copy", "write_overhead", "write_copy")
#: Logarithms of the limits: a host wakes in 0.1 µs to 10 ms, a command costs 10 ns to 1 ms, a byte 1/200 to 1000 ns
#: (200 GB/s to 1 MB/s).
LOW = np.log([100.0, 10.0, 0.005, 10.0, 0.005])
HIGH = np.log([1e7, 1e6, 1000.0, 1e6, 1000.0])
#: Logarithms of typical values (20 µs, 5 µs, 3 GB/s), a factor of ten wide: they decide only where the evidence
#: cannot.
PRIOR = np.log([20_000.0, 5_000.0, 0.3, 5_000.0, 0.3])
_PRIOR_SIGMA = np.log(10.0)
#: Relative error of the model: no disk is so simple, and how well it fits decides nothing finer. At half, parallel
#: dies are preferred for small misfits; at double, real ones go unnoticed.
MODEL_ERROR = 0.03
#: Residuals that the errors of the input are worth when the scatter is estimated. At 0 an exact fit of few conditions
#: would report no uncertainty.
_PRIOR_WEIGHT = 1.0
#: Largest requests that show wake-up times, bytes: hosts split larger ones, and they wait for places in the ring
#: between host and guest.
MAX_WAKE_BYTES = 16384
#: Wake-up times in a profile; rare long ones are in the last of them.
N_WAKE_TIMES = 256


@dataclass(frozen=True)
class ServerShape:
    """Times in ns; the copies in ns per byte; `wake_table_ns` are equally likely wake-up times of mean `wake_ns`."""

    wake_ns: float
    read_overhead_ns: float
    read_copy_ns: float
    write_overhead_ns: float
    write_copy_ns: float
    wake_table_ns: tuple[float, ...] = ()

    def vector(self) -> Floats:
        """Return logarithms of the five parameters in the order of `NAMES`."""
        return np.log(
            [self.wake_ns, self.read_overhead_ns, self.read_copy_ns, self.write_overhead_ns, self.write_copy_ns]
        )

    def response_ns(self, keys: Sequence[Key], host_ns: Floats | float = 0.0) -> Floats:
        """Return the mean response of a closed loop, one per key, behind a host that takes `host_ns` a request."""
        depth = np.array([key.queue_depth for key in keys], np.float64)
        return np.asarray(np.maximum(self.wake_ns + host_ns + depth * self.command_ns(keys), depth * host_ns))

    def command_ns(self, keys: Sequence[Key]) -> Floats:
        """Return what one command costs the server on average."""
        length = np.array([key.length_bytes for key in keys], np.float64)
        reads = np.array([key.read_ratio for key in keys])
        read = self.read_overhead_ns + length * self.read_copy_ns
        write = self.write_overhead_ns + length * self.write_copy_ns
        return np.asarray(reads * read + (1.0 - reads) * write)


def shape_at(vector: Floats) -> ServerShape:
    """Return the shape whose parameters have these logarithms."""
    wake, read_overhead, read_copy, write_overhead, write_copy = (float(v) for v in np.exp(vector))
    return ServerShape(wake, read_overhead, read_copy, write_overhead, write_copy)


@dataclass(frozen=True)
class ServerFit:
    """The best shape and its misfit.

    Attributes
    ----------
    shape : ServerShape
    covariance : (5, 5) float
        Of the logarithms, widened by the misfit.
    keys : tuple of Key
    predicted_ns : (n,) float
        One for each key.
    chi2 : float
    has_writes : bool
        Whether the evidence has writes; if not, they are assumed to cost what reads do.
    has_converged, message
    """

    shape: ServerShape
    covariance: Floats
    keys: tuple[Key, ...]
    predicted_ns: Floats
    chi2: float
    has_writes: bool
    has_converged: bool
    message: str


def fit_single_server(cells: Cells) -> ServerFit:
    """Fit the server to cells of reads, writes and mixes; cells with single responses give the table of wake-ups."""
    keys = tuple(sorted(cells))
    measured = np.log([cells.expected_ns(key) for key in keys])
    sigma = np.hypot([cells.sigma_ratio(key) for key in keys], MODEL_ERROR)
    has_writes = any(key.read_ratio < 1.0 for key in keys)
    host_ns = cells.host_ns(keys)

    def residuals(vector: Floats) -> Floats:
        return np.asarray((np.log(shape_at(vector).response_ns(keys, host_ns)) - measured) / sigma)

    def misfit(vector: Floats) -> Floats:
        # writes that were not measured follow the reads; either way the prior decides nothing that was measured
        likely = PRIOR if has_writes else np.concatenate([PRIOR[:3], vector[1:3]])
        return np.concatenate([residuals(vector), (vector - likely) / _PRIOR_SIGMA])

    found = least_squares(
        misfit, PRIOR.copy(), bounds=(LOW, HIGH), loss="soft_l1", f_scale=2.0, x_scale=0.3, max_nfev=400
    )
    shape = shape_at(found.x)
    chi2 = robust_chi2(residuals(found.x))
    covariance = _covariance(misfit, found.x, residuals(found.x))
    predicted = shape.response_ns(keys, host_ns)
    shape = replace(shape, wake_table_ns=wake_table(cells, shape))
    message = "least squares converged" if found.status > 0 else f"least squares did not converge: {found.message}"
    return ServerFit(shape, covariance, keys, predicted, chi2, has_writes, found.status > 0, message)


def robust_chi2(residuals: Floats) -> float:
    """Return the sum of squares in which residuals beyond two standard errors count less (soft l1)."""
    return float(np.sum(8.0 * (np.sqrt(1.0 + (residuals / 2.0) ** 2) - 1.0)))


def _covariance(misfit: Callable[[Floats], Floats], vector: Floats, residuals: Floats) -> Floats:
    """Return the covariance of the logarithms, from the Jacobian and the scatter of the residuals.

    The errors of the input are only weights: the residuals show how far the evidence scatters about the model, noise
    and misfit together. With few residuals the errors of the input count too.
    """
    columns = []
    for i in range(len(vector)):
        step = np.zeros(len(vector))
        step[i] = 1e-3
        columns.append((misfit(vector + step) - misfit(vector - step)) / 2e-3)
    jacobian = np.stack(columns, axis=1)
    n = len(residuals)
    n_free = 5 if n > 5 and np.linalg.matrix_rank(jacobian[:n]) == 5 else 3
    scale = (float(np.sum(residuals**2)) + _PRIOR_WEIGHT) / (max(n - n_free, 0) + _PRIOR_WEIGHT)
    # the priors are the last rows: the scatter of the evidence does not widen them
    jacobian[:n] /= np.sqrt(scale)
    return np.asarray(np.linalg.inv(jacobian.T @ jacobian))


def wake_table(cells: Cells, shape: ServerShape) -> tuple[float, ...]:
    """Return equally likely wake-up times: the time of small reads beyond the commands' own cost, each batch counted
    once.

    Their mean is the fitted one, from the mean responses; the single responses give the form.
    """
    beyond, weights = [], []
    for key, cell in cells.items():
        if key.op != "read" or key.is_sequential or key.length_bytes > MAX_WAKE_BYTES:
            continue
        cost = key.queue_depth * float(shape.command_ns([key])[0])
        for latency in cell.latency_ns:
            beyond.append(np.maximum(latency - cost, 0.0))
            weights.append(np.full(len(latency), 1.0 / (key.queue_depth * len(latency))))
    if not beyond:
        return ()
    unsorted, shares = np.concatenate(beyond), np.concatenate(weights)
    total, order = shares.sum(), np.argsort(unsorted)
    values, shares = unsorted[order], shares[order]
    ranks = (np.cumsum(shares) - 0.5 * shares) / total
    # a mean over each 1/n of the ranks, not the value in its middle: rare long waits are most of the mean
    edges = np.searchsorted(ranks, np.arange(N_WAKE_TIMES + 1) / N_WAKE_TIMES)
    table = np.interp((np.arange(N_WAKE_TIMES) + 0.5) / N_WAKE_TIMES, ranks, values)
    for i, (low, high) in enumerate(pairwise(edges)):
        if high > low:
            table[i] = np.average(values[low:high], weights=shares[low:high])
    mean = float(table.mean())
    return tuple(np.sort(table * (shape.wake_ns / mean)).tolist()) if mean > 0 else ()
