"""Questions to formulas and engines: how many disks, which level, and what when the load grows or a disk fails.

`question` describes what is asked and `answer` what was found. `trial` simulates one array, `search` finds the fewest
disks of a family, `advice` determines what would change the answer, `comparison` puts arrays side by side, and `run`
connects these. `show` prints the answer.
"""

from typing import TYPE_CHECKING

from diskmodel.naming import face
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

if TYPE_CHECKING:
    from diskmodel.plan.advice.waterfall import SUSTAINED_RATIO
    from diskmodel.plan.comparison.working_sets import find_working_sets
    from diskmodel.plan.own_plans import OwnPlan, own_plan
    from diskmodel.plan.question.description import GroupWidth
    from diskmodel.plan.question.options import plan_from, plan_options, server_from
    from diskmodel.plan.question.presets import preset, preset_names
    from diskmodel.plan.question.short_toml import short_toml
    from diskmodel.plan.run.pool import local_pool
    from diskmodel.plan.sheet.report import write_sheet
    from diskmodel.plan.sheet.sheet import Sheet
    from diskmodel.plan.show.capacity import capacity_table
    from diskmodel.plan.show.plot import curves_of, draw_crossover, draw_waterfall, save_latency_plot
    from diskmodel.plan.show.report import write_report
    from diskmodel.plan.show.server import server_explanation, server_table
    from diskmodel.plan.show.server_report import write_server_report
    from diskmodel.plan.show.table import comparison_table, plan_table
    from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops

__getattr__ = face(
    __name__,
    {
        "advice.waterfall": "SUSTAINED_RATIO",
        "comparison.working_sets": "find_working_sets",
        "own_plans": "OwnPlan own_plan",
        "question.description": "GroupWidth",
        "question.options": "plan_from plan_options server_from",
        "question.presets": "preset preset_names",
        "question.short_toml": "short_toml",
        "run.pool": "local_pool",
        "sheet.report": "write_sheet",
        "sheet.sheet": "Sheet",
        "show.capacity": "capacity_table",
        "show.plot": "curves_of draw_crossover draw_waterfall save_latency_plot",
        "show.report": "write_report",
        "show.server": "server_explanation server_table",
        "show.server_report": "write_server_report",
        "show.table": "comparison_table plan_table",
        "trial.rule_of_thumb": "calculator_disk_iops",
    },
)
