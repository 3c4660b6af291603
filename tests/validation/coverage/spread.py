"""How far drives and arrays of a class lie from their prediction: between units, and what is left within one.

Everything is in natural logarithms of measured over predicted. Each quantity (a rate, or p99 over the mean, of a kind
of load) has a mean and a variance between units, and a variance within a unit, in a tree: all loads of a family of
classes, one load of the family, one load of a class. Each begins with what the one above says, as if that were a few
units of its own, and its own units move it. The prior is normal-inverse-gamma. What is predicted of a new unit is
Student's t, and so are the units around their class, so that one that is far from all others does not widen all.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

from tests.validation.coverage.evidence import STATISTICS, Case, classes
from tests.validation.coverage.predicted import Predicted

#: Units that what a parent says counts as, and figures within one: of the mean, of the spread, of the rest. With these
#: the figures of left-out units are most likely (`python -m tests.validation.coverage.choose`).
UNITS_OF_MEAN, UNITS_OF_SPREAD, FIGURES_OF_REST = 8.0, 3.0, 3.0
#: Degrees of freedom of units around their class, by family: a few disks are far from all others. With fewer than 3
#: there would be no standard deviation.
TAILS = {"hdd": 6.0, "flash": 4.0, "controller": math.inf}
#: Of the iteration that gives far ones less weight.
_STEPS = 20
#: What is assumed before any figure is seen: a log standard deviation between units and within one, and as how many
#: units that counts.
FIRST_SPREAD, FIRST_REST = 0.3, 0.15
#: Requests on a disk from which its queue counts as deep: with up to two, there is little to choose from.
DEEP = 3.0

#: Kinds of load.
LOADS = ("single reads", "queued reads", "single writes", "queued writes", "mixed", "sequential")
#: What has a spread: the rate (a mean latency is its inverse where clients wait), and p99 over the mean.
QUANTITIES = ("rate", "tail")


@dataclass(frozen=True)
class Figure:
    """A measured statistic and its prediction.

    Attributes
    ----------
    case : Case
    predicted : Predicted
    statistic : "iops", "mean" or "p99"
    load : str
        One of `LOADS`.
    """

    case: Case
    predicted: Predicted
    statistic: str
    load: str

    @property
    def measured(self) -> float:
        """Return what was measured."""
        return self.case.measured[self.statistic]

    @property
    def nominal(self) -> float:
        """Return what the model predicts."""
        return self.predicted.values[self.statistic]

    @property
    def log_ratio(self) -> float:
        """Return the logarithm of measured over predicted."""
        return math.log(self.measured / self.nominal)


def load_of(case: Case) -> str:
    """Return the kind of a load."""
    (stream,) = case.workload.streams
    data = stream.to_dict()
    if data["addresses"]["pattern"] != "uniform":
        return "sequential"
    if 0 < data["read_ratio"] < 1:
        return "mixed"
    depth = data["arrival"]["clients"] / case.array.layout.disks
    return f"{'queued' if depth >= DEEP else 'single'} {'reads' if data['read_ratio'] else 'writes'}"


def figures(pairs: Iterable[tuple[Case, Predicted]]) -> list[Figure]:
    """Return every figure that was measured."""
    return [
        Figure(case, predicted, name, load_of(case))
        for case, predicted in pairs
        for name in STATISTICS
        if name in case.measured
    ]


@dataclass(frozen=True)
class Spread:
    """What is known of a quantity of a class: a normal-inverse-gamma distribution, and the rest within a unit.

    Attributes
    ----------
    mean : float
        Of the logarithm of measured over predicted.
    n_mean : float
        Units that this mean counts as.
    variance : float
        Between units.
    freedom : float
        Degrees of freedom of that variance.
    rest, rest_freedom : float
        Variance within a unit, and its degrees of freedom.
    heavy : float
        Degrees of freedom of units around their class.
    n_units, n_figures : int
        Of the class itself.
    """

    mean: float = 0.0
    n_mean: float = 1.0
    variance: float = FIRST_SPREAD**2
    freedom: float = 1.0
    rest: float = FIRST_REST**2
    rest_freedom: float = 1.0
    heavy: float = math.inf
    n_units: int = 0
    n_figures: int = 0

    @classmethod
    def first(cls, family: str) -> Spread:
        """Return what is assumed of a family before any figure is seen."""
        return cls(n_mean=UNITS_OF_MEAN, freedom=UNITS_OF_SPREAD, rest_freedom=FIGURES_OF_REST, heavy=TAILS[family])

    def after(self, units: Iterable[list[float]]) -> Spread:
        """Return what is known after the figures of some units, a list for each."""
        means = [(float(np.mean(values)), len(values)) for values in units if values]
        n_figures = sum(n for _, n in means)
        n = len(means)
        if n == 0:
            return self
        within = [float(np.sum((np.array(v) - np.mean(v)) ** 2)) for v in units if v]
        rest_freedom = self.rest_freedom + n_figures - n
        rest = (self.rest_freedom * self.rest + sum(within)) / rest_freedom
        values, sizes = np.array(means).T
        freedom, mean, variance, weights = self.freedom + n, self.mean, self.variance, np.ones(n)
        for _ in range(_STEPS if math.isfinite(self.heavy) else 1):
            n_mean = self.n_mean + float(np.sum(weights))
            mean = (self.n_mean * self.mean + float(weights @ values)) / n_mean
            # the mean of a few figures of a unit differs from the unit's own by what scatters within it
            squares = max(float(weights @ ((values - mean) ** 2 - rest / sizes)), 0.0)
            squares += self.n_mean * (mean - self.mean) ** 2
            variance = (self.freedom * self.variance + squares) / freedom
            if math.isfinite(self.heavy):
                weights = (self.heavy + 1) / (self.heavy + (values - mean) ** 2 / variance)
        return Spread(
            mean,
            n_mean,
            variance,
            freedom,
            rest,
            rest_freedom,
            self.heavy,
            n,
            n_figures,
        )

    def as_prior(self) -> Spread:
        """Return what this says of another class: the same, but counting as few units."""
        return Spread(
            self.mean,
            min(self.n_mean, UNITS_OF_MEAN),
            self.variance,
            min(self.freedom, UNITS_OF_SPREAD),
            self.rest,
            min(self.rest_freedom, FIGURES_OF_REST),
            self.heavy,
        )

    @property
    def scale(self) -> float:
        """Return the scale of a figure of a new unit: between units, of the class's mean, and within the unit."""
        return math.sqrt(self.between**2 + self.rest)

    @property
    def between(self) -> float:
        """Return the scale of a new unit's mean."""
        return math.sqrt(self.variance * (1 + 1 / self.n_mean))

    @property
    def between_freedom(self) -> float:
        """Return the degrees of freedom of a new unit's mean."""
        return min(self.freedom, self.heavy)

    @property
    def tails(self) -> float:
        """Return the degrees of freedom of the whole, after Welch and Satterthwaite."""
        parts = ((self.between**2, self.between_freedom), (self.rest, self.rest_freedom))
        return sum(v for v, _ in parts) ** 2 / sum(v * v / f for v, f in parts)


#: By class, load and quantity.
Spreads = Mapping[tuple[str, str, str], Spread]


def observations(found: Iterable[Figure]) -> dict[tuple[str, str, str], dict[str, list[float]]]:
    """Return the logarithms of each class, load and quantity, by unit."""
    by_case: dict[str, dict[str, Figure]] = defaultdict(dict)
    for figure in found:
        by_case[figure.case.name][figure.statistic] = figure
    seen: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for own in by_case.values():
        first = next(iter(own.values()))
        key, unit = (first.case.class_, first.load), first.case.unit
        if "iops" in own or "mean" in own:
            rate = own["iops"].log_ratio if "iops" in own else -own["mean"].log_ratio
            seen[*key, "rate"][unit].append(rate)
            if "p99" in own:
                seen[*key, "tail"][unit].append(own["p99"].log_ratio + rate)
    return seen


def estimate(found: Iterable[Figure]) -> Spreads:
    """Return the spreads of all classes and their parents."""
    seen = observations(found)
    parents = _parents()
    spreads: dict[tuple[str, str, str], Spread] = {}
    for quantity in QUANTITIES:
        for parent in dict.fromkeys(parents.values()):
            leaves = [name for name, of in parents.items() if of == parent and not is_array(name)]
            pooled: dict[str, dict[str, list[float]]] = {load: defaultdict(list) for load in LOADS}
            for load, leaf in itertools.product(LOADS, leaves):
                for unit, values in seen.get((leaf, load, quantity), {}).items():
                    pooled[load][f"{leaf} {unit}"] += values
            anything = Spread.first(parent).after([values for units in pooled.values() for values in units.values()])
            for load in LOADS:
                spreads[parent, load, quantity] = anything.as_prior().after(list(pooled[load].values()))
        for load, (leaf, parent) in itertools.product(LOADS, parents.items()):
            own = list(seen.get((leaf, load, quantity), {}).values())
            above = spreads[parent, load, quantity]
            # an array is made of drives like those on their own: what these show counts in full
            spreads[leaf, load, quantity] = (above if is_array(leaf) else above.as_prior()).after(own)
    return spreads


def is_array(name: str) -> bool:
    """Return whether a class is one of arrays, whose figures say nothing of drives on their own."""
    return name.startswith("array-md")


@cache
def _parents() -> dict[str, str]:
    return dict(classes()["parents"])


def interval(figure: Figure, spreads: Spreads, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a figure on a unit of which nothing was measured."""
    center, scale, freedom = predictive(figure, spreads)
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * scale
    middle = math.log(figure.nominal) + center
    return math.exp(middle - half), math.exp(middle + half)


def predictive(figure: Figure, spreads: Spreads) -> tuple[float, float, float]:
    """Return center, scale and degrees of freedom of the logarithm of measured over predicted."""
    rate = spreads[figure.case.class_, figure.load, "rate"]
    if figure.statistic != "p99":
        return (rate.mean if figure.statistic == "iops" else -rate.mean), rate.scale, rate.tails
    tail = spreads[figure.case.class_, figure.load, "tail"]
    scale = math.hypot(rate.scale, tail.scale)
    freedom = scale**4 / (rate.scale**4 / rate.tails + tail.scale**4 / tail.tails)
    return tail.mean - rate.mean, scale, freedom


def left_out(found: list[Figure]) -> list[tuple[Figure, Spreads]]:
    """Return every figure with the spreads of all units but its own."""
    pairs = []
    for unit in dict.fromkeys(figure.case.unit for figure in found):
        others = estimate(figure for figure in found if figure.case.unit != unit)
        pairs += [(figure, others) for figure in found if figure.case.unit == unit]
    return pairs
