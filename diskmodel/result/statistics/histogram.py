"""Response times in flat memory: a histogram whose buckets grow with the value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import Int64

#: Bits of the largest response time: all of a positive int64.
_VALUE_BITS = 63


class LatencyHistogram:
    """Counts of response times in log-linear buckets; any number of observations in the same few tens of kilobytes.

    Parameters
    ----------
    precision_bits : int in [1, 14]
        Each power of two is divided into 2^precision_bits equal buckets.

    Notes
    -----
    Values below 2^(precision_bits + 1) have a bucket each. A larger value v lies in a bucket no wider than
    v / 2^precision_bits, and a quantile is reported as the middle of its bucket: its relative error is at most
    2^-(precision_bits + 1), 0.2 % at the default of 8. Mean, least and largest value are exact.

    References
    ----------
    G. Tene, HdrHistogram; J. Axboe, fio, `stat.h` (the same layout).

    Examples
    --------
    >>> histogram = LatencyHistogram()
    >>> histogram.add([5, 100, 1_000_000])
    >>> histogram.n, histogram.mean_ns, histogram.quantile_ns(0.5)
    (3, 333368.3333333333, 100.0)
    """

    def __init__(self, precision_bits: int = 8) -> None:
        if not 1 <= precision_bits <= 14:
            raise DescriptionError(
                Fault("precision_bits", precision_bits, "must be from 1 to 14", "write for example 8")
            )
        self.precision_bits = precision_bits
        n_buckets = (_VALUE_BITS - precision_bits + 1) << precision_bits
        self.counts: Int64 = np.zeros(n_buckets, dtype=np.int64)
        self.n = 0
        self.total_ns = 0
        self.min_ns = 0
        self.max_ns = 0

    @property
    def relative_error(self) -> float:
        """Largest relative error of a quantile."""
        return 2.0 ** -(self.precision_bits + 1)

    @property
    def mean_ns(self) -> float:
        """Mean of everything added, exact but for rounding; nan when empty."""
        return self.total_ns / self.n if self.n else float("nan")

    def add(self, values_ns: ArrayLike) -> None:
        """Count values (int, 0 or more, ns).

        Raises
        ------
        DescriptionError
            When a value is negative.
        """
        values = np.asarray(values_ns, dtype=np.int64)
        if len(values) == 0:
            return
        least, largest = int(values.min()), int(values.max())
        if least < 0:
            raise DescriptionError(Fault("values_ns", least, "must be 0 or more", "check the times of issue"))
        self.counts += np.bincount(self._bucket(values), minlength=len(self.counts))
        self.min_ns = least if self.n == 0 else min(self.min_ns, least)
        self.max_ns = max(self.max_ns, largest)
        self.n += len(values)
        low, high = values & 0xFFFFFFFF, values >> 32
        self.total_ns += int(low.sum()) + (int(high.sum()) << 32)

    def merge(self, other: LatencyHistogram) -> None:
        """Add everything that another histogram of the same precision has counted.

        Raises
        ------
        DescriptionError
            When the precisions differ.
        """
        if other.precision_bits != self.precision_bits:
            fault = Fault(
                "precision_bits", other.precision_bits, f"must be {self.precision_bits} as here", "rebuild it"
            )
            raise DescriptionError(fault)
        if other.n == 0:
            return
        self.counts += other.counts
        self.min_ns = other.min_ns if self.n == 0 else min(self.min_ns, other.min_ns)
        self.max_ns = max(self.max_ns, other.max_ns)
        self.n += other.n
        self.total_ns += other.total_ns

    def quantile_ns(self, level: float) -> float:
        """Value at `level` in [0, 1]: the middle of the bucket in which that share is reached; nan when empty."""
        if self.n == 0:
            return float("nan")
        if not 0 <= level <= 1:
            raise DescriptionError(Fault("level", level, "must be from 0 to 1", "write for example 0.99"))
        rank = min(max(int(np.ceil(level * self.n)), 1), self.n)
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank))
        low, width = self.edges(np.array([bucket], dtype=np.int64))
        middle = float(low[0]) + (float(width[0]) - 1) / 2
        return min(max(middle, float(self.min_ns)), float(self.max_ns))

    def edges(self, bucket: Int64) -> tuple[Int64, Int64]:
        """Least value and width of buckets; int64, ns."""
        bits = self.precision_bits
        shift = np.maximum((bucket >> bits) - 1, 0)
        within = np.where(bucket >> bits == 0, bucket, (bucket & ((1 << bits) - 1)) + (1 << bits))
        return within << shift, np.int64(1) << shift

    def _bucket(self, values: Int64) -> NDArray[np.int64]:
        bits = self.precision_bits
        # frexp of a float may round a value just below a power of two up to it: shifting first leaves exact numbers
        high = values >> np.int64(bits)
        exponent = np.frexp(high.astype(np.float64))[1].astype(np.int64)
        exponent -= (high >> np.maximum(exponent - 1, 0)) == 0
        shift = np.maximum(exponent - 1, 0)
        return np.where(high == 0, values, (shift << bits) + (values >> shift))
