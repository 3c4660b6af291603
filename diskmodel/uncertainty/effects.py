"""By how much the rate of one load changes with what differs between drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from diskmodel.uncertainty.moves import Moves

#: The move of each quantity that a simulated run can show the effect of, by its logarithm.
PROBES: Mapping[str, Callable[[float], Moves]] = {
    "positioning": lambda by: Moves(positioning=by),
    "sequential": lambda by: Moves(sequential=by),
    "flash_read_time": lambda by: Moves(read_time=by),
    "flash_parallelism": lambda by: Moves(parallelism=by),
    "flash_write": lambda by: Moves(write_rate=by),
}


@dataclass(frozen=True)
class Effects:
    """What runs with moved drives show.

    Attributes
    ----------
    of : mapping of str to float
        By quantity: the change of the logarithm of the rate by that of the quantity.
    order_log_sd : float or None
        Standard deviation of the logarithm of the rate between equally likely orders of commands, from the slowest and
        the fastest; None where that was not simulated.
    """

    of: Mapping[str, float] = field(default_factory=dict)
    order_log_sd: float | None = None
