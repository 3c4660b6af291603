"""How fast a resilver in order goes, between bounds that follow from what the disks have to transfer (X24, X25)."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload
from diskmodel.engine.simulate import outcome
from diskmodel.plan.trial.statics import sequential_bytes_per_s

#: Share of a disk's time that is left for transfers when its arm goes from one segment of 1 MiB to another, mostly a
#: near one: a segment takes 9.7 ms here, and a way of up to half a revolution and a short seek 6 ms. At 0.9 wide vdevs
#: would fail, at 0.3 a queue that gives one command at a time would pass.
LEAST = 0.6


def rebuilt_bytes_per_s(level: str, disks: int, **rebuild: Any) -> float:
    """Return how much of a lost disk is rebuilt in a second, half-way through and with next to nothing beside it."""
    layout = {"level": level, "disks": disks, "failed": [0], "spares": 0 if ":1s" in level else 1}
    layout["rebuild"] = {"used_ratio": 0.8, "done_ratio": 0.5, **rebuild}
    array = Array.parse({"drive": "generic-7k2", "layout": layout})
    load = Workload.parse({"streams": [{"size_bytes": 8192, "rate_per_s": 1.0}]})
    _, run = outcome(array, load, n_requests=60, seed=1)
    return run.rebuilt_bytes / array.tables().window_disks / run.end_ns * 1e9


def rate_of_a_disk() -> float:
    return sequential_bytes_per_s(Array.parse({"drive": "generic-7k2", "layout": {"level": "jbod", "disks": 1}}))


@pytest.mark.parametrize("disks", [8, 15, 29, 57])
def test_a_distributed_spare_is_filled_by_all_disks(disks: int) -> None:
    """For each byte of the lost disk five others of its group of 4 + 2 are read, and one is written: six transfers.

    They are shared by all disks that are left, so that twice as many take half as long.
    """
    most = rate_of_a_disk() * (disks - 1) / 6
    assert LEAST < rebuilt_bytes_per_s("draid2:4d:1s", disks) / most < 1


@pytest.mark.parametrize(("level", "disks"), [("mirror", 2), ("draid2:4d", 6)])
def test_one_new_disk_takes_what_it_can_write(level: str, disks: int) -> None:
    """In order or by records: the new disk decides, and pieces that are next to each other become one."""
    for is_in_order in (False, True):
        found = rebuilt_bytes_per_s(level, disks, sequential=is_in_order)
        assert LEAST < found / rate_of_a_disk() < 1
