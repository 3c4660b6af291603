"""The platter's phase against the measured clock: nearly constant, drifting slowly, rarely jumping.

A trace may have lost requests, and with them time; a spindle drifts a little. Each access whose block lies at a known
angle tells the phase of its moment. `smooth` looks both ways and serves the fit; `causal` knows only earlier
completions and serves prediction. `turns_per_ms` tells a drift that is steady, which is a period slightly off.
"""

from __future__ import annotations

import numpy as np

from calibrate.arrays import MAD_TO_SIGMA, Complexes, Floats

SPANS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
N_PHASES = 128
#: A measured angle errs by so much (turns), or is an outlier; the platter jumps once in a thousand accesses.
SIGMA_TURNS = 0.04
OUTLIERS = 0.05
JUMPS = 1e-3
#: Steady drift is looked for up to so many turns a second, first between moments at most 8 s apart.
MAX_DRIFT_TURNS_PER_S = 0.06
CELL_MS = 1000.0
FAR_CELLS = 8
WINDOW_MS = 6000.0
MIN_WINDOWS = 5
SMOOTH_SPAN = 16.0


def smooth(phasor: Complexes, span: float) -> Complexes:
    """Mean phasor of the neighbours of each point, itself left out, with weight exp(-distance/span)."""
    return np.asarray(_faded(phasor, span) + _faded(phasor[::-1], span)[::-1])


def causal(phasor: Complexes, span: float) -> Complexes:
    """Expected phasor at each point given those before it; the first is 0.

    Notes
    -----
    A Bayesian filter on a circle of phases: from point to point the phase diffuses by sigma/`span`, for which it
    averages over about `span` points, and now and then it jumps anywhere.
    """
    grid = np.arange(N_PHASES) / N_PHASES
    known = np.empty((len(phasor), N_PHASES))
    left = np.angle(phasor)[:, None] / (2 * np.pi) - grid
    left -= np.rint(left)
    likely = np.exp(-0.5 * (left / SIGMA_TURNS) ** 2) + OUTLIERS
    aside = min((SIGMA_TURNS / span * N_PHASES) ** 2 / 2, 0.3)
    now = np.full(N_PHASES + 2, 1.0 / N_PHASES)
    for k in range(len(phasor)):
        known[k] = now[1:-1]
        now[1:-1] *= likely[k]
        now /= now[1:-1].sum()
        now[0], now[-1] = now[-2], now[1]
        now[1:-1] = (1 - JUMPS) * ((1 - 2 * aside) * now[1:-1] + aside * (now[:-2] + now[2:])) + JUMPS / N_PHASES
    return np.asarray(known @ np.exp(2j * np.pi * grid))


def best_span(phasor: Complexes, is_causal: bool) -> float:
    """The span that predicts each point's phase best from the others'."""
    guess = causal if is_causal else smooth

    def agreement(span: float) -> float:
        mean = guess(phasor, span)
        size = np.abs(mean)
        unit = np.divide(mean, size, out=np.zeros_like(mean), where=size > 0)
        return float(np.real(np.conj(unit) * phasor).sum())

    return max(SPANS, key=agreement)


def turns_per_ms(phasor: Complexes, t_ms: Floats) -> tuple[float, float]:
    """Steady drift of phases at times `t_ms` (ascending), and its standard error, both in turns per ms.

    Coherently between moments up to some seconds apart, then by the median of windows, which a jump does not move.
    """
    cell = ((t_ms - t_ms[0]) / CELL_MS).astype(np.int64)
    mean = np.bincount(cell, phasor.real) + 1j * np.bincount(cell, phasor.imag)
    pairs = [(lag, complex((mean[lag:] * np.conj(mean[:-lag])).sum())) for lag in range(1, min(FAR_CELLS, len(mean)))]
    if not pairs:
        return 0.0, np.inf
    lags, sums = (np.array(column) for column in zip(*pairs, strict=True))
    grid = np.linspace(-MAX_DRIFT_TURNS_PER_S, MAX_DRIFT_TURNS_PER_S, 241)
    score = np.real(np.exp(-2j * np.pi * np.outer(grid, lags * CELL_MS / 1e3)) @ sums)
    rough = float(grid[score.argmax()]) / 1e3
    steady = np.exp(-2j * np.pi * rough * t_ms) * phasor
    phase = np.unwrap(np.angle(smooth(steady, SMOOTH_SPAN))) / (2 * np.pi)
    edges = np.arange(t_ms[0], t_ms[-1] + WINDOW_MS, WINDOW_MS)
    at = np.unique(np.clip(np.searchsorted(t_ms, edges), 0, len(t_ms) - 1))
    if len(at) <= MIN_WINDOWS:
        return rough, np.inf
    slopes = np.diff(phase[at]) / np.diff(t_ms[at])
    middle = float(np.median(slopes))
    spread = MAD_TO_SIGMA * float(np.median(np.abs(slopes - middle)))
    return rough + middle, 1.2533 * spread / float(np.sqrt(len(slopes)))


def _faded(phasor: Complexes, span: float) -> Complexes:
    """Mean phasor of the points before each, with weight exp(-distance/span); the first is 0."""
    keep = float(np.exp(-1.0 / span))
    mean = np.zeros(len(phasor) + 1, dtype=np.complex128)
    weight = 0.0
    total = 0j
    for k, value in enumerate(phasor):
        total = keep * total + value
        weight = keep * weight + 1.0
        mean[k + 1] = total / weight
    return mean[:-1]
