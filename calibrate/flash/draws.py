"""Drives that the evidence leaves open: drawn from all candidates, as often as the evidence speaks for them.

Which number of dies and which size of pages a drive has is not told apart by mean responses, and no covariance
describes it. Each candidate is sampled about its least squares, every sample is simulated and counts by its likelihood;
then more samples are taken about those that count.

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
from calibrate.flash.search import Candidates, Evidence, Predict, information_at, prior_chi2

#: Drives that a profile tells.
N_DRAWS = 48
#: Samples about the least squares, and about the samples that count.
_N_FIRST, _N_SECOND = 200, 240
_MIN_SAMPLES = 6
#: Tails of the samples are those of Student's t with so many degrees of freedom: longer than the likelihood's.
_FREEDOM = 6.0
#: Width of the second samples about the first ones, by that of the first.
_SECOND_WIDTH = 0.5
#: A candidate that counts less than this by its least squares is not sampled.
_MIN_SHARE = 1e-4


@dataclass(frozen=True)
class _Samples:
    """Places, the candidates that they belong to, and logarithms of what they count."""

    places: Floats
    which: Ints
    log_weight: Floats

    @property
    def weight(self) -> Floats:
        """Shares."""
        weight = np.exp(self.log_weight - self.log_weight.max())
        return np.asarray(weight / weight.sum())

    @property
    def n_effective(self) -> float:
        """How many of equal weight would tell as much."""
        return float(1.0 / np.sum(self.weight**2))


def draws_of(
    evidence: Evidence, candidates: Candidates, predict: Predict, *, scale: float, seed: int
) -> tuple[FlashShape, ...]:
    """`N_DRAWS` drives, each as likely as the other.

    Parameters
    ----------
    evidence : Evidence
    candidates : Candidates
        Fitted.
    predict : function
        By simulation.
    scale : float
        What variances of the evidence are times what was thought.
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
        self, evidence: Evidence, candidates: Candidates, predict: Predict, scale: float, rng: np.random.Generator
    ) -> None:
        self.evidence, self.candidates, self.predict = evidence, candidates, predict
        self.scale, self.rng = scale, rng
        information = information_at(evidence, candidates.places, candidates.predicted, candidates.slopes, scale)
        self.roots = np.linalg.cholesky(np.linalg.inv(information))
        self.inverse_roots = np.linalg.inv(self.roots)
        self.log_volume = np.log(np.diagonal(self.roots, axis1=1, axis2=2)).sum(axis=1)

    def first(self) -> _Samples:
        """About the least squares of each candidate; more of those that should count for more."""
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
        """About the first samples, more about those that count."""
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
        """Deviates of Student's t with the candidates' covariances."""
        normal = self.rng.standard_normal((len(which), 4))
        stretch = self.rng.chisquare(_FREEDOM, len(which)) / _FREEDOM
        return np.asarray(np.einsum("mij,mj->mi", self.roots[which], normal) / np.sqrt(stretch)[:, np.newaxis])

    def _log_student(self, step: Floats, which: Ints) -> Floats:
        """Logarithm of their density, but for a constant."""
        distance = np.sum(np.einsum("...ij,...j->...i", self.inverse_roots[which], step) ** 2, axis=-1)
        return np.asarray(-(_FREEDOM + 4.0) / 2.0 * np.log1p(distance / _FREEDOM) - self.log_volume[which])

    def _log_density(self, places: Floats, which: Ints, predicted: Floats) -> Floats:
        """Of the drives, given the evidence."""
        vectors = vectors_at(places)
        is_possible = np.all((vectors >= LOW) & (vectors <= HIGH), axis=-1)
        chi2 = self.evidence.chi2(predicted) / self.scale + prior_chi2(places, self.candidates.page_bytes[which])
        return np.asarray(np.where(is_possible, -0.5 * chi2, -1e9))


def _numbers(log_evidence: Floats) -> Ints:
    """Samples of each candidate: by the root of what it should count for, some of each, none of what is excluded."""
    share = np.exp(log_evidence - log_evidence.max())
    share /= share.sum()
    root = np.where(share > _MIN_SHARE, np.sqrt(share), 0.0)
    return np.where(root > 0, np.maximum(_N_FIRST * root / root.sum(), _MIN_SAMPLES), 0).astype(np.int64)
