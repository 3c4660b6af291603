"""How likely figures of left-out units are by what a parent counts as: `python -m tests.validation.coverage.choose`.

The mean logarithm of the predictive density, of each unit and then of all units, so that a drive that was measured a
hundred times counts as much as one that was measured once.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
from scipy import stats

from tests.validation.coverage import page, spread

#: Of the tails, of one family after the other, and of the two counts.
TAILS = (3.0, 4.0, 6.0, 12.0, math.inf)
COUNTS = {"UNITS_OF_MEAN": (1.0, 2.0, 4.0, 6.0, 8.0), "UNITS_OF_SPREAD": (3.0, 5.0)}


def likelihood() -> float:
    """Return the mean logarithm of the density of all figures, each without its unit."""
    found: dict[str, list[float]] = defaultdict(list)
    for figure, others in spread.left_out(list(page.all_figures())):
        center, scale, freedom = spread.predictive(figure, others)
        density = stats.t.logpdf((figure.log_ratio - center) / scale, freedom) - math.log(scale)
        found[figure.case.unit].append(float(density))
    return float(np.mean([np.mean(values) for values in found.values()]))


def main() -> None:
    """Print the likelihood of each choice, the others as they are."""
    for family, old in spread.TAILS.items():
        for value in TAILS:
            spread.TAILS[family] = value
            print(f"TAILS[{family}] = {value:g}: {likelihood():.4f}", flush=True)
        spread.TAILS[family] = old
    for values in itertools.product(*COUNTS.values()):
        for name, value in zip(COUNTS, values, strict=True):
            setattr(spread, name, value)
        print(dict(zip(COUNTS, values, strict=True)), f"{likelihood():.4f}", flush=True)


if __name__ == "__main__":
    main()
