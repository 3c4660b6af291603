"""Nine of ten prediction intervals of 90 % include the truth, of flash drives with parallel dies.

Drives are drawn, measured with noise, fitted and predicted. `python -m
tests.calibrate.flash.test_dies_coverage N NOISE SEED` prints the error of each prediction and half the width of its
interval, for as many drives as requested.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from calibrate.evidence.cells import Key
from calibrate.flash.fit import fit_flash
from calibrate.flash.profile import assumed_writes, profile_of
from diskmodel.array import Array
from diskmodel.engine.predict import predict
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.calibrate.flash.dies_truth import CAPACITY_BYTES, any_dies, measured, true_ns

N_TRUTHS = 6
CONFIDENCE = 0.9
#: None of them was measured: bytes, depth.
ASKED = tuple(Key("read", False, length, depth) for length, depth in ((4096, 12), (8192, 24), (32768, 6), (131072, 3)))


def intervals_of_one(rng: np.random.Generator, seed: int, noise_ratio: float) -> NDArray[np.float64]:
    """Low end, prediction, high end and truth in ns of each workload for a drive that is drawn: (n, 4)."""
    truth = any_dies(rng)
    fit = fit_flash(measured(truth, rng, noise_ratio=noise_ratio, repetitions=3), capacity_bytes=CAPACITY_BYTES)
    drive = profile_of(
        fit,
        capacity_bytes=CAPACITY_BYTES,
        name="fitted",
        provenance={},
        writes=assumed_writes,
        notes="",
        alone_ns={},
    )
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    rows = []
    for key, true in zip(ASKED, true_ns(truth, ASKED, seed=seed), strict=True):
        # the truth reads at multiples of the size, as the micro-benchmark and fio do
        load = Workload.parse(
            {"size_bytes": key.length_bytes, "alignment_bytes": key.length_bytes, "clients": key.queue_depth}
        )
        result = simulate(array, load, seed=seed, n_requests=4000, profile_draws=0)
        prediction = predict(array, load, result, seed=seed, confidence=CONFIDENCE)
        assert prediction is not None
        interval = prediction.intervals["mean"]
        rows.append((interval.low, interval.mean, interval.high, float(true)))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.long
def test_intervals_cover_as_often_as_they_say() -> None:
    """Either bound of the count has a chance of 1 in 2000 to fail for intervals that are right; and they are as narrow
    as noise of 3 % allows."""
    rng = np.random.default_rng(22)
    rows = np.array([intervals_of_one(rng, seed, noise_ratio=0.03) for seed in range(N_TRUTHS)])
    low, _, high, true = np.moveaxis(rows, -1, 0)
    assert np.median(high / low) < 1.12
    n_held = int(np.sum((low <= true) & (true <= high)))
    least, most = stats.binom.interval(0.999, true.size, CONFIDENCE)
    assert least <= n_held <= most, (n_held, true.size)


def main(n: int, noise_ratio: float, seed: int) -> None:
    """Print errors and half widths, and how many intervals hold."""
    rng = np.random.default_rng(seed)
    n_held = np.zeros(len(ASKED), np.int64)
    squares = []
    for row in range(n):
        low, predicted, high, true = intervals_of_one(rng, row, noise_ratio).T
        n_held += (low <= true) & (true <= high)
        squares.append(np.log(predicted / true) ** 2)
        pairs = zip(predicted / true - 1, (high - low) / 2 / true, strict=True)
        print(", ".join(f"{error:+.1%} ± {half:.1%}" for error, half in pairs), flush=True)
    error = np.sqrt(np.mean(squares, axis=0))
    print(f"of {n} intervals each of 90 % hold {n_held.tolist()}, together {n_held.sum() / (n * len(ASKED)):.1%};")
    print("root mean square errors:", ", ".join(f"{value:.1%}" for value in error))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
