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


def test_what_was_found_is_shown_in_words(tmp_path: Path) -> None:
    shown = RUNNER.invoke(app, ["workload", str(FORMATS / "iostat.json"), "--out", str(tmp_path / "w.toml")]).stdout
    assert "\n  reads: 4 KiB uniform, 100% reads, " in shown
    job = tmp_path / "jobs.fio"
    jobs = "".join(f"[job{n}]\nrw=randread\n" for n in range(10))
    job.write_text(f"[global]\ndirect=1\nbs=4k\niodepth=4\nioengine=libaio\nsize=1g\n{jobs}")
    shown = RUNNER.invoke(app, ["workload", str(job)]).stdout
    assert "\n  job7-7: 4 KiB uniform, 100% reads, 4 outstanding\n  and 2 more streams\n" in shown


def test_the_level_chooses_the_rate() -> None:
    rates = []
    for level in ("0", "100"):
        result = RUNNER.invoke(app, ["workload", str(FORMATS / "iostat.json"), "--percentile", level, "--json"])
        streams = json.loads(result.stdout)["workload"]["streams"]
        rates.append(sum(stream["arrival"]["rate_per_s"] for stream in streams))
    assert rates[0] < rates[1]


def test_what_holds_no_load_is_refused() -> None:
    result = RUNNER.invoke(app, ["workload", str(FORMATS / "lsblk.json")])
    assert result.exit_code == 2


def test_a_plan_is_pointed_at_a_recording(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
        objective = { capacity = "500 GB" }
        search = { requests = 400, max_requests = 400 }
        [candidates]
        drives = "generic-10k"
        levels = "raid10"
        disks = [4, 6]
        """
    )
    alone = RUNNER.invoke(app, ["plan", "--nominal", str(plan), "--json"])
    assert alone.exit_code == 2
    assert "workload: is missing" in alone.stderr
    options = ["--workload", str(FORMATS / "sadf.json"), "--percentile", "50", "--json"]
    found = RUNNER.invoke(app, ["plan", "--nominal", str(plan), *options])
    assert found.exit_code in (0, 3), found.stderr
    read = RUNNER.invoke(app, ["workload", str(FORMATS / "sadf.json"), "--percentile", "50", "--json"])
    assert json.loads(found.stdout)["plan"]["workload"] == json.loads(read.stdout)["workload"]

    recorded = tmp_path / "sadf.json"
    recorded.write_bytes((FORMATS / "sadf.json").read_bytes())
    plan.write_text('workload = "sadf.json"\n' + plan.read_text())
    beside = RUNNER.invoke(app, ["plan", "--nominal", str(plan), "--json"])
    assert beside.exit_code in (0, 3), beside.stderr
    assert json.loads(beside.stdout)["plan"]["workload"]["name"] == json.loads(read.stdout)["workload"]["name"]


def test_a_plan_that_asks_for_another_rate_than_was_recorded_names_both(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'objective = { iops = 500 }\n[candidates]\ndrives = "generic-10k"\nlevels = "raid10"\ndisks = [4]\n'
    )
    options = ["--workload", str(FORMATS / "sadf.json"), "--percentile", "50", "--format", "sadf-json"]
    refused = RUNNER.invoke(app, ["plan", "--nominal", str(plan), *options])
    assert refused.exit_code == 2
    assert "500" in refused.stderr
    read = RUNNER.invoke(app, ["workload", str(FORMATS / "sadf.json"), "--percentile", "50", "--json"])
    rate = json.loads(read.stdout)["load_per_s"]["p50"]
    assert f"{rate:.4g}/s of the recorded workload" in refused.stderr
    assert "places are not recorded" in refused.stderr


def test_a_trace_becomes_one_stream_and_what_it_loses_is_reported(tmp_path: Path) -> None:
    out = tmp_path / "w.toml"
    rows = [f"{i * 10_000_000},read,{i % 7 * 40_960_000},4096,0,sda" for i in range(300)]
    trace = tmp_path / "trace.csv"
    trace.write_text("time_ns,op,offset_bytes,length_bytes,response_ns,device\n" + "\n".join(rows), encoding="utf-8")
    document = json.loads(RUNNER.invoke(app, ["workload", str(trace), "--fit", "--out", str(out), "--json"]).stdout)
    assert Workload.load(out).to_dict() == document["workload"]
    assert document["trace"]["rate_per_s"] == pytest.approx(document["synthetic"]["rate_per_s"], rel=0.02)
    for stated, figures in zip(document["workload"]["fitted"]["latency"], document["latency"], strict=True):
        assert figures["mean_error_ratio"] == stated["fitted_mean_ns"] / stated["trace_mean_ns"] - 1
        assert abs(figures["mean_error_ratio"]) < 0.2
    output = RUNNER.invoke(app, ["workload", str(trace), "--fit"]).stdout
    assert "300 requests in" in output
    assert "raid10 of 4 generic-10k" in output
