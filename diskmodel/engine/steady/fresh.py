"""How long flash drives are faster than they stay, and how fast they are then.

A drive that was trimmed and then filled once in order has all of its other flash erased. Until that is written, nothing
is copied; and a consumer drive first writes one bit a cell (SLC). `simulate` is about what comes after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.engine.simulate import simulate
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result import Result
from diskmodel.units import in_digits, in_minutes
from diskmodel.workload import Workload

#: Requests of each run of a faster state: the rate is then known to a percent.
_N_REQUESTS = 8_000
#: By how much the rate has to be higher to be worth a line.
_WORTH_RATIO = 1.1


@dataclass(frozen=True)
class Phase(Record):
    """A time in which drives are faster than they stay.

    Attributes
    ----------
    iops : float
        Requests a second of the array, as the load asks for them or as many as it can.
    seconds : float
    """

    iops: float
    seconds: float


@dataclass(frozen=True)
class Fresh(Record):
    """What an array does from when its drives were trimmed and filled once in order.

    Attributes
    ----------
    phases : tuple of Phase
        In order, each faster than what follows.
    steady_iops : float
        What it does from then on.
    """

    phases: tuple[Phase, ...]
    steady_iops: float

    @property
    def seconds(self) -> float:
        """Time until the array does no more than it does for ever."""
        return sum(phase.seconds for phase in self.phases)

    def json_fields(self) -> Mapping[str, Any]:
        """Return phases, the time of all of them, and what follows."""
        return {"phases": self.phases, "seconds": self.seconds, "steady_iops": self.steady_iops}

    def in_words(self) -> str:
        """Return it as a sentence."""
        fast = ", ".join(f"{in_digits(phase.iops)} IOPS for {in_minutes(phase.seconds)}" for phase in self.phases)
        return (
            f"just trimmed and filled in order, the drives are fast: {fast}, then {in_digits(self.steady_iops)}, and "
            "less at first"
        )


def fresh(array: Array, load: Workload, result: Result, *, seed: int) -> Fresh | None:
    """Return how long the drives are faster under a load than in a result; None where they are not, or none is known.

    Parameters
    ----------
    array : Array
    load : Workload
    result : Result
        Of the array as it is described. Of an open load that it carries, nothing is faster than what is asked.
    seed : int
        Of the result.

    Notes
    -----
    Rates are simulated with the drives in each state; the time is the state's room over what the busiest drive writes.
    Then all blocks are almost equally full, and drives were measured to write 0.65 to 0.9 of their steady rate for one
    to twenty minutes; that is not predicted.
    """
    states = array.drive.filled(array.used_ratio).fast_states()
    is_carried = load.is_open and result.is_stable
    if not states or not load.has_writes or not array.layout.writes_in_place or is_carried:
        return None
    phases: list[Phase] = []
    if not current().has_time_for("how long drives are faster at first"):
        return None
    for drive, room_bytes in states:
        fast = simulate(
            array.model_copy(update={"drive": drive}),
            load,
            seed=seed,
            n_requests=_N_REQUESTS,
            profile_draws=0,
            with_angles=False,
            with_operations=False,
            is_one_of_many=True,
        )
        iops = load.offered_rate_per_s if load.is_open and fast.is_stable else fast.iops.mean
        # of the whole run, which begins and ends with fewer requests
        written = int(fast.run.devices.write_bytes.max()) / len(fast.requests) * iops
        phases.append(Phase(iops, room_bytes / written if written else math.inf))
    steady = result.iops.mean
    kept = tuple(phase for phase in phases if phase.iops > _WORTH_RATIO * steady and 1 <= phase.seconds < math.inf)
    return Fresh(kept, steady) if kept else None
