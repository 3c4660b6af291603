"""How long a rebuild takes beside few requests: a run that outlasts it says nothing about its rate."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.plan.trial.statics import sequential_bytes_per_s


def rebuilding(level: str, disks: int) -> Array:
    layout = {"level": level, "disks": disks, "failed": [0], "spares": 1, "rebuild": {"done_ratio": 0.5}}
    return Array.parse({"drive": "generic-10k", "layout": layout})


@pytest.mark.parametrize(("level", "disks"), [("raid10", 8), ("raid5", 5), ("raid6", 6), ("raid1", 2)])
@pytest.mark.parametrize("rate", ["0.05/s", "2/s"])
def test_a_nearly_idle_array_rebuilds_as_fast_as_its_disks_write(level: str, disks: int, rate: str) -> None:
    array = rebuilding(level, disks)
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": rate, "span": "100 GB"})
    outcome = Simulated()(array, load, n_requests=20_000, seed=3)
    # from halfway on, the tracks are shorter than on average
    assert 0.7 < outcome.rebuilt_bytes_per_s / sequential_bytes_per_s(array) < 1


def test_requests_after_the_rebuild_do_not_count_as_beside_it() -> None:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 1.0, "rate": "2/s", "span": "100 GB"})
    array = rebuilding("raid10", 8)
    beside = Simulated()(array, load, n_requests=20_000, seed=3)
    assert beside.n_requests < 10_000
