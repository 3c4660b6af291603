"""What a question left open, said under the answers of plans, comparisons and capacities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from diskmodel.explanation.otherwise import otherwise
from diskmodel.result.show import Remark

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.plan import Outcome
    from diskmodel.workload import Workload

#: The answer of an array under a load: its name, itself, and what it does.
Answer = tuple[str, "Array", "Outcome"]


def assumed_of(
    answers: Iterable[Answer], load: Workload, seed: int, *, at: str = "", names: Sequence[str] = ()
) -> list[Remark]:
    """Return what was assumed of arrays, with the answers of the other cases; what several share is one remark.

    Parameters
    ----------
    answers : iterable of (str, Array, Outcome)
    load : Workload
    seed : int
        Of the outcomes.
    at : str
        What the answers are about, as "at the knee"; "": of the question itself.
    names : sequence of str
        The assumptions that are looked at; without any, all.
    """
    by_case: dict[tuple[str, str], list[str]] = {}
    for name, array, outcome in answers:
        for other in otherwise(array, load, outcome, seed=seed, names=names):
            by_case.setdefault((other.assumed, other.said_by), []).append(
                f"{name}{': ' if name else ''}{other.figures(is_closed=not load.is_open)}"
            )
    where = f", {at}" if at else ""
    return [
        Remark("assumed", f"Assumed: {assumed}; with {said_by}{where}: {'; '.join(figures)}")
        for (assumed, said_by), figures in by_case.items()
    ]
