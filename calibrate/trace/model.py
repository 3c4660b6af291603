"""The fitted model of a traced drive, and what it predicts request by request.

Replay follows the measured clock: the instant of issue of each request and the pauses are inputs, and with them the
instants at which earlier requests completed. The response of the request itself and of later ones is never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags, Floats, wrapped
from calibrate.evidence import RequestTrace
from calibrate.trace.access.arrival import Arrival, arrival_share, landing_delay_ms, lands_inside
from calibrate.trace.access.bus import Bus, is_sequential, reached_platter
from calibrate.trace.access.cache import (
    FastTimes,
    StreamMisses,
    fast_times,
    hit_ratios,
    is_streaming,
    situation,
    stream_misses,
)
from calibrate.trace.access.seek import ReadyCurve, fit_access
from calibrate.trace.access.stalls import MIN_TURNS, NO_STALLS, Stalls, fit_stalls
from calibrate.trace.clock import drift
from calibrate.trace.clock.issue import Pause, issue_ms
from calibrate.trace.clock.rotation import Rotation
from calibrate.trace.geometry.angle_map import AngleMap, access_keys

#: Draws of each response. Half makes the demerit of a prediction noisier by a factor of 1.4; double takes twice the
#: time.
N_DRAWS = 48
#: Accesses needed to estimate lost revolutions; with fewer, none is assumed.
MIN_SETTLED = 50
#: Ranks at which errors of angles are kept.
ERROR_QUANTILES = (np.arange(200) + 0.5) / 200


@dataclass(frozen=True)
class Prediction:
    """Draws of the response of each request, (n, k) ms; their median is the value expected of it."""

    draws_ms: Floats

    @property
    def expected_ms(self) -> Floats:
        """Return the median of the draws, (n,) ms, which minimizes the absolute error."""
        return np.asarray(np.median(self.draws_ms, axis=1))


@dataclass(frozen=True)
class TraceModel:
    """All that was fitted.

    Angle errors are quantiles in turns; `angles` is None where no angle could be determined. `read_lost` and
    `write_lost` are the revolutions that an access loses on average for reasons other than angle and seek, such as
    retries.
    """

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
    read_arrival: Arrival
    write_arrival: Arrival
    read_lost: float
    write_lost: float
    stream_misses: StreamMisses
    stalls: Stalls = NO_STALLS

    def predict(self, trace: RequestTrace, seed: int = 0) -> Prediction:
        """Return draws of the response of each request of a trace."""
        rng = np.random.default_rng(seed)
        n = len(trace)
        period = self.rotation.period_ms
        placed = placement(trace, self.bus, self.rotation, self.angles)
        tracks = placed.tracks
        error = np.where(
            trace.is_write[:, None],
            rng.choice(self.write_error, (n, N_DRAWS)),
            rng.choice(self.read_error, (n, N_DRAWS)),
        )
        side, size = placed.side, trace.n_blocks.astype(np.float64)
        ready = np.where(
            trace.is_write, self.ready_write.of(tracks, side, size), self.ready_read.of(tracks, side, size)
        )
        spread = np.where(trace.is_write, self.ready_write.spread_ms, self.ready_read.spread_ms)
        ready = ready[:, None] + spread[:, None] * rng.standard_normal((n, N_DRAWS))
        wait = np.mod(placed.target_ms[:, None] + error * period - ready, period)
        share = np.where(trace.is_write, self.write_arrival.share, self.read_arrival.share) * placed.on_one_track
        delay = np.where(trace.is_write, self.write_arrival.delay_ms, self.read_arrival.delay_ms)
        landed = (rng.random((n, N_DRAWS)) < share[:, None]) & lands_inside(wait, placed.media_ms[:, None], period)
        wait = np.where(landed, np.minimum(wait, (period + delay - placed.media_ms)[:, None]), wait)
        lost = rng.random((n, N_DRAWS)) < np.where(trace.is_write, self.write_lost, self.read_lost)[:, None]
        media = ready + wait + lost * period + placed.transfer_ms[:, None]
        draws = np.maximum(media, 0.1)
        pause = pause_before(trace, self.rotation.pause)
        cell, sizes = situation(trace)
        is_hit = rng.random((n, N_DRAWS)) < self.hit_ratio[cell, sizes][:, None]
        is_hit &= ~(trace.is_write | is_streaming(trace))[:, None]
        draws = np.where(is_hit, _pick(self.hit_times, trace, self.bus, pause, rng), draws)
        stream = _pick(self.stream_times, trace, self.bus, pause, rng)
        misses = rng.random((n, N_DRAWS)) < self.stream_misses.of(placed.goes_across)[:, None]
        draws = np.where(is_streaming(trace)[:, None] & ~misses, stream, draws)
        if self.bus.is_write_back:
            fast = _pick(self.write_times, trace, self.bus, pause, rng)
            draws = np.where(trace.is_write[:, None], fast, draws)
        draws += self.stalls.draw(draws.shape, rng)
        return Prediction(draws)


def _pick(times: FastTimes, trace: RequestTrace, bus: Bus, pause: Floats, rng: np.random.Generator) -> Floats:
    table = times.of(trace, bus, pause)
    which = rng.integers(0, table.shape[1], (len(trace), N_DRAWS))
    return np.asarray(np.take_along_axis(table, which, axis=1))


def pause_before(trace: RequestTrace, pause: Pause) -> Floats:
    """Return the pause between the completion before and the issue of each request, (n,) ms."""
    if pause is Pause.BEFORE:
        return trace.pause_ms
    return np.concatenate([trace.pause_ms[:1], trace.pause_ms[:-1]])


def _lost(
    start_ms: Floats, ready_ms: Floats, target_ms: Floats, spread_ms: float, error_turns: Floats, period_ms: float
) -> Floats:
    """Return the revolutions that each access has lost: how much later than predicted those begin that read in order.

    There are none where accesses are few.
    """
    if len(start_ms) < MIN_SETTLED:
        return np.zeros(0)
    rng = np.random.default_rng(0)
    shape = (len(start_ms), N_DRAWS)
    ready = ready_ms[:, None] + spread_ms * rng.standard_normal(shape)
    begin = ready + np.mod(target_ms[:, None] + rng.choice(error_turns, shape) * period_ms - ready, period_ms)
    late = (start_ms[:, None] - begin) / period_ms
    return np.asarray(late[(late < MIN_TURNS).all(axis=1)].mean(axis=1))


def _counted(lost: Sequence[Floats]) -> list[float]:
    """Return the means of lost revolutions by operation, as far as they are more than noise.

    Notes
    -----
    The estimate of James and Stein, positive part: a mean of z standard errors, of all accesses together, counts for
    1 - 1/z² of itself. Noise of accesses that land just before or after their blocks, one standard error, counts
    nothing.
    """
    every = np.concatenate(lost)
    mean, variance = (float(every.mean()), float(every.var()) / len(every)) if len(every) else (0.0, 0.0)
    if mean <= 0.0 or mean**2 <= variance:
        return [0.0] * len(lost)
    counted = 1.0 - variance / mean**2
    return [max(float(one.mean()), 0.0) * counted if len(one) else 0.0 for one in lost]


@dataclass(frozen=True)
class Placement:
    """Where requests lie, (n,) each.

    `target_ms` is when after issue the first block passes first (in [0, period)), `transfer_ms` what lies between
    that and the completion, `media_ms` the part of it under the head, `tracks` the distance from the request before,
    `side` its direction (1 inward, -1 outward, 0 none), `on_one_track` whether no head or cylinder is changed on the
    way. A streaming read that `goes_across` to another track than the read before counts from that track's first
    block.
    """

    target_ms: Floats
    transfer_ms: Floats
    media_ms: Floats
    tracks: Floats
    side: Floats
    on_one_track: Flags
    goes_across: Flags


def placement(trace: RequestTrace, bus: Bus, rotation: Rotation, angles: AngleMap | None) -> Placement:
    """Return where each request lies, by the angle map and the platter's phase according to the completions so far."""
    previous = np.concatenate([trace.end[:1], trace.end[:-1]]).astype(np.float64)
    start = trace.lba.astype(np.float64)
    if angles is None:
        rng = np.random.default_rng(0)
        away = np.asarray(np.abs(start - previous) / 100.0, dtype=np.float64)
        target = rng.uniform(0, rotation.period_ms, len(trace))
        nowhere = np.zeros(len(trace), dtype=np.bool_)
        return Placement(
            target,
            np.asarray(trace.n_blocks * bus.block_ms),
            np.zeros(len(trace)),
            away,
            np.sign(start - previous),
            nowhere,
            nowhere,
        )
    issued = issue_ms(trace, rotation.pause)
    passing = angles.passing_ms(trace, bus, issued + trace.response_ms)
    begun = angles.track_begin(trace.end.astype(np.float64) - 0.5)
    goes_across = is_streaming(trace) & (begun >= start)
    first = np.where(goes_across, np.rint(begun), start).astype(np.int64)
    angle = angles.angle(access_keys(trace), trace.is_write)
    left = np.exp(2j * np.pi * (passing / rotation.period_ms - angle))
    known = reached_platter(trace, bus) & ~is_sequential(trace)
    now = drift.causal(np.concatenate([left[known], [0j]]), angles.causal_span)
    phase = now[np.concatenate([[0], np.cumsum(known)[:-1]])]
    turns = angle + np.angle(phase) / (2 * np.pi) - issued / rotation.period_ms
    rest = RequestTrace(trace.is_write, first, trace.end - first, trace.response_ms, trace.pause_ms)
    turns += np.where(goes_across, angles.angle(access_keys(rest), trace.is_write) - angle, 0.0)
    media = angles.media_ms(rest)
    later = turns * rotation.period_ms - np.where(trace.is_write, media, 0.0)
    target = np.asarray(np.mod(later, rotation.period_ms), dtype=np.float64)
    moved = np.abs(angles.tracks(start) - angles.tracks(previous)) + 0.01
    away = np.asarray(np.where(start == previous, 0.0, moved), dtype=np.float64)
    return Placement(
        target,
        media + angles.handover_ms(trace, bus),
        media,
        away,
        np.sign(start - previous),
        angles.is_on_one_track(rest),
        goes_across,
    )


def fit_model(trace: RequestTrace, bus: Bus, rotation: Rotation, angles: AngleMap | None) -> TraceModel:
    """Fit cache, seek curve and the spread of angles, given where every block lies."""
    media = reached_platter(trace, bus)
    pause = pause_before(trace, rotation.pause)
    placed = placement(trace, bus, rotation, angles)
    start = trace.response_ms - placed.transfer_ms
    period = rotation.period_ms
    calm = media & ~is_sequential(trace)
    blocks = trace.n_blocks.astype(np.float64)
    curves, errors, arrival, lost = [], [], [], []
    stalled = np.zeros(len(trace))
    before: Flags | None = None
    for write in (False, True):
        mine = media & (trace.is_write == write)
        if (mine & calm).sum() < 100:
            mine = media
        # writes that are written back do not reach the platter, and get the curve of the reads
        if before is None or not np.array_equal(mine, before):
            curve = fit_access(placed.tracks[mine], placed.side[mine], blocks[mine], start[mine], period)
        before = mine
        settled = mine & calm
        ready = curve.of(placed.tracks, placed.side, blocks)
        wait = np.mod(placed.target_ms - ready, period)
        if not (write and bus.is_write_back):
            stalled = np.where(trace.is_write == write, start - ready - wait, stalled)
        late = wrapped((start - placed.target_ms) / period)
        clear = settled & placed.on_one_track
        share, delay = arrival_share(late[clear] * period, placed.media_ms[clear], period), 0.0
        if share > 0.0:
            landed = placed.on_one_track & lands_inside(wait, placed.media_ms, period)
            early = settled & landed & (late * period < -0.2 * placed.media_ms)
            delay = landing_delay_ms((start - ready + placed.media_ms)[early], period)
            settled &= ~landed
        arrival.append(Arrival(share, delay))
        error = np.quantile(late[settled], ERROR_QUANTILES)
        lost.append(_lost(start[settled], ready[settled], placed.target_ms[settled], curve.spread_ms, error, period))
        curves.append(curve)
        errors.append(error)
    # writes that are written back do not show it
    read_lost, write_lost = _counted(lost[:1]) * 2 if bus.is_write_back else _counted(lost)
    streaming = is_streaming(trace)
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
        fast_times(trace, bus, streaming & ~media, pause),
        errors[0],
        errors[1],
        arrival[0],
        arrival[1],
        read_lost,
        write_lost,
        stream_misses(streaming, media, placed.goes_across),
        fit_stalls(stalled, period, len(trace)),
    )
