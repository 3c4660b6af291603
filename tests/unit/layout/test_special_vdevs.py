"""Special vdevs: what goes there, when it ends, and what must fit (rule X26)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload
from diskmodel.drive import load_drive
from diskmodel.drive.auxiliary_devices import log_device_of, special_vdev_of
from diskmodel.engine.run import Engine, run
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.layout.pools.special import metadata_bytes, room_bytes
from diskmodel.records import Run

DRIVE = "micron-7450-pro-1920"
SPECIAL = {"write_ns": 20_000, "bytes_per_s": 1e9}
#: Blocks of a group beside its records: two copies of seven objects, and three rounds of ten in three copies.
OBJECTS = 2 * 7 + 3 * 10 * 3


def pool(level: str = "mirror", disks: int = 2, **fields: Any) -> Array:
    layout = {
        "level": level,
        "disks": disks,
        "member": "16 GiB",
        "record": "8 KiB",
        "dirty_data_max": "16 MiB",
        **fields,
    }
    return Array.parse({"drive": "generic-7k2", "layout": layout})


def written(array: Array, engine: Engine = "native", n: int = 450, **load: Any) -> Run:
    """Writes that nobody waits for, until their first group has been written: a fifth of what may be dirty."""
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0, "rate": "400/s", "span": "64 MiB", **load})
    return run(resolve(array, 0), workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1), engine)


def test_a_log_and_a_special_vdev_are_one_device() -> None:
    """The same drive has the same figures as both; the special vdev has its size, too."""
    log, special = log_device_of(DRIVE), special_vdev_of(f"3x {DRIVE}")
    assert special.figures == log.figures
    assert (special.devices, special.size_bytes) == (3, load_drive(DRIVE).capacity_bytes)


@pytest.mark.parametrize("engine", ["simpy", "native"])
@pytest.mark.parametrize("level", ["mirror", "raidz1"])
def test_no_metadata_goes_to_the_disks(engine: Engine, level: str) -> None:
    """What the disks write less is all metadata of a group, with copies and parity; records stay, and labels."""
    disks, devices_of_a_block = (2, 2) if level == "mirror" else (4, 2)
    without, with_special = (written(pool(level, disks, **more), engine).devices for more in ({}, {"special": SPECIAL}))
    fewer = int(without.write_bytes.sum() - with_special.write_bytes.sum())
    objects = OBJECTS * devices_of_a_block * 4096
    # 44 KiB: one above each of the 8 MiB of data, and one of each of the two levels above them; each in two copies
    blocks = 11 * devices_of_a_block if level == "mirror" else 11 + 4 + 1
    assert fewer - objects == (8 + 1 + 1) * 2 * blocks * 4096
    assert without.n_reads.sum() == with_special.n_reads.sum()


def test_a_slow_special_vdev_holds_up_the_group() -> None:
    """The next group begins when the last label is there: four writes of 200 ms beside the three rounds."""
    fast, slow = (
        written(pool(special={"write_ns": ns, "bytes_per_s": 1e9}), n=3_000, rate="2000/s")
        for ns in (20_000, 2_000_000_000)
    )
    assert slow.completions.done_ns.max() > fast.completions.done_ns.max()


@pytest.mark.parametrize(("vdevs", "has_labels"), [(1, True), (2, True), (3, False)])
def test_labels_are_on_three_vdevs(vdevs: int, has_labels: bool) -> None:
    """The special vdev is the last of them (OpenZFS: `SPA_SYNC_MIN_VDEVS` of all that are no logs)."""
    tables = pool(disks=2 * vdevs, vdevs=vdevs, special=SPECIAL).tables()
    assert tables.pool is not None
    assert (tables.n_groups < tables.pool.writes.labeled_vdevs) == has_labels


def test_room_of_the_metadata() -> None:
    """Of 1,000,000 records: 977 indirect blocks and one above them, of 44 KiB, twice; and metaslabs of 16 GiB."""
    array = pool(special=SPECIAL)
    tables = array.tables()
    assert tables.pool is not None
    used = 1_000_000 / (tables.capacity // tables.pool.record)
    assert metadata_bytes(tables, 512, used + 1e-9) == (977 + 1) * 2 * 44 * 1024
    room = room_bytes(special_vdev_of(f"2x {DRIVE}"))
    assert room is not None
    assert room % (16 << 30) == 0
    assert 0 <= load_drive(DRIVE).capacity_bytes - room < 17 << 30


def test_metadata_that_does_not_fit_is_refused() -> None:
    words = "4x6 seagate-exos-x18 raidz2, record {}, special on 2x micron-7450-pro-1920"
    assert Array(words.format("128KiB")).layout.special is not None
    with pytest.raises(DescriptionError) as caught:
        Array(words.format("4KiB"))
    fault = caught.value.faults[0]
    assert fault.field == "layout.special.size_bytes"
    assert "% of the pool) in records of 4 KiB have" in fault.rule
    assert fault.rule.endswith("so that OpenZFS would put the rest on the disks")
    assert fault.fix == "use larger devices or records"
    little = Array(words.format("128KiB")).to_dict()
    little["layout"] |= {"record": "4 KiB", "special": {"drive": f"2x {DRIVE}", "used": "10%"}}
    del little["layout"]["record_bytes"]
    assert Array.parse(little).layout.special is not None


@pytest.mark.parametrize(
    ("special", "said"),
    [
        (DRIVE, f'is one device, and the pool is lost with it; use a mirror of at least two: "2x {DRIVE}"'),
        ("1x " + DRIVE, "is one device"),
        ("2 " + DRIVE, f'has no x between the number of devices and their drive; write "2x {DRIVE}"'),
        ("3X" + DRIVE, f'write "3x {DRIVE}"'),
        ("2x wd-ultrastar-hc620", "has zones that the host writes in order"),
        ("2x nonesuch", "neither a file nor a drive"),
        ({"drive": DRIVE, "devices": 1}, "devices"),
        ({**SPECIAL, "small_blocks": "8 KiB"}, "would put all records of 8192 bytes on the special vdev"),
    ],
)
def test_what_is_refused(special: Any, said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        pool(special=special)
    assert said in str(caught.value)


def test_only_pools_have_one() -> None:
    with pytest.raises(DescriptionError, match="belongs to pools of OpenZFS"):
        Array.parse({"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 4, "special": SPECIAL}})


def test_ways_to_name_it() -> None:
    words = Array(f"1x6 generic-7k2 raidz2, special on 3x {DRIVE}").layout.special
    table = pool("raidz2", 6, special={"drive": DRIVE, "devices": 3}).layout.special
    assert words == table == pool("raidz2", 6, special=f"3x {DRIVE}").layout.special
    assert pool(special="none").layout.special is None
    assert pool(special={**SPECIAL, "small_blocks": "4 KiB"}).layout.special is not None


def test_it_answers_both_engines_alike() -> None:
    array = pool("raidz1", 4, special=SPECIAL, record_work="30 us")
    runs = [written(array, engine, n=600, sync="fdatasync", rate="200/s") for engine in ("simpy", "native")]
    assert np.array_equal(runs[0].completions.done_ns, runs[1].completions.done_ns)
