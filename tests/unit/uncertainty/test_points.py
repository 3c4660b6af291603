"""Points that spread evenly over each dimension."""

import numpy as np
import pytest

from diskmodel.uncertainty.points import normal_scores
from diskmodel.uncertainty.registry import COLUMNS


@pytest.mark.parametrize("n", [2, 3, 8, 16, 32])
def test_each_column_has_one_value_in_each_equally_likely_interval(n: int) -> None:
    points = normal_scores(n, 14, seed=3)
    assert points.shape == (n, 14)
    levels = np.sort(points, axis=0)
    assert (levels == levels[:, :1]).all()
    assert levels[:, 0] == pytest.approx(-levels[::-1, 0], abs=1e-12)


def test_columns_are_hardly_correlated() -> None:
    points = normal_scores(16, 8, seed=1)
    between = np.corrcoef(points.T) - np.eye(8)
    assert np.abs(between).max() < 0.3
    assert np.abs(between).mean() < 0.08  # 0.2 for independent columns


@pytest.mark.parametrize(("n", "largest"), [(8, 0.55), (12, 0.35), (16, 0.35)])
def test_no_two_columns_go_together_when_there_are_as_many_as_points(n: int, largest: float) -> None:
    """Of two that do, the effect of one would be taken for that of the other."""
    between = np.corrcoef(normal_scores(n, max(COLUMNS) + 1, seed=0).T) - np.eye(max(COLUMNS) + 1)
    assert np.abs(between).max() < largest


def test_further_columns_do_not_change_those_before() -> None:
    assert (normal_scores(16, 5, seed=2) == normal_scores(16, 9, seed=2)[:, :5]).all()
    assert (normal_scores(16, 5, seed=2) != normal_scores(16, 5, seed=3)).any()
