"""Nine of ten prediction intervals of 90 % hold the truth: drives drawn, measured with noise, fitted, predicted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from calibrate.evidence.cells import key_of
from calibrate.virtual_disk.fit import fit_single_server
from calibrate.virtual_disk.profile import profile_of
from diskmodel.array import Array
from diskmodel.engine.predict import predict
from diskmodel.engine.simulate import simulate
from diskmodel.uncertainty.spread import spread_of
from diskmodel.workload import Workload
from tests.calibrate.virtual_disk.server_truth import any_server, measured

N_TRUTHS = 100
CONFIDENCE = 0.9
#: None of them was measured: share of reads, bytes, depth.
ASKED = ((1.0, 8192, 12), (0.8, 4096, 24), (0.0, 32768, 6), (1.0, 131072, 3))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("noise_ratio", [0.03, 0.10])
def test_intervals_cover_as_often_as_they_say(noise_ratio: float) -> None:
    """Either bound of the count has a chance of 1 in 2000 to fail for intervals that are right.

    Real disks are not servers of the model's form. A truth therefore differs from the form by as much as the product
    assumes of measured drives.
    """
    rng = np.random.default_rng(20)
    remaining = spread_of("measured-virtual", "model", "iops")
    assert remaining is not None
    covered = np.zeros((N_TRUTHS, len(ASKED)), bool)
    for row in range(N_TRUTHS):
        truth = any_server(rng)
        fit = fit_single_server(measured(truth, rng, noise_ratio=noise_ratio, repetitions=3))
        drive = profile_of(fit, capacity_bytes=1 << 34, name=f"truth {row}", provenance={})
        array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
        apart = math.exp(remaining.log_sd * rng.standard_t(remaining.dof))
        for column, (read_ratio, length, depth) in enumerate(ASKED):
            load = Workload.parse({"size_bytes": length, "read_ratio": read_ratio, "clients": depth})
            result = simulate(array, load, seed=row, n_requests=4000, profile_draws=0)
            prediction = predict(array, load, result, seed=row, n_draws=16, confidence=CONFIDENCE)
            assert prediction is not None
            interval = prediction.intervals["mean"]
            true_ns = float(truth.response_ns([key_of(read_ratio, False, length, depth)])[0]) * apart
            covered[row, column] = interval.low <= true_ns <= interval.high
    low, high = stats.binom.interval(0.999, N_TRUTHS, CONFIDENCE)
    counts = covered.sum(axis=0)
    assert np.all((low <= counts) & (counts <= high)), (counts, low, high)
