"""The fitted model of a traced drive, and what it predicts request by request.

Replay is against the measured clock: the instant of issue of each request and the pauses are inputs, and with them
the instants at which earlier requests completed. The response of the request itself and of later ones is never used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.evidence.requests import RequestTrace
from calibrate.traces import drift
from calibrate.traces.access import Bus, is_sequential, reached_platter
from calibrate.traces.clock import Pause, issue_ms
from calibrate.traces.geometry import AngleMap, access_keys
from calibrate.traces.hits import FastTimes, fast_times, hit_ratios, is_streaming, situation
from calibrate.traces.period import Rotation
from calibrate.traces.seek import ReadyCurve, fit_ready
from calibrate.traces.spectrum import Floats

N_DRAWS = 48
ERROR_QUANTILES = (np.arange(200) + 0.5) / 200


@dataclass(frozen=True)
class Prediction:
    """Draws of the response of each request, (n, k) ms; their median is the value expected of it."""

    draws_ms: Floats

    @property
    def expected_ms(self) -> Floats:
        """The median of the draws, (n,) ms: what makes the absolute error least."""
        return np.asarray(np.median(self.draws_ms, axis=1))


@dataclass(frozen=True)
class TraceModel:
    """All that was fitted. Angle errors are quantiles in turns; `angles` is None where no angle could be told."""

    bus: Bus
    rotation: Rotation
    angles: AngleMap | None
    ready_read: ReadyCurve
    ready_write: ReadyCurve
    hit_ratio: Floats
    hit_times: FastTimes
    write_times: FastTimes
    stream_times: FastTimes
    read_error: Floats
    write_error: Floats

    def predict(self, trace: RequestTrace, seed: int = 0) -> Prediction:
        """Draws of the response of each request of a trace."""
        rng = np.random.default_rng(seed)
        n = len(trace)
        period = self.rotation.period_ms
        target, transfer, tracks = placement(trace, self.bus, self.rotation, self.angles)
        error = np.where(
            trace.is_write[:, None],
            rng.choice(self.write_error, (n, N_DRAWS)),
            rng.choice(self.read_error, (n, N_DRAWS)),
        )
        ready = np.where(trace.is_write, self.ready_write.at(tracks), self.ready_read.at(tracks))
        spread = np.where(trace.is_write, self.ready_write.spread_ms, self.ready_read.spread_ms)
        ready = ready[:, None] + spread[:, None] * rng.standard_normal((n, N_DRAWS))
        place = target[:, None] + error * period
        media = place + period * np.ceil((ready - place) / period) + transfer[:, None]
        draws = np.maximum(media, 0.1)
        pause = pause_before(trace, self.rotation.pause)
        cell, size = situation(trace)
        is_hit = rng.random((n, N_DRAWS)) < self.hit_ratio[cell, size][:, None]
        draws = np.where(is_hit & ~trace.is_write[:, None], _pick(self.hit_times, trace, self.bus, pause, rng), draws)
        stream = _pick(self.stream_times, trace, self.bus, pause, rng)
        draws = np.where(is_streaming(trace)[:, None], stream, draws)
        if self.bus.is_write_back:
            fast = _pick(self.write_times, trace, self.bus, pause, rng)
            draws = np.where(trace.is_write[:, None], fast, draws)
        return Prediction(draws)


def _pick(times: FastTimes, trace: RequestTrace, bus: Bus, pause: Floats, rng: np.random.Generator) -> Floats:
    table = times.of(trace, bus, pause)
    which = rng.integers(0, table.shape[1], (len(trace), N_DRAWS))
    return np.asarray(np.take_along_axis(table, which, axis=1))


def pause_before(trace: RequestTrace, pause: Pause) -> Floats:
    """The pause between the completion before and the issue of each request, (n,) ms."""
    if pause is Pause.BEFORE:
        return trace.pause_ms
    return np.concatenate([trace.pause_ms[:1], trace.pause_ms[:-1]])


def placement(
    trace: RequestTrace, bus: Bus, rotation: Rotation, angles: AngleMap | None
) -> tuple[Floats, Floats, Floats]:
    """For each request: when after issue its first block passes first (ms, in [0, period)), how long its blocks then
    take (ms), and how many tracks away it lies from the request before."""
    previous = np.concatenate([trace.end[:1], trace.end[:-1]]).astype(np.float64)
    start = trace.lba.astype(np.float64)
    if angles is None:
        rng = np.random.default_rng(0)
        away = np.asarray(np.abs(start - previous) / 100.0, dtype=np.float64)
        return rng.uniform(0, rotation.period_ms, len(trace)), np.asarray(trace.n_blocks * bus.block_ms), away
    transfer = angles.transfer_ms(trace, bus)
    issued = issue_ms(trace, rotation.pause)
    done = issued + trace.response_ms
    passing = done - np.where(trace.is_write, 0.0, transfer)
    angle = angles.angle(access_keys(trace), trace.is_write)
    left = np.exp(2j * np.pi * (passing / rotation.period_ms - angle))
    known = reached_platter(trace, bus) & ~is_sequential(trace)
    phase = np.zeros(len(trace), dtype=np.complex128)
    now = drift.causal(np.concatenate([left[known], [0j]]), angles.causal_span)
    phase = now[np.concatenate([[0], np.cumsum(known)[:-1]])]
    turns = angle + np.angle(phase) / (2 * np.pi) - issued / rotation.period_ms
    later = turns * rotation.period_ms - np.where(trace.is_write, transfer, 0.0)
    target: Floats = np.asarray(np.mod(later, rotation.period_ms), dtype=np.float64)
    moved = np.abs(angles.tracks(start) - angles.tracks(previous)) + 0.01
    away = np.asarray(np.where(start == previous, 0.0, moved), dtype=np.float64)
    return target, np.asarray(transfer, dtype=np.float64), away


def fit_model(trace: RequestTrace, bus: Bus, rotation: Rotation, angles: AngleMap | None) -> TraceModel:
    """Cache, seek curve and the spread of angles, given where every block lies."""
    media = reached_platter(trace, bus)
    pause = pause_before(trace, rotation.pause)
    target, transfer, tracks = placement(trace, bus, rotation, angles)
    start = trace.response_ms - transfer
    period = rotation.period_ms
    calm = media & ~is_sequential(trace)
    curves, errors = [], []
    for write in (False, True):
        mine = media & (trace.is_write == write)
        if (mine & calm).sum() < 100:
            mine = media
        curves.append(fit_ready(tracks[mine], start[mine], period))
        settled = mine & calm
        late = np.mod((start - target)[settled] / period + 0.5, 1.0) - 0.5
        errors.append(np.quantile(late, ERROR_QUANTILES))
    hits = ~media & ~trace.is_write
    return TraceModel(
        bus,
        rotation,
        angles,
        curves[0],
        curves[1],
        hit_ratios(trace, hits),
        fast_times(trace, bus, hits, pause),
        fast_times(trace, bus, trace.is_write, pause),
        fast_times(trace, bus, is_streaming(trace), pause),
        errors[0],
        errors[1],
    )
