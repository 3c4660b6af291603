"""The two engines agree to the nanosecond on whole drives of the catalogue, at real sizes."""

import pytest

from diskmodel.layout.levels import LEVELS
from tests.differential.whole_drives import DRIVES, whole_case, whole_difference

#: Cases of each tier, a quarter of a second each.
N_FAST = 16
N_SLOW = 240
N_LONG = 20_000


@pytest.mark.parametrize("block", range(4))
def test_fixed_list_of_whole_drives(block: int) -> None:
    n_compared = 0
    for seed in range(block, N_FAST, 4):
        n, found = whole_difference(whole_case(seed))
        assert found is None, f"whole_case({seed}): {found}"
        n_compared += n
    assert n_compared > 100


def test_many_cases_draw_every_drive_and_level() -> None:
    arrays = [whole_case(seed)["array"] for seed in range(800)]
    assert {array["drive"] for array in arrays} == set(DRIVES)
    assert {array["layout"]["level"] for array in arrays} == set(LEVELS)
    assert sum(array["layout"]["read_modify_write"] == "held" for array in arrays) > 50


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_many_whole_drives(block: int) -> None:
    for seed in range(N_FAST + block, N_SLOW, 8):
        _, found = whole_difference(whole_case(seed))
        assert found is None, f"whole_case({seed}): {found}"


@pytest.mark.long
@pytest.mark.parametrize("block", range(40))
def test_twenty_thousand_whole_drives(block: int) -> None:
    for seed in range(block, N_LONG, 40):
        _, found = whole_difference(whole_case(seed))
        assert found is None, f"whole_case({seed}): {found}"
