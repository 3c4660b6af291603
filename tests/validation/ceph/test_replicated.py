"""Volumes of Vitastor and DRBD against what was measured of them."""

from __future__ import annotations

import pytest

from tests.validation.ceph.clusters import Row, errors, is_inside, rows
from tests.validation.ceph.replicated import DATA, PAGE, page


@pytest.mark.slow
@pytest.mark.evidence
@pytest.mark.parametrize("row", [row for row in rows(DATA) if row.role == "held out"], ids=lambda row: row.load)
def test_held_out_row(row: Row) -> None:
    assert abs(errors(row)["iops"]) < 0.20
    assert is_inside(row)


@pytest.mark.slow
def test_the_page_is_of_this_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
