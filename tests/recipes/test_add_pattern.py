"""The recipe of CONTRIBUTING.md for address patterns and arrival laws: one file and one line in the registry."""

from __future__ import annotations

from pathlib import Path

from tests.recipes.following import answer, copy_of_package, insert

PATTERN = '''
from typing import ClassVar, Literal

import numpy as np

from diskmodel.records import Int64
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws
from diskmodel.workload.space import Space


class Backward(AddressPattern):
    """From the end of the region to its front, place by place."""

    title: ClassVar[str] = "backward, place by place"

    pattern: Literal["backward"] = "backward"

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        row = draws.first_row + np.arange(len(lengths), dtype=np.int64)
        return space.at_places(space.n_places - 1 - row % space.n_places)
'''
LAW = '''
from typing import ClassVar, Literal, Self

import numpy as np

from diskmodel.records import Int64
from diskmodel.units import PerSecond
from diskmodel.workload.arrivals.law import ArrivalLaw
from diskmodel.workload.draws import Draws


class Steady(ArrivalLaw):
    """A request every 1 / `rate_per_s`."""

    title: ClassVar[str] = "at equal distances"

    kind: Literal["steady"] = "steady"
    rate_per_s: PerSecond

    @property
    def expected_rate_per_s(self) -> float:
        return self.rate_per_s

    def scaled(self, factor: float) -> Self:
        return self.model_copy(update={"rate_per_s": self.rate_per_s * factor})

    def when(self, n: int, draws: Draws) -> Int64:
        return np.rint((draws.first_row + np.arange(n)) * (1e9 / self.rate_per_s)).astype(np.int64)
'''
PROGRAM = """
import json
from diskmodel import Array, Workload, simulate

load = Workload.parse({"size": "4 KiB", "span": "40 KiB", "addresses": "backward",
                       "arrival": {"kind": "steady", "rate": "100/s"}})
assert Workload.parse(load.to_dict()) == load
requests = load.requests(capacity_bytes=10**9, n=12, seed=1)
array = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
longest = [simulate(array, load, n_requests=300, engine=engine).latency.max_ns for engine in ("native", "simpy")]
print(json.dumps({"offset": requests.offset.tolist(), "when_ns": requests.when_ns.tolist(), "max_ns": longest}))
"""


def test_one_file_and_one_line(tmp_path: Path) -> None:
    folder = copy_of_package(tmp_path)
    places = folder / "diskmodel" / "workload"
    (places / "addresses" / "backward.py").write_text(PATTERN)
    registry = places / "addresses" / "__init__.py"
    insert(registry, "        Uniform,", "        Backward,")
    insert(
        registry,
        "from diskmodel.workload.addresses.hot_spot import HotSpot",
        "from diskmodel.workload.addresses.backward import Backward",
    )
    (places / "arrivals" / "steady.py").write_text(LAW)
    registry = places / "arrivals" / "__init__.py"
    insert(registry, "        Poisson,", "        Steady,")
    insert(
        registry,
        "from diskmodel.workload.arrivals.poisson import Poisson",
        "from diskmodel.workload.arrivals.steady import Steady",
    )
    reported = answer(folder, PROGRAM)
    assert reported["offset"] == [4096 * place for place in (9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9, 8)]
    assert reported["when_ns"] == [row * 10_000_000 for row in range(12)]
    assert reported["max_ns"][0] == reported["max_ns"][1] > 0
