"""An array in a user's own environment is the same array."""

import importlib.util
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import simpy

from diskmodel.array import Array
from diskmodel.engine.embed import ArrayProcess, Completed
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.workload import Workload

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["single-disk", "raid5", "raid10"])
def test_closed_clients_see_what_the_engine_computes(name: str) -> None:
    array = Array.load(EXAMPLES / f"{name}.toml")
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.6, "clients": 6})
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=300, seed=3)
    expected = simpy_engine.run(resolve(array, 3), requests).completions

    env = simpy.Environment()
    process = ArrayProcess(env, array, seed=3)
    rows = iter(range(len(requests)))
    seen: dict[int, Completed] = {}

    def client() -> Generator[simpy.Event, Completed, None]:
        for row in rows:
            ask = process.write if requests.op[row] else process.read
            seen[row] = yield ask(int(requests.offset[row]), int(requests.length[row]))

    for _ in range(6):
        env.process(client())
    env.run(until=int(expected.done_ns.max()) + 1)
    assert [seen[row].done_ns for row in range(300)] == expected.done_ns.tolist()
    assert [list(seen[row].parts_ns.values()) for row in range(300)] == expected.parts_ns.tolist()
    assert process.outstanding == 0
    assert max(process.busy_ns) <= env.now


def test_rebuild_begins_when_the_array_does() -> None:
    array = Array.parse(
        {
            "drive": "generic-15k",
            "layout": {"level": "raid1", "disks": 2, "failed": [1], "spares": 1, "rebuild": {}},
        }
    )
    env = simpy.Environment(initial_time=5_000_000)
    process = ArrayProcess(env, array)
    env.run(until=105_000_000)
    assert process.busy_ns[0] > 0
    assert process.busy_ns[2] > 0


def test_requests_beyond_the_end_are_refused() -> None:
    env = simpy.Environment()
    array = ArrayProcess(env, Array.load(EXAMPLES / "raid5.toml"))
    for offset, length in ((-1, 512), (0, 0), (array.capacity_bytes - 512, 513)):
        with pytest.raises(DescriptionError, match="not within the array"):
            array.read(offset, length)


def test_a_pool_is_resilvered_from_the_beginning() -> None:
    layout = {"level": "raidz1", "disks": 3, "member": "3 GiB", "record": "1 MiB", "failed": [0], "spares": 1}
    array = Array.parse({"drive": "md-raid-10k", "layout": {**layout, "rebuild": {"used": "2%"}}})
    env = simpy.Environment()
    process = ArrayProcess(env, array)
    env.run(until=3_000_000_000)
    tables = array.tables()
    written = process._devices[3].counters.write_sectors
    # a record takes as much of each disk
    assert written == tables.rebuild_end > 0


def test_times_between_nanoseconds_are_refused() -> None:
    env = simpy.Environment(initial_time=0.5)
    array = ArrayProcess(env, Array.load(EXAMPLES / "raid5.toml"))
    with pytest.raises(DescriptionError, match="whole number"):
        array.write(0, 512)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("database_on_simpy", EXAMPLES / "database_on_simpy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_commits_of_the_database_are_faster_on_raid10(example: ModuleType) -> None:
    figures = {name: example.run(Array.load(EXAMPLES / f"{name}.toml"), seconds=4) for name in ("raid5", "raid10")}
    # a commit is one small write, and behind it four disk operations instead of two on disks that are busier with them
    assert figures["raid5"]["mean_ms"] > 1.5 * figures["raid10"]["mean_ms"]
    assert figures["raid5"]["utilization_ratio"] > figures["raid10"]["utilization_ratio"]
    assert figures["raid5"]["commits_per_log_write"] > figures["raid10"]["commits_per_log_write"]
    again = example.run(Array.load(EXAMPLES / "raid10.toml"), seconds=4)
    assert again == figures["raid10"]
    assert np.isfinite(list(again.values())).all()
