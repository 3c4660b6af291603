"""Plain versions of the loops that the kernel runs while angles are fitted: what each is, without being fast."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Complexes, Floats
from calibrate.trace.clock.drift import JUMPS, N_PHASES, OUTLIERS, SIGMA_TURNS
from calibrate.trace.geometry.likelihood import likelihood
from calibrate.trace.geometry.staircase import SLIP_PENALTY, Candidates


def folded(x: Floats, phasor: Complexes, frequencies: Floats, n_bins: int) -> Complexes:
    """Return phasors summed by their place within a period, (frequencies, bins)."""
    out = np.zeros((len(frequencies), n_bins), dtype=np.complex128)
    for row, frequency in zip(out, frequencies, strict=True):
        np.add.at(row, (np.mod(x * frequency, 1.0) * n_bins).astype(np.int64), phasor)
    return out


def causal(phasor: Complexes, span: float) -> Complexes:
    """Return the phasor expected at each point from those before it, by Bayes' rule on a circle of phases."""
    grid = np.arange(N_PHASES) / N_PHASES
    aside = min((SIGMA_TURNS / span * N_PHASES) ** 2 / 2, 0.3)
    now = np.full(N_PHASES, 1.0 / N_PHASES)
    known = []
    for angle in np.angle(phasor) / (2 * np.pi):
        known.append((now * np.exp(2j * np.pi * grid)).sum())
        left = angle - grid
        left -= np.rint(left)
        now = now * (np.exp(-0.5 * (left / SIGMA_TURNS) ** 2) + OUTLIERS)
        now /= now.sum()
        moved = (1 - 2 * aside) * now + aside * (np.roll(now, 1) + np.roll(now, -1))
        now = (1 - JUMPS) * moved + JUMPS / N_PHASES
    return np.array(known)


def likeliest_path(
    tried: Candidates, row: int, offset: float, relative: Floats, angle: Floats, heads: int, period: float, slips: int
) -> tuple[float, list[int]]:
    """Return the log-likelihood of one candidate's best path, and the tracks left out before each point on it."""
    n_states = heads + slips
    value = np.where(np.arange(n_states) < heads, 0.0, -np.inf)
    came = []
    for place, measured in zip((relative - tried.first[row]) / period, angle, strict=True):
        slipped = np.append(-np.inf, value[:-1] - SLIP_PENALTY)
        came.append(slipped > value)
        track = np.floor(place) + np.arange(n_states)
        turns = place - np.floor(place) + tried.track[row] * track + tried.cylinder[row] * np.floor(track / heads)
        value = np.maximum(slipped, value) + likelihood(measured - turns - offset)
    state = int(value.argmax())
    path = []
    for has_slipped in reversed(came):
        path.append(state)
        state -= int(has_slipped[state])
    return float(value.max()), path[::-1]
