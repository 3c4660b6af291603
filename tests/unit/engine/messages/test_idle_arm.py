"""Disks with two actuators of which a workload uses one are named in results."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload, simulate

WORDS = "one of the 2 actuators of Seagate Exos 2X18"


def is_named(array, **region):
    load = Workload.parse({"size": "4 KiB", "clients": 8} | region)
    result = simulate(array, load, n_requests=200, profile_draws=0)
    return any(WORDS in message for message in result.messages)


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ({"span": "49%"}, True),
        ({"span": "49%", "offset": "51%"}, True),
        ({"span": "51%"}, False),
        ({"span": "20%", "offset": "40%"}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize(("level", "disks"), [("jbod", 1), ("raid10", 4), ("raid5", 3)])
def test_requests_on_one_half_of_the_disks_are_named(level, disks, region, expected):
    assert is_named(Array("seagate-exos-2x18", level, disks), **region) is expected


def test_members_that_use_half_of_the_disks_are_named():
    assert is_named(Array("seagate-exos-2x18", "raid1", 2, member="8 TB"))
    assert not is_named(Array("seagate-exos-2x18", "raid1", 2, member="10 TB"))


def test_disks_that_are_filled_one_after_the_other_and_far_copies_are_not_looked_at():
    assert not is_named(Array("seagate-exos-2x18", "jbod", 2), span="10%")
    assert not is_named(Array("seagate-exos-2x18", "raid10", 4, arrangement="far"), span="10%")
    assert not is_named(Array("seagate-exos-x18", "raid10", 4), span="10%")
