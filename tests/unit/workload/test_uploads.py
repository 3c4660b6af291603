"""`--uploads` of `simulate`, `capacity` and `compare`: an object store on an erasure set (rule W11)."""

from __future__ import annotations

import pytest

from diskmodel.workload import uploads
from tests.unit.cli.commands import answer, refusal, run

SET = "12x seagate-exos-x18, erasure 8+4"
FEW = ("--only-run-noise", "--requests", 3000)


def test_twelve_disks_are_busy_with_fifteen_uploads_a_second() -> None:
    """Owners see them fully busy with 10 to 20 of 500 KB (https://github.com/minio/minio/issues/17007)."""
    found = answer("simulate", SET, "--uploads", "15/s", "--block", "500k", *FEW)
    assert found["utilization_ratio"] > 0.9
    assert found["bytes_per_s"] < 2e6
    # two commits for each upload
    assert found["commits_per_s"] == pytest.approx(30, rel=0.1)
    assert {"data", "xl.meta", "directories", "lookups"} <= set(found["per_stream"])


def test_small_objects_are_part_of_their_metadata() -> None:
    sizes = {one["name"]: one["size_bytes"] for one in uploads(5, 100 << 10, 8)["streams"]}
    assert sizes == {"xl.meta": 20 << 10, "directories": 4096, "lookups": 4096}
    rates = {one["name"]: one["rate_per_s"] for one in uploads(5, 1 << 20, 8)["streams"]}
    assert rates == {"data": 5, "xl.meta": 5, "directories": 15, "lookups": 5}


def test_one_drive_stands_for_the_set() -> None:
    said = run("simulate", SET, "--uploads", "5", "--block", "1M", "--span", "4TB", *FEW).output
    assert "5 uploads/s of 1 MiB to 12 such drives" in " ".join(said.split())
    assert "one stands for all" in " ".join(said.split())


def test_a_set_carries_uploads_and_each_waits_for_two_files() -> None:
    found = answer("capacity", SET, "--uploads", "1/s", "--block", "500k", *FEW)
    own = found["uploads"]
    # six requests of a drive are an upload
    assert own["knee_per_s"] == pytest.approx(found["knee"]["offered"] / 6)
    assert 5 < own["knee_per_s"] < 10 < own["most_per_s"]
    waits = answer("simulate", SET, "--uploads", f"{own['knee_per_s']}/s", "--block", "500k", *FEW)["upload_ms"]
    assert set(waits) == set(own["upload_ms"]) == {"data", "xl.meta"}
    assert sum(waits.values()) == pytest.approx(sum(own["upload_ms"].values()), rel=0.2)


def test_sets_are_compared_where_their_drives_do_the_same() -> None:
    slower = SET.replace("seagate-exos-x18", "generic-7k2")
    few = ("--only-run-noise", "--requests", 500)
    said = " ".join(run("compare", SET, slower, "--uploads", "5/s", "--block", "500k", *few).output.split())
    assert said.count("an upload waits") == 2
    assert "one drive of 12x" in said
    wider = SET.replace("8+4", "10+2")
    assert "as many data drives" in refusal("compare", SET, wider, "--uploads", "5/s", "--block", "500k")


@pytest.mark.parametrize(
    ("array", "options", "said"),
    [
        ("8x seagate-exos-x18 raid6", ("--block", "500k"), "an erasure set"),
        (SET, (), "--block"),
        (SET, ("--block", "500k", "--iops", "5"), "--iops"),
        (SET, ("--block", "500k", "--queue-depth", "5"), "--queue-depth"),
        (SET, ("--block", "nothing"), "--block"),
        (SET, ("--block", "500k", "--span", "1000TB"), "--span"),
    ],
)
def test_what_is_refused(array: str, options: tuple[str, ...], said: str) -> None:
    assert said in refusal("simulate", array, "--uploads", "5/s", *options)
