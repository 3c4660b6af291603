"""Results of dd, hdparm -t, pg_test_fsync, CrystalDiskMark, rados bench and bonnie++, as jobs."""

from pathlib import Path

import pytest

from diskmodel.errors import FormatError
from diskmodel.explanation.read import read_results
from diskmodel.formats import detect_evidence
from diskmodel.formats.benchmarks.registry import jobs_of_text

DD = """# dd if=/dev/zero of=/mnt/test bs=1M count=1024 oflag=dsync
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 23.8609 s, 45.0 MB/s
"""
HDPARM = """
/dev/sda:
 Timing cached reads:   24610 MB in  1.99 seconds = 12370.15 MB/sec
 Timing buffered disk reads: 510 MB in  3.00 seconds = 169.90 MB/sec
"""
PG = """5 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                        89.412 ops/sec   11184 usecs/op
        fdatasync                            90.111 ops/sec   11097 usecs/op
        fsync                                45.701 ops/sec   21881 usecs/op
        fsync_writethrough                              n/a
        open_sync                            44.988 ops/sec   22228 usecs/op

Compare file sync methods using two 8kB writes:
        open_datasync                        44.9 ops/sec   22271 usecs/op
"""
CDM = """------------------------------------------------------------------------------
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
------------------------------------------------------------------------------
[Read]
  SEQ    1MiB (Q=  8, T= 1):   561.983 MB/s [    535.9 IOPS] < 14893.73 us>
  RND    4KiB (Q= 32, T= 1):   270.118 MB/s [  65946.8 IOPS] <   472.83 us>
  RND    4KiB (Q=  1, T= 1):    36.422 MB/s [   8892.1 IOPS] <   112.29 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):   529.900 MB/s [    505.4 IOPS] < 15786.41 us>
"""
RADOS = """Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds
Total time run:         10.2651
Total writes made:      268
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     104.431
Average IOPS:           26
Average Latency(s):     0.609
"""
BONNIE = """Version  1.03e      ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
node1        15744M 50713  96 60800  22 29376  11 53011  82 76928  10 182.4   0
"""
#: Of a newer version, which seeks with five processes, without its tests by character.
BONNIE_2 = """Version  1.98       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
node1           16G            512m  45  210m  30            620m  40 +++++ +++
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "kind", "figures"),
    [
        (DD, "dd", [(42.915, 1, 1 << 20)]),
        (HDPARM, "hdparm", [(85.0, 1, 2 << 20)]),
        (PG, "pg-test-fsync", [(89.412, 1, 8192), (90.111, 1, 8192), (45.701, 1, 8192), (44.988, 1, 8192)]),
        (CDM, "crystaldiskmark", [(535.9, 8, 1 << 20), (65946.8, 32, 4096), (8892.1, 1, 4096), (505.4, 8, 1 << 20)]),
        (RADOS, "rados-bench", [(26.108, 16, 4 << 20)]),
        (BONNIE, "bonnie", [(475, 1, 1 << 17), (601, 1, 1 << 17), (182.4, 3, 8192)]),
        (BONNIE_2, "bonnie", [(4096, 1, 1 << 17), (4960, 1, 1 << 17)]),
    ],
)
def test_a_result_becomes_measured_loads(
    text: str, kind: str, figures: list[tuple[float, int, int]], tmp_path: Path
) -> None:
    path = written(tmp_path / "result.txt", text)
    assert detect_evidence(path) == kind
    loads, _ = read_results([path])
    assert [
        (pytest.approx(one.figures["iops"], rel=1e-3), one.workload.queue_depth, one.workload.mean_size_bytes)
        for one in loads
    ] == figures


def test_writes_of_dd_and_of_pg_test_fsync_are_safe_as_they_were_asked_to_be(tmp_path: Path) -> None:
    (one,), _ = read_results([written(tmp_path / "dd.txt", DD)])
    assert one.workload.streams[0].sync == "dsync"
    loads, _ = read_results([written(tmp_path / "pg.txt", PG)])
    assert [load.workload.streams[0].sync for load in loads] == ["dsync", "fdatasync", "fsync", "dsync"]


def test_dd_without_its_command_is_refused() -> None:
    with pytest.raises(FormatError, match="without its command"):
        jobs_of_text(DD.partition("\n")[2], "dd.txt", "dd")


def test_dd_through_memory_says_so() -> None:
    (job,) = jobs_of_text(DD.replace("oflag=dsync", ""), "dd.txt", "dd")
    assert job.is_direct is False
    assert any("may still be in memory" in note for note in job.notes)


def test_rados_bench_without_its_end_is_refused() -> None:
    short = "\n".join(line for line in RADOS.splitlines() if "size:" not in line)
    with pytest.raises(FormatError, match="without its time or size"):
        jobs_of_text(short, "rados.txt", "rados-bench")


def test_bonnie_without_a_whole_row_is_refused() -> None:
    with pytest.raises(FormatError, match="without a whole row"):
        jobs_of_text(BONNIE.rpartition("node1")[0], "bonnie.txt", "bonnie")


def test_pg_test_fsync_without_the_size_of_a_write_is_refused() -> None:
    with pytest.raises(FormatError, match="does not say how much pg_test_fsync writes at once"):
        jobs_of_text(PG.replace("one 8kB write", "one"), "pg.txt", "pg-test-fsync")
    with pytest.raises(FormatError, match="does not say how much pg_test_fsync writes at once"):
        jobs_of_text(PG.replace("8kB", f"{'9' * 5000}kB"), "pg.txt", "pg-test-fsync")


def test_blanks_around_a_result_cost_little() -> None:
    """Each of many blanks was tried as the beginning of a row or a command, up to the last of them."""
    ends = "\n" * 300_000
    assert jobs_of_text(ends + CDM, "cdm.txt", "crystaldiskmark") == jobs_of_text(CDM, "cdm.txt", "crystaldiskmark")
    assert len(jobs_of_text(DD + "dd " + " " * 300_000 + "dd if " * 50_000, "dd.txt", "dd")) == 1
    assert len(jobs_of_text(PG.replace("Compare", ends + "Compare"), "pg.txt", "pg-test-fsync")) == 4
