"""Find the fault: an array that was measured with a cause in it, and the causes to choose from; drawn by a seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine import Trials
from diskmodel.errors import DescriptionError, Fault, InputError
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Cause, Change, Scale
from diskmodel.explanation.causes.checks import check_of
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.loading import dataclass
from diskmodel.result import estimates_by_operation
from diskmodel.units import in_digits
from diskmodel.workload import Workload

#: Arrays that are measured, and whether they are written to: a pool is only read.
_ARRAYS = (
    ("8x seagate-exos-x18 raid6", True),
    ("6x generic-10k raid10", True),
    ("generic-7k2", True),
    ("samsung-pm893-960", True),
    ("2x6 seagate-exos-x18 raidz2, record 8KiB", False),
)
#: What is measured: name, fields of the load, whether it writes.
_LOADS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("random reads of 8 KiB, one at a time", {"size": "8 KiB", "clients": 1}, False),
    ("random reads of 8 KiB, 32 outstanding", {"size": "8 KiB", "clients": 32}, False),
    ("random writes of 8 KiB, 16 outstanding", {"size": "8 KiB", "clients": 16, "read_ratio": 0.0}, True),
    ("reads of 1 MiB in order", {"size": "1 MiB", "clients": 4, "addresses": "sequential"}, True),
)
_CHOICES = 4
#: A cause shows where it changes some rate or mean by this factor, and two causes differ where they differ by it.
_SHOWS, _DIFFERS = 1.4, 1.3
_REQUESTS = 4_000
#: Seeds of the run that is measured and of the array as described differ by this.
_MEASURED_SEED = 1_000_003
MAX_EXERCISES = 10_000


@dataclass(frozen=True)
class Exercise:
    """One exercise, numbered from 0; the same number and seed draw the same one."""

    number: int
    seed: int

    def solved(self) -> dict[str, Any]:
        """Return the exercise and its solution, as plain data in the form of the quiz's questions.

        Raises
        ------
        DescriptionError
            When the number or the seed is out of range.
        """
        for name, value, most in (("number", self.number, MAX_EXERCISES), ("seed", self.seed, 2**32)):
            if not 0 <= value < most:
                raise DescriptionError(Fault(name, value, f"must be 0 to {most - 1}", "use another one"))
        draws = np.random.default_rng([self.seed, self.number])
        words, has_writes = _ARRAYS[draws.integers(len(_ARRAYS))]
        array = Array.from_words(words)
        loads = [
            Measured(name, Workload.parse(fields), {}, {})
            for name, fields, writes in _LOADS
            if has_writes or not writes
        ]
        expected = [_figures(Change(array, load.workload), load, 0) for load in loads]
        found = list(_distinct(array, loads, expected, draws))
        (cause, value, strength), _ = found[0]
        measured = [_figures(_changed(array, load, cause, value), load, _MEASURED_SEED + self.number) for load in loads]
        order = draws.permutation(len(found))
        rows = [
            {"load": load.name, "expected": _rounded(before), "measured": _rounded(after)}
            for load, before, after in zip(loads, expected, measured, strict=True)
        ]
        return {
            "number": self.number,
            "seed": self.seed,
            "setting": " ".join([f"{words} is slower or faster than it should be.", *map(_in_words, rows)]),
            "question": "What is the cause?",
            "choices": [found[at][0][0].title for at in order],
            "right": [int(np.flatnonzero(order == 0)[0])],
            "array": words,
            "figures": rows,
            "cause": cause.name,
            "strength": strength,
            "why": f"{cause.fingerprint[0].upper()}{cause.fingerprint[1:]}. To be sure: {check_of(cause.name, array)}.",
        }


def _changed(array: Array, load: Measured, cause: Cause, value: Any) -> Change:
    return cause.change(array, load.workload, value) or Change(array, load.workload)


def _figures(change: Change, load: Measured, seed: int) -> dict[str, float]:
    trials = Trials(
        change.array, change.workload, _REQUESTS, seed=seed, start="steady", estimate=estimates_by_operation
    )
    found = dict(trials.reference)
    return found if change.law is None else change.law(found, load)


_Found = tuple[tuple[Cause, Any, str], list[dict[str, float]]]


def _distinct(
    array: Array, loads: list[Measured], expected: list[dict[str, float]], draws: np.random.Generator
) -> Iterator[_Found]:
    """Yield causes whose figures differ from the expected ones, and from those of the causes before them."""
    before: list[list[dict[str, float]]] = [expected]
    names = [name for name, cause in CAUSES.items() if _strengths(cause) and not cause.is_of_systems]
    for at in draws.permutation(len(names)):
        cause = CAUSES[names[at]]
        strengths = _strengths(cause)
        words, value = strengths[draws.integers(len(strengths))]
        try:
            own = [_figures(_changed(array, load, cause, value), load, 0) for load in loads]
        except InputError:
            continue
        factors = [_SHOWS] + [_DIFFERS] * (len(before) - 1)
        if all(_largest(own, other) > factor for other, factor in zip(before, factors, strict=True)):
            before.append(own)
            yield (cause, value, words), own
        if len(before) > _CHOICES:
            return


def _strengths(cause: Cause) -> list[tuple[str, Any]]:
    """Return strengths to draw from; none of a cause whose strength follows from what was measured."""
    if not isinstance(cause.strengths, Scale):
        return list(cause.strengths.items())
    if cause.strengths.at is not None:
        return []
    scale = cause.strengths
    way = next(iter(scale.ways.values()), None)
    values = [(value, way) if scale.ways else value for value in scale.values([])[1:-1]]
    return [(scale.words(value), value) for value in values]


def _largest(own: list[dict[str, float]], other: list[dict[str, float]]) -> float:
    """Return the largest factor between two sets of rates and means."""
    return max(
        math.exp(abs(math.log(a[key] / b[key])))
        for a, b in zip(own, other, strict=True)
        for key in b
        if (key == "iops" or key.endswith(".mean")) and a.get(key, 0) > 0 and b[key] > 0
    )


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    """Return what is shown of a load: requests per second, and latencies in ms."""
    part = "reads" if "reads.mean" in figures else "writes"
    return {"iops": figures["iops"]} | {f"{kind}_ms": figures[f"{part}.{kind}"] / 1e6 for kind in ("mean", *SHAPE)}


def _in_words(row: dict[str, Any]) -> str:
    expected, measured = row["expected"], row["measured"]

    def both(key: str) -> str:
        return f"{in_digits(measured[key])} instead of {in_digits(expected[key])}"

    return (
        f"{row['load'][0].upper()}{row['load'][1:]}: {both('iops')} requests per second, mean {both('mean_ms')} ms, "
        f"p99 {both('p99_ms')} ms."
    )


def solved_exercises(seed: int, n_exercises: int) -> list[dict[str, Any]]:
    """Return the exercises of a seed with their solutions."""
    return [Exercise(number, seed).solved() for number in range(n_exercises)]
