"""The answer: what was expected and measured, and which causes explain the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, ClassVar

import numpy as np

from diskmodel.display import Displayable
from diskmodel.explanation.causes.checks import check_of
from diskmodel.explanation.expected import ALARMS, Compared, Unseen, Verdict, main_figures
from diskmodel.explanation.experiments import Experiment
from diskmodel.explanation.found import CauseFound, Predicted
from diskmodel.explanation.hypotheses import Hypothesis, by_causes
from diskmodel.explanation.simulator import Floats, Simulator
from diskmodel.explanation.weigh import as_described
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result.statistics import student_t

#: Causes that are named at most, and the least probability of one that is.
_MOST_NAMED, _LEAST_PROBABILITY = 3, 0.03
#: Chance of figures at least so far off below which a cause does not fit, and is not named.
_FITS = 0.01
#: Part of the gap that a cause has to explain to be named; and the chance of figures at least so far off from which it
#: is named all the same: with it, all of them are as usual as every second right one's. Where what is not known is
#: wide, several figures that are a little off are most of the gap, and nothing explains those.
_LEAST_SHARE, _FITS_ALL = 0.3, 0.5


@dataclass(frozen=True)
class Explanation(Record, Displayable):
    """Why an array does not do what it should.

    Attributes
    ----------
    array : str
        In words.
    loads : tuple of str
        Names of the measured loads.
    described : mapping of str to str
        Each load in words.
    compared : tuple of Compared
        Expected and measured figures.
    is_as_expected : bool
        Whether there is nothing to explain.
    direction : "slower", "faster" or "different"
        Of what was measured, where there is something to explain.
    gap : Compared
        The figure that is furthest off.
    causes : tuple of CauseFound
        The most probable first; at most three.
    as_described : float
        Probability that nothing is wrong and the figures are rare.
    unknown : float
        Probability that no cause that is known here, alone or with another one, explains the figures.
    next : Experiment or None
        The measurement that would best separate the causes that are left.
    notes : tuple of str
        What had to be assumed about the loads.
    wall_s : float
    unseen : tuple of Unseen
        What each load could not have shown.
    has_before : bool
        Whether a sound run of the same loads decides what is expected.
    not_tried : tuple of str
        Causes that the description of the array refused, and why.
    """

    rich_view: ClassVar[str] = "diskmodel.explanation.show.text:text"
    html_view: ClassVar[str] = "diskmodel.explanation.show.report:figures_html"
    text_view: ClassVar[str] = "diskmodel.explanation.show.text:text"

    array: str
    loads: tuple[str, ...]
    described: Mapping[str, str]
    compared: tuple[Compared, ...]
    is_as_expected: bool
    direction: str
    gap: Compared
    causes: tuple[CauseFound, ...]
    as_described: float
    unknown: float
    next: Experiment | None
    notes: tuple[str, ...]
    wall_s: float
    unseen: tuple[Unseen, ...] = ()
    has_before: bool = False
    not_tried: tuple[str, ...] = ()

    def json_fields(self) -> Mapping[str, Any]:
        """Return the fields under the names that scripts rely on."""
        by_load: dict[str, dict[str, Any]] = {name: {} for name in self.loads}
        measured: dict[str, dict[str, Any]] = {name: {} for name in self.loads}
        for one in self.compared:
            unit = "" if one.figure == "iops" else "_ms"
            ends = {"value": one.expected, "low": one.low, "high": one.high}
            by_load[one.load][f"{one.figure}{unit}"] = ends
            measured[one.load][f"{one.figure}{unit}"] = one.measured
        return {
            "array": self.array,
            "as_expected": self.is_as_expected,
            "direction": None if self.is_as_expected else self.direction,
            "loads": self.described,
            "expected": by_load,
            "measured": measured,
            "gap": self.gap,
            "causes": self.causes,
            "as_described": self.as_described,
            "unknown": self.unknown,
            "next": self.next,
            "notes": self.notes,
            "unseen": self.unseen,
            "has_before": self.has_before,
            "not_tried": self.not_tried,
            "wall_s": self.wall_s,
        }

    def __str__(self) -> str:
        return str(resolve_name(self.text_view)(self))


def explained(
    simulator: Simulator,
    verdict: Verdict,
    odd: Sequence[CauseFound],
    hypotheses: Sequence[Hypothesis],
    experiment: Experiment | None,
    left_out: Sequence[str],
    wall_s: float,
) -> Explanation:
    """Return the explanation that weighed hypotheses make."""
    gap = max(verdict.compared, key=lambda one: _off(one))
    groups = by_causes([one for one in hypotheses if one.causes])
    found = [made for own in groups if (made := _cause(simulator, gap, own)) is not None]
    seen = sum(one.probability for one in odd)
    found = [*odd, *(replace(one, probability=one.probability * (1 - seen)) for one in found)]
    found.sort(key=lambda one: -round(one.probability, 6))
    array = simulator.array
    notes = list(left_out)
    for load in simulator.measured:
        notes += [note for note in load.notes if note not in notes]
    return Explanation(
        array=array.name or array.title,
        loads=tuple(one.name for one in simulator.measured),
        described={one.name: _in_words(one.workload) for one in simulator.measured},
        compared=verdict.compared,
        is_as_expected=verdict.is_as_expected and not odd,
        direction="slower" if odd and verdict.is_as_expected else verdict.direction,
        gap=gap,
        causes=tuple(found[:_MOST_NAMED]),
        as_described=(1 - seen) * as_described(hypotheses),
        unknown=(1 - seen)
        * (sum(one.probability for one in hypotheses if one.is_unknown) if hypotheses else bool(odd)),
        next=experiment,
        notes=tuple(notes),
        wall_s=wall_s,
        unseen=verdict.unseen,
        has_before=simulator.is_calibrated,
        not_tried=tuple(f"{name}: {why}" for name, why in simulator.refused.items()),
    )


def _off(one: Compared) -> float:
    """Return how far a figure is off, as a part of its interval; rates count before the latencies that they decide."""
    center, half = math.log(one.low * one.high) / 2, math.log(one.high / one.low) / 2
    return abs(math.log(one.measured) - center) / max(half, 1e-6) * (1.2 if one.figure == "iops" else 1.0)


def _in_words(workload: Any) -> str:
    return "; ".join(workload.in_words()) if hasattr(workload, "in_words") else str(workload.name)


def _cause(simulator: Simulator, gap: Compared, own: Sequence[Hypothesis]) -> CauseFound | None:
    """Return what is said of the strengths of one cause; None where it is not worth naming, or does not fit."""
    probability = sum(one.probability for one in own)
    best = max(own, key=lambda one: one.probability)
    if probability < _LEAST_PROBABILITY or best.chance < _FITS:
        return None
    explains = _share(simulator, best)
    if explains < _LEAST_SHARE and best.chance < _FITS_ALL:
        return None
    titles = tuple(f"{cause.title}{f' ({words})' if words else ''}" for cause, _, words in best.causes)
    return CauseFound(
        names=best.names,
        titles=titles,
        probability=probability,
        explains=explains,
        predicts=_predicted(simulator, gap, best),
        checks=tuple(check_of(cause.name, simulator.array) for cause, _, _ in best.causes),
        fingerprints=tuple(cause.fingerprint for cause, _, _ in best.causes),
    )


def _share(simulator: Simulator, one: Hypothesis) -> float:
    """Return the part of the gap that a hypothesis explains.

    The gap is how far the figures that are compared are from the expected ones, in units of what is not known: that all
    drives of an array are a little slower than others of their kind counts little. What a hypothesis leaves of it is in
    units of what is not known where it holds, its own errors among it: a cause that fits leaves hardly more than any
    right one. A figure counts by how far it is off: what was as expected is no part of the gap, and whether a cause
    changes it is evidence, as the shapes of distributions are.
    """
    _, rows = main_figures(simulator)
    offset, shared = one.spread(simulator)
    before = _off_by(rows, simulator.target - simulator.reference - simulator.offset, simulator.scale())
    scale = simulator.scale(shared, one.error, one.kept)
    after = _off_by(rows, simulator.target - one.figures - offset, scale)
    whole = float(np.sum(before**4))
    return max(1 - math.sqrt(float(np.sum((before * after) ** 2)) / whole), 0.0) if whole else 0.0


def _off_by(rows: Floats, deviation: Floats, scale: Floats) -> Floats:
    """Return how far off each compared figure is, in units of what is not known of it."""
    return np.asarray(rows @ deviation / np.sqrt(np.diag(rows @ scale @ rows.T)))


def _predicted(simulator: Simulator, gap: Compared, one: Hypothesis) -> Predicted:
    figure_at = next(
        at
        for at, f in enumerate(simulator.figures)
        if simulator.measured[f.load].name == gap.load and f.key == gap.figure
    )
    figure = simulator.figures[figure_at]
    row = np.zeros(len(simulator.figures))
    row[figure_at] = 1.0
    if figure.kind == "p99":
        mean = next(
            at for at, f in enumerate(simulator.figures) if f.load == figure.load and f.key == f"{figure.part}.mean"
        )
        row[mean] = 1.0
    offset, shared = one.spread(simulator)
    center = float(row @ (one.figures + offset))
    value = center if simulator.is_calibrated else float(row @ one.figures)
    variance = float(row @ simulator.scale(shared, one.error, one.kept) @ row)
    half = math.sqrt(variance) * student_t(1 - ALARMS / 2, simulator.dofs[figure.load])
    unit = 1.0 if figure.kind == "iops" else 1e-6
    low, high = min(value, center - half), max(value, center + half)
    return Predicted(gap.load, gap.figure, *(math.exp(one) * unit for one in (value, low, high)))
