"""Fewest disks of each level against the share of writes."""

from __future__ import annotations

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class Crossover(Record):
    """Fewest disks of each level against the share of writes.

    Attributes
    ----------
    drive : str
        Name of the drive of every array.
    write_ratios : tuple of float
    disks : dict of level to tuple of int or None
        One for each ratio; None: not feasible.
    """

    drive: str
    write_ratios: tuple[float, ...]
    disks: dict[str, tuple[int | None, ...]]

    def crossing(self, first: str, second: str) -> tuple[float, float] | None:
        """Return the two neighboring shares of writes between which `second` begins to need fewer disks than `first`.

        None where it never does, or already does at the first share. An infeasible level counts as more disks than any
        feasible one.
        """
        never = 1 << 30
        fewer = [(b or never) < (a or never) for a, b in zip(self.disks[first], self.disks[second], strict=True)]
        if not any(fewer) or fewer[0]:
            return None
        at = fewer.index(True)
        return self.write_ratios[at - 1], self.write_ratios[at]

    def sentences(self) -> list[str]:
        """Return every crossing of two levels as a sentence."""
        pairs = [(a, b) for a in self.disks for b in self.disks if a != b]
        return [
            f"{b} begins to need fewer disks than {a} between {at[0]:.0%} and {at[1]:.0%} writes"
            for a, b in pairs
            if (at := self.crossing(a, b)) is not None
        ]
