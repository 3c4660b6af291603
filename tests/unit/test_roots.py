"""Roots of functions of one variable, against SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from diskmodel.roots import find_root

SHAPES = {
    "cubic": lambda x, a: (x - a) ** 3 + 0.01 * (x - a),
    "exponential": lambda x, a: math.exp(x) - math.exp(a),
    "flat": lambda x, a: math.atan(1000 * (x - a)),
    "root": lambda x, a: math.copysign(math.sqrt(abs(x - a)), x - a),
}


@pytest.mark.parametrize("shape", SHAPES)
@given(at=st.floats(-3, 7), xtol=st.sampled_from([1e-12, 1e-9, 1e-4]))
def test_every_root_equals_that_of_scipy(shape: str, at: float, xtol: float) -> None:
    function = SHAPES[shape]
    found = find_root(lambda x: function(x, at), -3.5, 7.5, xtol=xtol)
    assert found == brentq(lambda x: function(x, at), -3.5, 7.5, xtol=xtol)
    assert abs(found - at) < 10 * xtol + 1e-9


def test_an_end_that_is_the_root_is_returned() -> None:
    assert find_root(lambda x: x - 1, 1.0, 2.0, xtol=1e-9) == 1.0
    assert find_root(lambda x: x - 2, 1.0, 2.0, xtol=1e-9) == 2.0


def test_ends_of_one_sign_are_refused() -> None:
    with pytest.raises(ValueError, match=r"same sign at 1\.0 and 2\.0"):
        find_root(lambda x: x, 1.0, 2.0, xtol=1e-9)
