"""Hit ratios of caches under independent references, by Che's approximation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diskmodel.analytic.checks import Checks
from diskmodel.roots import find_root


def zipf_weights(n_items: int, exponent: float) -> NDArray[np.float64]:
    """Return popularities proportional to rank to the power -`exponent`; shape (n_items,), with sum 1."""
    Checks().count(n_items=n_items).not_negative(exponent=exponent).done()
    weights = np.arange(1, n_items + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def lru_hit_ratio(popularity: ArrayLike, capacity: float) -> float:
    """Hit ratio of an LRU cache.

    Parameters
    ----------
    popularity : array_like, shape (n_items,)
        Rates or probabilities of reference, in any unit.
    capacity : float
        Number of items of equal size that fit in the cache.

    Notes
    -----
    Characteristic time T from Σ (1 - exp(-λ_i T)) = C; then h_i = 1 - exp(-λ_i T). Within about 0.01 from a hundred
    items on.

    References
    ----------
    H. Che, Y. Tung, Z. Wang, IEEE JSAC 20(7), 2002; C. Fricker, P. Robert, J. Roberts, arXiv:1202.3974.

    Examples
    --------
    >>> round(lru_hit_ratio(zipf_weights(5000, 0.8), 500), 4)
    0.4227
    """
    return _hit_ratio(popularity, capacity, lambda load: -np.expm1(-load))


def fifo_hit_ratio(popularity: ArrayLike, capacity: float) -> float:
    """Hit ratio of a FIFO cache, and of one with random replacement: h_i = λ_i T / (1 + λ_i T).

    Parameters and references as in `lru_hit_ratio`.

    Examples
    --------
    >>> round(fifo_hit_ratio(zipf_weights(5000, 0.8), 500), 4)
    0.3794
    """
    return _hit_ratio(popularity, capacity, lambda load: load / (1 + load))


def _hit_ratio(popularity: ArrayLike, capacity: float, present: object) -> float:
    assert callable(present)
    rates = np.asarray(popularity, dtype=np.float64).ravel()
    checks = Checks().not_negative(capacity=capacity)
    if not rates.size or not np.isfinite(rates).all() or (rates < 0).any() or rates.sum() <= 0:
        checks.fault("popularity", "array", "must be rates of 0 or above with one above 0", "check the rates")
    checks.done()
    rates = rates[rates > 0] / rates.sum()
    if capacity >= rates.size:
        return 1.0
    if capacity == 0:
        return 0.0
    high = float(capacity)
    while present(rates * high).sum() < capacity:
        high *= 2
    time = find_root(lambda t: float(present(rates * t).sum()) - capacity, 0.0, high, xtol=1e-12, rtol=1e-12)
    return float((rates * present(rates * time)).sum())
