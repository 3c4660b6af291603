"""The moving head plays back what the engine did: times add up, places are the mechanics', four I/Os are four."""

from __future__ import annotations

import json
import re

import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.lab import commits_page, record, schedulers_page, small_write_page
from diskmodel.records import Op
from diskmodel.workload import Workload

DISK = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
RAID5 = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 8}})
READS = Workload.parse({"size": "4 KiB", "clients": 8})


def panels(page: str) -> list[dict]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))["panels"]


def test_watching_does_not_change_the_run() -> None:
    requests = READS.requests(capacity_bytes=DISK.usable_bytes, n=300, seed=3)
    recording = record(DISK, requests, seed=3)
    outcome = run(resolve(DISK, 3), requests)
    done = outcome.completions
    assert recording.response_ns == tuple((done.done_ns - done.issue_ns).tolist())
    assert recording.end_ns == outcome.end_ns


def test_movements_follow_each_other_and_fill_the_time_that_the_disk_was_busy() -> None:
    requests = READS.requests(capacity_bytes=DISK.usable_bytes, n=300, seed=3)
    (disk,) = record(DISK, requests, seed=3).disks
    ends = [m.start_ns + m.seek_ns + m.rotation_ns + m.transfer_ns for m in disk.movements]
    assert all(m.start_ns >= end for m, end in zip(disk.movements[1:], ends, strict=False))
    busy = sum(m.seek_ns + m.rotation_ns + m.transfer_ns for m in disk.movements)
    counted = run(resolve(DISK, 3), requests).devices.busy_ns[0]
    # what is in progress when the last request is done counts in full here
    assert 0 <= busy - counted <= max(m.seek_ns + m.rotation_ns + m.transfer_ns for m in disk.movements)


def test_the_first_sector_is_under_the_head_when_the_wait_ends() -> None:
    # one sector each: a longer access may wait a second time, on the next track
    sectors = Workload.parse({"size": "512 B", "clients": 8})
    requests = sectors.requests(capacity_bytes=DISK.usable_bytes, n=300, seed=3)
    (disk,) = record(DISK, requests, seed=3).disks
    for m in disk.movements:
        at_ns = m.start_ns + m.seek_ns + m.rotation_ns + disk.phase_ns
        apart = (at_ns / disk.revolution_ns - m.angle + 0.5) % 1 - 0.5
        assert abs(apart) < 2e-5, "a rounded angle, and the tolerance of a missed sector"


def test_each_scheduler_serves_the_same_requests() -> None:
    fcfs, sptf = panels(schedulers_page(DISK, READS, n_requests=100))
    assert (fcfs["name"], sptf["name"]) == ("fcfs", "sptf")
    places = [sorted((m["cylinder"], m["angle"]) for m in panel["movements"]) for panel in (fcfs, sptf)]
    assert len(places[0]) == 100
    assert places[0] == places[1]
    assert sptf["end_ns"] < fcfs["end_ns"]


def test_a_small_write_is_four_accesses_and_waits_for_the_platter() -> None:
    found = panels(small_write_page(RAID5))
    assert sorted(panel["name"].split(": ")[1] for panel in found) == ["data", "parity"]
    for panel in found:
        read, write = panel["movements"]
        assert (read["op"], write["op"]) == (Op.READ, Op.WRITE)
        assert write["angle"] == read["angle"]
        between_ns = write["start_ns"] + write["rotation_ns"] + write["seek_ns"]
        turns = (between_ns - read["start_ns"] - read["seek_ns"] - read["rotation_ns"]) / panel["revolution_ns"]
        assert round(turns) >= 1
        assert turns == pytest.approx(round(turns), abs=1e-4)
    # neither is written before both are read
    written = min(panel["movements"][1]["start_ns"] for panel in found)
    assert written >= max(panel["movements"][0]["done_ns"] for panel in found)


def test_commits_wait_for_nearly_a_turn_and_share_a_write() -> None:
    alone, eight = panels(commits_page(DISK))
    assert (alone["name"].split(":")[0], eight["name"].split(":")[0]) == ("1 client", "8 clients")
    for panel in (alone, eight):
        waits = [m["rotation_ns"] / panel["revolution_ns"] for m in panel["movements"][1:]]
        assert min(waits) > 0.9
        assert max(waits) < 1
        assert not any(m["seek_ns"] for m in panel["movements"][1:])
    # a commit of one client is a write; eight clients' are shared by two: who was first, and who came meanwhile
    assert (len(alone["movements"]), len(eight["movements"])) == (12, 24)


@pytest.mark.parametrize("disks", [3, 8])
def test_the_story_of_a_small_write_is_the_recording_and_adds_up(disks: int) -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": disks}})
    page = small_write_page(array)
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found.group(1))
    steps = data["story"]["steps"]
    assert sorted(step["name"] for step in steps) == [
        "read old data",
        "read old parity",
        "write new data",
        "write new parity",
    ]
    played = [movement for panel in data["panels"] for movement in panel["movements"]]
    shown = [{key: step[key] for key in played[0]} for step in steps]
    assert sorted(shown, key=str) == sorted(played, key=str)
    total, reading, writing, waiting, revolution = map(float, re.findall(r"([\d.]+) ms", data["story"]["text"]))
    assert total == round(max(step["done_ns"] for step in steps) / 1e6, 2)
    assert reading + writing == pytest.approx(total, abs=0.011)
    assert 0 < waiting < revolution == 4.0
    # a write ends a transfer and some electronics after its sector came round
    assert waiting < writing < waiting + 0.5


def test_the_page_loads_nothing() -> None:
    page = schedulers_page(DISK, READS, n_requests=10)
    assert not re.findall(r"(?:src|href)=\"(?!data:)|https?://|@import|fetch\(", page)


def test_names_cannot_break_out_of_the_page() -> None:
    nasty = Workload.parse({"name": "</script><b>x", "size": "4 KiB", "clients": 1})
    page = schedulers_page(DISK, nasty, n_requests=5)
    assert "<b>x" not in page


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: schedulers_page(DISK, READS, ["fcfs", "lift"]), "scheduler"),
        (lambda: schedulers_page(DISK, READS, ["fcfs"], disk=1), "disk"),
        (lambda: small_write_page(DISK), "layout.level"),
        (lambda: schedulers_page(DISK.model_copy(update={"drive": _flash()}), READS), "drive"),
    ],
)
def test_what_cannot_be_shown_is_reported(call: object, field: str) -> None:
    with pytest.raises(DescriptionError) as raised:
        call()  # type: ignore[operator]
    assert raised.value.faults[0].field == field


def _flash() -> object:
    return Array.parse({"drive": "generic-sas-ssd", "layout": {"level": "jbod", "disks": 1}}).drive
