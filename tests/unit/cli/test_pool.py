"""`diskmodel pool`: what zpool status and arcstats show becomes an array."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diskmodel.array import Array
from tests.unit.cli.commands import refusal, run
from tests.unit.formats.pools.files import RESILVER, STATUS, arcstats, draid, row, status, vdev

DRIVE = ("--drive", "seagate-exos-x18")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "status": STATUS,
        "resilver": RESILVER,
        "first": arcstats(),
        "last": arcstats(hits=1700, misses=300),
        "plain": status(vdev("mirror-0", "sda", "sdb"), name="rpool"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def test_a_pool_becomes_an_array_that_loads(files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "tank.toml"
    log = ("--log-device", "micron-7450-pro-1920", "--record-size", "32KiB")
    done = run("pool", files["status"], files["first"], files["last"], *DRIVE, *log, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("tank: 2 × 6 raidz2, ONLINE\n  logs: nvme0n1p1, nvme1n1p1\n")
    said = " ".join(done.stdout.split())
    assert 'in words: "2x6 seagate-exos-x18 raidz2, record 32KiB, log on micron-7450-pro-1920"' in said
    assert "80.0 % of the blocks that programs read were in the ARC (between the snapshots)" in said
    assert "the log device is left out" not in done.stdout
    array = Array.load(out)
    assert array.controller.read_cache is not None
    assert array.controller.read_cache.hit_ratio == 0.8
    assert array.layout.log is not None
    assert (array.layout.vdevs, array.layout.disks, array.layout.record_bytes) == (2, 12, 32768)


def test_cache_devices_come_with_the_size_of_the_arc(files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "tank.toml"
    cache = ("--cache-device", "micron-7450-pro-1920")
    done = run("pool", files["status"], files["first"], *DRIVE, *cache, "--out", out)
    assert done.exit_code == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "what it and the cache devices serve is simulated" in said
    assert "(L2ARC) are left out" not in said
    array = Array.load(out)
    assert array.layout.cache is not None
    assert array.layout.cache.all_bytes == array.layout.cache.count * 1_920_383_410_176
    assert array.controller.read_cache is not None
    assert array.controller.read_cache.hit_ratio is None
    assert array.l2arc_slots


def test_what_is_left_out_is_said(files: dict[str, Path]) -> None:
    shown = run("pool", files["status"]).stdout
    assert "the log device is left out: name its drive with --log-device" in shown
    assert "cache devices (L2ARC) are left out" in shown
    assert "next: name its drives with --drive" in shown
    alone = " ".join(run("pool", files["first"]).stdout.split())
    assert "since the module was loaded: take two snapshots for a load" in alone


def special(*devices: str) -> str:
    """A pool of two mirrors with a special vdev of these devices, one of which alone is no mirror."""
    own = vdev("mirror-2", *devices) if len(devices) > 1 else row(1, devices[0])
    return status(vdev("mirror-0", "sda", "sdb") + vdev("mirror-1", "sdc", "sdd") + "\tspecial\t\n" + own)


def test_a_special_vdev_is_part_of_the_array(tmp_path: Path) -> None:
    (tmp_path / "status").write_text(special("nvme0n1", "nvme1n1", "nvme2n1"))
    shown = run("pool", tmp_path / "status", *DRIVE)
    assert "the special vdev is left out: name its drive with --special-device" in " ".join(shown.stdout.split())
    named = ("--special-device", "micron-7450-pro-1920")
    shown = run("pool", tmp_path / "status", *DRIVE, *named, "--out", tmp_path / "tank.toml")
    assert "special on 3x micron-7450-pro-1920" in " ".join(shown.stdout.split())
    assert "left out" not in shown.stdout
    loaded = Array.load(tmp_path / "tank.toml").layout
    assert loaded.special is not None
    assert loaded.special.devices == 3
    (tmp_path / "alone").write_text(special("nvme0n1"))
    assert "this one has a disk on its own; leave it out" in refusal("pool", tmp_path / "alone", *DRIVE, *named)
    said = "the special vdev is left out: only a pool with one mirror as its special vdev is modeled"
    assert said in " ".join(run("pool", tmp_path / "alone", *DRIVE).stdout.split())


def test_a_pool_of_draid_and_its_distributed_spares(tmp_path: Path) -> None:
    (tmp_path / "draid").write_text(draid())
    shown = run("pool", tmp_path / "draid", *DRIVE, "--out", tmp_path / "tank.toml").stdout
    assert shown.startswith("tank: 1 × 11 draid2:4d:11c:1s, DEGRADED\n  spares: draid2-0-0 (distributed)\n")
    assert "failed: sdc (resilvering onto draid2-0-0)" in shown
    assert "left out" not in shown
    layout = Array.load(tmp_path / "tank.toml").layout
    assert (layout.level, layout.data_disks, layout.distributed_spares, layout.failed) == ("draid2", 4, 1, (2,))
    (tmp_path / "onto-a-disk").write_text(draid().replace("draid2-0-0 ", "sdx        "))
    shown = " ".join(run("pool", tmp_path / "onto-a-disk", *DRIVE).stdout.split())
    assert "the scan that is in progress is left out: where spares are distributed" in shown


def test_the_document(files: dict[str, Path]) -> None:
    found = json.loads(run("pool", files["resilver"], files["first"], *DRIVE, "--json").stdout)
    assert found["pool"]["scan"]["hours"] == 36
    assert found["arc"]["hit_ratio"] == 0.9
    assert found["words"] == "1x4 seagate-exos-x18 raidz1"
    assert Array.parse(found["array"]).layout.failed == (1,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("status", "resilver"), "--name: is required: there are several pools; one of tank, vault"),
        (("status", "--name", "tonk"), "is in none of the files; it is one of tank"),
        (("status", "--out", "x.toml"), "needs the drive of the pool's disks"),
        (("first", *DRIVE), "--drive='seagate-exos-x18': needs a pool"),
        (("plain", *DRIVE, "--log-device", "micron-7450-pro-1920"), "the pool has no log device"),
        (("plain", *DRIVE, "--special-device", "micron-7450-pro-1920"), "the pool has no special vdev"),
        (("status", *DRIVE, "--log-device", "wd-ultrastar-hc620"), "has zones that the host writes"),
        (("plain", "first", *DRIVE, "--cache-device", "micron-7450-pro-1920"), "the pool has no cache device"),
        (("status", *DRIVE, "--cache-device", "micron-7450-pro-1920"), "add an output of arcstats"),
        (
            ("status", "first", *DRIVE, "--cache-device", "wd-ultrastar-hc620"),
            "has zones that the host writes in order",
        ),
        (("status", *DRIVE, "--record-size", "3k"), "must be a power of two"),
        (("status", "status"), "show a pool twice"),
        (("status", *DRIVE, "--out", "status"), "is an input of this command"),
    ],
)
def test_what_cannot_be(words: tuple[str, ...], message: str, files: dict[str, Path]) -> None:
    assert message in refusal("pool", *(files.get(word, word) for word in words))


def test_a_status_in_the_place_of_an_array(files: dict[str, Path]) -> None:
    said = refusal("simulate", files["status"], "--reads", "70%", "--block", "8k", "--iops", "10")
    assert "does not show the drive; name it with --drive, or make the array's file: diskmodel array" in said


def test_the_pool_that_is_meant(files: dict[str, Path]) -> None:
    assert run("pool", files["status"], files["plain"], "--name", "rpool").stdout.startswith("rpool: 1 × 2 mirror")
    assert "shows no pool" in refusal("pool", Path(__file__).parents[2] / "data" / "formats" / "iostat.txt")


@pytest.mark.slow
def test_no_cache_of_a_controller_is_advised_before_a_pool() -> None:
    load = ("--reads", "70%", "--block", "8k")
    assert "write cache" not in run("capacity", "1x2 generic-15k mirror", *load).stdout
    options = ("--iops", "300", "--capacity", "100GB", "--p99", "60ms", "--drive", "generic-15k", "--level", "mirror")
    planned = run("plan", *options, *load).stdout
    assert "generic-15k" in planned or "Generic 15k" in planned
    assert "write cache" not in planned
