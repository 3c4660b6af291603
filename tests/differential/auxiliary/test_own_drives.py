"""Both engines on logs, journals and special vdevs on drives of any kind (rules X16, X26 and Y13)."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from tests.differential.auxiliary.cases import DRIVES, journal_case, log_case, special_case
from tests.differential.compare import difference

N_CASES = len(DRIVES) + 3


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


@pytest.mark.parametrize("block", range(3))
def test_the_engines_agree_on_journals_on_drives(block: int) -> None:
    for seed in range(block, N_CASES, 3):
        divergence = difference(journal_case(seed))
        assert divergence is None, f"journal_case({seed}): {divergence}"


def test_the_description_of_such_a_pool_says_the_same_again() -> None:
    for case in (*map(special_case, range(len(DRIVES))), *map(journal_case, range(len(DRIVES)))):
        array = Array.parse(case["array"])
        assert Array.parse(array.to_dict()) == array
