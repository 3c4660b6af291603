"""What a result says that its run does not see."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload
from diskmodel.engine.messages.unseen import unseen


@pytest.mark.parametrize(
    ("rebuild", "addresses", "is_said"),
    [
        ({"action": "check", "done_ratio": 0}, {"pattern": "sequential"}, True),
        ({"action": "check", "done_ratio": 0.5}, {"pattern": "sequential"}, False),
        ({"action": "check", "done_ratio": 0.5}, {"pattern": "sequential", "begin_ratio": 0.5}, True),
        ({"action": "check"}, {"pattern": "uniform"}, False),
        (None, {"pattern": "sequential"}, False),
    ],
)
def test_a_stream_that_begins_where_a_pass_is(
    rebuild: dict[str, object] | None, addresses: dict[str, object], is_said: bool
) -> None:
    layout = {"level": "raid6", "disks": 10} | ({"rebuild": rebuild} if rebuild else {})
    array = Array.parse({"drive": "seagate-exos-x18", "layout": layout})
    load = Workload.parse({"size": "128 KiB", "clients": 1, "addresses": addresses})
    said = [text for text in unseen(array, load, 1000, 1.0) if "where the pass" in text]
    assert bool(said) == is_said
