"""The platter's phase against the measured clock: nearly constant, drifting slowly, rarely jumping.

A trace may have lost requests, and with them time; a spindle drifts a little. Each access whose block lies at a known
angle tells the phase of its moment. `smooth` looks both ways and serves the fit; `causal` knows only earlier
completions and serves prediction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Complexes = NDArray[np.complex128]
SPANS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


def smooth(phasor: Complexes, span: float) -> Complexes:
    """Mean phasor of the neighbours of each point, itself left out, with weight exp(-distance/span)."""
    return np.asarray(causal(phasor, span) + causal(phasor[::-1], span)[::-1])


def causal(phasor: Complexes, span: float) -> Complexes:
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


def best_span(phasor: Complexes, is_causal: bool) -> float:
    """The span that predicts each point's phase best from the others'."""
    guess = causal if is_causal else smooth

    def agreement(span: float) -> float:
        mean = guess(phasor, span)
        size = np.abs(mean)
        unit = np.divide(mean, size, out=np.zeros_like(mean), where=size > 0)
        return float(np.real(np.conj(unit) * phasor).sum())

    return max(SPANS, key=agreement)
