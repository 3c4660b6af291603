"""Extreme descriptions worked out by hand: an answer from both engines, or an error that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibrate.measure import load
from diskmodel.array import Array
from diskmodel.drive import Hdd
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError, FormatError
from diskmodel.result.laws import check_laws
from diskmodel.workload import Workload
from tests.differential.compare import between


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "9" * 5000 + "}", '{"a":' * 50_000, "\ufeff{}", ""])
def test_a_document_that_is_hard_to_parse_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "measurement.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("capacity = '1e999999999 B'", "use one of B, kB"),
        ("capacity = '" + "9" * 5000 + " B'", "must be a number with a unit"),
        ("capacity = '20 EB'", "unknown unit 'EB'"),
        ("capacity = '-1 TB'", "must be at least 0; raise it"),
        ("capacity_bytes = inf", "must be a finite number"),
        ("capacity_bytes = nan", "must be a finite number"),
        ("capacity = '12'", "has no unit"),
        ("rpm = '0 rpm'", "must be at least 1; raise it"),
        ("interface = '0 MB/s'", "must be at least 1 kB/s; raise it"),
        ("interface_rate = '1 MB/s'", "is not a known field"),
        ("read_overhead = '2 h'", "must be at most 1 h; lower it"),
        ("a = " + "[" * 20_000, "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str, tmp_path: Path) -> None:
    """In time: a number with a billion digits is not written out first."""
    path = tmp_path / "drive.toml"
    path.write_text(f"kind = 'hdd'\nname = 'x'\nheads = 2\n{text}\n")
    with pytest.raises(DescriptionError) as caught:
        Hdd.load(path)
    assert message in str(caught.value)


def test_ten_thousand_disks_of_twenty_terabytes_and_strips_of_one_sector() -> None:
    """The largest and the finest that anybody would write gives an answer from both engines."""
    array = Array.parse(
        {"drive": "seagate-exos-x18", "layout": {"level": "raid10", "disks": 10_000, "strip_bytes": 512}}
    )
    assert array.usable_bytes == 5_000 * (array.drive.capacity_bytes // 512 * 512)
    scenario = resolve(array, 1)
    requests = Workload.parse({"size": "64 KiB", "clients": 8}).requests(capacity_bytes=array.usable_bytes, n=8)
    kernel, simpy = native.run(scenario, requests), simpy_engine.run(scenario, requests)
    check_laws(requests, kernel)
    assert between(requests, simpy, kernel) is None


def test_a_strip_of_one_byte_is_refused_with_a_way_out() -> None:
    with pytest.raises(DescriptionError, match="multiple of the sector size 512; try 512"):
        Array.parse({"drive": "generic-15k", "layout": {"level": "raid0", "disks": 2, "strip_bytes": 1}}).tables()


def test_spindles_that_drift_apart_until_they_stand_still_are_refused() -> None:
    """Found above: of 3000 disks, each 400 ppm faster than the one before, one took no time to turn."""
    array = {"drive": "generic-15k", "layout": {"level": "raid0", "disks": 3000}, "spindles": {"drift_ppm": 400}}
    with pytest.raises(DescriptionError, match=r"spindles.drift_ppm=400.0: .*; use at most 167"):
        resolve(Array.parse(array), 1)
    array["spindles"] = {"drift_ppm": 166}
    assert resolve(Array.parse(array), 1).revolution_ns[-1] > 2_000_000
