"""One cause: what it changes, how strong it may be, and what proves it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any

from diskmodel.array import Array
from diskmodel.explanation.measured import Measured
from diskmodel.loading import dataclass
from diskmodel.uncertainty import AnyWorkload
from diskmodel.workload import Stream, Workload

#: Before anything is measured: how often a cause is found, relative to the others. Nobody has counted them; these are
#: classes, from the order in which administrators' handbooks and the threads of `docs/explanation/validation` look for
#: them. A factor of 3 either way changes the order of two causes only where their figures fit equally well.
OFTEN, SOMETIMES, SELDOM = 3.0, 1.0, 0.3
#: The same of what is there unless somebody took it away.
USUALLY = 10.0

#: What becomes of simulated figures (as `Measured.figures`) of a measured load where no field of a description says it.
Law = Callable[[dict[str, float], Measured], dict[str, float]]


@dataclass(frozen=True)
class Change:
    """Array and load with a cause, and what it does to the figures beside that."""

    array: Array
    workload: AnyWorkload
    law: Law | None = None

    def then(self, other: Change | None) -> Change | None:
        """Return the change with another one that was made of its array and load."""
        if other is None:
            return None
        first, second = self.law, other.law
        if first is None or second is None:
            return Change(other.array, other.workload, second or first)
        return Change(other.array, other.workload, lambda figures, measured: second(first(figures, measured), measured))


#: Width, as a logarithm, of the strengths that the figures of a measurement do not separate, and that each of those
#: stands for which are simulated around one that would explain a load. At half, a limit that fits counts for too little
#: beside causes that are there or not; at double, one that is off by a third is not simulated.
_RESOLVED = 0.165
#: Strengths that are simulated around one that would explain a load, as multiples of that width.
_AROUND = (-2, -1, 0, 1, 2)


#: Strengths of a scale that are simulated, one more of a wide one: between them, figures are interpolated.
_FEW = 5
#: Ratio of a strength to the next one that is tried beside it.
_NEXT = 1.15


#: Ratio of the weakest to the strongest limit that would be looked for: one far above what an array does is none, and
#: one a hundredth of it is seen without a measurement. At the square root, limits are named before what fits as well.
_SOUGHT = 30.0


@dataclass(frozen=True)
class Scale:
    """Strengths that a cause of any strength may have, each equally likely on a logarithmic scale.

    Attributes
    ----------
    low, high : float
    unit : callable
        Says a strength in words.
    at : callable, optional
        Of the measured loads: strengths that would explain one of them by itself, which are simulated first.
    ways : mapping of words to values
        Ways in which a strength may act, each equally likely; with some, a value is a strength and a way. One without
        words is not said.
    usual : (float, float), optional
        The strength in the middle of those that are found, and their spread as a logarithm; without it, all from `low`
        to `high` are found as often.
    seldom_below : float
        Strengths below are found a tenth as often.
    """

    low: float
    high: float
    unit: Callable[[float], str]
    at: Callable[[Sequence[Measured]], Sequence[float]] | None = None
    ways: Mapping[str, Any] = field(default_factory=dict)
    usual: tuple[float, float] | None = None
    seldom_below: float = 0.0

    def number(self, value: Any) -> float:
        """Return the strength of a value."""
        return float(value[0] if self.ways else value)

    def like(self, value: Any, strength: float) -> Any:
        """Return a value of another strength that acts in the same way."""
        return (strength, value[1]) if self.ways else strength

    def words(self, value: Any) -> str:
        """Return a value in words."""
        way = next((name for name, own in self.ways.items() if own == value[1]), "")
        return f"{self.unit(self.number(value))}{', ' if way else ''}{way}"

    @property
    def resolved(self) -> float:
        """Part of the scale that the figures of a measurement usually do not separate."""
        return len(_AROUND) * _RESOLVED / self._whole

    @property
    def _whole(self) -> float:
        """Width, as a logarithm, of the strengths that may be."""
        ratio = self.high / self.low
        return math.log(ratio if self.at is None else min(ratio, _SOUGHT))

    def values(self, measured: Sequence[Measured]) -> list[float]:
        """Return the strengths to simulate, in ascending order."""
        found = list(self.at(measured)) if self.at is not None else []
        if not found:
            n = _FEW if self.high <= 1000 * self.low else _FEW + 1
            return [self.low * (self.high / self.low) ** (k / (n - 1)) for k in range(n)]
        factors = [math.exp(_RESOLVED * step) for step in _AROUND]
        near = sorted({value * factor for value in found for factor in factors})
        return [value for value in near if self.low <= value <= self.high]

    def weights(self, values: Sequence[float]) -> list[float]:
        """Return the prior share that each strength stands for."""
        whole = self._whole
        logs = [math.log(value) for value in values]
        ends = (math.log(self.low), math.log(self.high))
        edges = [ends[0], *((a + b) / 2 for a, b in pairwise(logs)), ends[1]]
        # one that was chosen after the measurement stands only for what the figures do not separate from it
        most = _RESOLVED if self.at is not None else whole
        shares = [min(b - a, most) / whole for a, b in pairwise(edges)]
        shares = [
            share * (SELDOM / OFTEN if value < self.seldom_below else 1.0)
            for share, value in zip(shares, values, strict=True)
        ]
        return [share * self.often(value) for share, value in zip(shares, values, strict=True)]

    def often(self, strength: float) -> float:
        """Return how much more often a strength is found than where all are found as often."""
        if self.usual is None:
            return 1.0
        return self._whole * NormalDist(math.log(self.usual[0]), self.usual[1]).pdf(math.log(strength))


@dataclass(frozen=True)
class Ladder:
    """How strengths that have a name each go over into one another, where they differ in one number.

    Attributes
    ----------
    number : callable
        Of a value: its number; nan of one that is on no ladder.
    like : callable
        Of a value and a number: the value with that number.
    words : callable
        Of a value: says it.
    """

    number: Callable[[Any], float]
    like: Callable[[Any, float], Any]
    words: Callable[[Any], str]

    def way(self, value: Any) -> str:
        """Return what all values of one ladder share."""
        return repr(value) if math.isnan(self.number(value)) else repr(self.like(value, 1.0))


def numbers(words: Callable[[Any], str], *, are_whole: bool = False) -> Ladder:
    """Return the ladder of strengths that are numbers."""
    return Ladder(float, lambda _, number: max(round(number), 1) if are_whole else number, words)


@dataclass(frozen=True)
class Cause:
    """One thing that makes an array slower or faster than it should be.

    Attributes
    ----------
    name : str
    title : str
        In plain words, as a clause.
    prior : float
        `OFTEN`, `SOMETIMES` or `SELDOM`.
    fingerprint : str
        What it leaves in the figures, in words.
    change : callable
        Of array, load and strength: what becomes of them; None where the cause changes nothing.
    strengths : Scale or mapping of words to values
        How strong it may be. Values are whatever `change` takes.
    about : str
        What it is about; two causes about the same thing do not go together.
    is_of_systems : bool
        Whether only a cache, a cluster or a volume of a cloud may have it.
    is_exact : bool
        Whether its effect is just what the description with it says, as of a number of requests or of disks, and what
        arithmetic says of a limit, a link or a time that each request takes more; that of others, as of a disk that is
        slower than its equals, is another one from case to case.
    is_of_writes : bool
        Whether writes are answered in another way with it, so that what is not known of them is another thing: the
        platter decides, or a flush, and no buffer.
    prior_on : callable, optional
        Of an array: its prior there, where that is not the same for all.
    weights : mapping of words to float
        How usual some of its strengths are, where the others have 1.
    ladder : Ladder, optional
        Of strengths with names, between which figures are interpolated.
    weights_on : callable, optional
        Of an array: how usual strengths are there.
    """

    name: str
    title: str
    prior: float
    fingerprint: str
    change: Callable[[Array, AnyWorkload, Any], Change | None]
    strengths: Scale | dict[str, Any]
    about: str
    is_of_systems: bool = False
    is_exact: bool = False
    is_of_writes: bool = False
    prior_on: Callable[[Array], float] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    ladder: Ladder | None = None
    weights_on: Callable[[Array], Mapping[str, float]] | None = None

    def on(self, array: Array) -> Cause:
        """Return the cause with the priors that it and its strengths have on an array."""
        prior = self.prior if self.prior_on is None else self.prior_on(array)
        weights = self.weights if self.weights_on is None else self.weights_on(array)
        return replace(self, prior=prior, weights=weights, prior_on=None, weights_on=None)

    def near(self, words: str, value: Any) -> list[tuple[str, Any]]:
        """Return the next weaker and the next stronger strength, in words and as values."""
        if isinstance(self.strengths, Scale):
            scale = self.strengths
            around = [
                v for v in (scale.number(value) / _NEXT, scale.number(value) * _NEXT) if scale.low <= v <= scale.high
            ]
            return [(scale.words(like), like) for like in (scale.like(value, v) for v in around)]
        names = list(self.strengths)
        if words not in names:
            assert self.ladder is not None
            own = [(one, self.strengths[one]) for one in names]
            on_it = [(one, v) for one, v in own if self.ladder.way(v) == self.ladder.way(value)]
            number = self.ladder.number
            return sorted(on_it, key=lambda one: abs(math.log(number(one[1]) / number(value))))[:2]
        at = names.index(words)
        return [(name, self.strengths[name]) for name in names[max(at - 1, 0) : at] + names[at + 1 : at + 2]]

    def variants(self, measured: Sequence[Measured]) -> list[tuple[str, Any, float]]:
        """Return strengths in words, their values, and their shares of the prior."""
        if isinstance(self.strengths, Scale):
            values = self.strengths.values(measured)
            weights = self.strengths.weights(values) if values else []
            each: list[tuple[Any, float]] = list(zip(values, weights, strict=True))
            if ways := self.strengths.ways:
                each = [((value, way), share / len(ways)) for way in ways.values() for value, share in each]
            return [(self.strengths.words(value), value, share) for value, share in each]
        usual = {words: self.weights.get(words, 1.0) for words in self.strengths}
        whole = sum(usual.values())
        return [(words, value, usual[words] / whole) for words, value in self.strengths.items()]


#: Requests that fewer than asked for may be: each number is a third to a half more, so that figures separate two.
DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)

#: Of a cause that is there or not.
ONCE: dict[str, Any] = {"": None}


def with_streams(workload: AnyWorkload, change: Callable[[Stream], dict[str, Any] | None]) -> Workload | None:
    """Return a workload with other fields of its streams; None where no stream changes, or it is a trace."""
    if not isinstance(workload, Workload):
        return None
    fields = workload.to_dict()
    is_changed = False
    for own, stream in zip(fields["streams"], workload.streams, strict=True):
        update = change(stream)
        if update is not None:
            is_changed = True
            for key, value in update.items():
                if value is None:
                    own.pop(key, None)
                else:
                    own[key] = value
    return Workload.parse(fields) if is_changed else None


def is_sequential(workload: AnyWorkload) -> bool:
    """Whether some stream goes through its places in order."""
    return isinstance(workload, Workload) and any(s.addresses.pattern == "sequential" for s in workload.streams)


def on_array(array: Array, workload: AnyWorkload, **parts: Any) -> Change:
    """Return the load on the array with other parts of it."""
    return Change(array.model_copy(update=parts), workload)


def changed(part: Any, **fields: Any) -> Any:
    """Return a description with other fields, checked as if it had been written so."""
    return type(part).parse(dict(part) | fields)
