"""Where one level begins to need fewer disks than another: the answer against the share of writes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import families
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.search.run import evaluator


@dataclass(frozen=True)
class Crossover:
    """Fewest disks of each level against the share of writes.

    Attributes
    ----------
    write_ratios : tuple of float
    disks : dict of level to tuple of int or None
        One for each ratio; None: not feasible.
    drive : str
        Name of the drive that the levels are made of.
    """

    write_ratios: tuple[float, ...]
    disks: dict[str, tuple[int | None, ...]]
    drive: str = ""

    def crossing(self, first: str, second: str) -> tuple[float, float] | None:
        """The two neighbouring shares of writes between which `second` begins to need fewer disks than `first`.

        None when it never does, or does from the first share on. An infeasible level needs more than any other.
        """
        never = 1 << 30
        fewer = [(b or never) < (a or never) for a, b in zip(self.disks[first], self.disks[second], strict=True)]
        if not any(fewer) or fewer[0]:
            return None
        at = fewer.index(True)
        return self.write_ratios[at - 1], self.write_ratios[at]

    def sentences(self) -> list[str]:
        """Every crossing of two levels in words."""
        pairs = [(a, b) for a in self.disks for b in self.disks if a != b]
        return [
            f"{b} needs fewer disks than {a} from a share of writes between {at[0]:.0%} and {at[1]:.0%} on"
            for a, b in pairs
            if (at := self.crossing(a, b)) is not None
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        disks = {level: list(row) for level, row in self.disks.items()}
        return {"drive": self.drive, "write_ratios": list(self.write_ratios), "disks": disks}


def find_crossover(
    plan: PlanDescription,
    *,
    write_ratios: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
) -> Crossover:
    """Fewest disks of each level of a plan at every share of writes, the plan otherwise unchanged.

    Levels are those of the plan's first drive, strip and cache.
    """
    decide = evaluate if evaluate is not None else evaluator(plan)
    jobs = []
    for ratio in write_ratios:
        streams = tuple(stream.model_copy(update={"read_ratio": 1 - ratio}) for stream in plan.workload.streams)
        changed = plan.model_copy(update={"workload": plan.workload.model_copy(update={"streams": streams})})
        seen: set[str] = set()
        for family in families(changed):
            if family.level not in seen:
                seen.add(family.level)
                jobs.append((changed, family, decide))
    if executor is None:
        found = [search_family(*job) for job in jobs]
    else:
        found = [future.result() for future in [executor.submit(search_family, *job) for job in jobs]]
    disks: dict[str, list[int | None]] = {}
    for (_, family, _), candidate in zip(jobs, found, strict=True):
        disks.setdefault(family.level, []).append(candidate.disks)
    drive = plan.candidates.drives[0].name
    return Crossover(tuple(write_ratios), {level: tuple(row) for level, row in disks.items()}, drive)
