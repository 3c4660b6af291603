"""Expected against measured: the interval of each figure, and whether all of them together are as expected."""

from __future__ import annotations

import math

import numpy as np

from diskmodel.explanation.likelihood import chance_of, n_independent
from diskmodel.explanation.measured import Figure
from diskmodel.explanation.simulator import BEYOND, Floats, Simulator
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result.statistics import student_t

#: Part of healthy arrays about which something is said although nothing is wrong.
ALARMS = 0.05
#: Part of healthy arrays whose figures are one by one as expected, and together are not, as rates at two depths may be.
_TOGETHER = 0.01
#: Chance of all figures together from which nothing that is known here could be said of them: causes are only tried of
#: what is less usual. Of sound arrays, one of four.
DOUBTFUL = 0.25
#: Share of the squared width from which an unknown is said to leave a load open. At half, several would.
_MOST = 0.4


@dataclass(frozen=True)
class Compared(Record):
    """One figure, expected and measured.

    Attributes
    ----------
    load : str
        Name of the measured load.
    figure : str
        "iops", "reads.mean" …; of latencies in ms.
    expected, low, high : float
        With its 95 % interval, which contains everything that is not known.
    measured : float
    is_inside : bool
        Whether the measured one lies in the interval, wider where several figures are compared.
    """

    load: str
    figure: str
    expected: float
    low: float
    high: float
    measured: float
    is_inside: bool


@dataclass(frozen=True)
class Unseen(Record):
    """What a comparison of one load could not have shown.

    Attributes
    ----------
    load : str
    factor : float
        Each request so many times as long, or the rate so many times lower, would lie inside the intervals.
    with_before : float or None
        The same if there were a sound run of the same load; None where there is one.
    open : str
        The unknown that most of the width comes from, as other answers name it; "": nothing does by itself.
    share : float
        Its share of the squared width.
    """

    load: str
    factor: float
    with_before: float | None
    open: str = ""
    share: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """All figures compared.

    Attributes
    ----------
    compared : tuple of Compared
        Rates, means and p99.
    is_as_expected : bool
    direction : "slower", "faster" or "different"
        Of the figures outside their intervals; where none is, of the rate that is furthest off.
    chance : float
        Probability of figures at least so far from the expected ones, of all together.
    unseen : tuple of Unseen
        Of each load.
    """

    compared: tuple[Compared, ...]
    is_as_expected: bool
    direction: str
    chance: float
    unseen: tuple[Unseen, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether no figure is outside by itself, and all of them together are less usual than most."""
        return self.is_as_expected and self.chance < DOUBTFUL


def compare(simulator: Simulator) -> Verdict:
    """Return the comparison of what was measured with the array as it is described."""
    names, rows = main_figures(simulator)
    scale = rows @ simulator.scale() @ rows.T
    reference, center, target = (
        rows @ simulator.likeliest,
        rows @ (simulator.reference + simulator.offset),
        rows @ simulator.target,
    )
    spread = np.sqrt(np.diag(scale))
    n_worth = max(n_independent(scale), 1.0)
    ceiling = np.array([simulator.ceiling[np.flatnonzero(row)[0]] for row in rows]) + BEYOND
    narrow, wide = (_half_widths(simulator, names, spread, level) for level in (ALARMS, ALARMS / n_worth))
    compared, directions = [], []
    for at, figure in enumerate(names):
        top = max(reference[at], ceiling[at])
        low, high = min(reference[at], center[at] - narrow[at]), max(reference[at], center[at] + narrow[at])
        least, most = min(reference[at], center[at] - wide[at]), max(reference[at], center[at] + wide[at])
        high, most = min(high, top), min(most, top)
        is_inside = bool(least <= target[at] <= most)
        if not is_inside:
            directions.append((figure.kind, (target[at] > most) == (figure.kind == "iops")))
        unit = 1.0 if figure.kind == "iops" else 1e-6
        expected, *ends, found = (math.exp(value) * unit for value in (reference[at], low, high, target[at]))
        load = simulator.measured[figure.load].name
        compared.append(Compared(load, figure.key, expected, ends[0], ends[1], found, is_inside))
    unseen = _unseen(simulator, names, rows, center, wide, n_worth)
    chance = chance_of(target - center, scale, simulator.dof)
    is_expected = not directions and (len(names) < 2 or chance > _TOGETHER)
    # a rate decides, where one is outside: with fewer outstanding, single requests are faster and the rate is lower
    telling = [faster for kind, faster in directions if kind == "iops"] or [faster for _, faster in directions]
    off = [(target[at] - center[at]) / spread[at] for at, figure in enumerate(names) if figure.kind == "iops"]
    if not directions and off:
        telling = [max(off, key=abs) > 0]
    direction = "different" if len(set(telling)) != 1 else "faster" if telling[0] else "slower"
    return Verdict(tuple(compared), is_expected, direction, chance, unseen)


def _unseen(
    simulator: Simulator, names: list[Figure], rows: Floats, center: Floats, wide: Floats, n_worth: float
) -> tuple[Unseen, ...]:
    """Return by how much the requests of each load could be longer without a figure outside."""
    likeliest = rows @ simulator.likeliest
    again = np.sqrt(np.diag(rows @ np.diag(simulator.again) @ rows.T)) * student_t(1 - ALARMS / n_worth / 2, 30)
    found = []
    for load, one in enumerate(simulator.measured):
        own = [at for at, figure in enumerate(names) if figure.load == load]
        # an array that does as is likeliest, and that becomes slower until it is below the interval
        margins = [
            max(likeliest[at] - (center[at] - wide[at]), 0.0)
            if names[at].kind == "iops"
            else max(center[at] + wide[at] - likeliest[at], 0.0)
            for at in own
        ]
        if not margins:
            continue
        before = None if one.before is not None else math.exp(min(again[own]))
        source, share = simulator.open_by(names[own[int(np.argmin(margins))]])
        is_most = share >= _MOST
        found.append(Unseen(one.name, math.exp(min(margins)), before, source * is_most, share * is_most))
    return tuple(found)


def _half_widths(simulator: Simulator, names: list[Figure], spread: Floats, level: float) -> Floats:
    """Return half the width of the interval of each figure: what is unknown of one load decides no other."""
    times = [student_t(1 - level / 2, dof) for dof in simulator.dofs]
    return np.asarray(spread * np.array([times[figure.load] for figure in names]))


def main_figures(simulator: Simulator) -> tuple[list[Figure], Floats]:
    """Return the figures that are judged, and how each is made of the compared ones.

    They are the rate where it is a result; the means where that does not decide them; and p99 itself, the sum of the
    logarithms of the mean and of its ratio to the mean.
    """
    names: list[Figure] = []
    rows: list[Floats] = []
    places = {(figure.load, figure.key): at for at, figure in enumerate(simulator.figures)}
    for at, figure in enumerate(simulator.figures):
        if figure.kind not in ("iops", "mean", "p99") or at in simulator.ties:
            continue
        row = np.zeros(len(simulator.figures))
        row[at] = 1.0
        if figure.kind == "p99":
            row[places[figure.load, f"{figure.part}.mean"]] = 1.0
        names.append(figure)
        rows.append(row)
    return names, np.array(rows)
