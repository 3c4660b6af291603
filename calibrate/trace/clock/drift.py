"""The platter's phase against the measured clock: nearly constant, drifting slowly, rarely jumping.

A trace may have lost requests, and time with them; a spindle drifts a little. Each access whose block lies at a known
angle shows the phase of its moment. `smooth` looks both ways and serves the fit; `causal` uses earlier completions only
and serves prediction. `turns_per_ms` estimates a steady drift, which is a period that is slightly off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrate.arrays import MAD_TO_SIGMA, Complexes, Floats
from diskmodel.engine.compiled import kernel as _kernel

#: Spans that the phase may be averaged over, in accesses; the one that predicts held-out phases best is taken.
SPANS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
#: Bins of the filter over the phase, in a turn. At 64 a bin is wider than a third of the error of an angle; 256 takes
#: twice the time.
N_PHASES = 128
#: Standard error of one measured angle, in turns. Half trusts single angles too much; at double a drift is followed
#: twice as late.
SIGMA_TURNS = 0.04
#: Likelihood of an angle that follows no rule, relative to the peak of the others. At 0 a single stray access moves
#: the phase.
OUTLIERS = 0.05
#: Probability that the phase jumps between two accesses, as after a lost request. Half needs about one access more to
#: follow a jump; double hardly changes a steady phase.
JUMPS = 1e-3
#: Largest steady drift searched for, turns per second: at 7,200 rpm a period that is off by 0.05 %. Beyond it the
#: drift between moments `CELL_MS` apart could pass for its alias.
MAX_DRIFT_TURNS_PER_S = 0.06
#: Phases are averaged over cells of this many ms before they are compared. Half halves the accesses in a cell; at
#: double, a drift of `MAX_DRIFT_TURNS_PER_S` smears an eighth of a turn within it.
CELL_MS = 1000.0
#: Moments compared for the steady drift are at most this many cells apart. Double resolves drift twice as finely but
#: meets more jumps.
FAR_CELLS = 8
#: Length in ms of the windows whose slopes the median is taken of. Shorter ones are noisier; in longer ones more
#: windows contain a jump.
WINDOW_MS = 6000.0
#: With fewer windows than this no standard error of the drift is given.
MIN_WINDOWS = 5
#: Span in accesses over which phases are averaged before slopes are taken.
SMOOTH_SPAN = 16.0


def smooth(phasor: Complexes, span: float) -> Complexes:
    """Return the mean phasor of each point's neighbors, without the point itself, with weight exp(-distance/span)."""
    return np.asarray(_faded(phasor, span) + _faded(phasor[::-1], span)[::-1])


def causal(phasor: Complexes, span: float) -> Complexes:
    """Return the phasor expected at each point from those before it; the first is 0.

    Notes
    -----
    A Bayesian filter on a circle of phases: from point to point the phase diffuses by sigma/`span`, so that
    it averages over about `span` points, and now and then it jumps anywhere.
    """
    return _filtered(phasor, [span])[0]


def _filtered(phasor: Complexes, spans: Sequence[float]) -> list[Complexes]:
    """Return `causal` for several spans."""
    left = np.angle(phasor)[:, None] / (2 * np.pi) - np.arange(N_PHASES) / N_PHASES
    left -= np.rint(left)
    likely = np.exp(-0.5 * (left / SIGMA_TURNS) ** 2) + OUTLIERS
    asides = [min((SIGMA_TURNS / span * N_PHASES) ** 2 / 2, 0.3) for span in spans]
    return [_kernel.expected_phasors(likely, aside, JUMPS) for aside in asides]


def best_span(phasor: Complexes, is_causal: bool) -> float:
    """Return the span that predicts each point's phase best from the others'."""
    guesses = _filtered(phasor, SPANS) if is_causal else [smooth(phasor, span) for span in SPANS]

    def agreement(mean: Complexes) -> float:
        size = np.abs(mean)
        unit = np.divide(mean, size, out=np.zeros_like(mean), where=size > 0)
        return float(np.real(np.conj(unit) * phasor).sum())

    return max(zip(SPANS, guesses, strict=True), key=lambda tried: agreement(tried[1]))[0]


def turns_per_ms(phasor: Complexes, t_ms: Floats) -> tuple[float, float]:
    """Return the steady drift of phases at times `t_ms` (ascending) and its standard error, both in turns per ms.

    It is estimated coherently between moments up to some seconds apart, then as the median over windows, which a jump
    does not move.
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
    """Return the mean phasor of the points before each, with weight exp(-distance/span); the first is 0."""
    keep = float(np.exp(-1.0 / span))
    total = phasor.astype(np.complex128)
    step = 1
    # each round sums over stretches twice as long
    while step < len(total) and keep**step > 1e-18:
        total[step:] += keep**step * total[:-step]
        step *= 2
    weight = (1.0 - keep ** np.arange(1.0, len(total) + 1.0)) / (1.0 - keep)
    return np.concatenate([[0j], (total / weight)[:-1]])
