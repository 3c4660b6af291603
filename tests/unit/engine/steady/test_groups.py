"""Sizes of transaction groups: different records, and indirect blocks above them (rules X12, Z12)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskmodel import Array, Workload, simulate
from diskmodel.engine.steady.pools.groups import n_above, n_different

RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=12)


def columns(ranges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    first = np.array([first for first, _ in ranges], np.int64)
    return first, first + np.array([more for _, more in ranges], np.int64)


@given(RANGES)
def test_records_of_many_writes_count_once(ranges: list[tuple[int, int]]) -> None:
    touched = {record for first, more in ranges for record in range(first, first + more + 1)}
    assert n_different(*columns(ranges)) == len(touched)


@given(RANGES)
def test_indirect_blocks_are_those_of_single_records(ranges: list[tuple[int, int]]) -> None:
    records, level, n_found = {r for first, more in ranges for r in range(first, first + more + 1)}, 100, 0
    while level > 1:
        level = -(-level // 8)
        records = {record // 8 for record in records}
        n_found += len(records)
    assert n_above(100, 8, *columns(ranges)) == n_found


@pytest.mark.parametrize(
    ("drive", "level", "disks", "record"),
    [("generic-7k2", "raidz1", 3, "4 KiB"), ("micron-7450-pro-1920", "mirror", 2, "16 KiB")],
)
def test_a_run_too_short_to_fill_memory_begins_where_it_is_full(
    drive: str, level: str, disks: int, record: str
) -> None:
    """Writes of 16 MiB in small records are so much work that a run has some dozens: memory answered them all."""
    array = Array.parse({"drive": drive, "layout": {"level": level, "disks": disks, "record": record}})
    load = Workload.parse({"size": "16 MiB", "read_ratio": 0, "clients": 1000})
    found = simulate(array, load, profile_draws=0)
    assert 10e6 < found.bytes_per_s < 1.1 * disks * array.drive.sequential_bytes_per_s


def test_indirect_blocks_of_all_levels() -> None:
    """A pool of 2 million records: 3 records under 2 blocks, these under 2, and these under one."""
    records = np.array([0, 1023, 1_500_000])
    assert n_above(2_000_000, 1024, records, records) == 2 + 2 + 1
