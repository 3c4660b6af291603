"""The short tier: each check on a hundred inputs, or DISKMODEL_FUZZ_EXAMPLES, chosen and shrunk by hypothesis."""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import DEFINED_IN
from tests.fuzz.check import CHECKS

INPUTS = int(os.environ.get("DISKMODEL_FUZZ_EXAMPLES", "100"))
FUZZ = settings(
    max_examples=INPUTS,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
assert DEFINED_IN


@pytest.mark.parametrize("name", CHECKS)
def test_whatever_comes_in(name: str) -> None:
    @FUZZ
    @given(st.randoms(use_true_random=False))
    def holds(choose: Random) -> None:
        CHECKS[name].run(choose)

    holds()
