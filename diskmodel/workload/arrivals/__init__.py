"""When the requests of a stream come: open (at times of their own) or closed (clients that wait for completions)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from diskmodel.workload.arrivals.bursts import Bursts
from diskmodel.workload.arrivals.closed import Closed
from diskmodel.workload.arrivals.given import Given
from diskmodel.workload.arrivals.poisson import Poisson
from diskmodel.workload.arrivals.profile import Profile

#: Any way of arriving.
Arrival = Annotated[Poisson | Bursts | Given | Closed, Field(discriminator="kind")]

__all__ = ["Arrival", "Bursts", "Closed", "Given", "Poisson", "Profile"]
