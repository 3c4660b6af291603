"""A cause that was found: what it is, how probable, what it predicts, and what decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class Predicted(Record):
    """What a cause predicts of the figure that is furthest off, with its 95 % interval."""

    load: str
    figure: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CauseFound(Record):
    """One cause, or two together, that explain what was measured.

    Attributes
    ----------
    names : tuple of str
        One name, or two of causes that hold at the same time.
    titles : tuple of str
        In words, with how strong each is.
    probability : float
        Over all strengths.
    explains : float or None
        Part of the gap, as logarithms, that the likeliest strength explains; None where there is no gap.
    predicts : Predicted or None
        None of what was seen by comparing equals.
    checks : tuple of str
        What decides, for each of the causes.
    fingerprints : tuple of str
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    probability: float
    explains: float | None
    predicts: Predicted | None
    checks: tuple[str, ...]
    fingerprints: tuple[str, ...]

    def json_fields(self) -> Mapping[str, Any]:
        """Return the fields under the names that scripts rely on."""
        return {
            "cause": self.names[0],
            "with": self.names[1] if len(self.names) > 1 else None,
            "title": "; and ".join(self.titles),
            "probability": self.probability,
            "explains": self.explains,
            "predicts": self.predicts,
            "check": self.checks[0],
            "checks": self.checks,
            "fingerprint": "; ".join(self.fingerprints),
        }
