"""The instants of issue on a clock on which the platter turns evenly, from the completions so far."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Floats
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import is_sequential, reached_platter
from calibrate.trace.clock import drift
from calibrate.trace.clock.issue import issue_ms
from calibrate.trace.geometry.angle_map import access_keys
from calibrate.trace.model import TraceModel


def issue_on_platter_ms(model: TraceModel, trace: RequestTrace) -> Floats:
    """Return the instant of issue of each request, (n,) float64 ms, on the platter's clock.

    Blocks at angle a of the map pass at a whole number of turns and a. Where no angle is known it is the measured
    clock.

    Notes
    -----
    The platter drifts against the measured clock, and traces jump where requests were lost. The phase of a request is
    estimated from the completions before it, as in prediction; its own response and later ones do not count.
    """
    issued = issue_ms(trace, model.rotation.pause)
    angles, period = model.angles, model.rotation.period_ms
    if angles is None:
        return issued
    passing = angles.passing_ms(trace, model.bus, issued + trace.response_ms)
    left = np.exp(2j * np.pi * (passing / period - angles.angle(access_keys(trace), trace.is_write)))
    known = reached_platter(trace, model.bus) & ~is_sequential(trace)
    now = drift.causal(np.concatenate([left[known], [0j]]), angles.causal_span)
    phase = np.unwrap(np.angle(now[np.concatenate([[0], np.cumsum(known)[:-1]])]))
    on_platter = issued - phase / (2 * np.pi) * period
    return np.asarray(np.maximum.accumulate(on_platter - on_platter[0] + np.mod(on_platter[0], period)))
