"""Response times over time for the lab's settings: one run, as a heat map."""

from __future__ import annotations

from typing import Any

from diskmodel.engine.simulate import simulate
from diskmodel.lab import curves
from diskmodel.lab.settings import Settings
from diskmodel.result.statistics.heat_map import heat_map


def heat_of(settings: Settings) -> dict[str, Any]:
    """Return the heat map of a run at the chosen load, with as many requests as a point of the refined curve has.

    Raises
    ------
    DescriptionError
        When the settings contradict each other, with every fault, or when the run would take too much memory.
    """
    question = curves.ask(settings, "refined")
    load = settings.workload()
    run = simulate(question.array, load, seed=settings.seed, n_requests=question.n_requests, profile_draws=0)
    found = heat_map(run.run.completions, revolution_ms=question.array.revolution_ms)
    return found.to_dict() | {"n_requests": run.n_requests, "stable": run.is_stable, "engine": run.engine}
