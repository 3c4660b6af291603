"""Pools of OpenZFS from zpool status, and their cache from arcstats."""

import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, FormatError
from diskmodel.formats import detect_evidence, find_workload
from diskmodel.formats.pools import arc_of_texts, pools_of_text
from diskmodel.formats.pools.array import pool_array, pool_words, short_fields
from tests.unit.formats.pools.files import RESILVER, SEQUENTIAL, STATUS, TWO_RAIDZ2, arcstats, draid, row, status, vdev

DRIVE = load_drive("seagate-exos-x18")


def only(text: str):
    (pool,) = pools_of_text(text, "status.txt")
    return pool


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_shape_of_a_pool(end):
    pool = only(STATUS.replace("\n", end))
    assert (pool.name, pool.state, pool.in_words()) == ("tank", "ONLINE", "2 × 6 raidz2")
    assert [disk.name for disk in pool.vdevs[1].disks] == [f"sd{x}" for x in "ghijkl"]
    assert {group: [v.shape for v in vdevs] for group, vdevs in pool.others.items()} == {
        "logs": [("mirror", 2)],
        "cache": [("disk", 1)],
        "spares": [("disk", 1)],
    }
    assert str(pool.scan) == "the last scrub took 7.5 h"
    assert pool_words(pool, "seagate-exos-x18") == "2x6 seagate-exos-x18 raidz2"
    array = pool_array(pool, DRIVE, {"record": "32 KiB"}, {})
    assert array.layout == Array.from_words("2x6 seagate-exos-x18 raidz2, record 32KiB").layout.model_copy(
        update={"spares": 1}
    )
    assert short_fields(array, "seagate-exos-x18") == {
        "name": "tank",
        "drive": "seagate-exos-x18",
        "layout": {"level": "raidz2", "disks": 12, "vdevs": 2, "spares": 1, "record_bytes": 32768},
    }


def test_a_prompt_files_with_errors_and_another_pool_do_no_harm():
    other = status(vdev("mirror-0", "sdx", "sdy"), name="rpool", after="\n")
    listed = STATUS.replace(
        "No known data errors",
        "Permanent errors have been detected in the following files:\n\n        /tank/x y.bin",
    )
    first, second = pools_of_text(f"root@nas:~# zpool status -v\n{listed}{other}", "")
    assert (first.in_words(), second.name, second.in_words()) == ("2 × 6 raidz2", "rpool", "1 × 2 mirror")


def test_a_disk_that_is_replaced_is_resilvered_onto_a_spare():
    pool = only(RESILVER)
    assert [(disk.name, disk.is_failed, disk.is_resilvering) for disk in pool.vdevs[0].disks] == [
        ("sda", False, False),
        ("sde", True, True),
        ("sdc", False, False),
        ("sdd", False, False),
    ]
    assert pool.scan is not None
    assert (pool.scan.done_ratio, pool.scan.hours, pool.scan.bytes_per_s) == (0.1, 36.0, 290 * 2**20)
    layout = pool_array(pool, DRIVE, {}, {}).layout
    assert (layout.failed, layout.spares) == ((1,), 1)
    assert layout.rebuild is not None
    assert (layout.rebuild.disk, layout.rebuild.done_ratio) == (1, 0.1)
    assert layout.rebuild.used_ratio == pytest.approx(40 * 2**40 / (4 * DRIVE.capacity_bytes), abs=1e-4)
    assert str(pool.scan) == "a resilver is in progress, 10.0 % done, 290 MiB/s, 36 h to go"


def test_a_spare_that_has_all_data_leaves_no_failed_disk():
    devices = (
        row(1, "mirror-0", "DEGRADED")
        + row(2, "sda")
        + row(2, "spare-1", "DEGRADED")
        + row(3, "sdb", "FAULTED", "  too many errors")
        + row(3, "sdm")
        + "\tspares\n"
        + row(1, "sdm", "INUSE")
    )
    pool = only(status(devices, state="DEGRADED"))
    assert pool.vdevs[0].shape == ("mirror", 2)
    assert [disk.is_failed for disk in pool.vdevs[0].disks] == [False, False]


def test_a_new_side_of_a_mirror_has_no_data_and_a_disk_that_was_away_has():
    running = (
        "resilver in progress since x\n\t1.00T scanned at 1G/s, 512G issued at 100M/s, 2.00T total\n\t0B, 25% done"
    )
    new = row(1, "mirror-0") + row(2, "sda") + row(2, "sdb", more="  (resilvering)")
    pool = only(status(new, scan=running))
    assert [disk.is_failed for disk in pool.vdevs[0].disks] == [False, True]
    assert pool.scan is not None
    assert (pool.scan.total_bytes, pool.scan.bytes_per_s, pool.scan.done_ratio) == (2 * 2**40, 100 * 2**20, 0.25)
    assert pool_array(pool, DRIVE, {}, {}).layout.rebuild.used_ratio == pytest.approx(
        2 * 2**40 / DRIVE.capacity_bytes, abs=1e-4
    )
    away = row(1, "raidz1-0") + row(2, "sda", more="  (resilvering)") + row(2, "sdb") + row(2, "sdc")
    pool = only(status(away, scan=running))
    assert not any(disk.is_failed for disk in pool.vdevs[0].disks)
    assert any("sda is resilvered with what it missed" in note for note in pool.notes)


@pytest.mark.parametrize("vdevs", [1, 2])
def test_a_disk_of_draid_is_resilvered_onto_a_distributed_spare(vdevs):
    pool = only(draid(vdevs=vdevs))
    assert [(disk.name, disk.spare) for disk in pool.vdevs[0].disks if disk.is_failed] == [("sdc", "draid2-0-0")]
    assert (pool.n_spares, pool.notes, len(pool.vdevs)) == (0, [], vdevs)
    assert pool.scan is not None
    assert str(pool.scan) == "a sequential resilver is in progress, 25.0 % done, 6216 MiB/s, 10.5 h to go"
    words = pool_words(pool, "seagate-exos-x18")
    assert words == f"{vdevs}x11 seagate-exos-x18 draid2:4d:11c:1s"
    layout = pool_array(pool, DRIVE, {}, {}).layout
    rebuild = layout.rebuild
    assert (layout.failed, layout.spares, layout.is_rebuilt_in_order) == ((2,), 0, True)
    # what the vdev stores, of the ten disks that are not spare space
    assert (rebuild.disk, rebuild.done_ratio, rebuild.sequential) == (2, 0.25, None)
    assert rebuild.used_ratio == pytest.approx(60 * 2**40 / (10 * DRIVE.capacity_bytes), abs=1e-4)
    assert Array.from_words(words).layout == layout.model_copy(update={"failed": (), "rebuild": None})


def test_a_distributed_spare_that_has_all_data_and_the_scrub_behind_it():
    scrub = "scrub in progress since x\n\t10T / 60T scanned at 2G/s, 6T / 60T issued at 1G/s\n\t0B repaired, 10% done"
    ended = "  scan: resilvered (draid2:4d:11c:1s-0) 374G in 00:03:20 with 0 errors on x"
    pool = only(draid("", scan=f"{scrub}\n{ended}"))
    assert not any(disk.is_failed for vdev in pool.vdevs for disk in vdev.disks)
    assert any("what sdc had is on the distributed spare draid2-0-0" in note for note in pool.notes)
    layout = pool_array(pool, DRIVE, {}, {}).layout
    assert (layout.failed, layout.rebuild.action, layout.rebuild.done_ratio) == ((), "check", 0.1)
    assert str(only(draid("", scan=ended[8:])).scan) == "the last sequential resilver took 0.0556 h"


def test_a_disk_that_takes_back_what_a_distributed_spare_has():
    pool = only(draid("", beside="sdx", scan=RESILVER[RESILVER.index("resilver in") : RESILVER.index("\nconfig")]))
    assert not any(disk.is_failed for vdev in pool.vdevs for disk in vdev.disks)
    layout = pool_array(pool, DRIVE, {}, {}).layout
    assert (layout.failed, layout.rebuild, layout.spares) == ((), None, 0)


def test_a_mirror_that_is_resilvered_in_the_order_of_space():
    devices = (
        row(1, "mirror-0") + row(2, "sda") + row(2, "sdb", more="  (resilvering)") + vdev("mirror-1", "sdc", "sdd")
    )
    pool = only(status(devices, scan=SEQUENTIAL.replace("draid2:4d:11c:1s-0", "mirror-0").replace("60T", "6T")))
    rebuild = pool_array(pool, DRIVE, {}, {}).layout.rebuild
    assert (rebuild.disk, rebuild.sequential) == (1, True)
    # zpool counts what the one vdev stores
    assert rebuild.used_ratio == pytest.approx(6 * 2**40 / DRIVE.capacity_bytes, abs=1e-4)


@pytest.mark.parametrize(
    ("progress", "hours", "rate"),
    [
        ("14.1T scanned out of 99.2T at 408M/s, 60h30m to go\n\t0B repaired, 14.17% done", 60.5, 408),
        (
            "6T scanned at 1G/s, 4T issued at 444M/s, 8T total\n\t0B repaired, 66% done, 0 days 01:30:00 to go",
            1.5,
            444,
        ),
        ("1T / 2T scanned, 1T / 2T issued\n\t0B repaired, 50.00% done", None, None),
        ("1T / 2T scanned at 9M/s, 0B / 2T issued\n\t0B repaired, no estimated completion time", None, None),
    ],
)
def test_a_scrub_in_the_words_of_each_version(progress, hours, rate):
    began = "scrub in progress since x" if rate else "scrub paused since x\n\tscrub started on y"
    pool = only(status(TWO_RAIDZ2, scan=f"{began}\n\t{progress}"))
    assert pool.scan is not None
    assert pool.scan.is_running
    assert not pool.scan.is_resilver
    assert pool.scan.hours == hours
    assert pool.scan.bytes_per_s == (None if rate is None else rate * 2**20)
    layout = pool_array(pool, DRIVE, {}, {}).layout
    assert (layout.failed, layout.rebuild.action) == ((), "check")


@pytest.mark.parametrize(
    ("scan", "words"),
    [
        ("none requested", "None"),
        ("scrub canceled on Sun Nov  8 07:55:06 2026", "None"),
        ("resilvered 9.56T in 57h6m with 1 errors on x", "the last resilver took 57.1 h"),
        ("scrub repaired 0 in 1 days 02:30:00 with 0 errors on x", "the last scrub took 26.5 h"),
        ("scrub repaired 0 in 3h15m with 0 errors on x", "the last scrub took 3.25 h"),
        ("scrub repaired 0B in 0 days 00:15:00 with 0 errors on x", "the last scrub took 0.25 h"),
    ],
)
def test_a_scan_that_has_ended(scan, words):
    assert str(only(status(TWO_RAIDZ2, scan=scan)).scan) == words


def test_blocks_that_are_smaller_than_the_drives_own():
    devices = vdev("mirror-0", "sda") + row(2, "sdb", more="  block size: 512B configured, 4096B native")
    assert pool_array(only(status(devices)), DRIVE, {}, {}).layout.ashift == 9


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (vdev("raidz2-0", *"abcdef") + vdev("raidz2-1", *"ghijk"), "must be alike"),
        (vdev("raidz2-0", *"abcdef") + vdev("mirror-1", "g", "h"), "must be alike"),
        (row(1, "sda") + row(1, "sdb"), "a disk on its own is not taken over"),
        (vdev("draid2:4d:8c:1s-0", *"abcdefg"), "has 7 disks instead of 8; give the whole output"),
        (vdev("draid2:4d:8c:1s-0", *"abcdefgh") + vdev("draid2:5d:8c:1s-1", *"ijklmnop"), "must be alike"),
        (vdev("draid2:4d:8c:1s:2w-0", *"abcdefgh"), "failure domains are not modeled"),
    ],
)
def test_pools_that_are_no_array_of_ours(devices, message):
    with pytest.raises(DescriptionError, match=message):
        pool_array(only(status(devices)), DRIVE, {}, {})


def test_a_drive_that_is_too_small_for_what_is_stored():
    with pytest.raises(DescriptionError, match="holds less than the pool stores: 40 TiB"):
        pool_array(only(RESILVER), load_drive("generic-15k"), {}, {})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (STATUS[STATUS.index("\tNAME") : STATUS.index("\nerrors")], "", "shows no devices of the pool tank"),
        (row(2, "sdb"), "\t    sdb  BROKEN 0 0 0\n", "is no line of the devices"),
        (row(2, "sdb"), "\t   sdb  ONLINE 0 0 0\n", "is no line of the devices"),
        (row(2, "sdb"), "\t    sdb\n", "is no line of the devices"),
        (row(1, "raidz2-0"), "", "is a disk without its vdev"),
        (row(1, "raidz2-0"), row(0, "raidz2-0"), "the blanks before the names"),
    ],
)
def test_what_is_wrong_with_a_status(old, new, message):
    assert old in STATUS
    with pytest.raises(FormatError, match=message):
        pools_of_text(STATUS.replace(old, new, 1), "status.txt")


def test_an_output_that_may_be_cut_short():
    cut = only(STATUS[: STATUS.index("\t    sdk")])
    assert cut.in_words() == "1 × 6 raidz2 and 1 × 4 raidz2"
    assert any("if it was cut short, devices are missing" in note for note in cut.notes)
    assert not any("cut short" in note for note in only(STATUS).notes)


def test_both_are_recognized_and_hold_no_load(tmp_path):
    for number, (kind, text) in enumerate((("zpool-status", STATUS), ("arcstats", arcstats()), ("arcstats", ARCSTAT))):
        path = tmp_path / str(number)
        path.write_text(text)
        assert detect_evidence(path) == kind
        with pytest.raises(FormatError, match="give it to `diskmodel pool`"):
            find_workload(path)


# ---------------------------------------------------------------- arcstats


def test_one_snapshot_counts_from_the_beginning():
    arc = arc_of_texts([(arcstats(io_hits=250, hits=500, misses=250), "")])
    assert arc.hit_ratio == 0.5
    assert (arc.reads["demand_data"].n, arc.reads["demand_data"].io_hits) == (1000, 250)
    assert (arc.size_bytes, arc.max_bytes, arc.is_interval) == (62 << 30, 64 << 30, False)


@pytest.mark.parametrize("is_one_file", [True, False])
def test_two_snapshots_give_what_was_read_between_them(is_one_file):
    first, last = arcstats(), arcstats(hits=1700, misses=300, l2_hits=30, l2_misses=170, l2_size=1 << 40)
    texts = [(f"1790000000\n{first}1790000600\n{last}", "")] if is_one_file else [(first, ""), (last, "")]
    arc = arc_of_texts(texts)
    assert arc.hit_ratio == pytest.approx(0.8)
    assert arc.is_interval
    assert arc.l2_reads.hit_ratio == pytest.approx(0.15)


def test_sysctl_of_freebsd_and_versions_without_hits_in_progress():
    text = "".join(
        f"kstat.zfs.misc.arcstats.{line.split()[0]}: {line.split()[2]}\n"
        for line in arcstats(io_hits=None).split("\n")[2:]
        if line
    )
    assert arc_of_texts([(text, "")]).hit_ratio == 0.9


def test_a_cache_that_nobody_read_from():
    assert arc_of_texts([(arcstats(hits=0, misses=0), "")]).hit_ratio is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c_max ", "c_most ", "has no c_max"),
        ("4    900", "4    9OO", "is no line of arcstats"),
        ("size   ", "arcsz  ", "has no size"),
        ("4    900", "4    -5", "has a negative demand_data_hits"),
    ],
)
def test_what_is_wrong_with_arcstats(old, new, message):
    assert old in arcstats()
    with pytest.raises(FormatError, match=message):
        arc_of_texts([(arcstats().replace(old, new), "arcstats")])


def test_snapshots_in_the_wrong_order():
    with pytest.raises(FormatError, match="has a smaller demand_data_hits than the snapshot before it"):
        arc_of_texts([(arcstats(), "a"), (arcstats(hits=1), "b")])


ARCSTAT = """\
    time  read  ddread  ddh%  dmread  dmh%  pread  ph%   size      c  avail
11:28:34  9.9M    8.0M    93    1.6M   100   300K   10    62G    62G   1.8G
11:28:44  1.2K     900    90     300   100      0    0    61G    64G   1.8G
11:28:54   150     100    50      50   100      0    0    62G    64G   1.8G
"""


def test_a_table_of_arcstat_without_its_first_line():
    arc = arc_of_texts([(ARCSTAT, "")])
    assert arc.hit_ratio == pytest.approx((810 + 50) / 1000)
    assert (arc.size_bytes, arc.max_bytes, arc.is_interval) == (62 << 30, 64 << 30, True)
    only = arc_of_texts([("\n".join(ARCSTAT.split("\n")[:2]), "")])
    assert (only.hit_ratio, only.is_interval) == (pytest.approx(0.93), False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ddread  ddh%", "miss   miss%", "has no column ddread"),
        ("    90  ", "    9x  ", "must be a number"),
        ("11:28:54   150", "11:28:54", "is no line of arcstat"),
        ("11:28:34  9.9M", "Use -h for help", "is no line of arcstat"),
    ],
)
def test_what_is_wrong_with_a_table_of_arcstat(old, new, message):
    assert old in ARCSTAT
    with pytest.raises(FormatError, match=message):
        arc_of_texts([(ARCSTAT.replace(old, new, 1), "arcstat.txt")])


def test_a_table_of_arcstat_beside_snapshots():
    with pytest.raises(FormatError, match="covers a time of its own"):
        arc_of_texts([(ARCSTAT, "a"), (arcstats(), "b")])


@pytest.mark.parametrize("kind", ["mirror", "raidz1"])
def test_a_working_disk_that_is_replaced(kind):
    inner = row(2, "replacing-1") + row(3, "sdb") + row(3, "sdx", more="  (resilvering)")
    devices = row(1, f"{kind}-0") + row(2, "sda") + inner + row(2, "sdc")
    (pool,) = pools_of_text(status(devices), "")
    assert [(disk.name, disk.is_failed) for disk in pool.disks] == [("sda", False), ("sdb", False), ("sdc", False)]
    assert any("sdb works and is being replaced by sdx" in note for note in pool.notes)


def test_an_expansion_in_progress():
    expand = "expand: expansion of raidz1-0 in progress since Sat\n\t1T / 8T copied at 105M/s, 12% done\nconfig:"
    (pool,) = pools_of_text(STATUS.replace("config:", expand, 1), "")
    assert any("an expansion is in progress" in note and "105M/s" in note for note in pool.notes)


def test_a_scan_of_many_digits_costs_little():
    """Each of 60,000 digits was tried as the beginning of a time."""
    assert only(STATUS.replace("scan: ", f"scan: resilver repaired in {'9' * 60_000} ")).scan.hours is None
