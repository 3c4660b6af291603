"""Time and memory that runs take, and how long they may be therefore."""

from diskmodel.engine.effort.beside import check_rare, often_enough
from diskmodel.engine.effort.cost import PROBE, Cost, CostSeen, guessed, looked_at
from diskmodel.engine.effort.lengths import (
    bound_message,
    each_most,
    each_s,
    few_enough,
    few_enough_beside,
    is_costly,
)
from diskmodel.engine.effort.limits import (
    EACH_BYTES,
    LEAST,
    LEAST_OF_MOVED,
    MAX_REQUESTS,
    RUNS_S,
    check_effort,
    check_room,
    free_bytes,
    moved_per_s,
)
from diskmodel.engine.effort.prices import PAGE_BYTES, entered_s

__all__ = [
    "EACH_BYTES",
    "LEAST",
    "LEAST_OF_MOVED",
    "MAX_REQUESTS",
    "PAGE_BYTES",
    "PROBE",
    "RUNS_S",
    "Cost",
    "CostSeen",
    "bound_message",
    "check_effort",
    "check_rare",
    "check_room",
    "each_most",
    "each_s",
    "entered_s",
    "few_enough",
    "few_enough_beside",
    "free_bytes",
    "guessed",
    "is_costly",
    "looked_at",
    "moved_per_s",
    "often_enough",
]
