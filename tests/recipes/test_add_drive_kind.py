"""docs/how-to/add-a-kind-of-drive.md, followed step by step: three files, and the SimPy engine simulates the kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.recipes.following import answer, copy_of_package, insert, titled_block

PAGE = "add-a-kind-of-drive.md"
PROGRAM = """
import json
from diskmodel import Array, Workload, simulate
from diskmodel.analytic.estimate import estimate
from diskmodel.errors import CoverageError
from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops

DRIVE = {"kind": "san", "name": "gp", "capacity": "100 GB", "iops": 1000, "bytes_per_s": 1e8, "latency": "1 ms"}

def volume(level="jbod", disks=1, **fields):
    return Array.parse({"drive": DRIVE | fields, "layout": {"level": level, "disks": disks}})

def load(**fields):
    return Workload.parse({"size": "4 KiB", "read_ratio": 1.0} | fields)

def said(run):
    try:
        run()
    except CoverageError as error:
        return str(error)
    return ""

def run(array, workload, n=500, **options):
    return simulate(array, workload, n_requests=n, profile_draws=0, **options)

busy = run(volume(), load(clients=16))
print(json.dumps({
    "engine": busy.engine,
    "busy": busy.iops.mean,
    "long": run(volume(), load(size="1 MiB", clients=4), 100).iops.mean * (1 << 20),
    "alone_ns": run(volume(), load(clients=1), engine="simpy").latency.mean_ns,
    "burst_ns": [run(volume(burst=burst), load(rate="500/s")).latency.mean_ns for burst in (1, 1000)],
    "raid": run(volume("raid10", 4), load(clients=32), 1000).iops.mean,
    "doubts": simulate(volume(), load(clients=1), n_requests=300).messages,
    "rated": calculator_disk_iops(volume().drive),
    "native": said(lambda: run(volume(), load(clients=1), engine="native")),
    "formula": said(lambda: estimate(volume(), load(clients=1))),
}))
"""


def follow(folder: Path) -> list[Path]:
    """Do what the page says in a copy of the package; return the files that were added or edited."""
    copy_of_package(folder)
    added = []
    for name in ("san/description.py", "san_volume.py"):
        path, text = titled_block(PAGE, name)
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
        added.append(folder / path)
    kinds = folder / "diskmodel" / "drive" / "members.py"
    insert(kinds, "from diskmodel.drive.hdd import Hdd", "from diskmodel.drive.san.description import San")
    insert(kinds, '    "hdd": Hdd,', '    "san": San,')
    insert(kinds, "    Hdd", "    San |")
    return [*added, kinds]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("san")
    assert len(follow(folder)) <= 3
    answered: dict[str, Any] = answer(folder, PROGRAM)
    return answered


def test_limits_and_latency_are_those_described(found: dict[str, Any]) -> None:
    assert found["engine"] == "simpy"
    assert found["busy"] == pytest.approx(1000, rel=0.03)
    assert found["long"] == pytest.approx(1e8, rel=0.05)
    assert found["alone_ns"] == 1_000_000
    # an M/D/1 queue at half its rate waits half a service on average; with a thousand operations saved nothing waits
    assert found["burst_ns"] == [pytest.approx(1_500_000, rel=0.15), 1_000_000]
    assert found["raid"] == pytest.approx(4000, rel=0.1)
    assert found["rated"] == 1000


def test_what_needs_the_other_engine_says_so(found: dict[str, Any]) -> None:
    assert found["native"] == (
        "engine='native': does not cover drives of the kind san, which only SimPy simulates; use auto or simpy"
    )
    assert "drive='san': has no formula" in found["formula"]


def test_an_answer_says_that_nothing_is_known_of_the_kind(found: dict[str, Any]) -> None:
    assert any("nothing is known of how far drives such as gp" in text for text in found["doubts"])
