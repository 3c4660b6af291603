"""The robust likelihood, against SciPy's; chances, against draws."""

import numpy as np
import pytest
from scipy import stats

from diskmodel.explanation.likelihood import chance_of, log_likelihood, n_independent

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
