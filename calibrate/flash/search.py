"""Least squares for many drives at once: the search over numbers of dies and page sizes, by formula and by simulation.

Levenberg and Marquardt's method, each step taken for all drives together: a formula answers for hundreds of drives in
the time that it takes for one.

References
----------
D. Marquardt, *An algorithm for least-squares estimation of nonlinear parameters*, J. SIAM 11(2), 1963.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from calibrate.arrays import Flags, Floats, Ints
from calibrate.evidence import Key
from calibrate.flash.model import Simulation, responses_at, shape_at, vectors_at

#: Logarithms of responses (m, n) at places (m, 4) of the drives with these indices (m,).
Predict = Callable[[Floats, Ints], Floats]

#: Logarithms of typical overhead (5 µs), latency (20 µs), die read (60 µs) and interface (2 bytes/ns), a factor of ten
#: wide: they decide only where the evidence cannot. Half or double moves such a parameter by less than a tenth of its
#: prior's width.
PRIOR = np.log([5_000.0, 20_000.0, 60_000.0, 2.0])
PRIOR_SIGMA = float(np.log(10.0))
#: Typical page, bytes, and the width of its prior as a factor: pages of flash are 4 to 16 KiB, and up to four planes
#: read theirs together.
_PAGE_BYTES, _PAGE_FACTOR = 16_384.0, 4.0
#: Residuals beyond this many standard errors count less than their squares (soft l1). At 1 the fit ignores real
#: misfits; at 4 one disturbed mean decides.
_ROBUST = 2.0
#: Longest step in a coordinate (a factor of 4.5), and the damping at which a candidate is given up.
_MAX_STEP, _MAX_DAMPING = 1.5, 1e4


@dataclass(frozen=True)
class Observations:
    """Mean responses that drives are fitted to.

    Attributes
    ----------
    keys : tuple of Key, length n
    log_ns, sigma : (n,) float
        Logarithms of mean responses in ns, and their standard errors.
    host_ns : (n,) float
        The host's processor time for a request, which is not the drive's.
    """

    keys: tuple[Key, ...]
    log_ns: Floats
    sigma: Floats
    host_ns: Floats

    def misses(self, predicted: Floats) -> Floats:
        """Return residuals in units of their standard errors."""
        return np.asarray((predicted - self.log_ns) / self.sigma)

    def chi2(self, predicted: Floats) -> Floats:
        """Return sums of squares in which residuals beyond `_ROBUST` standard errors count less."""
        return np.asarray(np.sum(2.0 * _ROBUST**2 * (np.sqrt(1.0 + (self.misses(predicted) / _ROBUST) ** 2) - 1.0), -1))

    def weights(self, predicted: Floats) -> Floats:
        """Return the weight of each residual's square."""
        return np.asarray(1.0 / np.sqrt(1.0 + (self.misses(predicted) / _ROBUST) ** 2))


@dataclass(frozen=True)
class Candidates:
    """Drives that are fitted together, m of them.

    Attributes
    ----------
    n_dies, page_bytes : (m,) int64
    places : (m, 4) float
        See `FlashShape.place`.
    objective : (m,) float
        Chi² and what the priors add.
    predicted : (m, n) float
        Logarithms of responses.
    slopes : (m, n, 4) float
        Of these by place.
    is_settled : (m,) bool
        Whether the next step would have gained almost nothing.
    """

    n_dies: Ints
    page_bytes: Ints
    places: Floats
    objective: Floats
    predicted: Floats
    slopes: Floats
    is_settled: Flags

    def __len__(self) -> int:
        return len(self.n_dies)

    def best(self, n: int, within: float) -> Candidates:
        """Return at most `n` of the best, with objectives at most `within` above the lowest."""
        order = np.argsort(self.objective, kind="stable")[:n]
        return self.at(order[self.objective[order] <= self.objective[order[0]] + within])

    def at(self, chosen: Ints) -> Candidates:
        """Return those with these indices."""
        return Candidates(*(getattr(self, field.name)[chosen] for field in fields(self)))


def prior_misses(places: Floats) -> Floats:
    """Return how far times and rates are from typical ones, in standard deviations of the prior."""
    return np.asarray((vectors_at(places) - PRIOR) / PRIOR_SIGMA)


def prior_chi2(places: Floats, page_bytes: Ints) -> Floats:
    """Return the sums of squares of all priors' residuals."""
    of_page = np.log(page_bytes / _PAGE_BYTES) / np.log(_PAGE_FACTOR)
    return np.asarray(np.sum(prior_misses(places) ** 2, axis=-1) + of_page**2)


def descend(
    evidence: Observations, start: Candidates, predict: Predict, *, n_steps: int, difference: float, tolerance: float
) -> Candidates:
    """Return every candidate at its lowest objective, or where `n_steps` lead.

    Parameters
    ----------
    evidence : Observations
    start : Candidates
        Where to begin; only dies, pages and places count.
    predict : function
    n_steps : int
    difference : float
        For slopes, in units of the places.
    tolerance : float
        An improvement of the objective that is not worth a further step.
    """
    m = len(start)
    places, predicted = start.places.copy(), predict(start.places, np.arange(m))
    slopes = np.zeros((m, len(evidence.keys), 4))
    objective = objective_of(evidence, places, start.page_bytes, predicted)
    damping = np.full(m, 1e-2)
    is_active, is_moved = np.ones(m, bool), np.ones(m, bool)
    for _ in range(n_steps):
        active = np.flatnonzero(is_active)
        if not len(active):
            break
        moved = np.flatnonzero(is_active & is_moved)
        slopes[moved] = _slopes(predict, places[moved], predicted[moved], moved, difference)
        is_moved[moved] = False
        step, gain = _step(evidence, places[active], predicted[active], slopes[active], damping[active])
        tried = places[active] + step
        answer = predict(tried, active)
        value = objective_of(evidence, tried, start.page_bytes[active], answer)
        is_better = value < objective[active]
        small = np.where(is_better, objective[active] - value, gain) < tolerance
        better, worse = active[is_better], active[~is_better]
        places[better], predicted[better], objective[better] = tried[is_better], answer[is_better], value[is_better]
        is_moved[better] = True
        damping[better] = np.maximum(damping[better] / 5.0, 1e-4)
        damping[worse] *= 8.0
        is_active[active[small]] = False
        is_active[damping > _MAX_DAMPING] = False
    return Candidates(start.n_dies, start.page_bytes, places, objective, predicted, slopes, ~is_active)


def objective_of(evidence: Observations, places: Floats, page_bytes: Ints, predicted: Floats) -> Floats:
    """Return what is minimized: chi² and the contribution of the priors."""
    return np.asarray(evidence.chi2(predicted) + prior_chi2(places, page_bytes))


def _slopes(predict: Predict, places: Floats, predicted: Floats, which: Ints, difference: float) -> Floats:
    if not len(which):
        return np.zeros((0, predicted.shape[1], 4))
    tried = (places[:, np.newaxis, :] + difference * np.eye(4)).reshape(-1, 4)
    answer = predict(tried, np.repeat(which, 4)).reshape(len(which), 4, -1)
    return np.asarray(np.moveaxis(answer - predicted[:, np.newaxis, :], 1, 2) / difference)


def _step(
    evidence: Observations, places: Floats, predicted: Floats, slopes: Floats, damping: Floats
) -> tuple[Floats, Floats]:
    """Return the damped step of each candidate, and the expected gain in the objective."""
    information = information_at(evidence, places, predicted, slopes)
    by_sigma = slopes / evidence.sigma[:, np.newaxis]
    misses = evidence.misses(predicted) * evidence.weights(predicted)
    gradient = np.einsum("mki,mk->mi", by_sigma, misses)
    gradient += np.einsum("mki,mk->mi", _prior_slopes(places), prior_misses(places))
    diagonal = np.einsum("mii->mi", information)
    damped = information + (damping[:, np.newaxis] * diagonal)[:, :, np.newaxis] * np.eye(4)
    step = -np.linalg.solve(damped, gradient[..., np.newaxis])[..., 0]
    step = np.clip(step, -_MAX_STEP, _MAX_STEP)
    return step, -np.einsum("mi,mi->m", step, gradient)


def information_at(
    evidence: Observations, places: Floats, predicted: Floats, slopes: Floats, scale: float = 1.0
) -> Floats:
    """Return inverse covariances (m, 4, 4) of the places, from the evidence and the priors.

    `scale` is a factor on the variances of the evidence.
    """
    by_sigma = slopes / evidence.sigma[:, np.newaxis]
    of_evidence = np.einsum("mki,mk,mkj->mij", by_sigma, evidence.weights(predicted), by_sigma)
    of_priors = np.einsum("mki,mkj->mij", _prior_slopes(places), _prior_slopes(places))
    return np.asarray(of_evidence / scale + of_priors)


def _prior_slopes(places: Floats) -> Floats:
    """Return the derivatives of the priors' residuals by place, (m, 4, 4)."""
    of_besides = 1.0 / (1.0 + np.exp(-np.clip(places[:, 1], -50.0, 50.0)))
    of_overhead = 1.0 / (1.0 + np.exp(-np.clip(places[:, 2], -50.0, 50.0)))
    found = np.zeros((len(places), 4, 4))
    found[:, :3, 0] = 1.0
    found[:, :2, 1] = (1.0 - of_besides)[:, np.newaxis]
    found[:, 2, 1] = -of_besides
    found[:, 0, 2] = 1.0 - of_overhead
    found[:, 1, 2] = -of_overhead
    found[:, 3, 3] = 1.0
    return found / PRIOR_SIGMA


def by_formula(evidence: Observations, candidates: Candidates, correction: Floats | float = 0.0) -> Predict:
    """Return a function for logarithms of responses by formula, with a correction (m, n) per candidate."""
    corrections = np.broadcast_to(correction, (len(candidates), len(evidence.keys)))

    def predict(places: Floats, which: Ints) -> Floats:
        dies, pages = candidates.n_dies[which], candidates.page_bytes[which]
        responses = responses_at(places, dies, pages, evidence.keys, evidence.host_ns)
        return np.asarray(np.log(responses) + corrections[which])

    return predict


def by_simulation(simulation: Simulation, candidates: Candidates, correction: Floats | float = 0.0) -> Predict:
    """Return the same function by simulation."""
    corrections = np.broadcast_to(correction, (len(candidates), len(simulation.keys)))

    def predict(places: Floats, which: Ints) -> Floats:
        shapes = zip(places, candidates.n_dies[which], candidates.page_bytes[which], strict=True)
        return np.asarray(np.array([simulation.log_ns(shape_at(*shape)) for shape in shapes]) + corrections[which])

    return predict


def candidates_of(pairs: Sequence[tuple[int, int]], place: Floats, n_keys: int) -> Candidates:
    """Return candidates with these dies and pages, all at one place."""
    dies, pages = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    m = len(pairs)
    nothing = np.zeros((m, n_keys))
    return Candidates(
        dies, pages, np.tile(place, (m, 1)), np.full(m, np.inf), nothing, np.zeros((m, n_keys, 4)), np.zeros(m, bool)
    )
