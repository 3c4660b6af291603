"""Windows of read-ahead by hand, as Linux's rules make them (pages of 8 sectors)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.host.description import Host
from diskmodel.host.read_ahead import ReadAhead, cut


def test_without_read_ahead_each_read_fetches_its_own_pages() -> None:
    ahead = ReadAhead(0, 8, 10_000)
    assert ahead.read(0, 16) == [(0, 16)]
    assert ahead.read(16, 32) == [(16, 32)]
    assert ahead.read(501, 502) == [(496, 504)]


def test_windows_grow_to_their_limit_and_the_next_is_asked_for_at_the_mark() -> None:
    ahead = ReadAhead(256, 8, 10**6)
    assert ahead.read(0, 16) == [(0, 16)]
    # second read of a sequential reader: 2 pages, at most a quarter of the limit, are doubled
    assert ahead.read(16, 32) == [(16, 48)]
    # behind the mark: the next window, twice as long, then at the limit
    assert ahead.read(32, 48) == [(48, 112)]
    assert ahead.read(48, 64) == [(112, 240)]
    assert [ahead.read(at, at + 16) for at in range(64, 112, 16)] == [[], [], []]
    assert ahead.read(112, 128) == [(240, 496)]
    assert [ahead.read(at, at + 16) for at in range(128, 240, 16)] == [[]] * 7
    assert ahead.read(240, 256) == [(496, 752)]


def test_everything_is_fetched_once_and_nothing_beyond_the_end() -> None:
    ahead = ReadAhead(2048, 8, 5000)
    fetched = [piece for at in range(0, 5000 - 40, 40) for piece in ahead.read(at, at + 40)]
    assert fetched[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(fetched))
    assert fetched[-1][1] == 5000


def test_a_window_is_cut_at_the_longest_request() -> None:
    assert cut(0, 2500, 1024) == [(0, 1024), (1024, 2048), (2048, 2500)]


def test_read_ahead_of_direct_io_is_refused() -> None:
    with pytest.raises(DescriptionError, match="is_buffered"):
        Host.parse({"read_ahead": "128 KiB"})
