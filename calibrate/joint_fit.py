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
    bounds: Sequence[tuple[float, float]],
    *,
    cost: Callable[[Hdd], float],
    price: Callable[[Floats], float],
    later: Callable[[Hdd], float],
    before: Hdd | None = None,
    min_fall: float = 1e-4,
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
    before : Hdd, optional
        The drive that the moved one must improve on; the one of step 0 unless given.
    min_fall : float
        The search ends when a round lowers cost and penalty by less than this share.
    min_gain : float
        A smaller share of the held-out distance does not count as a gain.

    Notes
    -----
    Powell's method: a simulated distribution has no derivatives, and a few parameters are few.
    """
    start = np.zeros(len(bounds))
    before = moved(start) if before is None else before

    def total(step: Floats) -> float:
        try:
            return cost(moved(step)) + price(step)
        except DescriptionError:
            return float("inf")

    options = {"maxfev": MAX_RUNS, "xtol": 1e-3, "ftol": min_fall}
    found = minimize(total, start, method="Powell", bounds=list(bounds), options=options)
    step = np.asarray(found.x, np.float64)
    best = moved(step)
    was, now = later(before), later(best)
    is_kept = now < was * (1.0 - min_gain)
    return Joint(best if is_kept else before, is_kept, was, now, step)


def last_stage_text(last_stage: Mapping[str, Any]) -> str:
    """Return `Joint.to_dict` in words."""
    before, after = (100 * float(last_stage[name]) for name in ("before_ratio", "after_ratio"))
    measure = "demerit on held-out evidence"
    if last_stage["kept"]:
        return f"joint fit of distributions kept: {measure} {after:.2g} % instead of {before:.2g} % of the mean"
    return f"joint fit of distributions not kept: {measure} {after:.2g} % after {before:.2g} % of the mean"
