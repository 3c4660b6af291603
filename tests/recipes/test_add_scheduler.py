"""docs/how-to/add-a-scheduler.md, followed step by step: one file and one line in each registry are enough."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.differential.mutants.building import compile_kernel, copy_crates
from tests.recipes.following import ROOT, answer, copy_of_package, insert, titled_block

PAGE = "add-a-scheduler.md"
PROGRAM = """
import json
from diskmodel import Array, Workload, simulate
from diskmodel.engine.native import covers
from diskmodel.engine.scenario import resolve
from diskmodel.lab.offers import offers

array = Array.parse({
    "drive": {"kind": "hdd", "name": "d", "capacity": "100 GB", "rpm": 7200, "heads": 2,
              "outer_bytes_per_s": 1e8, "inner_bytes_per_s": 5e7,
              "seek": {"track_to_track": "1 ms", "average": "9 ms", "full_stroke": "18 ms"},
              "queue": {"scheduler": "reads-first", "depth": 4}},
    "layout": {"level": "jbod", "disks": 1}, "queue": {"scheduler": "reads-first"},
})
load = Workload.parse({"size": "4 KiB", "read_ratio": 0.5, "clients": 16})
result = simulate(array, load, n_requests=1000)
simpy = simulate(array, load, n_requests=1000, engine="simpy")
print(json.dumps({
    "engine": result.engine,
    "reason": covers(resolve(array, 0), load.requests(capacity_bytes=array.usable_bytes, n=1, seed=0)),
    "max_ns": [result.latency.max_ns, simpy.latency.max_ns],
    "in_lab": [one["text"] for one in offers()["schedulers"] if one["value"] == "reads-first"],
    "schema": "reads-first" in json.dumps(Array.model_json_schema()),
}))
"""
COMPARISON = """
import json
from diskmodel.engine.native import KERNEL_SCHEDULERS
from tests.differential.cases import HOST_SCHEDULERS, random_case
from tests.differential.compare import difference
from tests.differential.drawn_drives import DRIVE_SCHEDULERS

cases = [random_case(seed) for seed in range(160)]
chosen = [case for case in cases if case["array"]["queue"]["scheduler"] == "reads-first"
          or case["array"]["drive"].get("queue", {}).get("scheduler") == "reads-first"]
print(json.dumps({
    "registered": ["reads-first" in names for names in (KERNEL_SCHEDULERS, DRIVE_SCHEDULERS, HOST_SCHEDULERS)],
    "n_cases": len(chosen), "differences": list(filter(None, map(difference, chosen))),
}))
"""


def follow_in_python(folder: Path) -> Path:
    copy_of_package(folder)
    path, text = titled_block(PAGE, "reads_first.py")
    (folder / path).write_text(text)
    registry = folder / "diskmodel" / "queue" / "registry.py"
    insert(
        registry,
        "from diskmodel.queue.sptf import Sptf, SptfAged",
        "from diskmodel.queue.reads_first import ReadsFirst",
    )
    insert(registry, "        MqDeadline,", "        ReadsFirst,")
    return folder


def test_one_file_and_one_line_in_python(tmp_path: Path) -> None:
    answered = answer(follow_in_python(tmp_path), PROGRAM)
    assert answered["engine"] == "simpy"
    assert answered["reason"] == "the scheduler reads-first"
    assert answered["max_ns"][0] == answered["max_ns"][1] > 0
    assert answered["in_lab"] == ["reads first, the nearest one"]
    assert answered["schema"]


@pytest.mark.slow
@pytest.mark.xdist_group("cargo")
def test_one_file_and_one_line_in_rust(tmp_path: Path) -> None:
    """The kernel with the page's Rust code agrees with the page's Python code wherever the cases use it."""
    folder = follow_in_python(tmp_path)
    copy_crates(folder)
    shutil.copytree(ROOT / "tests" / "differential", folder / "tests" / "differential")
    path, text = titled_block(PAGE, "reads_first.rs")
    (folder / path).write_text(text)
    insert((folder / path).with_name("mod.rs"), "mod registry;", "mod reads_first;")
    registry = (folder / path).with_name("registry.rs")
    insert(registry, "schedulers! {", "use super::reads_first;")
    line = 'ReadsFirst = "reads-first" => reads_first::ReadsFirst,'
    insert(registry, '    Deadline = "mq-deadline" => mq_deadline::Deadline,', line)
    compile_kernel(folder, ROOT / "target")
    kernel = folder / "diskmodel" / "engine" / "_kernel.abi3.so"
    kernel.unlink()
    shutil.copy(ROOT / "target" / "release" / "lib_kernel.so", kernel)
    answered = answer(folder, COMPARISON)
    assert answered["registered"] == [True, True, True]
    assert answered["n_cases"] >= 10
    assert answered["differences"] == []
