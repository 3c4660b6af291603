"""The fitted model as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from calibrate.trace.access.arrival import Arrival
from calibrate.trace.access.bus import Bus
from calibrate.trace.access.cache import FastTimes, StreamMisses
from calibrate.trace.access.handover import Handover
from calibrate.trace.access.seek import ReadyCurve
from calibrate.trace.access.stalls import NO_STALLS, Stalls
from calibrate.trace.clock.issue import Pause
from calibrate.trace.clock.rotation import Rotation
from calibrate.trace.geometry.angle_map import AngleMap
from calibrate.trace.geometry.angles import Step, ZoneAngle
from calibrate.trace.geometry.correction import Correction
from calibrate.trace.model import TraceModel
from diskmodel.errors import Fault, FormatError

#: Of the layout of `provenance.trace_model`; a profile of another version is refused.
VERSION = 2


def model_to_dict(model: TraceModel) -> dict[str, Any]:
    """Return the model as numbers, strings and lists only."""
    data: dict[str, Any] = {
        "version": VERSION,
        "bus": _plain(model.bus),
        "rotation": _plain(model.rotation),
        "ready_read": _curve(model.ready_read),
        "ready_write": _curve(model.ready_write),
        "hit_ratio": _rounded(model.hit_ratio, 4),
        "hit_times_ms": _rounded(model.hit_times.table, 4),
        "write_times_ms": _rounded(model.write_times.table, 4),
        "stream_times_ms": _rounded(model.stream_times.table, 4),
        "read_error_turns": _rounded(model.read_error, 5),
        "write_error_turns": _rounded(model.write_error, 5),
        "read_arrival": [model.read_arrival.share, model.read_arrival.delay_ms],
        "write_arrival": [model.write_arrival.share, model.write_arrival.delay_ms],
        "lost_turns": [model.read_lost, model.write_lost],
        "stalls": [model.stalls.share, _rounded(model.stalls.late_ms, 3)],
        "stream_misses": [model.stream_misses.within, model.stream_misses.across],
    }
    if model.angles is not None:
        angles = model.angles
        data["angle_map"] = {
            "write_shift_turns": angles.write_shift,
            "bus_share": float(angles.bus_share),
            "read_handover": _handover(angles.read_handover),
            "write_handover": _handover(angles.write_handover),
            "causal_span": angles.causal_span,
            "correction_step_blocks": angles.correction.step_blocks,
            "correction_turns": _rounded(angles.correction.turns, 4),
            "read_coherence": angles.read_coherence,
            "write_coherence": angles.write_coherence,
            "zones": [_plain(zone) for zone in angles.zones],
        }
    return data


def model_from_dict(data: Mapping[str, Any]) -> TraceModel:
    """Return the model that `model_to_dict` wrote.

    Raises
    ------
    FormatError
        Another version, or a part missing.
    """
    try:
        return _model(data)
    except (KeyError, TypeError, ValueError) as error:
        rule = f"is not a trace model of version {VERSION} ({error})"
        raise FormatError(Fault("provenance.trace_model", None, rule, "calibrate again")) from error


def _model(data: Mapping[str, Any]) -> TraceModel:
    if data["version"] != VERSION:
        raise ValueError(f"version {data['version']}")
    rotation = Rotation(**{**data["rotation"], "pause": Pause(data["rotation"]["pause"])})
    angles = None
    if "angle_map" in data:
        found = data["angle_map"]
        angles = AngleMap(
            tuple(
                ZoneAngle(
                    **{
                        **zone,
                        "track": Step(*zone["track"]),
                        "cylinder": Step(*zone["cylinder"]),
                        "slips": tuple(zone["slips"]),
                    }
                )
                for zone in found["zones"]
            ),
            rotation.period_ms,
            0.0,
            found["write_shift_turns"],
            found["causal_span"],
            found["read_coherence"],
            found["write_coherence"],
            found["bus_share"],
            Correction(found["correction_step_blocks"], np.array(found["correction_turns"])),
            Handover(*(np.array(column) for column in found["read_handover"])),
            Handover(*(np.array(column) for column in found["write_handover"])),
        )
    curves = [
        ReadyCurve(np.array(c["log_tracks"]), np.array(c["ready_ms"]), c["spread_ms"], c["inward_ms"], c["block_ms"])
        for c in (data["ready_read"], data["ready_write"])
    ]
    return TraceModel(
        Bus(**data["bus"]),
        rotation,
        angles,
        curves[0],
        curves[1],
        np.array(data["hit_ratio"]),
        FastTimes(np.array(data["hit_times_ms"])),
        FastTimes(np.array(data["write_times_ms"])),
        FastTimes(np.array(data["stream_times_ms"])),
        np.array(data["read_error_turns"]),
        np.array(data["write_error_turns"]),
        Arrival(*data["read_arrival"]),
        Arrival(*data["write_arrival"]),
        data["lost_turns"][0],
        data["lost_turns"][1],
        StreamMisses(*data["stream_misses"]),
        Stalls(data["stalls"][0], np.array(data["stalls"][1])) if "stalls" in data else NO_STALLS,
    )


def _plain(part: Bus | Rotation | ZoneAngle) -> dict[str, Any]:
    """Return the fields of a part by name, as Python numbers and strings; steps and slips as lists."""
    return {field.name: _value(getattr(part, field.name)) for field in fields(part)}


def _value(value: Any) -> Any:
    if isinstance(value, Step):
        return list(astuple(value))
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Pause):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def _curve(curve: ReadyCurve) -> dict[str, Any]:
    return {
        "log_tracks": _rounded(curve.log_tracks, 5),
        "ready_ms": _rounded(curve.ready_ms, 4),
        "spread_ms": float(curve.spread_ms),
        "inward_ms": curve.inward_ms,
        "block_ms": curve.block_ms,
    }


def _handover(table: Handover) -> list[Any]:
    return [_rounded(table.sizes, 2), _rounded(table.late_ms, 4)]


def _rounded(values: Any, digits: int) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), digits).tolist()
