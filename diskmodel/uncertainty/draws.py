"""Drawing all unknowns of a case together."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from diskmodel.loading import dataclass
from diskmodel.uncertainty.case import Case
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.points import Floats, normal_scores
from diskmodel.uncertainty.registry import COLUMNS, UNKNOWNS
from diskmodel.uncertainty.unknown import Unknown


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
    all_scores = normal_scores(n, max(COLUMNS) + 1, seed)
    rows = [_rows(case, unknown, n, seed) for _, unknown, _ in found]
    scores = np.column_stack([all_scores[at, column] for at, (column, _, _) in zip(rows, found, strict=True)])
    perturbations = []
    for i in range(n):
        total = Perturbation()
        for k, (_, _, known) in enumerate(found):
            total = total.plus(known.perturbation(float(scores[i, k]), int(rows[k][i])))
        perturbations.append(total)
    return Draws(
        tuple(case.array.drive.unknowns_called.get(unknown.name, unknown.name) for _, unknown, _ in found),
        tuple(known.origin for _, _, known in found),
        scores,
        tuple(perturbations),
    )


def _rows(case: Case, unknown: Unknown, n: int, seed: int) -> np.ndarray:
    """Return the order in which a case takes the values of an unknown: the same wherever it has the same value."""
    if unknown.common == "all":
        return np.arange(n)
    # the same drive, whatever is known of its queue and of how its firmware takes writes, and whenever it was fitted
    no_drive: dict[str, Any] = {
        "uncertainty": {"queues"},
        "paces_writes": True,
        "read_beside_writes_ns": True,
        "program_beside_reads_ns": True,
        "provenance": {"program", "date", "host_kernel"},
    }
    key = case.array.drive.model_dump_json(exclude=no_drive)
    if unknown.common == "array":
        key += case.array.layout.level
    return np.random.default_rng([seed, zlib.crc32(key.encode())]).permutation(n)
