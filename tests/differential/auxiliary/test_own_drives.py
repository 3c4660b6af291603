"""Both engines on pools whose log or special vdev is on drives of any kind (rules X16 and X26)."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from tests.differential.auxiliary.cases import DRIVES, log_case, special_case
from tests.differential.compare import difference

N_CASES = 2 * len(DRIVES)


@pytest.mark.parametrize("block", range(3))
def test_the_engines_agree_on_logs_on_drives(block: int) -> None:
    for seed in range(block, N_CASES, 3):
        divergence = difference(log_case(seed))
        assert divergence is None, f"log_case({seed}): {divergence}"


@pytest.mark.parametrize("block", range(3))
def test_the_engines_agree_on_special_vdevs_on_drives(block: int) -> None:
    for seed in range(block, N_CASES, 3):
        divergence = difference(special_case(seed))
        assert divergence is None, f"special_case({seed}): {divergence}"


def test_the_description_of_such_a_pool_says_the_same_again() -> None:
    for seed in range(len(DRIVES)):
        array = Array.parse(special_case(seed)["array"])
        assert Array.parse(array.to_dict()) == array
