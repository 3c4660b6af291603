"""The cache of a traced drive: every kind is replayed, and the one that answers most like the drive is taken."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.score.agreement import demerit_ms
from calibrate.trace.engine.replay import Replay
from diskmodel.drive import Hdd

#: Read-ahead that is tried, bytes; None is as much as the segment takes.
READ_AHEAD_BYTES = (None, 0, 16 << 10, 32 << 10, 64 << 10, 128 << 10)
#: Numbers of segments that are tried, the usual one first: one stream of requests at a time seldom shows how many
#: there are.
SEGMENTS = (4, 2, 1, 8, 16)
#: A kind later in the order must do better by this share of the mean response of reads. At 0, noise chooses exotic
#: kinds; at ten times it, real differences of a few percent are lost.
MIN_GAIN = 0.003


def choose_cache(data: dict[str, Any], replay: Replay, *, segments: int | None = None) -> dict[str, Any]:
    """Return the `cache` of a profile, of the kind under which the engines' responses are nearest to the measured ones.

    Parameters
    ----------
    data : dict
        The profile as `diskmodel` reads it.
    replay : Replay
        Of the requests that it was fitted to.
    segments : int, optional
        From the data sheet, if it gives them.
    """
    measured = replay.trace.response_ms
    reads = ~replay.trace.is_write
    cache = dict(data["cache"])
    if not reads.any():
        return cache
    segment = cache["size_bytes"] // cache["segments"]
    drive = Hdd.parse(data)

    def miss_ms(**kind: Any) -> float:
        tried = {**cache, **kind}
        tried["size_bytes"] = segment * tried["segments"] if segments is None else cache["size_bytes"]
        response = replay.response_ms(drive.model_copy(update={"cache": tried}))
        return _miss_ms(response[reads], measured[reads])

    least = MIN_GAIN * float(measured[reads].mean())
    kinds = [
        {"read_ahead_bytes": ahead, "read_ahead_to": to, "read_on_arrival": early}
        for early, to, ahead in product((False, True), ("limit", "track", "own-track"), READ_AHEAD_BYTES)
        if not (to != "limit" and ahead == 0)
    ]
    kinds.append({"read_ahead_bytes": None, "read_ahead_to": "whole-track"})
    cache |= _first_near_best([(miss_ms(**kind), kind) for kind in kinds], least)
    dropped = [{"write_drops": which} for which in ("overlap", "all")]
    cache |= _first_near_best([(miss_ms(**kind), kind) for kind in dropped], least)
    if segments is None:
        counts = [{"segments": count} for count in SEGMENTS]
        cache |= _first_near_best([(miss_ms(**count), count) for count in counts], least)
        cache["size_bytes"] = segment * cache["segments"]
    return {name: value for name, value in cache.items() if value is not None}


def _first_near_best(tried: list[tuple[float, dict[str, Any]]], least: float) -> dict[str, Any]:
    best = min(miss for miss, _ in tried)
    return next(kind for miss, kind in tried if miss <= best + least)


def _miss_ms(response_ms: Floats, measured_ms: Floats) -> float:
    """Return the mean error of a response plus the distance of the distributions.

    By the first alone, a kind that finds the right share of reads in the cache, but some of the wrong ones, loses to
    one that finds too few.
    """
    return float(np.abs(response_ms - measured_ms).mean()) + demerit_ms(measured_ms, response_ms)
