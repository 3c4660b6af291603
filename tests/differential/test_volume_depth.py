"""Controllers that work on a few requests at once (rule K14) do so alike in both engines."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.differential.cases import random_case
from tests.differential.compare import difference

#: Cases from `random_case(FIRST)` on, so many for each depth.
FIRST, N = 5_000, 25


@pytest.mark.parametrize("depth", [1, 2, 7])
def test_the_engines_agree_on_a_few_requests_at_once(depth: int) -> None:
    for number in range(N):
        case = deepcopy(random_case(FIRST + number))
        case["array"]["controller"]["volume_depth"] = depth
        divergence = difference(case)
        assert divergence is None, divergence
