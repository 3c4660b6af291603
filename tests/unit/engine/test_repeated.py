"""Requests that are prepared once complete as those of single runs do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.native import Repeated, array_of
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.workload import Workload


@pytest.mark.parametrize("load", [{"clients": 8}, {"rate": "20000/s"}], ids=["closed", "open"])
def test_same_times_on_every_array(load: dict[str, Any]) -> None:
    """Also on the first of them again, after others."""
    arrays = [
        Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
        for drive in ("intel-d3-s4610-960", "intel-d7-p5600-6400", "intel-d3-s4610-960")
    ]
    scenarios = [resolve(array, 1) for array in arrays]
    size = min(array.usable_bytes for array in arrays)
    requests = Workload.parse({"size": "4 KiB", **load}).requests(capacity_bytes=size, n=300, seed=1)
    repeated = Repeated(requests)
    found = [repeated.done_ns(array_of(scenario)).copy() for scenario in scenarios]
    for done_ns, scenario in zip(found, scenarios, strict=True):
        assert np.array_equal(done_ns, run(scenario, requests).completions.done_ns)
    assert not np.array_equal(found[0], found[1])
