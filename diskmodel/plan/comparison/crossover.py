"""Finding where one level begins to need fewer disks than another."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

from diskmodel.plan.answer.crossover import Crossover
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.evaluation import Evaluate, evaluator


def find_crossover(
    plan: PlanDescription,
    *,
    write_ratios: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
) -> Crossover:
    """Return the fewest disks of each level of a plan at every share of writes, the plan otherwise unchanged.

    Levels are those of the plan's first drive, strip and cache. A trace behind the plan is not replayed, as its share
    of writes is fixed: the counts are those of the fitted workload.
    """
    decide = evaluate if evaluate is not None else evaluator(plan)
    asked: list[Case] = []
    for ratio in write_ratios:
        streams = tuple(
            stream if stream.kind == "flushes" else stream.model_copy(update={"read_ratio": 1 - ratio})
            for stream in plan.workload.streams
        )
        workload = plan.workload.model_copy(update={"streams": streams})
        changed = plan.model_copy(update={"workload": workload, "recording": None})
        seen: set[str] = set()
        for case in cases(changed):
            if case.family.level not in seen:
                seen.add(case.family.level)
                asked.append(case)
    if executor is None:
        found = [search_family(case, decide) for case in asked]
    else:
        found = [future.result() for future in [executor.submit(search_family, case, decide) for case in asked]]
    disks: dict[str, list[int | None]] = {}
    for case, candidate in zip(asked, found, strict=True):
        disks.setdefault(case.family.level, []).append(candidate.disks)
    drive = plan.candidates.drives[0].name
    return Crossover(drive, tuple(write_ratios), {level: tuple(row) for level, row in disks.items()})
