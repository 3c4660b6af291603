"""State of the page cache by hand (rules P2 to P6)."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.host.description import Host
from diskmodel.host.page_cache import PageCache
from diskmodel.host.pages import Pages
from diskmodel.host.tables import PageCacheTables


def test_the_least_recently_used_clean_page_makes_room() -> None:
    pages = Pages(capacity=3, background=1, limit=2)
    pages.add((1, 2, 3))
    pages.use((1,))
    pages.add((4,))
    assert [page for page in range(1, 5) if pages.holds(page)] == [1, 3, 4]


def test_dirty_pages_stay_and_count_twice_while_they_are_written_to_again() -> None:
    pages = Pages(capacity=2, background=1, limit=2)
    pages.write((7,), now_ns=10, row=0)
    pages.add((1, 2, 3))
    assert pages.holds(7)
    assert pages.next_run(0, longest=1) == [7]
    pages.start((7,))
    assert pages.n_dirty == 1
    pages.write((7,), now_ns=20, row=1)
    assert pages.n_dirty == 2
    assert pages.next_run(0, longest=1) == [], "it is in flight"
    pages.finish((7,))
    assert pages.n_dirty == 1
    assert pages.next_run(0, longest=1) == [7]
    assert pages.dirty[7].since_ns == 20


def test_memory_is_dirty_since_the_first_write_after_nothing_was() -> None:
    pages = Pages(capacity=9, background=1, limit=9)
    pages.write((5,), now_ns=10, row=3)
    pages.write((5, 6), now_ns=20, row=4)
    assert (pages.dirty_since_ns, pages.dirty[5].row) == (10, 3)
    pages.start((5,))
    pages.write((7,), now_ns=30, row=5)
    assert pages.dirty_since_ns == 10, "page 6 has been dirty all the time"
    pages.start((6, 7))
    pages.write((5,), now_ns=40, row=6)
    assert pages.dirty_since_ns == 40


@pytest.mark.parametrize(("expire_ns", "old_ns"), [(30, 30), (31, 35), (4, 5), (0, 5)])
def test_memory_is_old_at_an_interval_of_the_flusher(expire_ns: int, old_ns: int) -> None:
    """Linux was measured to write 31 s after the first page: 30 s, and a timer that is late."""
    scale = 1_000_000_000
    cache = PageCache(memory_bytes=1 << 30, dirty_expire_ns=expire_ns * scale, dirty_writeback_ns=5 * scale)
    assert PageCacheTables.of(cache, 4096).old_ns == old_ns * scale


def depth_of(array: dict[str, object], **cache: object) -> int | None:
    host = {"is_buffered": True, "page_cache": {"memory": "1 GiB"} | cache}
    page_cache = resolve(Array.parse(array | {"host": host}), 0).host.page_cache
    assert page_cache is not None
    return page_cache.writeback_depth


def test_the_flusher_leaves_room_for_reads_of_each_hard_disk() -> None:
    """A write to copies occupies several disks; flash drives, and a depth that is given, are not throttled."""
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid0", "disks": 1}}) == 4
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid5", "disks": 6}}) == 24
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 8}}) == 16
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid1", "disks": 3}}) == 4
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid10", "disks": 90}}) == 128
    assert depth_of({"drive": "generic-sas-ssd", "layout": {"level": "raid1", "disks": 2}}) == 128
    assert depth_of({"drive": "generic-7k2", "layout": {"level": "raid1", "disks": 2}}, writeback_depth=9) == 9


def test_writers_may_go_on_up_to_the_limit() -> None:
    pages = Pages(capacity=100, background=1, limit=3)
    assert pages.may_write(range(50)), "nothing is dirty: a write larger than the limit enters"
    pages.write((1, 2), now_ns=0, row=0)
    assert pages.may_write((3,))
    assert pages.may_write((1, 2)), "pages that are dirty already cost nothing"
    assert not pages.may_write((3, 4))


def test_a_sweep_goes_up_and_round_and_joins_neighbors() -> None:
    pages = Pages(capacity=20, background=1, limit=9)
    pages.write((9, 3, 4, 5, 6, 1), now_ns=0, row=0)
    position, seen = 4, []
    while run := pages.next_run(position, longest=2):
        pages.start(run)
        seen.append(run)
        position = run[-1] + 1
        if len(seen) == 1:
            pages.write((8,), now_ns=1, row=1)  # ahead of the sweep: it goes with it
    assert seen == [[4, 5], [6], [8, 9], [1], [3]]


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"page_cache": {"memory": "1 GiB"}}, "is bypassed by direct I/O"),
        ({"is_buffered": True, "page_cache": {"memory": "1 GiB", "dirty_ratio": 0.05}}, "is above dirty_ratio"),
        ({"is_buffered": True, "page_cache": {"memory": "0 B"}}, "memory"),
    ],
)
def test_what_does_not_fit_is_refused(host: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Host.parse(host)
