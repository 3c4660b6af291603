"""Drawing all unknowns of a case together."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from diskmodel.loading import dataclass
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.points import Floats, normal_scores
from diskmodel.uncertainty.registry import COLUMNS, UNKNOWNS
from diskmodel.uncertainty.unknown import Common, Unknown


@dataclass(frozen=True)
class Draws:
    """Equally likely truths about a case.

    Attributes
    ----------
    names : tuple of str
        Of the unknowns that the case depends on, as its drive calls them.
    origins : tuple of str
        Where the spread of each comes from.
    scores : ndarray of float64, shape (n, len(names))
        Normal scores behind the draws.
    perturbations : tuple of Perturbation, length n
        By how much each truth differs from the description.
    """

    names: tuple[str, ...]
    origins: tuple[str, ...]
    scores: Floats
    perturbations: tuple[Perturbation, ...]

    def __len__(self) -> int:
        return len(self.perturbations)


def draw(case: Case, n: int, seed: int = 0) -> Draws:
    """Return `n` equally likely truths; none where the case depends on nothing unknown.

    Parameters
    ----------
    case : Case
    n : int, at least 2
    seed : int

    Notes
    -----
    Two cases have the same draw of an unknown where its `common` says so: the same drive in two arrays is equally fast
    in both.
    """
    found = [
        (column, unknown, known)
        for column, unknown in zip(COLUMNS, UNKNOWNS, strict=True)
        if (known := unknown.known(case))
    ]
    if not found:
        return Draws((), (), np.empty((0, 0)), ())
    columns = _columns(case, [unknown for _, unknown, _ in found], n, seed)
    scores = np.column_stack([columns[unknown.common][:, column] for column, unknown, _ in found])
    order = scores.argsort(axis=0).argsort(axis=0)
    perturbations = []
    for i in range(n):
        total = Perturbation()
        for k, (_, _, known) in enumerate(found):
            total = total.plus(known.perturbation(float(scores[i, k]), int(order[i, k])))
        perturbations.append(total)
    return Draws(
        tuple(case.array.drive.unknowns_called.get(unknown.name, unknown.name) for _, unknown, _ in found),
        tuple(known.origin for _, _, known in found),
        scores,
        tuple(perturbations),
    )


def _columns(case: Case, found: Sequence[Unknown], n: int, seed: int) -> dict[Common, Floats]:
    """Return the columns that a case takes the values of its unknowns from: the same wherever it has the same value.

    They hardly go together: each is drawn beside those that are common to more. Of 16 points only 15 columns can be, so
    those of a recorded load are there only where the load is one, which is the same in all that is compared.
    """
    # the same drive, whatever is known of its queue and of how its firmware takes writes, and whenever it was fitted
    no_drive: dict[str, Any] = {
        "uncertainty": {"queues"},
        "paces_writes": True,
        "read_beside_writes_ns": True,
        "program_beside_reads_ns": True,
        "provenance": {"program", "date", "host_kernel"},
    }
    drive = case.array.drive.model_dump_json(exclude=no_drive)
    keys: dict[Common, str] = {"all": "", "drive": drive, "array": drive + case.array.layout.level}
    kinds = (None, "hdd" if case.is_hdd else "flash")
    possible = [
        (unknown.common, column)
        for column, unknown in zip(COLUMNS, UNKNOWNS, strict=True)
        if unknown.kind in kinds and (not unknown.is_of_recording or unknown in found)
    ]
    columns: dict[Common, Floats] = {}
    before = np.empty((n, 0))
    for common, key in keys.items():
        width = 1 + max(column for whose, column in possible if whose == common)
        columns[common] = normal_scores(n, width, [seed, zlib.crc32(key.encode())], before)
        before = np.column_stack([before, columns[common]])
    return columns
