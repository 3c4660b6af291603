"""State of the page cache by hand (rules P2 to P6)."""

from __future__ import annotations

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.host.description import Host
from diskmodel.host.pages import Pages, runs


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
    assert pages.waiting_since(10) == [7]
    assert pages.waiting_since(9) == []
    pages.start((7,))
    assert pages.n_dirty == 1
    pages.write((7,), now_ns=20, row=1)
    assert pages.n_dirty == 2
    pages.finish((7,))
    assert pages.n_dirty == 1
    assert pages.dirty[7].since_ns == 20


def test_age_counts_from_the_first_write() -> None:
    pages = Pages(capacity=9, background=1, limit=9)
    pages.write((5,), now_ns=10, row=3)
    pages.write((5, 6), now_ns=20, row=4)
    assert pages.waiting_since(15) == [5]
    assert pages.dirty[5].row == 3


def test_writers_may_go_on_up_to_the_limit() -> None:
    pages = Pages(capacity=100, background=1, limit=3)
    assert pages.may_write(range(50)), "nothing is dirty: a write larger than the limit enters"
    pages.write((1, 2), now_ns=0, row=0)
    assert pages.may_write((3,))
    assert pages.may_write((1, 2)), "pages that are dirty already cost nothing"
    assert not pages.may_write((3, 4))


def test_a_batch_is_sorted_goes_round_and_joins_neighbours() -> None:
    assert runs([9, 3, 4, 5, 6, 1], position=4, longest=2) == [[4, 5], [6], [9], [1], [3]]


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
