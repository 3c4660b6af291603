"""Each rule of a layout's description, by the layout that breaks just this one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout


@given(st.integers(2, 4), st.integers(1, 6), st.sampled_from(["near", "far"]), st.randoms(use_true_random=False))
def test_data_are_lost_with_all_copies_of_a_block(copies: int, more: int, arrangement: str, choose: Random) -> None:
    """Disk by disk, against what `Layout` says without looking at all of them."""
    n = copies + more
    failed = sorted(choose.sample(range(n), choose.randint(1, n - 1)))
    starts = range(n) if arrangement == "far" else {k * copies % n for k in range(n)}
    is_lost = any(all((first + c) % n in failed for c in range(copies)) for first in starts)
    layout = {"level": "raid10", "disks": n, "copies": copies, "arrangement": arrangement, "failed": failed}
    try:
        found = Layout.parse(layout).loses_data
    except DescriptionError as error:
        assume("has lost data" in str(error))
        found = True
    assert found is is_lost


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"level": "raid5", "disks": 2}, "raid5 needs at least 3 disks"),
        ({"level": "raid0", "disks": 4, "copies": 2}, "raid0 keeps no copies"),
        ({"level": "raid1e", "disks": 3, "copies": 4}, "more copies than disks"),
        ({"level": "raid1", "disks": 3, "copies": 2}, "a copy on each of its 3 disks"),
        ({"level": "raid10", "disks": 5, "copies": 2}, "a multiple of its 2 copies"),
        ({"level": "raid1e", "disks": 5, "arrangement": "far"}, "only raid10 has it, not raid1e"),
        ({"level": "raid5", "disks": 6, "groups": 2}, "raid5 has no groups"),
        ({"level": "raid6", "disks": 6, "n_parity": 2}, "implied by raid6"),
        ({"level": "erasure", "disks": 6}, "n_parity: is missing"),
        ({"level": "raid50", "disks": 7, "groups": 2}, "not a multiple of groups=2"),
        ({"level": "raid50", "disks": 4, "groups": 2}, "raid50 needs at least 6 disks"),
        ({"level": "raid60", "disks": 9, "groups": 3}, "a group of 3 disks leaves too few data strips"),
        ({"level": "raid5", "disks": 4, "failed": [4]}, "disks are numbered 0 to 3"),
        ({"level": "raid5", "disks": 4, "failed": [1, 1]}, "a disk is named twice"),
        ({"level": "raid5", "disks": 4, "rebuild": {}}, "no disk has failed"),
        ({"level": "raid10", "disks": 4, "huge_page_ratio": 0.5}, "no request is cut without largest_request"),
        ({"level": "raid0", "disks": 4, "largest_request": "1 MiB"}, "raid0 has no strips with copies; remove it"),
        ({"level": "raid5", "disks": 4, "failed": [1], "rebuild": {"disk": 2}, "spares": 1}, "is not among failed"),
        (
            {"level": "raid0", "disks": 4, "rebuild": {"action": "check"}},
            "raid0 has nothing to compare; remove rebuild",
        ),
        ({"level": "raid5", "disks": 4, "rebuild": {"action": "resync", "disk": 1}}, "resync goes through all disks"),
        ({"level": "raid5", "disks": 4, "failed": [1], "rebuild": {"action": "check"}}, "remove them from failed"),
        (
            {"level": "raid10", "disks": 4, "arrangement": "far", "rebuild": {"action": "check"}},
            "is not modeled for far copies",
        ),
        ({"level": "raid5", "disks": 4, "failed": [1, 2]}, "has lost data with these disks"),
        ({"level": "raid0", "disks": 4, "failed": [1]}, "has lost data with these disks"),
    ],
)
def test_what_does_not_fit_is_reported(layout: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Layout.parse(layout)
    assert message in str(caught.value)
    assert len(caught.value.faults) == 1
