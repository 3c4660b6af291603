"""A sound run beside the one that is slow: which of its loads is the same, and what of both can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from diskmodel.errors import DescriptionError, Fault
from diskmodel.explanation.measured import Measured
from diskmodel.workload import Workload

OPTION = "--before"
#: By how much the rates of two recordings may differ for them to have been asked for the same. At double, a load that
#: has grown by a third counts as a fault.
_SAME_RATE = 1.15


def paired(measured: Sequence[Measured], before: Sequence[Measured]) -> tuple[list[Measured], list[str]]:
    """Return measured loads, each with the same one of a sound run, and notes.

    Parameters
    ----------
    measured, before : sequence of Measured
        What is slow, and what was sound: of another day, another host, or another member of the same make.

    Raises
    ------
    DescriptionError
        When no load is in both.
    """
    left = list(before)
    found, alone = [], []
    for one in measured:
        same = next((other for other in left if _is_same(one, other)), None)
        if same is None:
            alone.append(one.name)
            found.append(one)
            continue
        left.remove(same)
        found.append(beside(one, same))
    if len(alone) == len(measured):
        rule = f"has no load of those that were measured: {'; '.join(_in_words(one) for one in before) or 'none'}"
        fix = f"run the same jobs: {'; '.join(_in_words(one) for one in measured)}"
        raise DescriptionError(Fault(OPTION, None, rule, fix))
    notes = [f"{name}: not in the sound run, and compared with what its array should do" for name in alone]
    notes += [f"{one.name} of the sound run: not measured again, and left out" for one in left]
    return found, notes


def beside(after: Measured, before: Measured) -> Measured:
    """Return a load with the same one when it was sound.

    Of two recordings at the same rate, it is that rate which was asked for, however many requests were in flight.
    """
    if after.offered is not None and before.offered is not None:
        ratio = after.offered.offered_rate_per_s / before.offered.offered_rate_per_s
        if 1 / _SAME_RATE < ratio < _SAME_RATE:
            after, before = _at_a_rate(after), _at_a_rate(before)
    return replace(after, before=replace(before, workload=after.workload, before=None))


def _at_a_rate(one: Measured) -> Measured:
    assert one.offered is not None
    figures = {name: value for name, value in one.figures.items() if name != "iops"}
    return replace(one, workload=one.offered, figures=figures)


def _is_same(one: Measured, other: Measured) -> bool:
    if one.offered is not None and other.offered is not None:
        return one.is_of_member == other.is_of_member
    return bool(_asked(one) == _asked(other))


def _asked(one: Measured) -> Any:
    """Return what was asked for, without names."""
    if not isinstance(one.workload, Workload):
        return one.workload
    fields = one.workload.to_dict()
    fields.pop("name", None)
    streams: list[dict[str, Any]] = fields.get("streams", [])
    return fields | {"streams": [{key: value for key, value in own.items() if key != "name"} for own in streams]}


def _in_words(one: Measured) -> str:
    return "; ".join(one.workload.in_words()) if hasattr(one.workload, "in_words") else one.name
