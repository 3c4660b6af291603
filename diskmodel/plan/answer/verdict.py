"""Which of several arrays is the better one, and in what: a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from diskmodel.plan.answer.load_curve import MOST, RATES
from diskmodel.result.statistics import overload_words
from diskmodel.units import in_digits, in_hours_or_days, listed, nominal_bytes

if TYPE_CHECKING:
    from diskmodel.plan.answer.comparison import Compared, Comparison

#: Differences below this share decide nothing: the runs' noise is as large.
_LEAST_RATIO = 0.02
#: From which ratio a figure is given as "three times", not in percent.
_MANY_TIMES = 2.0
#: The same of times, which are hardly ever twice as short: beyond it, all are "99 % sooner" or 100 %.
_A_FIFTIETH = 50.0


def verdict(comparison: Comparison) -> str:
    """Return which array answers sooner, carries more, stores more and rebuilds sooner; of one array, its figures.

    Only what differs by more than 2 % is named, and a latency or a rate only where the interval of the difference
    excludes none.
    """
    arrays = comparison.arrays
    sustaining = [item for item in arrays if item.healthy.is_stable]
    if len(arrays) == 1:
        return _overloads(arrays) + _of_one(arrays[0], comparison)
    if not sustaining:
        most = max(arrays, key=_carried)
        at = f"; {most.name} comes nearest, with {_rate(_carried(most))}" if _carried(most) > 0 else ""
        return f"None of the arrays sustains the load{at}."
    said: dict[str, list[str]] = {}
    if len(sustaining) < len(arrays):
        names = listed([item.name for item in sustaining])
        said[names] = ["alone sustain the load" if len(sustaining) > 1 else "alone sustains the load"]
    subjects = sustaining if len(sustaining) > 1 else arrays
    is_open = comparison.workload.is_open
    if len(sustaining) > 1:
        if is_open and _is_certain(comparison, sustaining):
            sure = _certainty(comparison, "mean")
            _add(said, sustaining, _mean_ms, "answers", _ms, is_less_better=True, certainty=sure)
        if not is_open and _is_certain(comparison, sustaining, "iops"):
            sure = _certainty(comparison, "iops")
            _add(said, sustaining, lambda item: item.healthy.iops.value, "serves", _rate, certainty=sure)
    if is_open and _is_certain(comparison, subjects, MOST):
        _add(said, subjects, _carried, "carries", _rate, certainty=_certainty(comparison, MOST))
    _add(said, arrays, lambda item: item.array.usable_bytes, "stores", _bytes)
    _add(said, arrays, lambda item: item.rebuild_hours, "rebuilds", in_hours_or_days, is_less_better=True)
    if not said:
        return "The arrays do not differ in anything by more than the comparison is uncertain."
    return _overloads(arrays) + "; ".join(f"{name} {listed(found)}" for name, found in said.items()) + "."


def _overloads(arrays: Sequence[Compared]) -> str:
    """Return which of the arrays the load may overload, as sentences that come first; "" where none."""
    chances = [(item.name, item.prediction.overload_chance if item.prediction else 0.0) for item in arrays]
    return "".join(f"{name} is {overload_words(chance)}. " for name, chance in chances if chance)


def _certainty(comparison: Comparison, statistic: str) -> str:
    """Return in how many draws the better of two arrays is better: " in 16 of 16 draws"; "" of more arrays."""
    found = [item for item in comparison.differences if item.statistic == statistic and item.n_draws]
    if len(comparison.arrays) != 2 or not found:
        return ""
    is_second = (found[0].ratio.value > 0) == (statistic in RATES)
    n = found[0].n_better if is_second else found[0].n_draws - found[0].n_better
    return f" in {n} of {found[0].n_draws} draws"


def _of_one(item: Compared, comparison: Comparison) -> str:
    """Return what a single array does under the load."""
    said = [f"stores {_bytes(item.array.usable_bytes)}"]
    if math.isfinite(item.rebuild_hours):
        said.append(f"rebuilds a disk in {in_hours_or_days(item.rebuild_hours)}")
    if comparison.workload.is_open and _carried(item) > 0:
        said.insert(0, f"carries {_rate(_carried(item))} at most")
    if not item.healthy.is_stable:
        return f"{item.name} does not sustain the load: it {listed(said)}."
    if math.isfinite(_mean_ms(item)):
        said.insert(0, f"answers in {_ms(_mean_ms(item))} on average")
    return f"{item.name} {listed(said)}."


def _add(
    said: dict[str, list[str]],
    arrays: Sequence[Compared],
    figure: Callable[[Compared], float],
    verb: str,
    shown: Callable[[float], str],
    *,
    is_less_better: bool = False,
    certainty: str = "",
) -> None:
    """Put in words which array is best in one figure; nothing where it is unknown of one, or differs too little."""
    values = [figure(item) for item in arrays]
    if not all(math.isfinite(value) and value > 0 for value in values):
        return
    order = sorted(range(len(arrays)), key=values.__getitem__, reverse=not is_less_better)
    best, second = order[0], order[1]
    ratio = max(values[best], values[second]) / min(values[best], values[second])
    if ratio < 1 + _LEAST_RATIO:
        return
    if len(arrays) > 2:
        text = f"{verb} {'soonest' if is_less_better else 'most'} ({shown(values[best])})"
    else:
        by = _saved(ratio) if is_less_better else _added(ratio)
        text = f"{verb} {by}{certainty} ({shown(values[best])} to {shown(values[second])})"
    said.setdefault(arrays[best].name, []).append(text)


def _saved(ratio: float) -> str:
    """Return by how much a time is shorter, of which the other is `ratio` times as long."""
    return f"{in_digits(ratio, 2)} times as fast" if ratio >= _A_FIFTIETH else f"{100 * (1 - 1 / ratio):.0f} % sooner"


def _added(ratio: float) -> str:
    """Return by how much a figure is larger that is `ratio` times the other."""
    return f"{in_digits(ratio, 2)} times as much" if ratio >= _MANY_TIMES else f"{100 * (ratio - 1):.0f} % more"


def _is_certain(comparison: Comparison, arrays: Sequence[Compared], statistic: str = "mean") -> bool:
    """Return whether a difference in a statistic is beyond doubt for one pair at least."""
    names = {item.name for item in arrays}
    return any(
        difference.is_significant
        and difference.statistic == statistic
        and {difference.first, difference.second} <= names
        for difference in comparison.differences
    )


def _mean_ms(item: Compared) -> float:
    mean = item.healthy.latency_of("mean")
    return math.nan if mean is None else mean.value / 1e6


def _carried(item: Compared) -> float:
    """Return the highest stable rate that was simulated, requests per second; 0 where there is none."""
    return item.headroom.most_iops if math.isfinite(item.headroom.most_iops) else 0.0


def _rate(value: float) -> str:
    return f"{in_digits(value)}/s"


def _ms(value: float) -> str:
    return f"{in_digits(value)} ms"


def _bytes(value: float) -> str:
    return nominal_bytes(int(value))
