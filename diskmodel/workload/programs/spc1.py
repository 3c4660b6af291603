"""A load like that of SPC-1: eight kinds of streams for each business scaling unit of 50 requests a second.

It is not the SPC-1 workload generator, and its results are not SPC-1 results.

References
----------
S. Daniel, R. Faith, *A portable, open-source implementation of the SPC-1 workload*: streams, mix, walk.
B. Gill, D. Modha, *WOW: wise ordering for writes in non-volatile caches*, FAST 2005: shares of reads and writes, random
and sequential.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from diskmodel.errors import DescriptionError, Fault
from diskmodel.workload.description import Workload

#: Requests a second of a business scaling unit.
UNIT_IOPS = 50
#: Sizes of sequential requests and their shares.
SEQUENTIAL_SIZES = {"4 KiB": 0.40, "8 KiB": 0.24, "16 KiB": 0.20, "32 KiB": 0.08, "64 KiB": 0.08}


class _Kind(NamedTuple):
    """One of the eight kinds of streams; places as shares of the array."""

    name: str
    share: float
    read_ratio: float
    pattern: str
    offset: float
    span: float


#: The data store (ASU 1) has the first 45 % of the array, the user store (ASU 2) the next, the log (ASU 3) the last
#: 10 %. Walks have 5 % of their store; sequential reads go over the part of a store in which their runs lie.
KINDS = (
    _Kind("asu1-uniform", 0.035, 0.5, "uniform", 0.0, 0.45),
    _Kind("asu1-walk-1", 0.281, 0.5, "reuse_walk", 0.45 * 0.15, 0.45 * 0.05),
    _Kind("asu1-sequential", 0.070, 1.0, "sequential", 0.45 * 0.20, 0.45 * 0.50),
    _Kind("asu1-walk-2", 0.210, 0.5, "reuse_walk", 0.45 * 0.70, 0.45 * 0.05),
    _Kind("asu2-uniform", 0.018, 0.3, "uniform", 0.45, 0.45),
    _Kind("asu2-walk", 0.070, 0.3, "reuse_walk", 0.45 + 0.45 * 0.47, 0.45 * 0.05),
    _Kind("asu2-sequential", 0.035, 1.0, "sequential", 0.45 + 0.45 * 0.20, 0.45 * 0.50),
    _Kind("asu3-sequential", 0.281, 0.0, "sequential", 0.90, 0.10),
)


def spc1_like(n_units: int) -> Workload:
    """Return a load like that of SPC-1 at so many business scaling units, over the whole array.

    Parameters
    ----------
    n_units : int, at least 1
        Business scaling units: 50 requests a second each, with walks and sequential runs of their own.

    Raises
    ------
    DescriptionError
        When there is no unit.

    Notes
    -----
    Sequential runs are a tenth of their store long, 30 % in the log: none ends within hours. So they begin at equal
    distances, and have no jumps.

    Examples
    --------
    >>> workload = spc1_like(20)
    >>> round(workload.offered_rate_per_s)
    1000
    """
    if n_units < 1:
        raise DescriptionError(Fault("n_units", n_units, "must be at least 1", "use 1 for 50 requests a second"))
    return Workload.parse({"name": "SPC-1-like", "streams": [_stream(kind, n_units) for kind in KINDS]})


def _stream(kind: _Kind, n_units: int) -> dict[str, Any]:
    sizes: Any = "4 KiB"
    addresses: dict[str, Any] = {"pattern": kind.pattern}
    if kind.pattern == "sequential":
        sizes = [{"size": size, "weight": weight} for size, weight in SEQUENTIAL_SIZES.items()]
        addresses["n_readers"] = n_units
    elif kind.pattern == "reuse_walk":
        addresses["n_walkers"] = n_units
    return {
        "name": kind.name,
        "read_ratio": kind.read_ratio,
        "sizes": sizes,
        "rate_per_s": round(UNIT_IOPS * n_units * kind.share, 9),
        "offset_ratio": round(kind.offset, 9),
        "span_ratio": round(kind.span, 9),
        "addresses": addresses,
    }
