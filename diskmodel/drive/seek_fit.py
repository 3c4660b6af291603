"""Fit of a seek curve to three data-sheet times."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.roots import find_root

Float = NDArray[np.float64]

#: Smallest exponent of the power that replaces the square root where the average is close to the full stroke. Below it
#: the curve is nearly a constant with a jump at distance 1, which no arm follows.
_MIN_EXPONENT = 0.1
#: Terms of a sum of powers that are added one by one; the rest follow from the Euler-Maclaurin formula. From 16 on the
#: relative error is that of the floats (3e-15, exponents of 0.1 to 2); with 8 it is 1e-14, with 4 2e-12.
_SINGLE_TERMS = 32


def pair_weights(longest: int) -> Float:
    """Return the probability of each seek distance 0 … `longest` when all pairs of cylinders are equally likely.

    Notes
    -----
    ``w(n) = 2 (N - n) / (N (N - 1))`` with N = longest + 1 cylinders: the definition of "average seek" in the
    manufacturers' specifications (inward and outward seeks equal), and ``w(0) = 0``.
    """
    distance = np.arange(longest + 1, dtype=np.float64)
    weights = 2.0 * (longest + 1 - distance) / ((longest + 1.0) * longest)
    weights[0] = 0.0
    return weights


class _Distances:
    """What all curves of one number of cylinders share, each computed when first needed: a fit tries hundreds of them.

    Attributes
    ----------
    distance : ndarray of float64
        0 … longest.
    """

    def __init__(self, longest: int) -> None:
        self.distance = np.arange(longest + 1, dtype=np.float64)

    @cached_property
    def weights(self) -> Float:
        """Probability of each distance."""
        return pair_weights(len(self.distance) - 1)

    @cached_property
    def roots(self) -> Float:
        """Sums of the weights times the square root, up to each distance."""
        return np.cumsum(self.weights * np.sqrt(self.distance))

    @cached_property
    def counts(self) -> Float:
        """Sums of the weights up to each distance."""
        return np.cumsum(self.weights)

    @cached_property
    def lengths(self) -> Float:
        """Sums of the weights times the distance, up to each distance."""
        return np.cumsum(self.weights * self.distance)

    @cached_property
    def lowest(self) -> float:
        """Place of the average between first and last of a line."""
        return self.of_power(1.0)

    @cached_property
    def root(self) -> float:
        """Place of the average of a square root."""
        return self.of_power(0.5)

    @cached_property
    def highest(self) -> float:
        """Place of the average of the smallest power."""
        return self.of_power(_MIN_EXPONENT)

    def of_power(self, exponent: float) -> float:
        """Return where the average over all pairs lies between the first (0) and the last (1) time of a power."""
        longest = len(self.distance) - 1
        n = longest + 1.0
        mean = 2.0 * (n * power_sum(longest, exponent) - power_sum(longest, exponent + 1.0)) / (n * longest)
        return float((mean - 1.0) / (longest**exponent - 1.0))


_distances = lru_cache(maxsize=2)(_Distances)


def power_sum(n: int, exponent: float) -> float:
    """Return 1 + 2**q + … + n**q for an exponent q ≥ 0, to about the precision of a float.

    Notes
    -----
    The Euler-Maclaurin formula with derivatives up to the fifth, from `_SINGLE_TERMS` on: a drive has 100,000
    cylinders, and the fit of a seek curve needs a dozen sums.
    """
    head = min(n, _SINGLE_TERMS)
    total = float((np.arange(1, head + 1, dtype=np.float64) ** exponent).sum())
    return total if n == head else total + _rest(float(n), exponent) - _rest(float(head), exponent)


def _rest(x: float, q: float) -> float:
    """Return the formula's terms at one end."""
    first = q * x ** (q - 1)
    third = (q - 1) * (q - 2) * first / x**2
    fifth = (q - 3) * (q - 4) * third / x**2
    return float(x ** (q + 1) / (q + 1) + x**q / 2 + first / 12 - third / 720 + fifth / 30_240)


# a fit changes other parameters of a drive much more often than its seeks
@lru_cache(maxsize=2)
def root_then_line(longest: int, first: float, average: float, last: float) -> Float:
    """Return seek times for distances 0 … `longest` with given first and last times and mean over all pairs.

    The array may not be changed: the last ones are kept.

    Notes
    -----
    With ``g(d) = sqrt(d)`` up to the joint D and ``g(d) = (d + D) / (2 sqrt(D))`` beyond (same value and slope at D),
    ``t(d) = first + (last - first) (g(d) - 1) / (g(longest) - 1)``. The mean falls from that of a pure square root
    (place 8/15 between first and last) to that of a straight line (place 1/3) as D goes from `longest` to 1, so that
    D is unique. Above 8/15 ``g(d) = d**p`` with 0.1 <= p < 1/2.

    Raises
    ------
    ValueError
        When no curve of these shapes has that average.
    """
    if longest < 3:
        raise ValueError("seek: has fewer than four cylinders; give a curve or a table instead of three times")
    of = _distances(longest)
    place = (average - first) / (last - first)
    lowest, highest = of.lowest, of.highest
    if not lowest < place < highest:
        between = first + lowest * (last - first), first + highest * (last - first)
        raise ValueError(
            f"seek: no seek curve from {first / 1e6:.3g} ms to {last / 1e6:.3g} ms has an average of "
            f"{average / 1e6:.3g} ms; use an average from {between[0] / 1e6:.3g} to {between[1] / 1e6:.3g} ms"
        )
    if place >= of.root:
        ends = {_MIN_EXPONENT: highest, 0.5: of.root}
        exponent = find_root(lambda p: (ends.get(p) or of.of_power(p)) - place, _MIN_EXPONENT, 0.5, xtol=1e-9)
        shape = of.distance ** float(exponent)
    else:
        joint = _joint(of, place)
        shape = np.where(of.distance <= joint, np.sqrt(of.distance), (of.distance + joint) / (2 * np.sqrt(joint)))
    curve = first + (last - first) * (shape - shape[1]) / (shape[-1] - shape[1])
    curve.flags.writeable = False
    return np.asarray(curve)


def _joint(of: _Distances, place: float) -> float:
    """Find the joint that puts the average at `place`; prefix sums make each trial cheap."""
    longest = len(of.distance) - 1

    def error(joint: float) -> float:
        below = int(joint)
        rest = (of.lengths[-1] - of.lengths[below] + joint * (of.counts[-1] - of.counts[below])) / (2 * joint**0.5)
        last = (longest + joint) / (2 * joint**0.5)
        return float((of.roots[below] + rest - 1) / (last - 1) - place)

    return find_root(error, 1.0, float(longest), xtol=1e-6)
