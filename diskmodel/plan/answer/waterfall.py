"""From the rule of thumb's number of disks to the simulated one, in steps."""

from __future__ import annotations

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class WaterfallStep(Record):
    """One assumption of the rule of thumb given up.

    Attributes
    ----------
    step : str
        What is simulated from here on.
    disks : int or None
        Fewest disks then; None: more than the plan allows.
    meaning : str
        What changes at this step, in a sentence.
    """

    step: str
    disks: int | None
    meaning: str


Waterfall = tuple[WaterfallStep, ...]


def steps_in_words(waterfall: Waterfall, most: int) -> list[str]:
    """Return a line for each step: the disks, the change, and what it is; `most` is the largest allowed count."""
    lines = []
    before: int | None = None
    for index, step in enumerate(waterfall):
        disks = f"more than {most}" if step.disks is None else str(step.disks)
        change = ""
        if index and step.disks is not None and before is not None:
            change = f" ({step.disks - before:+d})" if step.disks != before else " (no change)"
        lines.append(f"{step.step}: {disks} disks{change}. {step.meaning}")
        before = step.disks
    return lines
