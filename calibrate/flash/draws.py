"""Drives that are compatible with the evidence, drawn from all candidates in proportion to their likelihood.

Mean responses cannot determine the number of dies and the size of pages together, and no covariance describes which
pairs remain. Each candidate is sampled about its least squares, and every sample is simulated and weighted by its
likelihood; then more samples are taken about those with most weight.

References
----------
J. Geweke, *Bayesian inference in econometric models using Monte Carlo integration*, Econometrica 57(6), 1989.
O. Cappé, A. Guillin, J. Marin, C. Robert, *Population Monte Carlo*, J. Computational and Graphical Statistics 13(4),
2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.flash.model import HIGH, LOW, FlashShape, shape_at, vectors_at
from calibrate.flash.search import Candidates, Observations, Predict, information_at, prior_chi2

#: Drives in a profile: `simulate` runs 16 of them. Half makes the ends of a 90 % interval rest on two drives.
N_DRAWS = 48
#: Samples about the least squares, and about the samples with most weight: a simulation each.
_N_FIRST, _N_SECOND = 200, 240
#: Samples of each candidate that counts at all.
_MIN_SAMPLES = 6
#: Degrees of freedom of the samples' Student's t: its tails must be longer than the likelihood's, or single samples
#: get most of the weight.
_FREEDOM = 6.0
#: Width of the second samples about the first, as a share of the width of the first. At 1 they repeat the first round;
#: at 0.2 they stay near single samples.
_SECOND_WIDTH = 0.5
#: A candidate whose share by its least squares is below this is not sampled.
_MIN_SHARE = 1e-4


@dataclass(frozen=True)
class _Samples:
    """Places, the candidates that they belong to, and logarithms of their weights."""

    places: Floats
    which: Ints
    log_weight: Floats

    @property
    def weight(self) -> Floats:
        """Return the weights, normalized."""
        weight = np.exp(self.log_weight - self.log_weight.max())
        return np.asarray(weight / weight.sum())

    @property
    def n_effective(self) -> float:
        """Return the number of equally weighted samples with the same precision."""
        return float(1.0 / np.sum(self.weight**2))


def draws_of(
    evidence: Observations, candidates: Candidates, predict: Predict, *, scale: float, seed: int
) -> tuple[FlashShape, ...]:
    """Return `N_DRAWS` equally likely drives.

    Parameters
    ----------
    evidence : Observations
    candidates : Candidates
        Fitted.
    predict : function
        By simulation.
    scale : float
        Factor on the variances of the evidence.
    seed : int
    """
    sampler = _Sampler(evidence, candidates, predict, scale, np.random.default_rng(seed))
    first = sampler.first()
    second = sampler.second(first)
    samples = first, second
    shares = np.array([part.n_effective for part in samples])
    weight = np.concatenate([part.weight * share for part, share in zip(samples, shares / shares.sum(), strict=True)])
    ranks = np.cumsum(weight)
    chosen = np.searchsorted(ranks, (np.arange(N_DRAWS) + sampler.rng.uniform()) / N_DRAWS)
    chosen = sampler.rng.permutation(np.minimum(chosen, len(ranks) - 1))
    places, which = (np.concatenate([getattr(part, name) for part in samples])[chosen] for name in ("places", "which"))
    shapes = zip(places, candidates.n_dies[which], candidates.page_bytes[which], strict=True)
    return tuple(shape_at(*shape) for shape in shapes)


class _Sampler:
    def __init__(
        self, evidence: Observations, candidates: Candidates, predict: Predict, scale: float, rng: np.random.Generator
    ) -> None:
        self.evidence, self.candidates, self.predict = evidence, candidates, predict
        self.scale, self.rng = scale, rng
        information = information_at(evidence, candidates.places, candidates.predicted, candidates.slopes, scale)
        self.roots = np.linalg.cholesky(np.linalg.inv(information))
        self.inverse_roots = np.linalg.inv(self.roots)
        self.log_volume = np.log(np.diagonal(self.roots, axis1=1, axis2=2)).sum(axis=1)

    def first(self) -> _Samples:
        """Sample about the least squares of each candidate, more for likely candidates."""
        candidates = self.candidates
        numbers = _numbers(
            self.log_volume + self._log_density(candidates.places, np.arange(len(candidates)), candidates.predicted)
        )
        which = np.repeat(np.arange(len(candidates)), numbers)
        step = self._steps(which)
        places = candidates.places[which] + step
        log_proposed = self._log_student(step, which) + np.log(numbers[which])
        return _Samples(places, which, self._log_density(places, which, self.predict(places, which)) - log_proposed)

    def second(self, first: _Samples) -> _Samples:
        """Sample about the first samples, more about those with much weight."""
        # the root keeps samples apart where few of them have most of the weight
        weight = np.sqrt(first.weight) + _MIN_SHARE / len(first.weight)
        weight /= weight.sum()
        middles = self.rng.choice(len(weight), _N_SECOND, p=weight)
        which = first.which[middles]
        places = first.places[middles] + _SECOND_WIDTH * self._steps(which)
        log_proposed = np.full(_N_SECOND, -np.inf)
        for candidate in np.unique(which):
            own, theirs = np.flatnonzero(which == candidate), np.flatnonzero(first.which == candidate)
            apart = (places[own, np.newaxis, :] - first.places[np.newaxis, theirs, :]) / _SECOND_WIDTH
            log_parts = self._log_student(apart, np.full(apart.shape[:2], candidate)) + np.log(weight[theirs])
            log_proposed[own] = np.logaddexp.reduce(log_parts, axis=1)
        return _Samples(places, which, self._log_density(places, which, self.predict(places, which)) - log_proposed)

    def _steps(self, which: Ints) -> Floats:
        """Return deviates of Student's t with the candidates' covariances."""
        normal = self.rng.standard_normal((len(which), 4))
        stretch = self.rng.chisquare(_FREEDOM, len(which)) / _FREEDOM
        return np.asarray(np.einsum("mij,mj->mi", self.roots[which], normal) / np.sqrt(stretch)[:, np.newaxis])

    def _log_student(self, step: Floats, which: Ints) -> Floats:
        """Return the logarithm of their density, up to a constant."""
        distance = np.sum(np.einsum("...ij,...j->...i", self.inverse_roots[which], step) ** 2, axis=-1)
        return np.asarray(-(_FREEDOM + 4.0) / 2.0 * np.log1p(distance / _FREEDOM) - self.log_volume[which])

    def _log_density(self, places: Floats, which: Ints, predicted: Floats) -> Floats:
        """Return the logarithm of the posterior density of drives, up to a constant."""
        vectors = vectors_at(places)
        is_possible = np.all((vectors >= LOW) & (vectors <= HIGH), axis=-1)
        chi2 = self.evidence.chi2(predicted) / self.scale + prior_chi2(places, self.candidates.page_bytes[which])
        return np.asarray(np.where(is_possible, -0.5 * chi2, -1e9))


def _numbers(log_evidence: Floats) -> Ints:
    """Return the samples per candidate: by the root of its share, at least a few, none of those excluded."""
    share = np.exp(log_evidence - log_evidence.max())
    share /= share.sum()
    root = np.where(share > _MIN_SHARE, np.sqrt(share), 0.0)
    return np.where(root > 0, np.maximum(_N_FIRST * root / root.sum(), _MIN_SAMPLES), 0).astype(np.int64)
