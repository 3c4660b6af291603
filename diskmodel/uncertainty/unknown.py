"""One thing that a prediction depends on and that its evidence does not determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.perturbation import Perturbation

#: What shares a draw: the same drive in two arrays, the same drive at the same level, or everything that is compared.
Common = Literal["drive", "array", "all"]


class Known(NamedTuple):
    """What is known of an unknown in one case.

    Attributes
    ----------
    origin : str
        Where its spread comes from, in words.
    perturbation : callable
        Of a normal score and its place among those of all draws: by how much the array differs from its description.
    """

    origin: str
    perturbation: Callable[[float, int], Perturbation]


class Unknown(NamedTuple):
    """One thing that is not known.

    Attributes
    ----------
    name : str
        In plain words, as answers give it.
    common : "drive", "array" or "all"
        Arrays that are compared have the same draw of it where they have the same drive, the same drive at the same
        RAID level, or in any case.
    known : callable
        Returns what is known of it in a case; None where the case does not depend on it.
    kind : "hdd", "flash" or None
        Of the drives that have it; None where all may.
    is_of_recording : bool
        Whether only loads have it that were taken from a recording.
    """

    name: str
    common: Common
    known: Callable[[Case], Known | None]
    kind: Literal["hdd", "flash"] | None = None
    is_of_recording: bool = False

    def may_be_beside(self, other: Unknown) -> bool:
        """Return whether a case may depend on both, and takes their values in one order."""
        return self.common == other.common and (None in (self.kind, other.kind) or self.kind == other.kind)


def columns_of(unknowns: Sequence[Unknown]) -> tuple[int, ...]:
    """Return for each unknown its column among those of all: another one than any that it may be beside.

    The fewer columns, the better their effects can be separated: of 16 points at most 15 columns can.
    """
    columns: list[int] = []
    for at, unknown in enumerate(unknowns):
        taken = {column for column, other in zip(columns, unknowns[:at], strict=True) if unknown.may_be_beside(other)}
        columns.append(next(column for column in range(at + 1) if column not in taken))
    return tuple(columns)
