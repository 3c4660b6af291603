"""The whole angle map of a drive, from zones, steps and the drift of the clock together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibrate.arrays import Complexes, Flags, Floats, Ints
from calibrate.evidence import RequestTrace
from calibrate.trace.access.bus import Bus, is_sequential, reached_platter
from calibrate.trace.access.handover import NO_DELAY, Handover, fit_handover
from calibrate.trace.clock import drift
from calibrate.trace.clock.issue import issue_ms
from calibrate.trace.clock.rotation import Rotation, angle_points
from calibrate.trace.geometry.angles import ZoneAngle, fit_steps
from calibrate.trace.geometry.correction import NO_CORRECTION, Correction, fit_correction
from calibrate.trace.geometry.heads import MAX_HEADS, whole_cylinders
from calibrate.trace.geometry.tracks import agreed_tracks
from calibrate.trace.geometry.zones import find_zones
from calibrate.trace.spectrum import Points

#: Consecutive accesses during which the clock is taken as steady when zones are aligned. Double lets jumps of the
#: clock smear the offsets; half makes each offset noisier.
BLOCK_OF_POINTS = 60
#: Rounds of fitting clock, shifts and steps in turn. The last two fit the delays by size instead of one share of the
#: bus.
N_ROUNDS = 4
#: Smallest cylinder step that votes for a number of heads, turns: the error of an angle is of that size.
MIN_STEP_TURNS = 0.02
#: Share of the evidence that must agree on a number of heads. At half, accidental lines decide; at double, drives with
#: a few well-known zones have no number.
MIN_AGREED = 0.35


@dataclass(frozen=True)
class AngleMap:
    """Where each block lies on the platter, and how well that is known.

    `bus_share` is the part of a read's bus time that follows its time under the head; `read_shift` and
    `write_shift` (turns) are the delays between the platter and the completion, by operation. `period_stderr_ms` is
    None where the run is too short to separate it from the drift of the phase.
    """

    zones: tuple[ZoneAngle, ...]
    period_ms: float
    read_shift: float
    write_shift: float
    causal_span: float
    read_coherence: float
    write_coherence: float
    bus_share: float = 1.0
    correction: Correction = NO_CORRECTION
    read_handover: Handover = NO_DELAY
    write_handover: Handover = NO_DELAY
    period_stderr_ms: float | None = None

    def zone_of(self, x: Floats) -> Ints:
        """Return the index of the zone of each block."""
        edges = np.array([zone.first for zone in self.zones[1:]])
        return np.asarray(np.searchsorted(edges, x, side="right"), dtype=np.int64)

    def angle(self, x: Floats, is_write: Flags) -> Floats:
        """Return the angle (turns, not reduced) at which an access to each block completes, on the platter's own
        clock."""
        which = self.zone_of(x)
        out = np.where(is_write, self.write_shift, self.read_shift) + self.correction.at(x)
        for k in np.unique(which):
            mine = which == k
            out[mine] += self.zones[k].at(x[mine])
        return out

    def tracks(self, x: Floats) -> Floats:
        """Return how many tracks lie before each block (a real number), for seek distances."""
        done, out = 0.0, np.zeros(len(x))
        which = self.zone_of(x)
        for k, zone in enumerate(self.zones):
            per_track = track_blocks(zone)
            mine = which == k
            out[mine] = done + zone.placed(x[mine]) / per_track
            done += (zone.last - zone.first) / per_track + len(zone.slips)
        return out

    def media_block_ms(self, x: Floats) -> Floats:
        """Return the time of one block under the head, (n,) ms."""
        spt = np.array([track_blocks(zone) for zone in self.zones])
        return np.asarray(self.period_ms / spt[self.zone_of(x)])

    def media_ms(self, trace: RequestTrace) -> Floats:
        """Return the time from the first to the last block of each request under the head, steps included, (n,) ms."""
        start, end = trace.lba.astype(np.float64), trace.end.astype(np.float64)
        which = self.zone_of(start)
        turns = np.empty(len(trace))
        for k, zone in enumerate(self.zones):
            mine = which == k
            turns[mine] = zone.at(end[mine]) - zone.at(start[mine])
        return np.asarray(np.maximum(turns, 0.0) * self.period_ms)

    def handover_ms(self, trace: RequestTrace, bus: Bus) -> Floats:
        """Return the time from the last block under the head to the completion, (n,) ms.

        For a read it is the share of its bus time that the drive does not overlap with reading, and the table by
        size."""
        size = trace.n_blocks.astype(np.float64)
        read = self.bus_share * bus.block_ms * size + self.read_handover.at(size)
        return np.where(trace.is_write, self.write_handover.at(size), read)

    def transfer_ms(self, trace: RequestTrace, bus: Bus) -> Floats:
        """Return the time from the first block's passing to the completion, (n,) ms."""
        return self.media_ms(trace) + self.handover_ms(trace, bus)

    def passing_ms(self, trace: RequestTrace, bus: Bus, done_ms: Floats) -> Floats:
        """Return when the block of `access_keys` passed, for requests completed at `done_ms`."""
        return done_ms - np.where(trace.is_write, self.handover_ms(trace, bus), self.transfer_ms(trace, bus))

    def track_begin(self, x: Floats) -> Floats:
        """Return the first block of each block's track, (n,) float64; nan in zones whose tracks are unknown."""
        which = self.zone_of(x)
        out = np.full(len(x), np.nan)
        for k, zone in enumerate(self.zones):
            if zone.track.turns:
                mine = which == k
                first, period = zone.first + zone.track.first_block, zone.track.period_blocks
                out[mine] = first + np.floor((x[mine] - first) / period) * period
        return out

    def is_on_one_track(self, trace: RequestTrace) -> Flags:
        """Return whether each request's blocks are known to lie on one track."""
        start, last = trace.lba.astype(np.float64), trace.end.astype(np.float64) - 0.5
        return np.asarray(self.track_begin(start) == self.track_begin(last))


def track_blocks(zone: ZoneAngle) -> float:
    """Return the blocks of one track of a zone; without a track step, for a skew of 0.17 turns a track."""
    return zone.track.period_blocks if zone.track.turns else 1.17 / zone.turns_per_block


def count_heads(angles: AngleMap) -> tuple[int | None, float]:
    """Return the number of heads by which cylinder steps are apart, and the share of the evidence that agrees.

    The number is None where less than about a third agrees."""
    votes = np.zeros(MAX_HEADS + 1)
    total = 0.0
    for zone in angles.zones:
        if not zone.track.turns or abs(zone.cylinder.turns) < MIN_STEP_TURNS:
            continue
        ratio = zone.cylinder.period_blocks / zone.track.period_blocks
        total += zone.n_points
        heads = round(ratio)
        if 2 <= heads <= MAX_HEADS and -0.06 < ratio - heads < 0.02 * heads:
            votes[heads] += zone.n_points
    if total == 0 or votes.max() < MIN_AGREED * total:
        return None, 0.0
    return int(votes.argmax()), float(votes.max() / total)


def access_keys(trace: RequestTrace) -> Floats:
    """Return the block whose angle the completion shows: the first of a read, the last of a write."""
    return np.where(trace.is_write, trace.end, trace.lba).astype(np.float64)


def fit_geometry(trace: RequestTrace, bus: Bus, rotation: Rotation, heads: int | None = None) -> AngleMap | None:
    """Return the angle map, or None where completions show no angle; `heads` is their number where it is known."""
    if not rotation.is_identified:
        return None
    frequency = 1.0 / rotation.period_ms
    size = float(trace.end.max()) + 1.0
    points = angle_points(trace, bus, rotation.pause)
    limit = min(rotation.coherent_ms, 10_000.0)
    stretches = find_zones(points, frequency, size, limit)
    if not stretches:
        return None
    zones = tuple(ZoneAngle(s.first, s.last, 0.0, s.turns_per_block, n_points=s.n_points) for s in stretches)
    angles = AngleMap(zones, rotation.period_ms, 0.0, 0.0, 64.0, 0.0, 0.0)
    chosen = reached_platter(trace, bus) & ~is_sequential(trace)
    whole = RequestTrace(
        trace.is_write[chosen],
        trace.lba[chosen],
        trace.n_blocks[chosen],
        trace.response_ms[chosen],
        trace.pause_ms[chosen],
    )
    done = (issue_ms(trace, rotation.pause) + trace.response_ms)[chosen]
    slower = np.maximum(angles.media_block_ms(access_keys(trace)), bus.block_ms)
    points = angle_points(trace, bus, rotation.pause, slower)
    is_write = points.group == 1
    raw = np.exp(2j * np.pi * frequency * points.t_ms)
    angles = replace(angles, zones=_align(zones, points, raw))
    for n_round in range(N_ROUNDS):
        angles = _fit_round(angles, points, raw, is_write)
        if n_round < N_ROUNDS - 1:
            if n_round < N_ROUNDS - 2:
                angles = _fit_bus_share(angles, whole, bus, done, points.x)
            else:
                angles = _fit_handover(angles, whole, points, raw)
            points = replace(points, t_ms=angles.passing_ms(whole, bus, done))
            raw = np.exp(2j * np.pi * frequency * points.t_ms)
    angles = _sharpened(angles, points, is_write)
    angles = _fit_staircase(angles, whole, bus, done, heads)
    raw = np.exp(2j * np.pi * points.t_ms / angles.period_ms)
    angles = _fit_handover(angles, whole, points, raw)
    points = replace(points, t_ms=angles.passing_ms(whole, bus, done))
    angles = _sharpened(angles, points, is_write)
    raw = np.exp(2j * np.pi * points.t_ms / angles.period_ms)
    angles = _shifts(angles, points, raw, is_write)
    left = raw * np.exp(-2j * np.pi * angles.angle(points.x, is_write))
    span = drift.best_span(left, is_causal=True)
    now = drift.causal(left, span)
    agree = np.cos(np.angle(left) - np.angle(now))
    return replace(
        angles,
        causal_span=span,
        read_coherence=float(agree[~is_write].mean()) if (~is_write).any() else 0.0,
        write_coherence=float(agree[is_write].mean()) if is_write.any() else 0.0,
    )


def _fit_round(angles: AngleMap, points: Points, raw: Complexes, is_write: Flags) -> AngleMap:
    """Fit clock, shifts and steps once each, given the others."""
    angles = _shifts(angles, points, raw, is_write)
    left = raw * np.exp(-2j * np.pi * angles.angle(points.x, is_write))
    now = drift.smooth(left, drift.best_span(left, is_causal=False))
    shift = np.where(is_write, angles.write_shift, angles.read_shift)
    steady = raw * np.exp(-1j * np.angle(now)) * np.exp(-2j * np.pi * shift)
    seen = np.ones(len(points), dtype=np.bool_)
    smooth = steady * np.exp(-2j * np.pi * angles.correction.at(points.x))
    zones = tuple(fit_steps(zone, points.x, smooth, seen) for zone in angles.zones)
    angles = replace(angles, zones=zones, correction=NO_CORRECTION)
    rest = steady * np.exp(-2j * np.pi * (angles.angle(points.x, is_write) - shift))
    return replace(angles, correction=fit_correction(points.x, rest, angles.zones[-1].last))


def _sharpened(angles: AngleMap, points: Points, is_write: Flags) -> AngleMap:
    """Return the angle map with the period under which the platter's phase does not drift over the whole run."""
    left = np.exp(2j * np.pi * (points.t_ms / angles.period_ms - angles.angle(points.x, is_write)))
    drifting, stderr = drift.turns_per_ms(left, points.t_ms)
    if not np.isfinite(stderr):
        return angles
    period = 1.0 / (1.0 / angles.period_ms - drifting)
    return replace(angles, period_ms=period, period_stderr_ms=stderr * period**2)


def _fit_bus_share(angles: AngleMap, whole: RequestTrace, bus: Bus, done: Floats, x: Floats) -> AngleMap:
    """Fit the share of bus time not overlapped with the platter: the one that makes the reads' angles most coherent."""
    reads = ~whole.is_write
    if not reads.any():
        return angles

    def coherence(share: float) -> float:
        tried = replace(angles, bus_share=share)
        passing = tried.passing_ms(whole, bus, done)
        left = np.exp(2j * np.pi * (passing / angles.period_ms - tried.angle(x, whole.is_write)))
        known = left * (1.0 if bus.is_write_back else whole.is_write + 1e-3)
        agree = left * np.exp(-1j * np.angle(drift.smooth(known, 32.0)))
        return float(abs(agree[reads].mean()))

    return replace(angles, bus_share=max(np.arange(0.0, 1.25, 0.1), key=lambda share: coherence(float(share))))


def _fit_staircase(angles: AngleMap, whole: RequestTrace, bus: Bus, done: Floats, heads: int | None) -> AngleMap:
    """Return the angle map with its zones as whole cylinders, where their steps determine tracks and heads."""
    ends = whole.end.astype(np.float64)
    shift = np.where(whole.is_write, angles.write_shift, angles.read_shift)
    raw = np.exp(2j * np.pi * ((done - angles.handover_ms(whole, bus)) / angles.period_ms - shift))
    known = raw * np.exp(-2j * np.pi * (angles.angle(ends, whole.is_write) - shift))
    steady = raw * np.exp(-1j * np.angle(drift.smooth(known, drift.best_span(known, is_causal=False))))
    angles = replace(angles, zones=agreed_tracks(angles.zones, ends, steady))
    zones = whole_cylinders(angles.zones, ends, steady, heads, count_heads(angles)[0])
    if zones is None:
        return angles
    angles = replace(angles, zones=zones, correction=NO_CORRECTION)
    rest = steady * np.exp(-2j * np.pi * (angles.angle(ends, whole.is_write) - shift))
    return replace(angles, correction=fit_correction(ends, rest, angles.zones[-1].last))


def _fit_handover(angles: AngleMap, whole: RequestTrace, points: Points, raw: Complexes) -> AngleMap:
    """Fit the delays by size to the residual angles; the mean delay belongs to the shifts."""
    left = raw * np.exp(-2j * np.pi * angles.angle(points.x, whole.is_write))
    late = np.angle(left * np.exp(-1j * np.angle(drift.smooth(left, 32.0)))) / (2 * np.pi) * angles.period_ms
    size = whole.n_blocks.astype(np.float64)
    tables = []
    for mine, table in ((~whole.is_write, angles.read_handover), (whole.is_write, angles.write_handover)):
        middle = np.median(late[mine]) if mine.any() else 0.0
        tables.append(fit_handover(size[mine], table.at(size[mine]) + late[mine] - middle))
    return replace(angles, read_handover=tables[0], write_handover=tables[1])


def _align(zones: tuple[ZoneAngle, ...], points: Points, raw: Complexes) -> tuple[ZoneAngle, ...]:
    """Align the zones with each other while the clock may jump: the best rank-one fit of stretches of time and
    zones."""
    probe = AngleMap(zones, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    which = probe.zone_of(points.x)
    left = raw * np.exp(-2j * np.pi * probe.angle(points.x, points.group == 1))
    n_blocks = len(points) // BLOCK_OF_POINTS + 1
    table = np.zeros((n_blocks, 2 * len(zones)), dtype=np.complex128)
    np.add.at(table, (np.arange(len(points)) // BLOCK_OF_POINTS, which + len(zones) * points.group), left)
    _, _, right = np.linalg.svd(table, full_matrices=False)
    by_zone = right[0][: len(zones)] + right[0][len(zones) :] * np.exp(-1j * _between(right[0], len(zones)))
    turns = np.angle(by_zone) / (2 * np.pi)
    return tuple(replace(zone, offset=float(turn)) for zone, turn in zip(zones, turns, strict=True))


def _between(row: Complexes, n: int) -> float:
    """Return the angle between the phases of reads and of writes of the same zones."""
    return float(np.angle((row[n:] * np.conj(row[:n])).sum()))


def _shifts(angles: AngleMap, points: Points, raw: Complexes, is_write: Flags) -> AngleMap:
    """Return the angle map with the shift between reads and writes, from each read and its neighbors in time."""
    if not is_write.any() or is_write.all():
        return angles
    bare = replace(angles, read_shift=0.0, write_shift=0.0)
    left = raw * np.exp(-2j * np.pi * bare.angle(points.x, is_write))
    across = is_write[1:] != is_write[:-1]
    turn = np.where(is_write[1:], left[1:] * np.conj(left[:-1]), left[:-1] * np.conj(left[1:]))
    return replace(angles, read_shift=0.0, write_shift=float(np.angle(turn[across].sum()) / (2 * np.pi)))
