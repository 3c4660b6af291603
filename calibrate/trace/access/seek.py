"""Time from issue until the head can take data, against distance.

An access starts when its first block next passes after the head is ready: the start lies between ready and one turn
later. Every start therefore bounds the curve from above and, one turn less, from below. The likeliest curve is found
distance by distance and made monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import ndtr

from calibrate.arrays import Floats

#: Accesses in a bin of distance; with fewer than this altogether size and direction are not fitted. Half doubles the
#: noise of the first guess; double blurs short seeks, where the curve is steepest.
MIN_BIN = 40
#: Knots of the smoothed curve, at quantiles of the root of distance. Half cannot follow the bend of short seeks;
#: double follows noise.
N_KNOTS = 24
#: Penalty on the square of the curve's bend, in log-likelihood, for the range of distances. At 0 the curve follows
#: single accesses; at ten times it the bend of short seeks is lost.
BEND_PENALTY = 0.1
#: Distance in tracks of the first point besides 0: less than any move between tracks.
FIRST_TRACKS = 0.005
#: √(2π), of the normal density.
ROOT_TWO_PI = float(np.sqrt(2 * np.pi))
#: Share of accesses that follow no rule, spread over three turns. At 0 a single retry bends the curve.
OUTLIERS = 0.03
#: Size in blocks up to which each block adds to the time until ready. Without a limit a few large requests would
#: decide the slope.
MAX_BLOCKS = 40.0
#: Log-likelihood that direction or size must gain to count: noise alone gains as much in one test of 2,000 (chi² with
#: one degree of freedom). At 3 it is one of 70.
MIN_GAIN = 6.0
#: Spreads about the curve that are tried, ms. A finer grid gains little: the best one is scaled again when the curve
#: is smoothed.
SPREADS_MS = (0.1, 0.2, 0.35, 0.6, 1.0)
#: Grid of distances from the time until ready for which likelihoods are known, ms: a fiftieth of the least spread.
FINE_MS = 0.002
#: Spreads beyond which only outliers are.
REACH = 9.0
#: Slope of the log-likelihood (per ms) at which a smoothed curve counts as the likeliest. The last of Newton's steps
#: passes far below it; at ten times it, a knot may be off by a hundredth of its standard error.
FLAT = 0.01

Likelihoods = Callable[[Floats], tuple[Floats, ...]]


@dataclass(frozen=True)
class ReadyCurve:
    """Overhead and seek by distance in tracks: points (log1p of tracks, ms), and the spread about them, ms.

    A seek inward takes `inward_ms` longer than one outward; each block, up to `MAX_BLOCKS`, adds `block_ms`.
    """

    log_tracks: Floats
    ready_ms: Floats
    spread_ms: float
    inward_ms: float = 0.0
    block_ms: float = 0.0

    def at(self, tracks: Floats) -> Floats:
        """Return the time until ready, (n,) ms, at distances in tracks: mean of both directions, without the size."""
        return np.asarray(np.interp(np.log1p(tracks), self.log_tracks, self.ready_ms))

    def of(self, tracks: Floats, side: Floats, n_blocks: Floats) -> Floats:
        """Return the time until ready, (n,) ms, of accesses: `side` is 1 inward, -1 outward, 0 where the head stays."""
        return np.asarray(
            self.at(tracks) + self.inward_ms / 2 * side + self.block_ms * np.minimum(n_blocks, MAX_BLOCKS)
        )


def fit_ready(tracks: Floats, start_ms: Floats, period_ms: float) -> ReadyCurve:
    """Return the curve under which these starts after issue are likeliest; distance 0 (sequential) is its own point."""
    here = np.flatnonzero(tracks == 0)
    order = np.argsort(tracks)[len(here) :]
    n_bins = int(np.clip(len(order) // MIN_BIN, 3, 40))
    parts = [part for part in np.array_split(order, n_bins) if len(part)]
    if len(here) >= MIN_BIN // 4:
        parts.insert(0, here)
    where = np.array([np.log1p(tracks[part]).mean() for part in parts])
    weight = np.array([float(len(part)) for part in parts])
    grid = np.arange(-2.0, float(np.quantile(start_ms, 0.98)), 0.1)
    reach = REACH * SPREADS_MS[-1]
    distance = np.arange(-reach, period_ms + reach, FINE_MS)
    places = [
        np.clip(np.rint((start_ms[part][None, :] - grid[:, None] + reach) / FINE_MS), 0, len(distance) - 1).astype(
            np.int32
        )
        for part in parts
    ]
    best: tuple[float, ReadyCurve] | None = None
    for spread in SPREADS_MS:
        inside = ndtr(distance / spread) - ndtr((distance - period_ms) / spread)
        by_distance = np.log(OUTLIERS / 3 + (1 - OUTLIERS) * inside)
        ready, total = np.empty(len(parts)), 0.0
        for k, place in enumerate(places):
            likely = by_distance[place].sum(axis=1)
            top = likely.max()
            # the middle of the plateau: several values may be as likely
            good = np.exp(likely - top)
            ready[k] = float((grid * good).sum() / good.sum())
            total += float(top + np.log(good.mean()))
        smooth = np.asarray(isotonic_regression(ready, weights=weight).x)
        if best is None or total > best[0]:
            best = (total, ReadyCurve(where, smooth, spread))
    assert best is not None
    return _smoothed(best[1], tracks, start_ms, period_ms)


def fit_access(tracks: Floats, side: Floats, n_blocks: Floats, start_ms: Floats, period_ms: float) -> ReadyCurve:
    """Return the curve with the effects of direction and size, where the starts support them."""
    curve = fit_ready(tracks, start_ms, period_ms)
    size = np.minimum(n_blocks, MAX_BLOCKS)
    if len(start_ms) < MIN_BIN:
        return curve
    inward = block = 0.0
    for _ in range(2):
        inward, block = _effects(start_ms - curve.at(tracks), side, size, period_ms, curve.spread_ms)
        if inward == 0.0 and block == 0.0:
            break
        rest = start_ms - inward / 2 * side - block * size
        curve = fit_ready(tracks, rest, period_ms)
    return replace(curve, inward_ms=inward, block_ms=block)


def _effects(late_ms: Floats, side: Floats, size: Floats, period_ms: float, spread_ms: float) -> tuple[float, float]:
    """Return what a seek inward and what a block adds (ms), each 0 unless it gains enough likelihood."""
    columns = np.column_stack([np.ones(len(side)), side / 2, size])

    def cost(value: Floats, columns: Floats) -> tuple[float, Floats]:
        spread = float(np.exp(value[-1]))
        begun = (late_ms - columns @ value[:-1]) / spread
        over = begun - period_ms / spread
        likely = OUTLIERS / 3 + (1 - OUTLIERS) * (ndtr(begun) - ndtr(over))
        rise, fall = np.exp(-(begun**2) / 2), np.exp(-(over**2) / 2)
        weight = (1 - OUTLIERS) / ROOT_TWO_PI / likely
        pull = columns.T @ (weight * (rise - fall)) / spread
        return -float(np.log(likely).sum()), np.append(pull, (weight * (rise * begun - fall * over)).sum())

    def fitted(used: list[int]) -> tuple[float, Floats]:
        start = np.concatenate([np.zeros(len(used)), [np.log(spread_ms)]])
        found = minimize(cost, start, args=(columns[:, used],), jac=True, method="L-BFGS-B")
        value = np.zeros(3)
        value[used] = found.x[:-1]
        return float(found.fun), value

    whole = fitted([0, 1, 2])
    kept = [0]
    for k in (1, 2):
        if fitted([j for j in range(3) if j != k])[0] > whole[0] + MIN_GAIN:
            kept.append(k)
    value = fitted(kept)[1] if len(kept) < 3 else whole[1]
    return float(value[1]), float(value[2])


def _smoothed(rough: ReadyCurve, tracks: Floats, start_ms: Floats, period_ms: float) -> ReadyCurve:
    """Return the likeliest curve that bends little over the root of distance, from every access at once."""
    moved = tracks > 0
    root = np.sqrt(tracks[moved])
    start = start_ms[moved]
    if len(root) < 4 * N_KNOTS:
        return rough
    knots = np.unique(np.concatenate([[0.0], np.quantile(root, np.linspace(0, 1, N_KNOTS))]))
    index = np.clip(np.searchsorted(knots, root) - 1, 0, len(knots) - 2)
    part = (root - knots[index]) / (knots[index + 1] - knots[index])
    gap = np.maximum(np.diff(knots), 1e-3 * knots[-1])
    bend = np.diff(np.diff(np.eye(len(knots)), axis=0) / gap[:, None], axis=0)
    stiffness = 2 * BEND_PENALTY * knots[-1] ** 2 / len(knots) * bend.T @ bend
    best: tuple[float, ReadyCurve] | None = None
    for spread in (rough.spread_ms / 1.7, rough.spread_ms, rough.spread_ms * 1.4):

        def likelihoods(value: Floats, spread: float = spread) -> tuple[Floats, ...]:
            """Return each start's likelihood and the first two derivatives of its logarithm by the time until ready."""
            early = (start - value[index] * (1 - part) - value[index + 1] * part) / spread
            late = early - period_ms / spread
            likely = OUTLIERS / 3 + (1 - OUTLIERS) * (ndtr(early) - ndtr(late))
            weight = (1 - OUTLIERS) / ROOT_TWO_PI / spread / likely
            rise, fall = np.exp(-(early**2) / 2), np.exp(-(late**2) / 2)
            slope = weight * (fall - rise)
            return likely, slope, weight / spread * (fall * late - rise * early) - slope**2

        def cost(value: Floats, likelihoods: Likelihoods = likelihoods) -> tuple[float, Floats]:
            likely, slope, _ = likelihoods(value)
            pull = stiffness @ value
            gradient = pull - np.bincount(index, slope * (1 - part), len(value))
            gradient -= np.bincount(index + 1, slope * part, len(value))
            return float(value @ pull) / 2 - float(np.log(likely).sum()), gradient

        def curvature(value: Floats, likelihoods: Likelihoods = likelihoods) -> Floats:
            _, _, curved = likelihoods(value)
            n, out = len(value), stiffness.copy()
            out -= np.diag(np.bincount(index, curved * (1 - part) ** 2, n))
            out -= np.diag(np.bincount(index + 1, curved * part**2, n))
            beside = np.bincount(index, curved * part * (1 - part), n)[:-1]
            return np.asarray(out - np.diag(beside, 1) - np.diag(beside, -1))

        options = {"gtol": FLAT}
        found = minimize(cost, rough.at(knots**2), jac=True, hess=curvature, method="trust-exact", options=options)
        if best is None or found.fun < best[0]:
            share = np.bincount(index, 1 - part, len(knots)) + np.bincount(index + 1, part, len(knots))
            smooth = np.asarray(isotonic_regression(found.x, weights=share + 1.0).x)
            log_tracks = np.log1p(knots**2)
            log_tracks[0] = np.log1p(FIRST_TRACKS)
            points = np.linspace(log_tracks[0], log_tracks[-1], 60)
            values = np.interp(np.sqrt(np.expm1(points)), knots, smooth)
            if rough.log_tracks[0] == 0.0:
                points = np.concatenate([[0.0], points])
                values = np.concatenate([rough.ready_ms[:1], values])
            best = (float(found.fun), ReadyCurve(points, values, spread))
    assert best is not None
    return best[1]
