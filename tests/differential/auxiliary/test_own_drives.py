"""Both engines on logs, journals, special vdevs and caches on drives of any kind (rules X16, X26, X27 and Y13)."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from tests.differential.auxiliary.cases import DRIVES, cache_case, journal_case, log_case, special_case
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


@pytest.mark.parametrize("block", range(3))
def test_the_engines_agree_on_cache_devices_that_are_drives(block: int) -> None:
    for seed in range(block, N_CASES, 3):
        divergence = difference(cache_case(seed))
        assert divergence is None, f"cache_case({seed}): {divergence}"


def test_the_description_of_such_a_pool_says_the_same_again() -> None:
    cases = [of(seed) for of in (special_case, journal_case, cache_case) for seed in range(len(DRIVES))]
    for case in cases:
        array = Array.parse(case["array"])
        assert Array.parse(array.to_dict()) == array
