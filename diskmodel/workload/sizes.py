"""Sizes of a recording's requests, in short."""

from __future__ import annotations

import numpy as np

from diskmodel.records import Int64
from diskmodel.workload.excerpts import SECTOR_BYTES
from diskmodel.workload.stream import SizeShare

#: Sizes that summarize a stream.
_N_SIZES = 12


def sizes_of(length: Int64) -> tuple[SizeShare, ...]:
    """Return the most frequent sizes and the largest; all others as one of their mean."""
    size, count = np.unique(length, return_counts=True)
    order = np.argsort(-count, kind="stable")
    named = set(order[: _N_SIZES - 2].tolist()) | {len(size) - 1}
    others = [i for i in range(len(size)) if i not in named]
    shares = {int(size[i]): float(count[i]) for i in sorted(named)}
    if others:
        n = float(count[others].sum())
        mean = round(float((size[others] * count[others]).sum()) / n / SECTOR_BYTES) * SECTOR_BYTES
        shares[mean] = shares.get(mean, 0.0) + n
    return tuple(SizeShare(size_bytes=size, weight=weight) for size, weight in sorted(shares.items()))
