"""What a plan says of an array with a disk failed."""

import math

import pytest

from diskmodel.plan.answer.safety import Safety


@pytest.mark.parametrize(
    ("hours", "loss", "warning"),
    [
        (10.0, 0.001, ""),
        (math.nan, 0.001, ""),
        (10.0, 0.02, "this array loses data with a probability of 0.02 a year, above the limit of 0.01"),
        (math.inf, 0.001, "with a disk failed, the rebuild of this array does not end beside the whole load"),
    ],
)
def test_an_array_is_safe_if_it_is_rebuilt_and_seldom_loses_data(hours: float, loss: float, warning: str) -> None:
    safety = Safety(None, None, hours, loss, 0.01)
    assert (safety.is_safe, safety.warning) == (not warning, warning)
