"""What a burst sees of an array whose caches are in their stationary state (rule Z9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record


@dataclass(frozen=True)
class AbsorbedBurst(Record):
    """Writes that the room above the stationary level absorbs, in addition to the load.

    Attributes
    ----------
    absorbed_by : "host", "controller" or "drives"
    n_bytes, n_requests : int
        Bytes, and writes of the workload's mean size.
    response_ns : float
        Response time of one absorbed write without waiting.
    """

    absorbed_by: str
    n_bytes: int
    n_requests: int
    response_ns: float

    def json_fields(self) -> Mapping[str, Any]:
        return {
            "absorbed_by": self.absorbed_by,
            "bytes": self.n_bytes,
            "requests": self.n_requests,
            "latency_ms": self.response_ns / 1e6,
        }
