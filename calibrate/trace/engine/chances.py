"""What accesses of a traced drive meet at random, and what the direction of a seek adds, as the engines define them.

The trace model has both apart for reads and for writes; a profile has one value, the mean over the accesses that
reached the platter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import reached_platter
from calibrate.trace.model import TraceModel

#: Entries of the table of delays. With half, a stall that is one delay in a hundred becomes one in fifty.
N_DELAYS = 100
#: Share of accesses below which delays do not count: less than one in a thousand accesses.
MIN_RATIO = 1e-3


def inward_ms(model: TraceModel, trace: RequestTrace) -> float:
    """Return by how much a seek inward takes longer than one outward, ms."""
    return _mean(model, trace, model.ready_read.inward_ms, model.ready_write.inward_ms)


def chances_of(model: TraceModel, trace: RequestTrace) -> dict[str, Any]:
    """Return access on arrival and delays, as fields of a hard disk."""
    share = _mean(model, trace, model.read_arrival.share, model.write_arrival.share)
    found: dict[str, Any] = {"zero_latency": share > 0.0}
    if share > 0.0:
        found["zero_latency_ratio"] = round(min(share, 1.0), 3)
    return found | _retries(model, trace)


def _retries(model: TraceModel, trace: RequestTrace) -> dict[str, Any]:
    """Return the share of delayed accesses and a table of delays: lost revolutions, and stalls as they were."""
    lost = _mean(model, trace, model.read_lost, model.write_lost)
    # stalls are counted among all requests, and delays here among accesses to the platter
    n_media = max(int(reached_platter(trace, model.bus).sum()), 1)
    stalled = model.stalls.share * len(trace) / n_media
    ratio = lost + stalled
    if ratio < MIN_RATIO:
        return {}
    n_stalls = round(N_DELAYS * stalled / ratio)
    if stalled > 0.0:
        n_stalls = max(n_stalls, 1)
    ranks = (np.arange(n_stalls) + 0.5) / max(n_stalls, 1)
    stalls = np.quantile(model.stalls.late_ms, ranks) if n_stalls else np.zeros(0)
    period_ns = round(model.rotation.period_ms * 1e6)
    times = [period_ns] * (N_DELAYS - n_stalls if lost > 0.0 else 0) + [round(t * 1e6) for t in stalls.tolist()]
    if n_stalls == 0:
        times = [period_ns]
    return {"retries": {"ratio": round(ratio, 5), "time_ns": times}}


def _mean(model: TraceModel, trace: RequestTrace, of_reads: float, of_writes: float) -> float:
    """Return the mean of two values over the reads and the writes that reached the platter."""
    media = reached_platter(trace, model.bus)
    if not media.any() or model.bus.is_write_back:
        return of_reads
    share = float(trace.is_write[media].mean())
    return (1.0 - share) * of_reads + share * of_writes
