"""What flushes took after some writes (the experiment `flushes` of the micro-benchmark)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibrate.evidence.measurement import Measurement

#: Writes before a flush from which it has something to write on any drive.
_SOME = 1


@dataclass(frozen=True)
class Flushes:
    """Flushes of one drive.

    Attributes
    ----------
    n : int
        Flushes after at least one write.
    median_ns : float
        Of these.
    is_answered_without_writing : bool or None
        Whether a rotating drive answers flushes after many writes within a small part of a revolution; None for what
        does not rotate.
    """

    n: int
    median_ns: float
    is_answered_without_writing: bool | None


def find_flushes(measurements: Iterable[Measurement]) -> Flushes | None:
    """Return what flushes took, of all measurements together; None where none was made after a write."""
    rows, answers = [], []
    for measurement in measurements:
        experiment = measurement.experiment("flushes")
        if experiment is None:
            continue
        found = experiment.summary.get("by_writes_before", ())
        rows += [row for row in found if row["writes_before"] >= _SOME]
        answers.append(experiment.summary.get("is_answered_without_writing"))
    if not rows:
        return None
    middle = np.repeat([float(row["p50_ns"]) for row in rows], [int(row["n"]) for row in rows])
    known = [answer for answer in answers if answer is not None]
    return Flushes(len(middle), float(np.median(middle)), any(known) if known else None)
