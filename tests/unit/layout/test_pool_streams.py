"""Streams that a pool reads ahead of (rule X18): by how much, when, and whom it forgets."""

from __future__ import annotations

from diskmodel.layout.pools.streams import ReadTables, Streams

SECOND = 1_000_000_000
TABLES = ReadTables(streams=2, reap_ns=SECOND, least=16, most=20, held=100, active=3)


def test_the_distance_doubles_and_then_grows_where_a_reader_comes_too_early() -> None:
    streams = Streams(TABLES, 1000)
    assert streams.read(0, 2, 0) == (None, False)
    asked = []
    for first in range(2, 14, 2):
        stream, comes_to_others = streams.read(first, first + 2, 0)
        assert stream is not None
        assert comes_to_others
        asked.append(list(streams.ahead(stream, is_missed=True)))
    assert [(records[0], records[-1]) for records in asked[:4]] == [(4, 5), (6, 9), (10, 15), (16, 25)]
    assert [len(records) for records in asked[4:]] == [2, 2]  # 16 are enough: as many more as were read
    assert stream is not None
    streams.came(stream, 13)
    streams.read(14, 16, 0)
    assert len(streams.ahead(stream, is_missed=True)) == 4  # an eighth of 16 more
    streams.came(stream, 17)  # not read yet
    streams.read(16, 18, 0)
    assert len(streams.ahead(stream, is_missed=True)) == 2


def test_nothing_is_read_ahead_of_a_reader_that_finds_all_in_memory() -> None:
    streams = Streams(TABLES, 1000)
    streams.read(0, 1, 0)
    stream, _ = streams.read(1, 2, 0)
    assert stream is not None
    assert streams.ahead(stream, is_missed=False) == range(0)
    streams.read(2, 3, 0)
    assert list(streams.ahead(stream, is_missed=True)) == [3, 4]


def test_a_record_that_is_read_in_parts_is_one_step() -> None:
    streams = Streams(TABLES, 1000)
    streams.read(0, 1, 0)
    stream, comes_to_others = streams.read(0, 1, 0)
    assert stream is not None
    assert not comes_to_others
    assert streams.read(0, 2, 0) == (stream, True)
    assert list(streams.ahead(stream, is_missed=True)) == [2]


def test_nothing_is_read_behind_the_last_record() -> None:
    streams = Streams(TABLES, 4)
    streams.read(0, 2, 0)
    stream, _ = streams.read(2, 4, 0)
    assert stream is not None
    assert not list(streams.ahead(stream, is_missed=True))


def test_the_stream_used_longest_ago_is_forgotten_after_a_second() -> None:
    streams = Streams(TABLES, 1000)
    for first in (0, 100):
        streams.read(first, first + 1, 0)
        streams.read(first + 1, first + 2, first)
    streams.read(200, 201, SECOND - 1)
    assert streams.read(201, 202, SECOND - 1) == (None, False)  # there was no room for it
    streams.read(300, 301, SECOND)
    assert streams.read(2, 3, SECOND)[0] is None
    assert streams.read(102, 103, SECOND)[0] is not None
