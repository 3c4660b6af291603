"""How far drives lie from their descriptions, quantity by quantity.

Everything is in natural logarithms of measured over predicted. A quantity is what drives of a family have in common
whatever the load: how long an access takes, how fast a queue is served, how far p99 is above the mean. Each begins with
what is known of such drives beside these measurements (`Prior`), which counts as so many units, and every unit whose
source describes it moves it. Units are Student's t around the middle, so that one that is far from all others does not
widen all. Systems that do not do what their parts can are a share of their own (`BROKEN`): a unit that is likelier one
of these counts less, and the interval of a sound system is not that of a broken one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from diskmodel.array import Array
from diskmodel.drive import Hdd
from tests.validation.units.evidence import UnitCase
from tests.validation.units.said import MINOR, OF_WRITES

#: Statistics that have an interval; the first in 1/s, the others in ms.
OVERALL = ("iops", "mean", "p99")
STATISTICS = (*OVERALL, *(f"{op}_{name}" for op in ("reads", "writes") for name in ("mean", "p99")))
#: Degrees of freedom of units around the middle of their family.
TAILS = 6.0
#: Share of systems that do not do what their parts can, and the logarithm of their rate by what it should be: middle
#: and standard deviation. Of units that are described, those likelier broken than not are named on the page.
BROKEN, BROKEN_CENTER, BROKEN_LOG_SD = 0.08, -0.6, 0.5
#: Of the iteration that gives far ones less weight.
_STEPS = 30
#: Requests on a disk from which its queue counts as deep.
DEEP = 3.0


@dataclass(frozen=True)
class Prior:
    """What is known of a quantity before any of these figures is seen.

    Attributes
    ----------
    log_sd : float
        Standard deviation of the logarithm between drives.
    units : float
        As how many units that counts.
    """

    log_sd: float
    units: float


#: As how many units a description counts for the middle of its drives: that these are as described on average is less
#: certain than by how much they differ. With more, described disks would be 2 % slower than described, with fewer 6 %.
UNITS_OF_MEDIAN = 3.0
#: By class and quantity.
PRIORS: Mapping[tuple[str, str], Prior] = {
    # sheets print the average seek; specimens of a model differ by 2 %, and models from their sheets by 4 or 5 %
    ("hdd", "positioning"): Prior(0.045, 10),
    # the same between orders of firmware that nobody can choose between: some 10 % at depth 16
    ("hdd", "queue"): Prior(0.08, 6),
    ("hdd", "cached_writes"): Prior(0.12, 4),
    ("hdd", "sequential"): Prior(0.06, 4),
    ("hdd", "tail"): Prior(0.12, 4),
    ("hdd", "write_tail"): Prior(0.5, 3),
    # a class of drives is as wide as its models: mean accesses of the catalog's named disks of one speed differ by 0.03
    # (7,200 rpm, servers) to 0.17 (10,000), and models from their sheets by 0.05
    ("hdd-any", "positioning"): Prior(0.12, 4),
    # how long a buffer sorts writes, and how many, differs from make to make, and no sheet prints it
    ("hdd-any", "cached_writes"): Prior(0.2, 4),
    # firmware, places and paths of desktop drives are as little known as their models
    ("hdd-any-desktop", "positioning"): Prior(0.2, 4),
    ("hdd-any-desktop", "cached_writes"): Prior(0.2, 4),
    # a sheet prints the latency of a read; dies of one generation differ by a fifth
    ("flash", "flash_read_time"): Prior(0.15, 4),
    ("flash", "flash_parallelism"): Prior(0.2, 4),
    # the steady state of a data center's drive is printed; sheets keep it within 10 %
    ("flash", "flash_write"): Prior(0.12, 6),
    # a sheet prints the latency of a write, or that of such drives is taken
    ("flash", "flash_write_latency"): Prior(0.3, 4),
    ("flash", "tail"): Prior(0.25, 4),
    ("flash", "write_tail"): Prior(0.8, 3),
    # clients that wait for a drive that does all it can: p99 over the mean is that of a queue, 1.1 where it is served
    # evenly and 3 where it is served in batches, and the model has the batches that it knows of
    ("flash", "queued_write_tail"): Prior(0.4, 4),
    # no sheet prints the sustained writes of a consumer drive
    ("flash-consumer", "flash_write"): Prior(0.6, 4),
    ("flash-any", "flash_read_time"): Prior(0.3, 4),
    ("flash-any", "flash_parallelism"): Prior(0.3, 4),
    ("flash-any", "flash_write"): Prior(0.5, 4),
    # what lies between host and disks may limit them; the one that is known to is among the broken
    ("array-hw-hdd", "controller"): Prior(0.25, 4),
    ("flash-behind-controller", "controller"): Prior(0.2, 4),
}


@dataclass(frozen=True)
class Figure:
    """A measured statistic and its prediction.

    Attributes
    ----------
    case : UnitCase
    values : mapping of str to float
        What is predicted, by statistic.
    statistic : str
        One of `STATISTICS`.
    """

    case: UnitCase
    values: Mapping[str, float]
    statistic: str

    @property
    def measured(self) -> float:
        """Return what was measured."""
        return self.case.measured[self.statistic]

    @property
    def nominal(self) -> float:
        """Return what the model predicts."""
        return self.values[self.statistic]

    @property
    def log_ratio(self) -> float:
        """Return the logarithm of measured over predicted."""
        return math.log(self.measured / self.nominal)

    @property
    def load(self) -> str:
        """Return the kind of the load."""
        return load_of(self.case)


def load_of(case: UnitCase) -> str:
    """Return the kind of a load: "sequential", "mixed", or single or queued reads or writes."""
    if len(case.workload.streams) > 1:
        return "mixed"
    (stream,) = case.workload.streams
    data = stream.to_dict()
    if data["addresses"]["pattern"] == "sequential":
        return "sequential"
    if 0 < data["read_ratio"] < 1:
        return "mixed"
    depth = data["arrival"].get("clients", 1) / case.array.layout.disks
    return f"{'queued' if depth >= DEEP else 'single'} {'reads' if data['read_ratio'] else 'writes'}"


def figures(pairs: Iterable[tuple[UnitCase, Mapping[str, float]]]) -> list[Figure]:
    """Return every figure that was measured and is predicted."""
    return [
        Figure(case, values, name)
        for case, values in pairs
        for name in STATISTICS
        if name in case.measured and 0 < values.get(name, 0.0) < math.inf and case.seconds is None
    ]


@dataclass(frozen=True)
class Spread:
    """What is known of a quantity: the middle of its logarithm, its standard deviation between units, their number.

    Attributes
    ----------
    center, log_sd, dof : float
    n : int
        Units that moved it.
    """

    center: float
    log_sd: float
    dof: float
    n: int

    def line(self, name: str) -> str:
        """Return the spread as a line of the table."""
        return (
            f"{name} = {{ median = {math.exp(self.center):.3g}, log_sd = {self.log_sd:.3g}, "
            f"dof = {self.dof:.3g}, n = {self.n} }}"
        )


def after(prior: Prior, units: Sequence[Sequence[float]], is_rate: bool) -> Spread:
    """Return what is known of a quantity after the logarithms of some units.

    Parameters
    ----------
    prior : Prior
    units : sequence of sequences of float
        Of each unit what its loads show.
    is_rate : bool
        Whether a broken system has less of it; otherwise more.
    """
    values = np.array([float(np.median(one)) for one in units if len(one)])
    n = len(values)
    center, variance, weights = 0.0, prior.log_sd**2, np.ones(n)
    broken = BROKEN_CENTER if is_rate else -BROKEN_CENTER
    for _ in range(_STEPS if n else 0):
        center = float(weights @ values) / (UNITS_OF_MEDIAN + float(weights.sum()))
        squares = float(weights @ (values - center) ** 2) + UNITS_OF_MEDIAN * center**2
        variance = (prior.units * prior.log_sd**2 + squares) / (prior.units + float(weights.sum()))
        scale = math.sqrt(variance)
        sound = (1 - BROKEN) * stats.t.pdf((values - center) / scale, TAILS) / scale
        other = BROKEN * stats.norm.pdf(values, center + broken, math.hypot(BROKEN_LOG_SD, scale))
        heavy = (TAILS + 1) / (TAILS + (values - center) ** 2 / variance)
        weights = heavy * sound / (sound + other)
    counted = float(weights.sum()) if n else 0.0
    log_sd = math.sqrt(variance * (1 + 1 / (UNITS_OF_MEDIAN + counted)))
    return Spread(center, log_sd, min(prior.units + counted, 12.0), n)


#: By class and quantity.
Spreads = Mapping[tuple[str, str], Spread]


def observations(found: Iterable[Figure]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the logarithms of each class and quantity, by unit."""
    seen: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    by_case: dict[str, dict[str, Figure]] = defaultdict(dict)
    for figure in found:
        by_case[figure.case.name][figure.statistic] = figure
    for own in by_case.values():
        case = next(iter(own.values())).case
        for family, quantity, value in _shown(case, {name: figure.log_ratio for name, figure in own.items()}):
            seen[family, quantity][case.unit].append(value)
    return seen


def _shown(case: UnitCase, logs: Mapping[str, float]) -> Iterable[tuple[str, str, float]]:
    """Yield what the figures of a load show: family, quantity and its logarithm."""
    family, load = family_of(case), load_of(case)
    rate = logs["iops"] if "iops" in logs else -logs["mean"] if "mean" in logs else None
    if case.array.layout.disks > 1 or family == "":
        return
    for quantity, is_time in QUANTITIES.get((family.partition("-")[0], load), ()):
        if rate is not None and (quantity != "cached_writes" or _has_cached_writes(case.array)):
            yield family, quantity, -rate if is_time else rate
    for op, name in (("", "tail"), ("reads_", "tail"), ("writes_", "write_tail")):
        if f"{op}p99" in logs and (f"{op}mean" in logs or (not op and rate is not None)):
            mean = logs.get(f"{op}mean", -(rate or 0.0))
            name = tail_of(family, load) if not op else name
            yield family, name, logs[f"{op}p99"] - mean
    if "reads_mean" in logs and family.startswith("flash"):
        yield family, "flash_read_time", logs["reads_mean"]
    if "writes_mean" in logs and family.startswith("flash"):
        yield family, "flash_write_latency", logs["writes_mean"]


def _has_cached_writes(array: Array) -> bool:
    """Whether the cache of a disk that stands for its kind answers writes, and no controller's before it.

    A named disk that stands for another one of its kind has the buffer of its own model.
    """
    is_cached = array.drive.is_write_back and array.has_drive_write_cache and not array.has_controller_cache
    return is_cached and array.drive.is_typical


def tail_of(family: str, load: str) -> str:
    """Return the quantity that p99 over the mean of all requests of a load shows."""
    if not load.endswith("writes"):
        return "tail"
    is_queue = load == "queued writes" and family.startswith("flash")
    return "queued_write_tail" if is_queue else "write_tail"


#: What the rate of a load alone shows, and whether more of it is a lower rate, by family and load.
QUANTITIES: Mapping[tuple[str, str], tuple[tuple[str, bool], ...]] = {
    ("hdd", "single reads"): (("positioning", True),),
    ("hdd", "queued reads"): (("queue", False),),
    ("hdd", "single writes"): (("cached_writes", False),),
    ("hdd", "queued writes"): (("cached_writes", False),),
    ("hdd", "sequential"): (("sequential", False),),
    ("flash", "single reads"): (("flash_read_time", True),),
    ("flash", "queued reads"): (("flash_parallelism", False),),
    ("flash", "queued writes"): (("flash_write", False),),
}


#: The class above one that has no prior of a quantity.
PARENTS = {"flash-consumer": "flash"}
#: Classes of disks that stand for a desktop drive.
DESKTOP = ("hdd-any-desktop", "hdd-sata-older")


def above(family: str, quantity: str) -> tuple[str, str] | None:
    """Return the class whose spread a family's units move; None where they move none."""
    while (family, quantity) not in PRIORS:
        if family not in PARENTS:
            return None
        family = PARENTS[family]
    return family, quantity


def family_of(case: UnitCase) -> str:
    """Return the family whose quantities a unit shows; "" of one that shows none, as its source says too little.

    A drive that another one of its kind stands for shows how far drives are from what is usual of their kind.
    """
    if case.standing == "complete":
        return family_of_array(case.array)
    is_hdd = isinstance(case.array.drive, Hdd)
    unsaid = set(case.said.not_said)
    if not unsaid & {"model", "sheet"} or unsaid - {"model", "sheet", *MINOR, *(OF_WRITES if is_hdd else ())}:
        return ""
    if not is_hdd:
        return "flash-any"
    return "hdd-any-desktop" if case.array.drive.spread_class in DESKTOP else "hdd-any"


def family_of_array(array: Array) -> str:
    """Return the family of an array's drives."""
    if isinstance(array.drive, Hdd):
        return array.drive.spread_class if array.drive.is_typical else "hdd"
    if array.drive.is_typical:
        return "flash-any"
    return "flash" if array.drive.power_loss_protected else "flash-consumer"


def estimate(found: Sequence[Figure]) -> Spreads:
    """Return the spreads of all families. Specimens of one model, which hardly differ, count as one unit."""
    models = {figure.case.unit: figure.case.model for figure in found}
    rates = ("queue", "cached_writes", "sequential", "flash_parallelism", "flash_write", "controller")
    units: dict[tuple[str, str], dict[str, list[float]]] = {key: defaultdict(list) for key in PRIORS}
    for (family, quantity), by_unit in observations(found).items():
        if (key := above(family, quantity)) is not None:
            for unit, values in by_unit.items():
                units[key][models[unit]] += values
    return {key: after(prior, list(units[key].values()), key[1] in rates) for key, prior in PRIORS.items()}


def left_out(found: Sequence[Figure]) -> dict[str, Spreads]:
    """Return by unit the spreads of all units but that and other specimens of its model."""
    models = {figure.case.unit: figure.case.model for figure in found}
    spreads = {
        model: estimate([figure for figure in found if figure.case.model != model]) for model in set(models.values())
    }
    return {unit: spreads[model] for unit, model in models.items()}


def broken_units(found: Iterable[Figure]) -> list[str]:
    """Return the described units whose rates are likelier those of a broken system than of a sound one."""
    found = list(found)
    known, broken = estimate(found), []
    for (family, quantity), by_unit in observations(found).items():
        if quantity not in ("positioning", "flash_read_time") or family.endswith("-any"):
            continue
        spread = known[family, quantity]
        for unit, values in by_unit.items():
            value = -float(np.median(values))
            center = -spread.center
            sound = (1 - BROKEN) * stats.t.pdf((value - center) / spread.log_sd, spread.dof) / spread.log_sd
            other = BROKEN * stats.norm.pdf(value, center + BROKEN_CENTER, BROKEN_LOG_SD)
            if other > sound:
                broken.append(unit)
    return broken
