"""Reads and writes of OpenZFS pools in order, over disks of known mechanics (docs/explanation/validation/pools.md)."""

from __future__ import annotations

import pytest

from tests.validation.zfs import in_order

#: Largest relative difference of a row.
TOLERANCE = 0.15
#: One row of each kind for the fast tests.
FEW = ("mir2_r128_seqread1m_j1", "rz2_6_r128_seqread1m_j1", "mir2_r128_seqwrite1m_j1")


def is_outside(row: dict[str, str]) -> bool:
    """Return whether a row is outside the tolerance in its rate."""
    measured, model = in_order.measured(row), in_order.simulated(row["run"])
    return abs(model.iops / measured.iops - 1) > TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("run", FEW)
def test_some_rows(run: str) -> None:
    assert not is_outside(next(row for row in in_order.rows() if row["run"] == run))


@pytest.mark.long
@pytest.mark.parametrize("row", in_order.rows(), ids=lambda row: row["run"])
def test_in_order(row: dict[str, str]) -> None:
    assert not is_outside(row)
