"""A workload that was found in a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault
from diskmodel.loading import dataclass

LEVELS = (50, 90, 95, 99, 100)

#: What to do where the load at a level is none.
HIGHER = "choose a higher percentile"


@dataclass(frozen=True)
class FoundWorkload:
    """A workload found in a recording.

    Attributes
    ----------
    workload : dict
        For `Workload.parse`.
    kind : str
        As `detect_evidence` names it.
    load_per_s : dict of int to float
        Percentile of time → requests per second; empty for fio jobs, which come as fast as they are served.
    mean_per_s : float or None
    rates_per_s : float64, shape (n,)
        Requests per second, interval by interval.
    notes : tuple of str
        What was assumed.
    dropped_flushes : str
        Flushes of the recording that the workload does not have, in words; "" where it has them all. Without them
        writes are answered too early: no figure of such a workload is an answer.
    response_ns : mapping of str to float
        What iostat, sar and their like measured, each request alike: mean time of "reads", of "writes" and of "all",
        as far as the recording has them.
    outstanding : float or None
        Requests that were waiting or served on average over the recording; None where that is not recorded.
    responses : mapping of str to mapping of int to float
        Of "reads" and "writes" k → requests that took from 2^k to 2^(k+1) ns, where a recording has more than means.
    """

    workload: dict[str, Any]
    kind: str
    load_per_s: dict[int, float]
    mean_per_s: float | None
    rates_per_s: NDArray[np.float64]
    notes: tuple[str, ...]
    dropped_flushes: str = ""
    response_ns: Mapping[str, float] = field(default_factory=dict)
    outstanding: float | None = None
    responses: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


def flush_fault(what: str, fix: str) -> Fault:
    """Return why a recording with flushes that are left out has no answer."""
    rule = f"{what}: without them writes are answered too early, and no figure can be given"
    return Fault("flushes", None, rule, fix)


def levels_of(rates: NDArray[np.float64]) -> dict[int, float]:
    return {level: float(np.percentile(rates, level)) for level in LEVELS}
