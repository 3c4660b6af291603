"""How the slowest requests of a draw differ from those of the description, by their operation."""

from __future__ import annotations

import math
from typing import Literal

from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.perturbed import AnyWorkload
from diskmodel.workload import Workload

#: Field of `Perturbation` with the factor of p99 of all requests, of reads and of writes, in the order of `Case.tails`.
Kind = Literal["p99", "read_p99", "write_p99"]
KINDS: tuple[Kind, ...] = ("p99", "read_p99", "write_p99")
#: Beginnings of the names of statistics that are about the slowest requests.
_SLOWEST = ("p99", "p999")
#: Subsets of one operation.
_OF_ONE: dict[str, Kind] = {"reads": "read_p99", "writes": "write_p99", "commits": "write_p99"}


def is_tail(statistic: str) -> bool:
    """Return whether a statistic is about the slowest requests: "p99", "p999", or one of them "of" some requests."""
    return statistic.startswith(_SLOWEST)


def kind_of(subset: str, workload: AnyWorkload) -> Kind:
    """Return which factor p99 of some requests has: a stream of reads or of writes alone has theirs.

    Parameters
    ----------
    subset : str
        "" for all requests, "reads", "writes", "commits", or the name of a stream.
    workload : Workload or TraceWorkload
    """
    if subset in _OF_ONE:
        return _OF_ONE[subset]
    streams = workload.streams if isinstance(workload, Workload) else ()
    ratios = {float(stream.read_ratio) for stream in streams if subset and stream.name == subset}
    return "read_p99" if ratios == {1.0} else "write_p99" if ratios == {0.0} else "p99"


def factor(perturbation: Perturbation, statistic: str, subset: str, workload: AnyWorkload) -> float:
    """Return the factor of a statistic of some requests; 1 of what is not about the slowest of them."""
    return math.exp(getattr(perturbation, kind_of(subset, workload))) if is_tail(statistic) else 1.0
