"""Questions to formulas and engines: how many disks, which level, and what when the load grows or a disk fails."""

from diskmodel.plan.answer.outcome import Evaluate, Figure, Outcome
from diskmodel.plan.question.description import Candidates, PlanDescription, Prices, Search, with_drives
from diskmodel.plan.question.objective import Degraded, LatencyLimits, LatencyObjective, Objective
from diskmodel.plan.search.compare import Compared, Comparison, Difference, compare
from diskmodel.plan.search.crossover import Crossover, find_crossover
from diskmodel.plan.search.fewest_disks import Candidate
from diskmodel.plan.search.pareto import ParetoPoint, pareto_search
from diskmodel.plan.search.relax import Relaxation, Sensitivity
from diskmodel.plan.search.run import PlanResult, run_plan

__all__ = [
    "Candidate",
    "Candidates",
    "Compared",
    "Comparison",
    "Crossover",
    "Degraded",
    "Difference",
    "Evaluate",
    "Figure",
    "LatencyLimits",
    "LatencyObjective",
    "Objective",
    "Outcome",
    "ParetoPoint",
    "PlanDescription",
    "PlanResult",
    "Prices",
    "Relaxation",
    "Search",
    "Sensitivity",
    "compare",
    "find_crossover",
    "pareto_search",
    "run_plan",
    "with_drives",
]
