"""What each effect of a traced drive brings: its profile without it, run by the engines, nothing fitted again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibrate.evidence.requests import RequestTrace
from calibrate.score.agreement import agreement
from calibrate.trace.engine.replay import N_RUNS, Replay
from calibrate.trace.model_dict import model_from_dict
from diskmodel.drive import Hdd

Changed = Callable[[Hdd], Hdd]


def _with_cache(drive: Hdd, **fields: object) -> Hdd:
    assert drive.cache is not None
    return drive.model_copy(update={"cache": {**drive.cache.to_dict(), **fields}})


def _without_direction(drive: Hdd) -> Hdd:
    return drive.model_copy(update={"seek_inward_ns": 0})


def _without_write_seeks(drive: Hdd) -> Hdd:
    """Writes seek as reads do, and their overhead makes up for the mean over all pairs of cylinders."""
    if drive.write_seek is None:
        return drive
    tables = drive.tables()
    pairs = np.arange(tables.n_cylinders - 1, 0, -1)
    more = float(np.average(tables.write_seek_ns[1:] - tables.seek_ns[1:], weights=pairs))
    overhead = max(round(tables.write_overhead_ns + more), 0)
    return drive.model_copy(
        update={"write_seek": None, "write_settle_ns": tables.write_settle_ns, "write_overhead_ns": overhead}
    )


def _without_retries(drive: Hdd) -> Hdd:
    return drive.model_copy(update={"retries": None})


def _all_on_arrival(drive: Hdd) -> Hdd:
    all_do = drive.zero_latency and drive.zero_latency_ratio > 0.5
    return drive.model_copy(update={"zero_latency": all_do, "zero_latency_ratio": 1.0})


def _plain_read_ahead(drive: Hdd) -> Hdd:
    """Read-ahead ends with the track, and what passed before the first block is kept where all of the track was."""
    assert drive.cache is not None
    if drive.cache.read_ahead_to not in ("own-track", "whole-track"):
        return drive
    early = drive.cache.read_ahead_to == "whole-track"
    return _with_cache(drive, read_ahead_to="track", read_on_arrival=early)


def _plain_writes(drive: Hdd) -> Hdd:
    return _with_cache(drive, write_drops="overlap", keeps_writes=False)


#: The profile without each effect, by what is left out.
WITHOUT: dict[str, Changed] = {
    "direction of seeks": _without_direction,
    "seeks of writes of their own": _without_write_seeks,
    "lost revolutions and stalls": _without_retries,
    "access on arrival that is not always made": _all_on_arrival,
    "read-ahead of whole tracks, or beyond the own track": _plain_read_ahead,
    "what a write does to the cache": _plain_writes,
}


def demerit(drive: Hdd, trace: RequestTrace, seed: int = 0) -> float:
    """The demerit of the engines, as a share of the mean."""
    draws = Replay(model_from_dict(drive.provenance["trace_model"]), trace).draws_ms(drive, N_RUNS, seed)
    return float(agreement(trace.response_ms, np.median(draws, axis=1), draws)["demerit_ratio"] or 0.0)


def demerit_with_sure_angles(drive: Hdd, trace: RequestTrace) -> float:
    """The demerit of one run whose platter stands where the completions so far say."""
    response = Replay(model_from_dict(drive.provenance["trace_model"]), trace).response_ms(drive)
    return float(agreement(trace.response_ms, response, response[:, None])["demerit_ratio"] or 0.0)


def spread_effect(drive: Hdd, trace: RequestTrace) -> tuple[float, float]:
    """The demerit of the trace model with the spread of seek times, and without it."""
    model = model_from_dict(drive.provenance["trace_model"])
    sure = replace(
        model,
        ready_read=replace(model.ready_read, spread_ms=0.0),
        ready_write=replace(model.ready_write, spread_ms=0.0),
    )
    found = []
    for one in (model, sure):
        draws = one.predict(trace, 0).draws_ms
        found.append(float(agreement(trace.response_ms, np.median(draws, axis=1), draws)["demerit_ratio"] or 0.0))
    return found[0], found[1]
