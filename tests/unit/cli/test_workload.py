"""`diskmodel workload`: recordings of real programs become workloads that simulate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from diskmodel.cli.app import app
from diskmodel.workload import Workload

FORMATS = Path(__file__).parents[2] / "data" / "formats"
RUNNER = CliRunner()


@pytest.mark.parametrize("name", ["iostat.json", "iostat.txt", "sadf.json", "mix.fio", "blkparse.txt"])
def test_a_recording_becomes_a_workload_that_loads(name: str, tmp_path: Path) -> None:
    out = tmp_path / "w.toml"
    result = RUNNER.invoke(app, ["workload", str(FORMATS / name), "--out", str(out), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["workload"]["streams"]
    assert Workload.load(out).to_dict() == document["workload"]


def test_the_level_chooses_the_rate() -> None:
    rates = []
    for level in ("0", "100"):
        result = RUNNER.invoke(app, ["workload", str(FORMATS / "iostat.json"), "--level", level, "--json"])
        streams = json.loads(result.stdout)["workload"]["streams"]
        rates.append(sum(stream["arrival"]["rate_per_s"] for stream in streams))
    assert rates[0] < rates[1]


def test_what_holds_no_load_is_refused() -> None:
    result = RUNNER.invoke(app, ["workload", str(FORMATS / "lsblk.json")])
    assert result.exit_code == 2
