"""What is said of evidence that has too little for a fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibrate.fit import calibrate
from diskmodel.errors import InputError
from tests.unit.formats.files import DATA

_HARD_DISK = DATA.parent / "hgst-behind-p420i.fio.json"
_MIX = (
    "random requests, 70 % of them reads, of 8192 bytes at queue depth 16, "
    "sequential reads of 65536 bytes at queue depth 4"
)


@pytest.mark.parametrize(
    ("names", "has"),
    [(["mix-fio-3.33.txt"], _MIX), (["terse4.txt", "terse5.txt"], "none of a known size and queue depth")],
)
def test_the_files_and_what_they_have_are_named(names: list[str], has: str) -> None:
    with pytest.raises(InputError) as raised:
        calibrate([DATA / name for name in names])
    (fault,) = raised.value.faults
    paths = [str(DATA / name) for name in names]
    assert fault.value == (paths if len(paths) > 1 else paths[0])
    assert fault.rule == f"has too few reads: 2 queue depths or sizes are needed, and it has {has}"
    assert "evidence=0" not in str(raised.value)


def _altered(folder: Path, old: str, new: str) -> Path:
    """Return some results of a hard disk with other text in them: a fit to three depths takes the least time."""
    results = json.loads(_HARD_DISK.read_text())
    results["jobs"] = results["jobs"][0:5:2]
    text = json.dumps(results)
    assert old in text
    path = folder / "altered.json"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.slow
def test_a_capacity_that_is_assumed_and_the_page_cache_are_named(tmp_path: Path) -> None:
    assumed = "fio does not report the capacity: 256 GB are assumed; give that of the drive (--capacity)"
    cached = "went through the page cache"
    as_it_is = calibrate(_altered(tmp_path, "randread", "randread")).report["warnings"]
    assert assumed in as_it_is
    assert not [warning for warning in as_it_is if cached in warning]
    path = _altered(tmp_path, '"direct": "1"', '"direct": "0"')
    stated = calibrate(path, capacity_bytes=4 * 10**12).report["warnings"]
    assert not [warning for warning in stated if "capacity" in warning]
    (said,) = [warning for warning in stated if "direct=1" in warning]
    assert cached in said


def test_jobs_that_failed_are_named(tmp_path: Path) -> None:
    path = _altered(tmp_path, '"error": 0', '"error": 5')
    with pytest.raises(InputError, match=r"left out are jobs that fio ended with an error: .*\(error 5\)"):
        calibrate(path)
