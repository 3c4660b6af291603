"""A traced drive as the engines run it, with the last stage of its fit and the uncertainty of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import reached_platter
from calibrate.trace.engine.drive import drive_dict
from calibrate.trace.engine.joint import refine
from calibrate.trace.engine.replay import N_RUNS, Replay
from calibrate.trace.engine.uncertainty import uncertainty_of
from calibrate.trace.model import TraceModel
from diskmodel.drive import Hdd

#: Share of the requests, at the end, that decides whether the last stage is kept. With half of it chance decides; with
#: double too few requests are left to fit.
LATER_SHARE = 0.3


@dataclass(frozen=True)
class EngineDrive:
    """A profile, and its response to each request of the trace (ms; None where no angle is known)."""

    drive: Hdd
    response_ms: Floats | None


def engine_drive(
    model: TraceModel, trace: RequestTrace, n_blocks: int, name: str, sheet: Mapping[str, Any]
) -> EngineDrive:
    """Return the drive behind a fitted trace model, as the engines run it.

    Parameters
    ----------
    trace : RequestTrace
        The requests that the model was fitted to.
    n_blocks : int
        Of 512 bytes; the capacity.
    sheet : mapping
        Figures of the data sheet, as for `calibrate.trace.fit.fit_trace`.
    """
    drive = Hdd.parse(drive_dict(model, trace, n_blocks, name, sheet))
    if model.angles is None:
        return EngineDrive(drive, None)
    cut = int(len(trace) * (1 - LATER_SHARE))
    joint = refine(drive, Replay(model, trace.part(0, cut)), Replay(model, trace.part(cut, None)))
    response = np.median(Replay(model, trace).draws_ms(joint.drive, N_RUNS), axis=1)
    media = reached_platter(trace, model.bus)
    more = {
        "uncertainty": uncertainty_of(joint.drive, trace, media, response, model.rotation.stderr_ms),
        "provenance": {**drive.provenance, "last_stage": joint.to_dict()},
    }
    return EngineDrive(joint.drive.model_copy(update=more), response)
