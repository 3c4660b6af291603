"""Questions to formulas and engines: how many disks, which level, and what when the load grows or a disk fails.

`question` describes what is asked and `answer` what was found. `trial` simulates one array, `search` finds the fewest
disks of a family, `advice` determines what would change the answer, `comparison` puts arrays side by side, and `run`
connects these. `show` prints the answer.
"""

from diskmodel.plan.answer.arrangement import Arrangement, PlacedArray, ServerResult, Sharing
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.capacity import Capacity
from diskmodel.plan.answer.changes import HiddenPeak, Relaxation, Sensitivity
from diskmodel.plan.answer.comparison import Compared, Comparison, Difference
from diskmodel.plan.answer.crossover import Crossover
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.pareto import ParetoPoint
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.answer.replay import Replay
from diskmodel.plan.comparison.capacity import find_capacity
from diskmodel.plan.comparison.compare import compare
from diskmodel.plan.comparison.crossover import find_crossover
from diskmodel.plan.comparison.heat import heat_of_best
from diskmodel.plan.comparison.load_curve import latency_curves
from diskmodel.plan.comparison.pareto import pareto_search
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import Candidates, PlanDescription, with_drives
from diskmodel.plan.question.family import Family
from diskmodel.plan.question.objective import Degraded, LatencyLimits, LatencyObjective, Objective
from diskmodel.plan.question.recording import Recording
from diskmodel.plan.question.server import ArrayObjective, ServerPlan, Volume, VolumeObjective
from diskmodel.plan.run.ask import ask
from diskmodel.plan.run.plan import run_plan
from diskmodel.plan.run.server import run_server
from diskmodel.plan.trial.evaluation import Evaluate

__all__ = [
    "Arrangement",
    "ArrayObjective",
    "Candidate",
    "Candidates",
    "Capacity",
    "Case",
    "Compared",
    "Comparison",
    "Crossover",
    "Degraded",
    "Difference",
    "Evaluate",
    "Family",
    "HiddenPeak",
    "LatencyLimits",
    "LatencyObjective",
    "Objective",
    "Outcome",
    "ParetoPoint",
    "PlacedArray",
    "PlanDescription",
    "PlanResult",
    "Prices",
    "Recording",
    "Relaxation",
    "Replay",
    "Search",
    "Sensitivity",
    "ServerPlan",
    "ServerResult",
    "Sharing",
    "Volume",
    "VolumeObjective",
    "ask",
    "cases",
    "compare",
    "find_capacity",
    "find_crossover",
    "heat_of_best",
    "latency_curves",
    "pareto_search",
    "run_plan",
    "run_server",
    "with_drives",
]
