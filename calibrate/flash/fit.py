"""The read side of a flash drive, fitted to mean responses by queue depth and block size.

Every number of dies and page size is fitted with a formula, which is then corrected by simulation at its optimum; the
best are fitted by simulation. Several of them often fit nearly as well: the draws of the fit represent all that the
evidence allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import Cells, Key
from calibrate.flash.draws import draws_of
from calibrate.flash.model import FlashShape, Simulation, shape_at
from calibrate.flash.search import (
    Candidates,
    Observations,
    by_formula,
    by_simulation,
    candidates_of,
    descend,
    objective_of,
)

#: Numbers of dies that are tried, in steps of at most two: the draws cover what lies between.
DIES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64, 128)
#: Sizes of what a die reads at once that are tried, bytes: pages, and those of several planes.
PAGES = (4096, 16384, 65536, 262144)
NAMES = ("read_overhead", "read_latency", "die_read", "interface_rate")
#: Four times and rates, dies and pages.
N_FREE = len(NAMES) + 2

#: Shares of overhead, latency and read in the fastest response at the start: one where commands overlap, one where the
#: die dominates.
_STARTS = ((0.1, 0.5, 0.4), (0.2, 0.1, 0.7))
#: Relative error of the formula. It only ranks candidates; at half, good ones are dropped for its errors.
_FORMULA_ERROR = 0.05
#: Times that the formula is corrected by simulation.
_CORRECTIONS = 2
#: Candidates fitted by simulation. Half may miss the best; double takes twice the time.
_N_FINALISTS = 14
#: Objective above the best up to which candidates become finalists: simulation changes it by some tens.
_WITHIN = 50.0
#: Requests of the runs that compare drives (they share addresses), and of those that predict responses.
_SHORT, LONG = 400, 12_000


@dataclass(frozen=True)
class FlashFit:
    """The best shape, its misfit, and draws of what else it may be.

    Attributes
    ----------
    shape : FlashShape
    predicted_ns : (n,) float
        By simulation, one for each fitted key.
    chi2 : float
    has_converged, message
    """

    shape: FlashShape
    keys: tuple[Key, ...]
    predicted_ns: Floats
    chi2: float
    has_converged: bool
    message: str
    _draw: Callable[[], tuple[FlashShape, ...]] = field(repr=False)

    @cached_property
    def draws(self) -> tuple[FlashShape, ...]:
        """Equally likely drives that the evidence allows.

        They take as long to find as the fit, and nobody asks for them where another model describes the drive.
        """
        return self._draw()

    @property
    def dies_range(self) -> tuple[int, int]:
        """Return the fewest and most dies that the evidence allows (95 % of the draws)."""
        dies = np.sort([shape.n_dies for shape in (self.shape, *self.draws)])
        cut = round(0.025 * len(dies))
        return min(int(dies[cut]), self.shape.n_dies), max(int(dies[len(dies) - 1 - cut]), self.shape.n_dies)

    @property
    def relative_errors(self) -> Floats:
        """Return the standard deviations of the draws' logarithms: overhead, latency, read and interface."""
        apart = np.array([draw.vector() for draw in self.draws]) - self.shape.vector()
        return np.asarray(np.sqrt(np.mean(apart**2, axis=0)))


def fit_flash(cells: Cells, *, capacity_bytes: int, seed: int = 0) -> FlashFit:
    """Fit the flash drive behind the read cells.

    Parameters
    ----------
    cells : Cells
        Reads, at least three of them.
    capacity_bytes : int
        Span that the reads were spread over.
    seed : int
        Of the simulated addresses and of the draws.
    """
    keys = tuple(sorted(key for key in cells if key.op == "read"))
    log_ns = np.log([cells.expected_ns(key) for key in keys])
    host_ns = cells.host_ns(keys)
    evidence = Observations(keys, log_ns, np.array([cells.sigma_ratio(key) for key in keys]), host_ns)
    short = Simulation(keys, span_bytes=capacity_bytes, seed=seed, n_requests=_SHORT, host_ns=host_ns)
    candidates = _searched(evidence, short, capacity_bytes).best(_N_FINALISTS, _WITHIN)
    # short runs compare drives; a long run at the same place gives their bias
    long = Simulation(keys, span_bytes=capacity_bytes, seed=seed + 1, n_requests=LONG, host_ns=host_ns)
    here = np.arange(len(candidates))
    bias = by_simulation(long, candidates)(candidates.places, here) - candidates.predicted
    predict = by_simulation(short, candidates, bias)
    fitted = descend(evidence, candidates, predict, n_steps=20, difference=0.04, tolerance=0.05)
    best = int(np.argmin(fitted.objective))
    chi2 = float(evidence.chi2(fitted.predicted[best]))
    scale = max(chi2 / max(len(keys) - N_FREE, 1), 1.0)
    has_settled = bool(fitted.is_settled[best])
    return FlashFit(
        shape=shape_at(fitted.places[best], fitted.n_dies[best], fitted.page_bytes[best]),
        keys=keys,
        predicted_ns=np.exp(fitted.predicted[best]),
        chi2=chi2,
        has_converged=has_settled,
        message="least squares by simulation converged"
        if has_settled
        else "least squares by simulation did not converge; measure longer or with more queue depths",
        _draw=partial(draws_of, evidence, fitted, predict, scale=scale, seed=seed + 2),
    )


def _searched(evidence: Observations, simulation: Simulation, capacity_bytes: int) -> Candidates:
    """Return every number of dies and page size at the least squares of the corrected formula, simulated there."""
    pairs = [(n, page) for n in DIES for page in PAGES if page * n * 256 <= capacity_bytes]
    loose = replace(evidence, sigma=np.hypot(evidence.sigma, _FORMULA_ERROR))
    found = None
    for place in _starts(evidence):
        candidates = candidates_of(pairs, place, len(evidence.keys))
        candidates = descend(
            loose, candidates, by_formula(loose, candidates), n_steps=25, difference=0.02, tolerance=1e-3
        )
        found = candidates if found is None else _better(found, candidates)
    assert found is not None
    best = _simulated(evidence, simulation, found)
    last = best
    for _ in range(_CORRECTIONS):
        correction = last.predicted - by_formula(evidence, last)(last.places, np.arange(len(last)))
        moved = descend(
            evidence, last, by_formula(evidence, last, correction), n_steps=25, difference=0.02, tolerance=1e-3
        )
        last = _simulated(evidence, simulation, moved)
        best = _better(best, last)
    return best


def _starts(evidence: Observations) -> list[Floats]:
    fastest = float(np.exp(evidence.log_ns.min()))
    rates = [
        key.length_bytes * key.queue_depth / np.exp(log_ns)
        for key, log_ns in zip(evidence.keys, evidence.log_ns, strict=True)
    ]
    rate = max(1.3 * float(max(rates)), 0.01)
    return [
        FlashShape(overhead * fastest, latency * fastest, read * fastest, 1, 4096, rate).place()
        for overhead, latency, read in _STARTS
    ]


def _simulated(evidence: Observations, simulation: Simulation, candidates: Candidates) -> Candidates:
    predicted = by_simulation(simulation, candidates)(candidates.places, np.arange(len(candidates)))
    objective = objective_of(evidence, candidates.places, candidates.page_bytes, predicted)
    return replace(candidates, predicted=predicted, objective=objective)


def _better(one: Candidates, other: Candidates) -> Candidates:
    """Return the better of each pair of candidates."""
    is_other = other.objective < one.objective
    return replace(
        one,
        places=np.where(is_other[:, np.newaxis], other.places, one.places),
        objective=np.where(is_other, other.objective, one.objective),
        predicted=np.where(is_other[:, np.newaxis], other.predicted, one.predicted),
    )
