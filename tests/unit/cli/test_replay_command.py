"""`diskmodel replay`: the table, the document, the picture, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.commands import EXAMPLES, answer, refusal, run

TRACE = EXAMPLES / "trace.csv"
RAID10, RAID5 = EXAMPLES / "raid10.toml", EXAMPLES / "raid5.toml"


def test_two_arrays_side_by_side(tmp_path: Path) -> None:
    plot = tmp_path / "replay.svg"
    done = run("replay", RAID10, RAID5, "--trace", TRACE, "--plot", plot)
    assert done.exit_code == 0, done.stderr
    assert "RAID 10, 8 disks" in done.stdout
    assert "worst 2 s" in done.stdout
    assert plot.read_text().startswith("<svg")


def test_the_document_has_the_same_latency_as_the_simulation() -> None:
    found = answer("replay", RAID10, "--trace", TRACE)
    one = found["arrays"][0]
    simulated = answer("simulate", RAID10, "--workload", TRACE, "--replay", "original", "--profile-draws", 0)
    assert found["trace"]["requests"] == simulated["requests"]
    # `simulate` drops the warm-up, the replay does not
    assert one["latency_ms"]["p99"] == pytest.approx(simulated["latency_ms"]["p99"], rel=0.1)
    assert one["latency_ms"]["max"] >= one["worst"]["latency_ms"]["max"] >= one["worst"]["latency_ms"]["mean"]
    assert len(one["timeline"]["start_s"]) == len(one["timeline"]["arrivals_per_s"])
    assert sum(one["timeline"]["arrivals_per_s"]) * one["timeline"]["interval_s"] == pytest.approx(600)


def test_a_clock_of_whole_seconds_is_named(tmp_path: Path) -> None:
    path = tmp_path / "whole.csv"
    header = "time_ns,op,offset_bytes,length_bytes,response_ns,device"
    path.write_text("\n".join([header, *(f"{i // 20}000000000,read,{i * 8192},4096,-1,sda" for i in range(400))]))
    assert "its clock has steps of 1 s, and the requests of a step are replayed at once" in " ".join(
        run("replay", RAID10, "--trace", path).stderr.split()
    )
    assert "clock" not in run("replay", RAID10, "--trace", TRACE).stderr


def test_a_faster_replay_is_shorter_and_slower_to_respond() -> None:
    once, fast = (answer("replay", RAID5, "-t", TRACE, "--speed", speed) for speed in (1, 20))
    assert fast["trace"]["seconds"] == pytest.approx(once["trace"]["seconds"] / 20)
    assert fast["arrays"][0]["latency_ms"]["mean"] > once["arrays"][0]["latency_ms"]["mean"]


def test_an_array_that_falls_behind_is_an_honest_no() -> None:
    done = run("replay", EXAMPLES / "single-disk.toml", "--trace", TRACE, "--speed", 200, "--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["arrays"][0]["stable"] is False
    assert "keeps up" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--speed", 0), "speed"),
        (("--interval", -1), "interval"),
        (("--plot", "picture.pdf"), "plot"),
    ],
)
def test_options_out_of_range(words: tuple[object, ...], said: str) -> None:
    assert said in refusal("replay", RAID10, "--trace", TRACE, *words)


def test_only_a_trace_can_be_replayed() -> None:
    text = refusal("replay", RAID10, "--trace", EXAMPLES / "measured" / "iostat.txt")
    assert "does not record single requests" in text


def test_a_heat_map_as_a_page_of_both_arrays(tmp_path: Path) -> None:
    page = tmp_path / "replay.html"
    done = run("replay", RAID10, RAID5, "--trace", TRACE, "--heat-map", page)
    assert done.exit_code == 0, done.stderr
    assert "response times over time" in done.stderr
    text = page.read_text()
    assert text.count('"counts"') == 2
    assert "http" not in text


def test_a_heat_map_needs_single_responses_and_a_known_ending(tmp_path: Path) -> None:
    page = tmp_path / "heat.html"
    words = ("simulate", RAID10, "--workload", EXAMPLES / "oltp.toml", "--requests", 500, "--heat-map")
    assert "keeps no single response" in refusal(*words, page, "--keep", "histogram")
    assert "unknown file ending" in refusal(*words, tmp_path / "heat.pdf")
    assert run(*words, tmp_path / "heat.svg", "--only-run-noise").exit_code == 0
    assert (tmp_path / "heat.svg").read_text().startswith("<svg")
    assert not page.exists()
