"""A flash drive's read side fitted to mean responses by queue depth and block size.

Search over numbers of dies and page sizes with a formula for each; then the best few by simulation: the formula is
corrected at the point where it stands by what the simulation gives there, and fitted again, until both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calibrate.fit.cells import Cells, Key
from calibrate.fit.flash_model import FlashShape, flash_of, response_by_formula, responses_by_simulation

Floats = NDArray[np.float64]

DIES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64, 128)
PAGES = (4096, 16384, 65536, 262144)
NAMES = ("read_overhead", "read_latency", "die_read", "interface_rate")

#: Physics: a command costs a processor 0.1 µs to 1 ms, a die reads in 1 µs to 20 ms, wires move 5 MB/s to 64 GB/s.
LOW = np.log([100.0, 100.0, 1_000.0, 0.005])
HIGH = np.log([1e6, 2e7, 2e7, 64.0])
#: What flash drives have, give or take a factor of ten: decides where the evidence is silent.
PRIOR = np.log([5_000.0, 20_000.0, 60_000.0, 2.0])
_PRIOR_SIGMA = np.log(10.0)
_STARTS = ((0.1, 0.5, 0.4), (0.2, 0.1, 0.7))
_N_FINALISTS = 4
#: The formula is no better than this; how well it fits decides nothing finer.
_FORMULA_ERROR = 0.05
_CORRECTIONS = 4
_SMALL_STEP = 0.01
#: A rise of chi² by less than this (95 %, one parameter) does not exclude a number of dies.
_INDISTINCT = 3.84


@dataclass(frozen=True)
class FlashFit:
    """The best shape, the uncertainty of its parameters and how good it is.

    Attributes
    ----------
    shape : FlashShape
    covariance : (4, 4) float
        Of the logarithms of the continuous parameters, scaled by the misfit.
    chi2_by_dies : dict of int to float
        Best chi² of the formula for each number of dies.
    predicted_ns : (n,) float
        By simulation, one for each fitted key.
    has_converged, message
    """

    shape: FlashShape
    covariance: Floats
    chi2_by_dies: dict[int, float]
    keys: tuple[Key, ...]
    predicted_ns: Floats
    chi2: float
    has_converged: bool
    message: str

    @property
    def dies_range(self) -> tuple[int, int]:
        """Fewest and most dies that the evidence does not exclude."""
        best = min(self.chi2_by_dies.values())
        scale = max(best / max(len(self.keys) - 4, 1), 1.0)
        near = [n for n, chi2 in self.chi2_by_dies.items() if chi2 - best < _INDISTINCT * scale]
        return min(near), max(near)


def fit_flash(cells: Cells, *, capacity_bytes: int, seed: int = 0) -> FlashFit:
    """The flash drive behind the read cells.

    Parameters
    ----------
    cells : Cells
        Reads, at least three of them.
    capacity_bytes : int
        Span that the reads were spread over.
    seed : int
        Of the simulated addresses.
    """
    keys = tuple(sorted(key for key in cells if key.op == "read"))
    measured = np.array([cells.expected_ns(key) for key in keys])
    sigma = np.array([cells.sigma_ratio(key) for key in keys])
    fitter = _Fitter(keys, np.log(measured), sigma, capacity_bytes, seed)
    candidates = [fitter.by_formula(n, page) for n in DIES for page in PAGES if page * n * 256 <= capacity_bytes]
    candidates.sort(key=lambda item: item[0])
    chi2_by_dies: dict[int, float] = {}
    for chi2, shape, _ in candidates:
        chi2_by_dies.setdefault(shape.n_dies, chi2)
    results = [fitter.by_simulation(shape) for _, shape, _ in _distinct(candidates)]
    chi2, shape, predicted, steps, settled = min(results, key=lambda item: item[0])
    covariance = fitter.covariance(shape, chi2)
    message = (
        f"formula and simulation agree after {steps} corrections"
        if settled
        else (
            f"formula and simulation still differ after {steps} corrections; measure longer or with more queue depths"
        )
    )
    return FlashFit(shape, covariance, chi2_by_dies, keys, predicted, chi2, settled, message)


def _distinct(candidates: Sequence[tuple[float, FlashShape, int]]) -> list[tuple[float, FlashShape, int]]:
    """The best candidate of each number of dies, the best few of these."""
    chosen: dict[int, tuple[float, FlashShape, int]] = {}
    for item in candidates:
        chosen.setdefault(item[1].n_dies, item)
    return list(chosen.values())[:_N_FINALISTS]


class _Fitter:
    def __init__(self, keys: tuple[Key, ...], log_ns: Floats, sigma: Floats, capacity_bytes: int, seed: int) -> None:
        self.keys, self.log_ns, self.sigma = keys, log_ns, sigma
        self.capacity_bytes, self.seed = capacity_bytes, seed

    def _residuals(self, shape: FlashShape, correction: Floats | None) -> Floats:
        """Misses by their standard errors: of the formula as it is, or with a correction that makes it exact."""
        missed = np.log(response_by_formula(shape, self.keys)) - self.log_ns
        if correction is None:
            return np.asarray(missed / np.hypot(self.sigma, _FORMULA_ERROR))
        return np.asarray((missed + correction) / self.sigma)

    def _solve(self, shape: FlashShape, correction: Floats | None) -> tuple[float, FlashShape, bool]:
        start = np.clip(shape.vector(), LOW + 1e-6, HIGH - 1e-6)

        def misfit(vector: Floats) -> Floats:
            return np.concatenate([self._residuals(shape.at(vector), correction), (vector - PRIOR) / _PRIOR_SIGMA])

        found = least_squares(misfit, start, bounds=(LOW, HIGH), loss="soft_l1", f_scale=2.0, x_scale=0.3, max_nfev=60)
        return 2 * float(found.cost), shape.at(found.x), found.status > 0

    def by_formula(self, n_dies: int, page_bytes: int) -> tuple[float, FlashShape, int]:
        """Best continuous parameters for so many dies and such pages, from several starts."""
        fastest = float(np.exp(self.log_ns.min()))
        rate = max(
            key.length_bytes * key.queue_depth / t for key, t in zip(self.keys, np.exp(self.log_ns), strict=True)
        )
        best: tuple[float, FlashShape, int] | None = None
        for overhead, latency, read in _STARTS:
            shape = FlashShape(
                overhead * fastest, latency * fastest, read * fastest, n_dies, page_bytes, max(1.3 * rate, 0.01)
            )
            chi2, shape, _ = self._solve(shape, None)
            if best is None or chi2 < best[0] - 1e-9:
                best = (chi2, shape, page_bytes)
        assert best is not None
        return best

    def by_simulation(self, shape: FlashShape) -> tuple[float, FlashShape, Floats, int, bool]:
        """Correct the formula by the simulation at its optimum, and fit again, until it stays where it is."""
        best: tuple[float, FlashShape, Floats] | None = None
        settled, steps = False, 0
        while steps < _CORRECTIONS:
            steps += 1
            predicted = simulate_keys(shape, self.keys, self.capacity_bytes, self.seed)
            chi2 = self.chi2(predicted)
            if best is None or chi2 < best[0]:
                best = (chi2, shape, predicted)
            correction = np.log(predicted) - np.log(response_by_formula(shape, self.keys))
            _, moved, _ = self._solve(shape, correction)
            change = np.abs(np.log(response_by_formula(moved, self.keys) / response_by_formula(shape, self.keys)))
            if float(change.max()) < _SMALL_STEP:
                settled = True
                break
            shape = moved
        assert best is not None
        return *best, steps, settled

    def chi2(self, predicted_ns: Floats) -> float:
        """Misfit with the same robust loss as the fit."""
        z = ((np.log(predicted_ns) - self.log_ns) / self.sigma / 2.0) ** 2
        return float(np.sum(4.0 * 2.0 * (np.sqrt(1.0 + z) - 1.0)))

    def covariance(self, shape: FlashShape, chi2: float) -> Floats:
        """Of the logarithms: from the Jacobian and the repetitions' scatter, widened by the misfit."""
        vector = shape.vector()
        columns, zero = [], np.zeros(len(self.keys))
        for i in range(len(vector)):
            step = np.zeros(len(vector))
            step[i] = 1e-3
            up, down = self._residuals(shape.at(vector + step), zero), self._residuals(shape.at(vector - step), zero)
            columns.append((up - down) / 2e-3)
        jacobian = np.stack(columns, axis=1)
        scale = max(chi2 / max(len(self.keys) - len(vector) - 1, 1), 1.0)
        information = jacobian.T @ jacobian / scale + np.eye(len(vector)) / _PRIOR_SIGMA**2
        return np.asarray(np.linalg.inv(information))


def simulate_keys(shape: FlashShape, keys: Sequence[Key], capacity_bytes: int, seed: int) -> Floats:
    """Mean responses in ns of the simulated drive."""
    drive = flash_of(shape, capacity_bytes=capacity_bytes)
    return np.array(
        [responses_by_simulation(drive, key, n_requests=run_length(key, shape), seed=seed).mean() for key in keys]
    )


def run_length(key: Key, shape: FlashShape) -> int:
    """Requests that tell the mean response to a percent or two: more where the queue is long, fewer where one
    request reads many pages."""
    pages = max(key.length_bytes // shape.page_bytes, 1)
    return int(max(min(1600 + 20 * key.queue_depth, 60_000 // pages), 12 * key.queue_depth, 100))
