"""How well a layout explains measured angles, and its first track and skews refined until it explains them best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.geometry.angles import Step, ZoneAngle

#: Standard error of a measured angle once the clock's drift is removed, turns (with the drift it is
#: `drift.SIGMA_TURNS`). Half takes good angles for outliers; double cannot resolve skews of a few sectors.
SIGMA_TURNS = 0.025
#: Lowest log-likelihood of one angle: 3.2 standard errors off counts like anything further. At -10 a few outliers
#: decide a layout.
FLOOR = -5.0
#: Log-likelihood that skews on whole sectors may lose and still be preferred: makers use whole sectors.
MAX_LOSS = 3.0
#: Angles within this cosine of the mean (0.07 turns, three standard errors) determine the offset; the rest are
#: outliers.
NEAR_COSINE = 0.9
#: Scores that differ by less than this are equal: rounding of the mean angle, the same for all of some hundred angles.
TIE = 1e-3
#: Elements of an array made at once; affects speed only.
MAX_ELEMENTS = 60_000

#: First block of a track (from the zone's first), skew of a track, and turns of a cylinder beyond whole ones.
Layout = tuple[float, float, float]


def likelihood(left_turns: Floats) -> Floats:
    """Return the log-likelihood of residual angles, in turns, bounded below for outliers."""
    wrapped = left_turns - np.rint(left_turns)
    return np.asarray(np.maximum(-0.5 * (wrapped / SIGMA_TURNS) ** 2, FLOOR))


def zone_likelihood(zone: ZoneAngle, x: Floats, z: Complexes) -> float:
    """Return the log-likelihood of measured angles (unit phasors at blocks x) under a zone."""
    return float(likelihood(np.angle(z) / (2 * np.pi) - zone.at(x)).sum())


def polished(zone: ZoneAngle, x: Floats, z: Complexes, heads: int) -> ZoneAngle:
    """Return the zone with first track and both skews refined, on whole sectors if that costs little."""
    period = zone.track.period_blocks
    scores = _Scores(zone, x, z, heads)
    drift_free = 0.25 / max((zone.last - zone.first) / (heads * period), 1.0)
    best = (zone.track.first_block, zone.track.turns, zone.cylinder.turns + heads * zone.track.turns)
    best_score = float(scores.of([best])[0][0])
    for first_step, skew_step, total_step in (
        (period / 40, 1.0 / period, drift_free),
        (period / 160, 0.5 / period, drift_free / 2),
        (0.5, 0.2 / period, drift_free / 4),
    ):
        first, skew, total = best
        near = [(first + a * first_step, skew + b * skew_step, total) for a in range(-4, 5) for b in range(-3, 4)]
        best, best_score = scores.better(near, best, best_score)
        first, skew, total = best
        best, best_score = scores.better(
            [(first, skew, total + c * total_step) for c in range(-4, 5)], best, best_score
        )
    first, skew, total = best
    if abs(period - round(period)) < 1e-3:
        for whole in (round(total * period) / period, total):
            snapped = (float(np.rint(first)), round(skew * period) / period, whole)
            if scores.of([snapped])[0][0] > best_score - MAX_LOSS:
                return scores.zone_of(snapped)
    return scores.zone_of(best)


class _Scores:
    """Scores layouts of one zone by the measured angles inside it, many at a time."""

    def __init__(self, zone: ZoneAngle, x: Floats, z: Complexes, heads: int) -> None:
        self._zone, self._heads = zone, heads
        self._placed = zone.placed(x)
        self._turns = np.angle(z) / (2 * np.pi) - zone.offset

    def of(self, layouts: list[Layout]) -> tuple[Floats, Floats]:
        """Return the log-likelihood of each layout, and the turns to add to the zone's offset so that most angles
        agree."""
        at_once = max(MAX_ELEMENTS // max(len(self._turns), 1), 1)
        parts = [self._some(layouts[k : k + at_once]) for k in range(0, len(layouts), at_once)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def better(self, layouts: list[Layout], best: Layout, best_score: float) -> tuple[Layout, float]:
        """Return the likeliest layout unless the best so far is likelier, and its score; of equal ones the middle
        one."""
        score, _ = self.of(layouts)
        if score.max() < best_score:
            return best, best_score
        equal = np.flatnonzero(score > score.max() - TIE)
        k = int(equal[len(equal) // 2])
        return layouts[k], float(score[k])

    def zone_of(self, layout: Layout) -> ZoneAngle:
        """Return the zone of a layout."""
        first, skew, total = layout
        zone, heads = self._zone, self._heads
        period = zone.track.period_blocks
        begin = zone.cylinder.first_block + first - zone.track.first_block
        return replace(
            zone,
            turns_per_block=(1.0 + total / heads) / period,
            track=Step(period, first, skew),
            cylinder=Step(heads * period, begin, total - heads * skew),
            offset=zone.offset + float(self.of([layout])[1][0]),
        )

    def _some(self, layouts: list[Layout]) -> tuple[Floats, Floats]:
        first, skew, total = np.array(layouts).T[:, :, None]
        period, heads = self._zone.track.period_blocks, self._heads
        begin = self._zone.cylinder.first_block + first - self._zone.track.first_block
        in_track = (self._placed - first) / period
        in_cylinder = (self._placed - begin) / (heads * period)
        angle = (1.0 + total / heads) / period * self._placed
        angle -= skew * (in_track - np.floor(in_track) - 0.5)
        angle -= (total - heads * skew) * (in_cylinder - np.floor(in_cylinder) - 0.5)
        left = self._turns - angle
        left -= np.rint(left)
        # 24 bits are enough for the mean angle
        around = np.float32(2 * np.pi) * left.astype(np.float32)
        cosine, sine = np.cos(around), np.sin(around)
        mean, height = cosine.mean(axis=1), sine.mean(axis=1)
        for _ in range(2):
            near = cosine * mean[:, None]
            near += sine * height[:, None]
            is_near = near > np.float32(NEAR_COSINE) * np.hypot(mean, height)[:, None]
            some = is_near.any(axis=1)
            mean = np.where(some, np.einsum("ij,ij->i", cosine, is_near), mean)
            height = np.where(some, np.einsum("ij,ij->i", sine, is_near), height)
        more = np.arctan2(height, mean).astype(np.float64) / (2 * np.pi)
        return likelihood(left - more[:, None]).sum(axis=1), more
