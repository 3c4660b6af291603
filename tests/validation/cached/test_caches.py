"""Caches on SSDs against what was measured of them."""

from __future__ import annotations

import pytest

from tests.validation.cached.caches import PAGE, rows, table


@pytest.mark.slow
def test_rows_whose_sources_say_enough_are_within_the_bar() -> None:
    found = rows()
    assert [row.what for row in found if row.is_bar and abs(row.error) > 0.15] == []
    assert table(found) in PAGE.read_text(encoding="utf-8")
