"""Zipf popularity: the granule of rank r is requested in proportion to 1 / r^theta."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from diskmodel.records import Int64
from diskmodel.units import Bytes
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Float64, Kind
from diskmodel.workload.space import Space

#: Ranks whose probabilities are summed exactly; the rest follow an integral, which is closest for large ranks.
_N_HEAD = 1 << 16
#: Most granules of a region: rank times spreading factor then fits in 64 bits.
_MAX_GRANULES = 1 << 31


class Zipf(AddressPattern):
    """Granules of `granule_bytes` with Zipf popularity, spread evenly over the region; uniform within a granule.

    Notes
    -----
    Ranks are drawn by inverting the distribution function: by table up to rank 65536, and beyond by the midpoint
    integral of x^-theta, whose relative error per rank r is about theta (theta + 1) / (24 r²), below 1e-9 there.
    Rank r lies in granule (r · m) mod N, with m next to N / golden ratio and coprime to N, so that popular granules
    are neither adjacent nor all in one zone of a disk. A region has at most 2^31 granules.

    References
    ----------
    G. K. Zipf, *Human Behavior and the Principle of Least Effort*, 1949. W. Hörmann, G. Derflinger,
    *Rejection-inversion to generate variates from monotone discrete distributions*, ACM TOMACS 6(3), 1996 (the
    integral as hat function).
    """

    title: ClassVar[str] = "few places very popular"
    is_scattered: ClassVar[bool] = True

    pattern: Literal["zipf"] = "zipf"
    theta: float = Field(default=0.99, ge=0, le=10)
    granule_bytes: Bytes = 1 << 20

    @field_validator("granule_bytes")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        if value == 0 or value % 512:
            raise ValueError('must be a positive multiple of 512; write for example "1 MiB"')
        return value

    def _granules(self, space: Space) -> tuple[int, int]:
        """Return how long granules are in a region, and how many there are."""
        granule_bytes = max(self.granule_bytes, space.alignment_bytes, -(-space.span_bytes // _MAX_GRANULES))
        granule_bytes = min(granule_bytes, space.span_bytes)
        return granule_bytes, max(space.span_bytes // granule_bytes, 1)

    def density(self, at: Int64, space: Space) -> Float64:
        """Return how often bytes of a region are asked for, relative to its mean; float64, shape (n,)."""
        granule_bytes, n = self._granules(space)
        granule = np.minimum(at // granule_bytes, n - 1)
        back = pow(_spreading_factor(n), -1, n) if n > 1 else 0
        rank = granule * back % n
        head, tail, _, _ = _masses(n, self.theta)
        found: Float64 = n * (rank + 1.0) ** -self.theta / (head[-1] + tail)
        return found

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """First byte of each request, relative to the region; int64, shape (n,)."""
        granule_bytes, n_granules = self._granules(space)
        rank = zipf_ranks(draws.uniform(Kind.REGION, len(lengths)), n_granules, self.theta)
        granule = rank * _spreading_factor(n_granules) % n_granules
        within = (draws.uniform(Kind.ADDRESS, len(lengths)) * granule_bytes).astype(np.int64)
        return space.align_down(granule * granule_bytes + within)


def _masses(n: int, theta: float) -> tuple[Float64, float, float, float]:
    """Return sums over the first ranks, the sum over the others, the rank from which these begin, and 1 - theta."""
    n_head = min(n, _N_HEAD)
    cumulative = np.cumsum(np.arange(1, n_head + 1, dtype=np.float64) ** -theta)
    low, high = n_head + 0.5, n + 0.5
    power = 1.0 - theta
    if n == n_head:
        tail = 0.0
    elif abs(power) < 1e-12:
        tail = math.log(high / low)
    else:
        tail = (high**power - low**power) / power
    return cumulative, tail, low, power


def zipf_ranks(draw: Float64, n: int, theta: float) -> Int64:
    """Ranks 0 … n-1 with probability in proportion to (rank + 1)^-theta, from draws in [0, 1)."""
    cumulative, tail, low, power = _masses(n, theta)
    n_head = len(cumulative)
    target = draw * (cumulative[-1] + tail)
    rank = np.searchsorted(cumulative, target, side="right").astype(np.int64)
    in_tail = rank >= n_head
    if tail and in_tail.any():
        excess = target[in_tail] - cumulative[-1]
        place = low * np.exp(excess) if abs(power) < 1e-12 else (low**power + power * excess) ** (1.0 / power)
        rank[in_tail] = np.maximum(np.floor(place + 0.5).astype(np.int64) - 1, n_head)
    ranks: Int64 = np.minimum(rank, n - 1)
    return ranks


def _spreading_factor(n: int) -> int:
    factor = max(round(n * 0.6180339887498949), 1)
    while math.gcd(factor, n) != 1:
        factor += 1
    return factor
