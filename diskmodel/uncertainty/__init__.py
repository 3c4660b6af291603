"""What a prediction depends on and nobody knows exactly: each unknown, its spread, and how a draw is simulated."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.uncertainty.case import COMMANDS_WITHOUT_CHOICE, Case
    from diskmodel.uncertainty.draws import Draws
    from diskmodel.uncertainty.origin import origin_of
    from diskmodel.uncertainty.perturbation import Perturbation
    from diskmodel.uncertainty.perturbed import AnyWorkload, workload_of
    from diskmodel.uncertainty.points import half_width_factor
    from diskmodel.uncertainty.registry import FITTED, PART, TAIL
    from diskmodel.uncertainty.seen import Seen, slow_write_ratio
    from diskmodel.uncertainty.spread import Spread, chance_below, slower_systems, spread_of, student
    from diskmodel.uncertainty.tails import is_tail

__getattr__ = face(
    __name__,
    {
        "case": "COMMANDS_WITHOUT_CHOICE Case",
        "draws": "Draws",
        "origin": "origin_of",
        "perturbation": "Perturbation",
        "perturbed": "AnyWorkload workload_of",
        "points": "half_width_factor",
        "registry": "FITTED PART TAIL",
        "seen": "Seen slow_write_ratio",
        "spread": "Spread chance_below slower_systems spread_of student",
        "tails": "is_tail",
    },
)
