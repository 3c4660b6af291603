"""Questions that an interval decides: only those that were open, and as it was measured."""

from __future__ import annotations

import pytest

from tests.validation.coverage.decided import ASKED, decided
from tests.validation.coverage.page import printed


def test_an_interval_of_today_decides_what_that_of_then_left_open() -> None:
    assert len(decided(printed()).splitlines()) == len(ASKED)


@pytest.mark.parametrize(("limit", "words"), [(120.0, "decided now"), (60.0, "open then")])
def test_what_is_still_open_or_was_decided_is_no_example(limit: float, words: str) -> None:
    first = ASKED[0]
    other = type(first)(first.case, first.statistic, first.words, limit, first.low, first.high)
    with pytest.raises(ValueError, match=words):
        decided(printed(), [other])
