"""The stripe cache by hand (rule L15): what Linux md was traced to send for 1 MiB after 1 MiB to four disks."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.md.stripes import Stretch, StripeCache
from diskmodel.layout.md.tables import md_tables
from diskmodel.records import READ
from diskmodel.workload import Workload

STRIP, REQUEST = 128, 2048


def cache(**layout: object) -> StripeCache:
    given = {"level": "raid5", "disks": 4, "strip": "64 KiB", "stripe_cache_pages": 256} | layout
    return StripeCache(md_tables(Layout.parse(given), 1 << 20, 512))


def said(stretches: list[Stretch]) -> list[tuple[int, set[int], set[int]]]:
    """Row, disks that are read, and disks that are written, of each stretch."""
    return [
        (
            stretch.pages.start // 16,
            {piece.disk for piece in stretch.reads},
            {piece.disk for piece in stretch.writes},
        )
        for stretch in stretches
    ]


ALL = {0, 1, 2, 3}


def test_rows_that_requests_share_are_read_once() -> None:
    """As traced: two strips are read for the first request, one for the second, none for the third."""
    stripes = cache()
    first, second, third = (said(stripes.write(i * REQUEST, REQUEST)) for i in range(3))
    assert first == [*((row, set(), ALL) for row in range(5)), (5, {0, 1}, {2, 3})]
    assert second == [(5, set(), {0, 1, 2}), *((row, set(), ALL) for row in range(6, 10)), (10, {0}, {1, 2, 3})]
    # the first strip is the last one of its row, and the next disk by number is another row's: that row comes last
    assert third == [*((row, set(), ALL) for row in range(11, 16)), (10, set(), {0, 1})]


def test_what_was_written_first_is_forgotten_first() -> None:
    """A strip of a row has 16 pages; so many and one more are too many for a cache of 16."""
    stripes = cache(stripe_cache_pages=16)
    stripes.write(0, STRIP)
    stripes.write(3 * STRIP, 8)
    pages = [(s.pages, {piece.disk for piece in s.reads}) for s in stripes.write(STRIP, STRIP)]
    assert pages == [(range(1), {0, 2}), (range(1, 16), set())]


def test_a_write_finds_the_one_that_is_busy_with_its_row() -> None:
    stripes = cache()
    (stretch,) = stripes.write(0, STRIP)
    writer = object()
    stripes.begin(stretch.pages, writer)
    (joining,) = stripes.write(STRIP, STRIP)
    assert joining.busy is writer
    assert not joining.reads
    stripes.end(stretch.pages, writer)
    (later,) = stripes.write(2 * STRIP, STRIP)
    assert later.busy is None


def test_part_of_a_page_is_read_whole() -> None:
    """512 bytes of a page of 4 KiB: the rest of it is not known, so that reconstructing reads three strips."""
    (stretch,) = cache(write_policy="reconstruct-write").write(4, 1)
    assert [(piece.op, piece.n) for piece in stretch.reads] == [(READ, 1)] * 2
    assert {piece.disk for piece in stretch.writes} == {0, 3}


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"level": "raid10"}, "md keeps stripes of raid4, raid5 and raid6, not of raid10"),
        ({"level": "raid50", "disks": 6, "groups": 2}, "not of raid50"),
        ({"disks": 65}, "is not modeled for more than 64 disks"),
        ({"read_modify_write": "held"}, "md does not hold disks"),
        ({"strip": "6 KiB"}, "strip_bytes=6144 is not a multiple of 4096"),
    ],
)
def test_what_has_no_stripe_cache(layout: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Layout.parse({"level": "raid5", "disks": 4, "stripe_cache_pages": 256} | layout)


@pytest.mark.parametrize("engine", ["simpy", "native"])
def test_small_sequential_writes_read_less(engine: Any) -> None:
    """4 KiB after 4 KiB: the write to the first strip of a row reads the two others, and those to them read nothing."""
    found = {}
    for pages in (None, 256):
        layout = {"level": "raid5", "disks": 4, "stripe_cache_pages": pages}
        array = Array.parse({"drive": "generic-10k", "layout": layout})
        load = Workload.parse(
            {"size": "4 KiB", "read_ratio": 0.0, "clients": 1, "addresses": {"pattern": "sequential"}}
        )
        devices = simulate(array, load, n_requests=480, engine=engine, start="empty").run.devices
        found[pages] = int(devices.n_reads.sum())
    assert found[None] == 2 * 480
    assert found[256] == 2 * 160
