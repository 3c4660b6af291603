"""When the requests of a stream come: open (at times of their own) or closed (clients that wait for completions).

One law, one file. The registry of laws is `ARRIVALS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from diskmodel.workload.arrivals.bursts import Bursts
from diskmodel.workload.arrivals.closed import Closed
from diskmodel.workload.arrivals.excerpts import ExcerptTimes
from diskmodel.workload.arrivals.given import Given
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.arrivals.poisson import Poisson
from diskmodel.workload.arrivals.profile import Profile

#: Every arrival law by its name.
ARRIVALS: dict[str, type[ArrivalLaw]] = {
    law.model_fields["kind"].default: law
    for law in (
        Poisson,
        Bursts,
        Given,
        Closed,
        ExcerptTimes,
    )
}

if TYPE_CHECKING:
    Arrival = ArrivalLaw
else:
    #: Any way of arriving.
    Arrival = Annotated[Union[tuple(ARRIVALS.values())], Field(discriminator="kind")]  # noqa: UP007

__all__ = ["ARRIVALS", "Arrival", "ArrivalLaw", "Bursts", "Closed", "ExcerptTimes", "Given", "Poisson", "Profile"]
