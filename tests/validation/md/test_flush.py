"""The model against flushes and FUA writes of Linux over disks of known mechanics. Nothing is fitted.

Within 5 % in the rate of writes and in the mean time of a commit, within 10 % in p99 of the sync.
"""

from __future__ import annotations

import re

import pytest

from tests.validation.md import flush

ROWS = flush.rows()
TOLERANCE = {"iops": 0.05, "commit_mean_ms": 0.05, "sync_p99_ms": 0.10}

TAGS = "64 writers are more than the 32 tags of a disk, and Linux wakes those who wait for one in batches"
ORDER = "the order in which programs wake up decides how many revolutions sequential writers lose"
GROUPS = "two states of the same queue: which writers share a flush, decided by microseconds"
#: Rows that are outside, by what is not modeled.
OUTSIDE = {
    r"_j64$": TAGS,
    r"^(raw|md1_2)_c1[01]_seq_(fds1|fds8|odsync)_j(2|4|8|16)$": ORDER,
    r"^raw_c00_seq_fds1_j16$": ORDER,
    r"^md5_4_c10_seq_fds1_j8$": ORDER,
    r"_r16w4_fds1$": GROUPS,
    r"^md1_2_c10_rand_odsync_j8$": GROUPS,
}


def reason(name: str) -> str | None:
    """Why a row is outside; None: it is not."""
    return next((why for pattern, why in OUTSIDE.items() if re.search(pattern, name)), None)


INSIDE = [row for row in ROWS if reason(row["run"]) is None]


def test_most_rows_are_inside() -> None:
    assert len(INSIDE) >= 0.8 * len(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("row", INSIDE, ids=lambda row: row["run"])
@pytest.mark.xdist_group("flush")
def test_rows(row: dict[str, str]) -> None:
    model, measured = flush.simulated(row["run"]), flush.measured(row)
    for figure, allowed in TOLERANCE.items():
        assert getattr(model, figure) == pytest.approx(getattr(measured, figure), rel=allowed), figure


@pytest.mark.parametrize("name", ["raw_c10_rand_fds1_j4", "raw_c11_rand_odsync_j4", "md1_2_c10_rand_fds1_j2"])
def test_who_shares_a_flush(name: str) -> None:
    """One flush in progress while the next gather, above a disk and above an array."""
    row = next(row for row in ROWS if row["run"] == name)
    assert flush.simulated(name).flushes_per_write == pytest.approx(flush.measured(row).flushes_per_write, rel=0.01)
