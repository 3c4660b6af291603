"""Truths drawn from the same spread as the intervals lie within these as often as they claim."""

import numpy as np

from diskmodel import Array, Workload, simulate
from diskmodel.engine.drawn_runs import simulate_drawn_runs
from diskmodel.uncertainty.draws import draw
from diskmodel.uncertainty.perturbed import perturbed

LOAD = Workload.parse({"size": "4 KiB", "clients": 4})


def test_drawn_truths_lie_within_the_intervals() -> None:
    """Of 200 truths about 20 arrays each: 95 % of 200 has a standard error of 1.5 %."""
    array = Array("intel-d3-s4610-960", "jbod", 1)
    inside = []
    for seed in range(10):
        result = simulate(array, LOAD, n_requests=2000, seed=seed)
        assert result.prediction is not None
        known = simulate_drawn_runs(array, LOAD, 2000, seed=seed)
        assert known is not None
        # some of many, independent of each other: of twenty that spread evenly too few lie far out
        truths = draw(known.case, 400, seed=1000 + seed)
        for at in np.random.default_rng(seed).choice(len(truths), 20, replace=False):
            true, load = perturbed(array, LOAD, truths.perturbations[at])
            assert isinstance(load, Workload)
            found = simulate(true, load, n_requests=2000, seed=500 + seed, profile_draws=0).iops.mean
            ends = result.prediction.intervals["iops"]
            inside.append(ends.low <= found <= ends.high)
    assert 0.90 <= np.mean(inside) <= 0.98
