"""The model against flushes and FUA writes of Linux over disks of known mechanics. Nothing is fitted.

Within 5 % in the rate of writes and in the mean time of a commit, on files within 10 %; within 10 % in p99 of the sync.
"""

from __future__ import annotations

import re

import pytest

from tests.validation.md import file_systems, flush

ROWS = flush.rows()
TOLERANCE = {"iops": 0.05, "commit_mean_ms": 0.05, "sync_p99_ms": 0.10}
FILE_TOLERANCE = {"iops": 0.10, "commit_mean_ms": 0.10}

TAGS = "64 writers are more than the 32 tags of a disk, and Linux wakes those who wait for one in batches"
ORDER = "the order in which programs wake up decides how many revolutions sequential writers lose"
GROUPS = "two states of the same queue: which writers share a flush, decided by microseconds"
PHASE = "the log and the data keep their angle to each other, so that each commit takes one revolution, or each two"
MANY = "the order in which many programs wake up after a commit decides how often the disk turns for their data"
#: Rows that are outside, by what is not modeled.
OUTSIDE = {
    r"^raw_c00_(rand|seq)_fds1_j64$": TAGS,
    r"^(raw|md1_2)_c10_rand_odsync_j64$": TAGS,
    r"^(ext4_c10|xfs_c[01]0)_append_fds1_j64$": MANY,
    r"^(raw|md1_2)_c1[01]_seq_(fds1|fds8|odsync)_j(2|4|8|16|64)$": ORDER,
    r"^raw_c00_seq_fds1_j16$": ORDER,
    r"^md5_4_c10_seq_fds1_j8$": ORDER,
    r"_r16w4_fds1$": GROUPS,
    r"^ext4_c1[01]_append_fds1_j16$": MANY,
    r"^xfs_c00_append_fds1_j8$": MANY,
    r"^ext4_c[01]0_overwrite_fds1_j4$": ORDER,
    r"^ext4_c[01]0_shared_fds1_j8$": ORDER,
    r"^xfs_c10_overwrite_fds1_j8$": ORDER,
    r"^xfs_c00_overwrite_direct_odsync_j8$": ORDER,
    r"^xfs_c10_falloc_fds1_j1$": PHASE,
}


def reason(name: str) -> str | None:
    """Why a row is outside; None: it is not."""
    return next((why for pattern, why in OUTSIDE.items() if re.search(pattern, name)), None)


INSIDE = [row for row in ROWS if reason(row["run"]) is None]
#: Whose tails are checked: of one writer, and of two to eight who append to ext4 and commit together.
TAILS = r"^(ext4|xfs).*_j1$|^ext4_.*_append_.*_j[28]$|^ext4_c1[01]_append_.*_j4$"
WITH_TAIL = [row for row in INSIDE if re.search(TAILS, row["run"])]


def test_most_rows_are_inside() -> None:
    assert len(INSIDE) >= 0.8 * len(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("row", INSIDE, ids=lambda row: row["run"])
@pytest.mark.xdist_group("flush")
def test_rows(row: dict[str, str]) -> None:
    model, measured = flush.simulated(row["run"]), flush.measured(row)
    is_file = file_systems.is_file(row)
    for figure, allowed in (FILE_TOLERANCE if is_file else TOLERANCE).items():
        assert getattr(model, figure) == pytest.approx(getattr(measured, figure), rel=allowed), figure


@pytest.mark.slow
@pytest.mark.parametrize("row", WITH_TAIL, ids=lambda row: row["run"])
@pytest.mark.xdist_group("flush")
def test_tails_on_files(row: dict[str, str]) -> None:
    """Those of several writers who overwrite depend on their order."""
    assert flush.simulated(row["run"]).sync_p99_ms == pytest.approx(flush.measured(row).sync_p99_ms, rel=0.10)


FILES = ["ext4_c10_append_fds1_j1", "ext4_c10_append_fds1_j8", "ext4_c10_append_fds1_j64", "ext4_c11_falloc_fds1_j1"]


@pytest.mark.parametrize("name", FILES)
def test_who_shares_a_commit(name: str) -> None:
    """Half of the writers are in a commit, and each has two flushes, or one and a FUA write."""
    row = next(row for row in ROWS if row["run"] == name)
    assert flush.simulated(name).flushes_per_write == pytest.approx(flush.measured(row).flushes_per_write, rel=0.01)


@pytest.mark.parametrize("name", ["raw_c10_rand_fds1_j4", "raw_c11_rand_odsync_j4", "md1_2_c10_rand_fds1_j2"])
def test_who_shares_a_flush(name: str) -> None:
    """One flush in progress while the next gather, above a disk and above an array."""
    row = next(row for row in ROWS if row["run"] == name)
    assert flush.simulated(name).flushes_per_write == pytest.approx(flush.measured(row).flushes_per_write, rel=0.01)
