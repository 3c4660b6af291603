"""One figure of a published measurement against ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Outcome:
    """A figure.

    Attributes
    ----------
    case, row, quantity : str
    low, high : float
        What the author measured; the same unless he gave a range.
    ours : float
    tolerance : float
        Largest relative error that counts as reproduced.
    kind : "formula", "predicted" or "fitted"
    unreached : str
        Why it is known to be out of tolerance; empty otherwise.
    command : str
        What repeats it.
    """

    case: str
    row: str
    quantity: str
    low: float
    high: float
    ours: float
    tolerance: float
    kind: Literal["formula", "predicted", "fitted"]
    unreached: str = ""
    command: str = ""

    @property
    def error(self) -> float:
        """Relative error; 0 within the author's range, else from its nearer end."""
        nearest = min(max(self.ours, self.low), self.high)
        return 0.0 if self.ours == nearest else self.ours / nearest - 1

    @property
    def is_reached(self) -> bool:
        """Within the tolerance."""
        return abs(self.error) <= self.tolerance

    @property
    def author(self) -> str:
        """The author's figure as printed."""
        return plain(self.low) if self.low == self.high else f"{plain(self.low)} to {plain(self.high)}"

    @property
    def our_figure(self) -> str:
        """Ours, to five digits."""
        return plain(float(f"{self.ours:.5g}"))


def plain(value: float) -> str:
    """A number as people write it: thousands apart, no exponent.

    >>> plain(92323.0), plain(0.91), plain(168.333)
    ('92,323', '0.91', '168.333')
    """
    return f"{value:,.10g}"
