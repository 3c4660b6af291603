"""The last stage of a fit of a hard disk: parameters are moved together until simulated responses match the measured
ones.

The stages before fit one part after the other, each against what it alone explains. Here a few parameters are moved
together until the distributions of the engines' responses are nearest to the measured ones. The result is kept only if
it also does better on evidence that the search did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from calibrate.arrays import Floats
from diskmodel.drive import Hdd
from diskmodel.errors import DescriptionError

#: Simulations of a search. Half ends before four parameters have converged; double gains little beyond the scatter of
#: the cost.
MAX_RUNS = 160
#: Of a search by parabolas: its first step, as a share of the narrowest range, and its last. First steps twice as long
#: pass over valleys; below the last one the cost scatters.
FIRST_STEP = 0.1
LAST_STEP = 1e-3

Cost = Callable[[Floats], float]
Bounds = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Joint:
    """The drive after the last stage.

    Attributes
    ----------
    drive : Hdd
        The moved one if it is kept, else the one before.
    is_kept : bool
    before_ratio, after_ratio : float
        Distance from held-out evidence, before and after, as a share of its mean.
    step : (p,) float64
        The move of each parameter, kept or not, in the units of the search.
    """

    drive: Hdd
    is_kept: bool
    before_ratio: float
    after_ratio: float
    step: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return what a profile carries in `provenance.last_stage`."""
        return {"kept": self.is_kept, "before_ratio": self.before_ratio, "after_ratio": self.after_ratio}


def move_together(
    moved: Callable[[Floats], Hdd],
    bounds: Bounds,
    *,
    cost: Callable[[Hdd], float],
    price: Cost,
    later: Callable[[Hdd], float],
    search: Callable[[Cost, Bounds], Floats],
    before: Hdd | None = None,
    min_gain: float = 0.01,
) -> Joint:
    """Return the drive with the lowest cost, if held-out evidence confirms it.

    Parameters
    ----------
    moved : callable
        From a step, (p,) float64, to a drive; may raise `DescriptionError` where there is none.
    bounds : sequence of (low, high)
        Of each step, around 0; all of about the same width.
    cost : callable
        Squared distance of a drive from the evidence that is fitted.
    price : callable
        Penalty of a step away from the findings of the stages.
    later : callable
        Distance of a drive from held-out evidence.
    search : callable
        From cost with penalty, and bounds, to the best step: `along_lines` or `by_parabolas`.
    before : Hdd, optional
        The drive that the moved one must improve on; the one of step 0 unless given.
    min_gain : float
        A smaller share of the held-out distance does not count as a gain.
    """
    start = np.zeros(len(bounds))
    before = moved(start) if before is None else before

    def total(step: Floats) -> float:
        try:
            return cost(moved(step)) + price(step)
        except DescriptionError:
            return float("inf")

    step = search(total, bounds)
    best = moved(step)
    was, now = later(before), later(best)
    is_kept = now < was * (1.0 - min_gain)
    return Joint(best if is_kept else before, is_kept, was, now, step)


def along_lines(total: Cost, bounds: Bounds, *, min_fall: float) -> Floats:
    """Return the best step by Powell's method, which leaves wrong valleys; it ends when a round gains less than
    `min_fall` of the cost."""
    options = {"maxfev": MAX_RUNS, "xtol": LAST_STEP, "ftol": min_fall}
    found = minimize(total, np.zeros(len(bounds)), method="Powell", bounds=list(bounds), options=options)
    return np.asarray(found.x, np.float64)


def by_parabolas(total: Cost, bounds: Bounds) -> Floats:
    """Return the best step by COBYQA: near the start, where one valley is, with a fourth of the runs."""
    first = FIRST_STEP * min(high - low for low, high in bounds)
    options = {"maxfev": MAX_RUNS, "initial_tr_radius": first, "final_tr_radius": LAST_STEP}
    found = minimize(total, np.zeros(len(bounds)), method="COBYQA", bounds=list(bounds), options=options)
    return np.asarray(found.x, np.float64)


def last_stage_text(last_stage: Mapping[str, Any]) -> str:
    """Return `Joint.to_dict` in words."""
    before, after = (100 * float(last_stage[name]) for name in ("before_ratio", "after_ratio"))
    measure = "demerit on held-out evidence"
    if last_stage["kept"]:
        return f"joint fit of distributions kept: {measure} {after:.2g} % instead of {before:.2g} % of the mean"
    return f"joint fit of distributions not kept: {measure} {after:.2g} % after {before:.2g} % of the mean"
