"""Least squares of residuals that are simulated: found with few of them, though they scatter."""

import numpy as np
from numpy.typing import NDArray

from calibrate.hdd.from_fio.least_squares import N_PLACES, N_SEARCHES, least

BOUNDS = np.array([-3.0, -3.0]), np.array([3.0, 3.0])
SCALE = np.array([0.5, 0.5])
TRUE = np.array([0.7, -0.4])


def residuals(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Curved, and of four conditions with errors of 0.1."""
    y = np.exp(0.5 * x) - np.exp(0.5 * TRUE)
    return np.array([y[0], y[1], y[0] + y[1], y[0] - 2 * y[1]]) / 0.1


def test_the_place_and_its_errors_are_found() -> None:
    found = least(residuals, np.array([-1.0, 1.0]), SCALE, BOUNDS)
    np.testing.assert_allclose(found.x, TRUE, atol=1e-3)
    assert found.misfit < 1e-3
    slopes = np.array([residuals(TRUE + h) - residuals(TRUE - h) for h in 1e-5 * np.eye(2)]).T / 2e-5
    np.testing.assert_allclose(found.errors, np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes))), rtol=0.1)


def test_scatter_of_the_residuals_moves_the_place_no_further_than_its_errors() -> None:
    def scattered(x: NDArray[np.float64]) -> NDArray[np.float64]:
        rng = np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32))
        return residuals(x) + rng.normal(0.0, 0.3, 4)

    starts = np.random.default_rng(1).uniform(-1.5, 1.5, (20, 2))
    found = [least(scattered, start, SCALE, BOUNDS) for start in starts]
    away = np.array([np.abs(one.x - TRUE) / one.errors for one in found])
    assert np.quantile(away, 0.9) < 1.0


def test_each_place_is_simulated_once() -> None:
    places: list[bytes] = []

    def counted(x: NDArray[np.float64]) -> NDArray[np.float64]:
        places.append(x.tobytes())
        return residuals(x)

    least(counted, np.array([-1.0, 1.0]), SCALE, BOUNDS)
    assert len(places) == len(set(places))
    assert len(places) <= N_SEARCHES * (2 * 2 + N_PLACES)
