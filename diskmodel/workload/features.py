"""What describes a sequence of requests: mix, sizes, rate, burstiness, sequentiality, locality."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from diskmodel.loading import dataclass
from diskmodel.records import Op, Requests

#: Two requests are local where they fall into the same granule of this many bytes.
GRANULE_BYTES = 1 << 20


@dataclass(frozen=True)
class Features:
    """Statistics of an open stream of requests.

    Attributes
    ----------
    rate_per_s : float
    read_ratio, mean_size_bytes : float
    gap_variation : float
        Squared coefficient of variation of the gaps: 1 for Poisson, more for bursts.
    gap_correlation : float
        Correlation of successive gaps.
    sequential_ratio : float
        Share of requests that begin where the one before ended.
    repeat_ratio : float
        Probability that two requests picked at random go to the same MiB.
    mean_jump_bytes : float
        Mean distance from the end of a request to the start of the next.
    op_correlation : float
        Correlation of the operations of successive requests.
    size_op_correlation : float
        Correlation of size and operation.
    """

    rate_per_s: float
    read_ratio: float
    mean_size_bytes: float
    gap_variation: float
    gap_correlation: float
    sequential_ratio: float
    repeat_ratio: float
    mean_jump_bytes: float
    op_correlation: float
    size_op_correlation: float

    @classmethod
    def of(cls, requests: Requests) -> Features:
        """Features of at least three requests in order of issue, over all streams together."""
        when = requests.when_ns.astype(np.float64)
        gaps = np.diff(when)
        is_read = (requests.op == Op.READ).astype(np.float64)
        size = requests.length.astype(np.float64)
        jump = (requests.offset[1:] - requests.offset[:-1] - requests.length[:-1]).astype(np.float64)
        counts = np.unique(requests.offset // GRANULE_BYTES, return_counts=True)[1].astype(np.float64)
        n = float(len(when))
        mean_gap = float(gaps.mean())
        return cls(
            rate_per_s=1e9 / mean_gap if mean_gap else float("inf"),
            read_ratio=float(is_read.mean()),
            mean_size_bytes=float(size.mean()),
            gap_variation=float(gaps.var()) / mean_gap**2 if mean_gap else 0.0,
            gap_correlation=_correlation(gaps[:-1], gaps[1:]),
            sequential_ratio=float((jump == 0).mean()),
            repeat_ratio=float((counts * (counts - 1)).sum() / (n * (n - 1))),
            mean_jump_bytes=float(np.abs(jump).mean()),
            op_correlation=_correlation(is_read[:-1], is_read[1:]),
            size_op_correlation=_correlation(size, is_read),
        )

    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(field.name for field in fields(self))


def _correlation(
    one: np.ndarray[tuple[int], np.dtype[np.float64]], other: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float:
    a, b = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0
