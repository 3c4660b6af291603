"""Questions to formulas and engines: how many disks, which level, and what when the load grows or a disk fails."""

from diskmodel.plan.compare import Compared, Comparison, Difference, compare
from diskmodel.plan.crossover import Crossover, find_crossover
from diskmodel.plan.description import Candidates, PlanDescription, Prices, Search, with_drives
from diskmodel.plan.objective import Degraded, LatencyLimits, LatencyObjective, Objective
from diskmodel.plan.outcome import Evaluate, Figure, Outcome
from diskmodel.plan.pareto import ParetoPoint, pareto_search
from diskmodel.plan.relax import Relaxation, Sensitivity
from diskmodel.plan.run import PlanResult, run_plan
from diskmodel.plan.search import Candidate

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
