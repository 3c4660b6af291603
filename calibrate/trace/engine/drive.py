"""The fitted model of a traced drive as a profile that the engines run.

What the engines lack is folded into what they have, so that means agree: delays by size between the last block under
the head and the completion. `LEFT_OUT` lists what is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrate.arrays import Floats, Ints
from calibrate.assumptions import ASSUMED_HEADS, MIN_SEEK_NS
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import reached_platter
from calibrate.trace.access.cache import keeps_writes
from calibrate.trace.access.seek import MAX_BLOCKS, ReadyCurve
from calibrate.trace.engine.cache import choose_cache
from calibrate.trace.engine.chances import chances_of, inward_ms
from calibrate.trace.engine.cylinders import zones_of
from calibrate.trace.engine.delays import Delays, fit_delays, write_ready
from calibrate.trace.engine.replay import Replay
from calibrate.trace.geometry.angle_map import count_heads
from calibrate.trace.model import TraceModel
from calibrate.trace.model_dict import model_to_dict
from diskmodel.drive import ONE_AT_A_TIME

LEFT_OUT = (
    "the spread of seek times from access to access",
    "that the direction of a seek may count differently for reads and writes",
)
#: Blocks of a track where no angle is known. Seeks are fitted by distance in hundreds of blocks there, so the value
#: cancels but for transfer times.
ASSUMED_TRACK_BLOCKS = 100
#: Cache of a traced drive whose sheet gives none, bytes: 1 MiB, not the 16 MiB that `hdd.stages` assumes, because
#: traces with one request a line are of SCSI drives of the nineties. What counts is that a segment holds more than a
#: track.
ASSUMED_SCSI_CACHE_BYTES = 1024 * 1024
ASSUMED_SCSI_SEGMENTS = 4
#: Points of the seek table, evenly over the logarithm of distance; the curve bends least where they are far apart.
N_DISTANCES = 40
#: A move that the skew hides takes at most this share of it, or rounding would cost a revolution. The rest of the skew
#: is idle.
HIDDEN = 0.9


def drive_dict(
    model: TraceModel, trace: RequestTrace, n_blocks: int, name: str, sheet: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a hard disk's profile as `diskmodel` reads it, with the trace model under `provenance.trace_model`.

    Where no angle is known, the geometry is one zone of tracks of `ASSUMED_TRACK_BLOCKS`.

    Parameters
    ----------
    trace : RequestTrace
        The requests that the model was fitted to: folded effects are right for their sizes and distances.
    n_blocks : int
        Of 512 bytes.
    sheet : mapping
        Figures of the data sheet, as for `calibrate.trace.fit.fit_trace`.
    """
    assumed = [] if "cache_bytes" in sheet else ["cache.size_bytes"]
    heads = sheet.get("surfaces")
    if heads is None and model.angles is not None:
        heads = count_heads(model.angles)[0]
    if heads is None:
        heads = ASSUMED_HEADS
        assumed.append("heads")
    period_ms = model.rotation.period_ms
    delays = fit_delays(model, trace)
    if model.angles is None:
        assumed.append("zones")
        cylinders = -(-n_blocks // (heads * ASSUMED_TRACK_BLOCKS))
        zones = [{"cylinders": cylinders, "sectors_per_track": ASSUMED_TRACK_BLOCKS}]
    else:
        zones = zones_of(model.angles, n_blocks, heads, earlier_turns=delays.earlier_ms / period_ms)
    data = {
        "kind": "hdd",
        "name": name,
        "source": "calibrated from a request trace",
        "capacity_bytes": n_blocks * 512,
        "rpm": 60e3 / period_ms,
        "revolution_ns": round(period_ms * 1e6),
        "heads": heads,
        "zones": zones,
        **_moves(model, trace, delays, heads, sum(zone["cylinders"] for zone in zones)),
        "completion_overhead_ns": round(delays.read_tail_ms * 1e6),
        "write_completion_overhead_ns": round(delays.write_tail_ms * 1e6),
        "write_prefill_bytes": delays.prefill_blocks * 512,
        "buffer_full_ratio": delays.full_ratio,
        "interface_bytes_per_s": 512 / max(model.bus.block_ms, 1e-4) * 1e3,
        "cache": {
            "size_bytes": int(sheet.get("cache_bytes", ASSUMED_SCSI_CACHE_BYTES)),
            "segments": int(sheet.get("segments", ASSUMED_SCSI_SEGMENTS)),
            "write_back": bool(model.bus.is_write_back),
            "keeps_writes": keeps_writes(trace, ~reached_platter(trace, model.bus)),
        },
        # a trace has one request outstanding at a time
        "queue": {"assumed_from": ONE_AT_A_TIME},
        "provenance": {"assumed": assumed, "left_out": list(LEFT_OUT), "trace_model": model_to_dict(model)},
    }
    chances = chances_of(model, trace)
    if model.angles is not None:
        # the kinds of cache are compared without chance
        sure = data | {"zero_latency": chances.get("zero_latency_ratio", 0.0) > 0.5}
        data["cache"] = choose_cache(sure, Replay(model, trace), segments=sheet.get("segments"))
    return data | chances


def _moves(model: TraceModel, trace: RequestTrace, delays: Delays, heads: int, n_cylinders: int) -> dict[str, Any]:
    """Return overheads, seek table, head switch and write settle."""
    distances = np.unique(np.rint(np.geomspace(1, max(n_cylinders - 1, 2), N_DISTANCES))).astype(int)
    away = distances * heads
    fast = float(np.mean([model.hit_times.table.mean(), model.stream_times.table.mean()])) - delays.read_tail_ms
    ready_read = model.ready_read.at(away) + _size_ms(model.ready_read, trace, False) - delays.earlier_ms
    read_overhead = max(min(fast, float(ready_read.min()) - MIN_SEEK_NS / 1e6), 0.0)
    seek = np.maximum(ready_read - read_overhead, MIN_SEEK_NS / 1e6)
    settle, write_seek = 0.0, None
    if model.bus.is_write_back:
        write_overhead = max(float(model.write_times.table.mean()) - delays.write_tail_ms, 0.0)
    else:
        ready_write = write_ready(model, away) + _size_ms(model.ready_write, trace, True) - delays.write_earlier_ms
        write_overhead = max(min(delays.write_overhead_ms, float(ready_write.min()) - MIN_SEEK_NS / 1e6), 0.0)
        write_seek = np.maximum(ready_write - write_overhead, MIN_SEEK_NS / 1e6)
    found: dict[str, Any] = {
        "read_overhead_ns": round(read_overhead * 1e6),
        "write_overhead_ns": round(write_overhead * 1e6),
        "seek_inward_ns": round(inward_ms(model, trace) * 1e6),
    }
    located = [] if model.angles is None else [zone for zone in model.angles.zones if zone.track.turns > 0]
    if located:
        period_ms = model.rotation.period_ms
        hidden = HIDDEN * period_ms * float(np.median([zone.track.turns for zone in located]))
        near = float(model.ready_read.at(np.ones(1))[0]) - delays.earlier_ms - read_overhead
        switch = float(np.clip(near, 0.0, hidden))
        found["head_switch_ns"] = round(switch * 1e6)
        step = HIDDEN * period_ms * float(np.median([z.track.turns + max(z.cylinder.turns, 0.0) for z in located]))
        seek[0] = max(min(seek[0], step), MIN_SEEK_NS / 1e6)
        if write_seek is not None:
            near_write = float(write_ready(model, np.ones(1))[0]) - delays.write_earlier_ms - write_overhead
            settle = float(np.clip(near_write - switch, 0.0, hidden - switch))
            write_seek[0] = max(min(write_seek[0], step), MIN_SEEK_NS / 1e6)
    found["write_settle_ns"] = round(settle * 1e6)
    found["seek"] = _table(distances, seek)
    if write_seek is not None:
        found["write_seek"] = _table(distances, np.maximum(write_seek - settle, MIN_SEEK_NS / 1e6))
    least = min(min(found[name]["time_ms"]) for name in ("seek", "write_seek") if name in found)
    found["seek_inward_ns"] = round(float(np.clip(found["seek_inward_ns"], -least * 1e6, least * 1e6)))
    return found


def _table(distances: Ints, time_ms: Floats) -> dict[str, Any]:
    return {
        "kind": "table",
        "distance": [int(d) for d in distances],
        "time_ms": [round(float(t), 4) for t in time_ms],
    }


def _size_ms(curve: ReadyCurve, trace: RequestTrace, write: bool) -> float:
    """Return what the size of requests adds to the time until ready, on average."""
    size: Floats = np.minimum(trace.n_blocks[trace.is_write == write].astype(np.float64), MAX_BLOCKS)
    return curve.block_ms * float(size.mean()) if len(size) else 0.0
