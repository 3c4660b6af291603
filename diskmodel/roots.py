"""The root of a function of one variable, without loading a library for it.

`scipy.optimize` offers the same, but importing it takes longer than most plans take to answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

#: Smallest relative distance that floating-point numbers resolve: four times the spacing of those near 1.
RESOLUTION = 4 * 2.0**-52
#: Steps after which a search gives up: bisection alone ends in 64.
MAX_STEPS = 100


def find_root(
    function: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float = RESOLUTION
) -> float:
    """Return where a continuous function crosses 0, by Brent's method.

    Parameters
    ----------
    function : callable
        Of one float.
    low, high : float
        Ends of an interval at which the function has different signs.
    xtol, rtol : float
        The root is right to `xtol` + `rtol` · |root|.

    Raises
    ------
    ValueError
        When the function has the same sign at both ends.

    References
    ----------
    R. P. Brent, *Algorithms for Minimization Without Derivatives*, 1973, chapter 4. Each step is that of
    `scipy.optimize.brentq`, so that results are equal to the last bit.
    """
    previous, current = low, high
    f_previous, f_current = function(previous), function(current)
    if f_previous == 0:
        return previous
    if f_current == 0:
        return current
    if math.copysign(1, f_previous) == math.copysign(1, f_current):
        raise ValueError(f"the function has the same sign at {low} and {high}")
    other = f_other = before = step = 0.0
    for _ in range(MAX_STEPS):
        if f_previous != 0 and math.copysign(1, f_previous) != math.copysign(1, f_current):
            other, f_other = previous, f_previous
            before = step = current - previous
        if abs(f_other) < abs(f_current):
            previous, current, other = current, other, current
            f_previous, f_current, f_other = f_current, f_other, f_current
        nearest = (xtol + rtol * abs(current)) / 2
        middle = (other - current) / 2
        if f_current == 0 or abs(middle) < nearest:
            return current
        trial = math.inf
        if abs(before) > nearest and abs(f_current) < abs(f_previous):
            if previous == other:
                trial = -f_current * (current - previous) / (f_current - f_previous)
            else:
                to_previous = (f_previous - f_current) / (previous - current)
                to_other = (f_other - f_current) / (other - current)
                product = to_other * to_previous * (f_other - f_previous)
                trial = -f_current * (f_other * to_other - f_previous * to_previous) / product if product else math.inf
        if 2 * abs(trial) < min(abs(before), 3 * abs(middle) - nearest):
            before, step = step, trial
        else:
            before = step = middle
        previous, f_previous = current, f_current
        current += step if abs(step) > nearest else math.copysign(nearest, middle)
        f_current = function(current)
    return current
