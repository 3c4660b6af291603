"""Confidence interval of the mean of a correlated series: non-overlapping batch means."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.loading import dataclass

#: Numbers of batches tried, from many short ones to few long ones.
BATCH_COUNTS = (20, 15, 10)
#: Observations per batch below which no mean is estimated.
_MIN_PER_BATCH = 2
#: Rounds of a cycle up to which they are divided into phases. With one more, Student's t is 3.2 instead of 2.1, and
#: still less than the phases of such runs differ.
_DIVIDED_ROUNDS = 3
#: Batches below which their skewness is taken as 0: an estimate from three says nothing, and from two there is none.
_MIN_FOR_SKEWNESS = 8
#: One-sided 5 % quantile that the correlation of adjacent batches is tested against.
CORRELATION_Z = 1.6448536269514722
#: Degrees of freedom from which SciPy finds the quantile, Newton's steps at most, and the relative step that ends them.
#: At half of the first, arrays of many disks load SciPy; at double, a quantile takes longer than that.
_MANY_DEGREES, _MOST_STEPS, _STEP_RATIO = 2_000, 20, 1e-15
#: Quantiles 0.975 of Student's t for 1, 2, … 30 degrees of freedom, those of intervals of 95 %, as SciPy has them.
#: With them, most runs need no SciPy, which takes longer to load than they take.
STUDENT_T_975 = (
    12.706204736174694,
    4.302652729749462,
    3.1824463052837078,
    2.7764451051977934,
    2.5705818356363146,
    2.4469118511449786,
    2.364624251592784,
    2.306004135204166,
    2.262157162798205,
    2.228138851986274,
    2.200985160091639,
    2.1788128296672284,
    2.1603686564627913,
    2.144786687917804,
    2.131449545559776,
    2.1199052992212546,
    2.1098155778333156,
    2.1009220402410382,
    2.0930240544083087,
    2.085963447265864,
    2.0796138447276795,
    2.0738730679040254,
    2.0686576104190486,
    2.0638985616280245,
    2.0595385527532972,
    2.0555294386428735,
    2.0518305164802846,
    2.0484071417952454,
    2.045229642132703,
    2.0422724563012378,
)
LARGEST_CORRELATION = 0.9


@dataclass(frozen=True, eq=False)
class Interval(float):
    """An estimate, which calculates and compares as a number, and its confidence interval, which need not be symmetric.

    Attributes
    ----------
    value : float
        The estimate: of a mean, a rate, a percentile or a ratio.
    low, high : float
        Ends; nan where there are too few observations.
    n_batches : int
        Batches behind the interval; 0 where there are too few observations, or the interval was not made of batches.
    is_correlated : bool
        The means were correlated even in the longest batches: a longer run is needed to trust the interval.
    """

    value: float
    low: float
    high: float
    n_batches: int = 0
    is_correlated: bool = False

    def __new__(cls, value: float, *_: Any, **__: Any) -> Interval:
        """Return a number of that value."""
        return float.__new__(cls, value)

    @classmethod
    def exact(cls, value: float) -> Interval:
        """Return a value without uncertainty."""
        return cls(value, value, value)

    @property
    def mean(self) -> float:
        """The estimate, by the name that reads best for a mean: `result.iops.mean`."""
        return self.value

    def about(self, value: float) -> Interval:
        """Return the same interval about another estimate: batches leave out the observations that do not divide."""
        shift = value - self.value
        low = max(self.low + shift, 0.0) if self.low >= 0 else self.low + shift
        return Interval(value, low, self.high + shift, self.n_batches, self.is_correlated)

    def scaled(self, factor: float) -> Interval:
        """Return the interval in another unit: everything times `factor`, which is above 0."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)

    @property
    def half_width(self) -> float:
        """Half of the distance between the ends."""
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float:
        """Half-width as a share of the estimate; nan where unknown, 0 for a constant series."""
        if self.half_width == 0:
            return 0.0
        return self.half_width / abs(self.value) if self.value else math.inf


def mean_interval(series: ArrayLike, *, confidence: float = 0.95, n_rounds: int = 0) -> Interval:
    """Mean of a stationary, possibly correlated and skewed series with its confidence interval.

    Parameters
    ----------
    series : array_like, shape (n,)
        Observations in order, warm-up removed.
    confidence : float in (0, 1)
    n_rounds : int
        Whole rounds of a cycle that the series consists of; 0: there is none. More than 10 average out in any batches.

    Notes
    -----
    The number of batches is the largest of 20, 15, 10 whose means pass a one-sided test of lag-1 correlation r at 5 %
    (von Neumann's ratio). The variance is multiplied by (1 + r) / (1 - r) for the correlation that is left, r + 1/k
    with k batches (the estimate's own bias is -1/k), where that is positive. Student's t with k - 1 degrees of freedom
    is adjusted for the skewness of the batch means by G(t) = ((1 + 6 b (t - b))^(1/3) - 1) / (2 b), b = skewness /
    (6 sqrt k), as in Skart. Of a cycle, batches are compared with those of the same phase in other rounds
    (`without_phases`): what differs between phases comes again in every round, and is no error.

    References
    ----------
    A. Tafazzoli, J. R. Wilson, *Skart: a skewness- and autoregression-adjusted batch-means procedure for simulation
    analysis*, IIE Transactions 43(2), 2011. G. S. Fishman, *Grouping observations in digital simulation*, Management
    Science 24(5), 1978 (the test). A. M. Law, *Simulation Modeling and Analysis*, 9.5.3.
    """
    values = np.asarray(series)
    mean = float(values.mean()) if len(values) else math.nan
    if len(values) < BATCH_COUNTS[-1] * _MIN_PER_BATCH:
        return Interval(mean, math.nan, math.nan)
    if 0 < n_rounds <= BATCH_COUNTS[-1]:
        n_batches = batches_of_rounds(n_rounds)
        if len(values) < n_batches * _MIN_PER_BATCH:
            return Interval(mean, math.nan, math.nan)
        means, degrees = without_phases(batch_means(values, n_batches), mean, n_rounds)
        correlation = lag1_correlation(means)
        low, high = adjusted_ends(mean, means, correlation, confidence, least_possible(values), degrees)
        return Interval(mean, low, high, n_batches)
    for n_batches in (count for count in BATCH_COUNTS if len(values) >= count * _MIN_PER_BATCH):
        means = batch_means(values, n_batches)
        correlation = lag1_correlation(means)
        is_correlated = correlation > CORRELATION_Z * math.sqrt((n_batches - 2) / (n_batches**2 - 1))
        if not is_correlated:
            break
    low, high = adjusted_ends(mean, means, correlation, confidence, least_possible(values))
    return Interval(mean, low, high, n_batches, is_correlated and low < high)


def batches_of_rounds(n_rounds: int) -> int:
    """Return a number of batches that divides so many rounds of a cycle into equal phases.

    Few rounds are divided into about 20 batches, because three deviate from each other too seldom to show by how much;
    more are batches themselves, because rounds differ a little in length, and phases are less and less alike.
    """
    return n_rounds if n_rounds > _DIVIDED_ROUNDS else n_rounds * (BATCH_COUNTS[0] // n_rounds)


def without_phases(each: NDArray[np.float64], center: float, n_rounds: int) -> tuple[NDArray[np.float64], int]:
    """Return batch estimates without what differs between the phases of a cycle, and how many of them are independent.

    Parameters
    ----------
    each : float64, shape (n_rounds * n_phases,)
        Estimate of each batch, round by round.
    center : float
        What they are brought to.
    n_rounds : int, at least 2
    """
    by_round = each.reshape(n_rounds, -1)
    if by_round.shape[1] == 1:
        return each, n_rounds - 1
    centered: NDArray[np.float64] = (by_round - by_round.mean(axis=0) + center).ravel()
    return centered, (n_rounds - 1) * by_round.shape[1]


def adjusted_ends(
    center: float,
    means: NDArray[np.float64],
    correlation: float,
    confidence: float,
    least: float = -math.inf,
    degrees: int = 0,
) -> tuple[float, float]:
    """Ends of the interval around `center` from batch estimates, adjusted for their correlation and skewness.

    What lies below `least`, where the estimate cannot be, is cut off: that costs no coverage. `degrees` of freedom are
    one less than the estimates unless given.
    """
    n_batches = len(means)
    degrees = degrees or n_batches - 1
    spread = float(np.square(means - center).sum()) / degrees
    if spread <= 1e-24 * center * center:
        return center, center
    left = min(max(correlation + 1 / n_batches, 0.0), LARGEST_CORRELATION)
    error = math.sqrt(spread / n_batches * (1 + left) / (1 - left))
    t = student_t(0.5 + confidence / 2, degrees)
    is_constant = float(np.ptp(means)) <= 1e-12 * abs(center)
    skew = 0.0 if is_constant or n_batches < _MIN_FOR_SKEWNESS else _skewness(means) / (6 * math.sqrt(n_batches))
    return max(center - _skewed(t, skew) * error, least), center - _skewed(-t, skew) * error


def independent_interval(each: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the mean of independent estimates that cannot be below 0, with its interval; nan where one is unknown."""
    values = np.asarray(each, np.float64)
    center = float(values.mean())
    if not math.isfinite(center):
        return Interval(center, math.nan, math.nan)
    return Interval(center, *adjusted_ends(center, values, independence(len(values)), confidence, 0.0), len(values))


def independence(n_batches: int) -> float:
    """Return the correlation of adjacent batches that `adjusted_ends` takes for none: the bias of its estimate."""
    return -1 / n_batches


def least_possible(values: NDArray[Any]) -> float:
    """0 for what is never negative (times, rates, counts), else minus infinity."""
    return 0.0 if values.min() >= 0 else -math.inf


@cache
def student_t(level: float, degrees: float) -> float:
    """Return the quantile of Student's t at a level, with so many degrees of freedom."""
    if level == 0.975 and degrees in range(1, len(STUDENT_T_975) + 1):
        return STUDENT_T_975[int(degrees) - 1]
    if degrees in range(1, _MANY_DEGREES) and 0.5 < level < 1:
        return _quantile_of_t(level, int(degrees))
    from scipy import special

    return float(special.stdtrit(degrees, level))


def _quantile_of_t(level: float, degrees: int) -> float:
    """Return a quantile above the median for a whole number of degrees of freedom, without SciPy.

    Newton's method on the probability between -t and t, which has a closed form, from the quantile of the normal
    distribution with the first term of its expansion.

    References
    ----------
    M. Abramowitz, I. A. Stegun, *Handbook of Mathematical Functions*, 1964, 26.7.3, 26.7.4 and 26.7.5.
    """
    z = NormalDist().inv_cdf(level)
    t = z + (z**3 + z) / (4 * degrees)
    density = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    for _ in range(_MOST_STEPS):
        slope = 2 * math.exp(density - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = (_between_ends(t, degrees) - (2 * level - 1)) / slope
        t -= step
        if abs(step) <= _STEP_RATIO * t:
            break
    return t


def _between_ends(t: float, degrees: int) -> float:
    """Return the probability between -t and t."""
    angle = math.atan(t / math.sqrt(degrees))
    cos, is_odd = math.cos(angle), degrees % 2
    total, term = 0.0, cos if is_odd else 1.0
    for k in range(1, degrees // 2 + 1):
        total += term
        term *= cos * cos * (2 * k / (2 * k + 1) if is_odd else (2 * k - 1) / (2 * k))
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total


def _skewness(values: NDArray[np.float64]) -> float:
    """Sample skewness without bias: `scipy.stats.skew(values, bias=False)`, whose checks cost 20 times the sum."""
    n = len(values)
    deviation = values - values.mean()
    variance = float(np.square(deviation).mean())
    third = float((deviation**3).mean())
    return float(math.sqrt(n * (n - 1)) / (n - 2) * third / variance**1.5)


def _skewed(t: float, b: float) -> float:
    """Student's quantile adjusted for skewness."""
    return t if abs(b) < 1e-3 else float(np.cbrt(1 + 6 * b * (t - b)) - 1) / (2 * b)


def in_batches(values: NDArray[Any], n_batches: int) -> NDArray[Any]:
    """Return a series as rows of equal batches; what does not divide is dropped at the front."""
    size = len(values) // n_batches
    return values[len(values) - size * n_batches :].reshape(n_batches, size)


def batch_means(values: NDArray[Any], n_batches: int) -> NDArray[np.float64]:
    """Return the means of `n_batches` equal batches."""
    means: NDArray[np.float64] = in_batches(values, n_batches).mean(axis=1)
    return means


def lag1_correlation(means: NDArray[np.float64]) -> float:
    """Lag-1 serial correlation as von Neumann's ratio gives it; 0 for a constant series."""
    deviation = means - means.mean()
    spread = float(deviation @ deviation)
    if spread <= 1e-30 * float(means @ means):
        return 0.0
    steps = np.diff(means)
    ends = deviation[0] ** 2 + deviation[-1] ** 2
    return float(1 - (float(steps @ steps) + float(ends)) / (2 * spread))
