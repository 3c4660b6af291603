"""Run a request along its path."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.engine.drawn_runs import DRAWS, DrawnRuns, Trials, simulate_drawn_runs
    from diskmodel.engine.effort import EACH_BYTES, CostSeen, check_rare, often_enough
    from diskmodel.engine.ledger import Account, current, on_account, with_part
    from diskmodel.engine.messages.cached_writes import waiting_writes
    from diskmodel.engine.one_run import Keep
    from diskmodel.engine.predict import check_draws, prediction_of
    from diskmodel.engine.run import Engine
    from diskmodel.engine.scenario import Scenario, check_requests, resolve
    from diskmodel.engine.shingled import writes_shingled
    from diskmodel.engine.simulate import PRECISION
    from diskmodel.engine.steady.fresh import Fresh
    from diskmodel.engine.steady.shared import Begin
    from diskmodel.engine.steady.unused_memory import keep_unused_memory
    from diskmodel.engine.threads import Threads

__getattr__ = face(
    __name__,
    {
        "drawn_runs": "DRAWS DrawnRuns Trials simulate_drawn_runs",
        "effort": "EACH_BYTES CostSeen check_rare often_enough",
        "ledger": "Account current on_account with_part",
        "messages.cached_writes": "waiting_writes",
        "one_run": "Keep",
        "predict": "check_draws prediction_of",
        "run": "Engine",
        "scenario": "Scenario check_requests resolve",
        "shingled": "writes_shingled",
        "simulate": "PRECISION",
        "steady.fresh": "Fresh",
        "steady.shared": "Begin",
        "steady.unused_memory": "keep_unused_memory",
        "threads": "Threads",
    },
)
