"""Che's approximation against simulated caches, seed stated; the published error of the approximation is 0.01."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from diskmodel.analytic.cache import fifo_hit_ratio, lru_hit_ratio, zipf_weights
from diskmodel.errors import InputError

WEIGHTS = zipf_weights(5000, 0.8)


def simulated(capacity: int, *, is_lru: bool) -> float:
    draws = np.random.default_rng([99, capacity]).choice(5000, size=240_000, p=WEIGHTS).tolist()
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for index, item in enumerate(draws):
        if item in cache:
            hits += index >= 40_000
            if is_lru:
                cache.move_to_end(item)
            continue
        if len(cache) == capacity:
            cache.popitem(last=False)
        cache[item] = None
    return hits / (len(draws) - 40_000)


@pytest.mark.parametrize(
    ("capacity", "lru", "fifo"), [(100, 0.2027, 0.1742), (500, 0.4227, 0.3794), (1500, 0.6504, 0.6045)]
)
def test_zipf(capacity: int, lru: float, fifo: float) -> None:
    assert round(lru_hit_ratio(WEIGHTS, capacity), 4) == lru
    assert round(fifo_hit_ratio(WEIGHTS, capacity), 4) == fifo
    # binomial error of 200 000 references is 0.0011; three of them and the approximation's own error
    assert simulated(capacity, is_lru=True) == pytest.approx(lru, abs=0.0045)
    assert simulated(capacity, is_lru=False) == pytest.approx(fifo, abs=0.0045)


def test_limits() -> None:
    uniform = np.ones(1000)
    assert lru_hit_ratio(uniform, 250) == pytest.approx(0.25)
    assert fifo_hit_ratio(uniform, 250) == pytest.approx(0.25)
    assert lru_hit_ratio(uniform, 1000) == 1.0
    assert lru_hit_ratio(uniform, 0) == 0.0
    assert lru_hit_ratio(7.5 * WEIGHTS, 500) == pytest.approx(lru_hit_ratio(WEIGHTS, 500))
    with pytest.raises(InputError, match="popularity"):
        lru_hit_ratio([], 3)
