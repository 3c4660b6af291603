"""The robust likelihood, against SciPy's; chances, against draws."""

import numpy as np
import pytest
from scipy import stats

from diskmodel.explanation.likelihood import chance_of, covariance_of, log_likelihood, n_independent

SCALE = np.array([[0.04, 0.02, 0.0], [0.02, 0.09, 0.01], [0.0, 0.01, 0.01]])
DEVIATION = np.array([0.3, -0.2, 0.05])


@pytest.mark.parametrize("dof", [3.0, 12.0])
def test_it_is_students_t_of_several_figures(dof: float) -> None:
    expected = stats.multivariate_t(shape=SCALE, df=dof).logpdf(DEVIATION)
    assert log_likelihood(DEVIATION, SCALE, dof) == pytest.approx(expected, rel=1e-9)


def test_of_one_figure_the_chance_is_that_of_students_t() -> None:
    one, scale = DEVIATION[:1], SCALE[:1, :1]
    assert chance_of(one, scale, 5.0) == pytest.approx(2 * stats.t.sf(1.5, 5.0), rel=1e-6)


def test_of_several_figures_it_is_the_part_of_draws_that_are_further_off() -> None:
    # seed fixed; 20,000 draws, so that the standard error at 0.1 is 0.002
    draws = stats.multivariate_t(shape=SCALE, df=6.0, seed=1).rvs(20_000)
    squared = np.einsum("ij,jk,ik->i", draws, np.linalg.inv(SCALE), draws)
    own = float(DEVIATION @ np.linalg.inv(SCALE) @ DEVIATION)
    assert chance_of(DEVIATION, SCALE, 6.0) == pytest.approx(float((squared > own).mean()), abs=0.01)


def test_correlated_figures_are_worth_fewer() -> None:
    assert n_independent(np.eye(4)) == pytest.approx(4)
    assert n_independent(np.ones((4, 4)) + 1e-9 * np.eye(4)) == pytest.approx(1, rel=1e-6)


def test_unknowns_that_go_together_by_chance_widen_nothing() -> None:
    first = stats.norm.ppf((np.arange(16) + 0.5) / 16)
    second = np.roll(first, 8)  # goes against the first one, and they have nothing to do with each other
    found = np.column_stack([0.06 * first + 0.08 * second, 0.06 * first, np.zeros(16)])
    variance = float(np.var(first, ddof=1))
    expected = variance * np.array([[0.06**2 + 0.08**2, 0.06**2, 0.0], [0.06**2, 0.06**2, 0.0], [0.0, 0.0, 0.0]])
    assert np.corrcoef(first, second)[0, 1] < -0.3
    assert np.cov(found, rowvar=False)[0, 0] < 0.8 * expected[0, 0]
    assert covariance_of(found, np.column_stack([first, second])) == pytest.approx(expected, abs=1e-12)
    # what draws do not explain stays, and nothing else is known without them
    assert covariance_of(found, np.empty((16, 0))) == pytest.approx(np.cov(found, rowvar=False))
    rest = found + np.outer(np.random.default_rng(1).normal(size=16), [0.0, 0.0, 0.1])
    left = covariance_of(rest, np.column_stack([first, second]))[2, 2]
    assert left == pytest.approx(np.cov(rest, rowvar=False)[2, 2], rel=0.2)
