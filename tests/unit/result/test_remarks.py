"""The few remarks under an answer."""

from __future__ import annotations

import pytest

from diskmodel.result.show.remarks import KINDS, MOST, Remark, few
from diskmodel.uncertainty.spread import slower_systems


def test_those_that_change_most_come_first_and_the_rest_is_counted() -> None:
    said = [Remark(kind, kind) for kind in reversed(KINDS)]
    assert few(said) == [*list(KINDS)[: MOST + 1], f"{len(KINDS) - MOST - 1} more remarks with --explain."]
    assert few(said, is_explained=True) == list(KINDS)


def test_a_remark_is_made_once_and_an_empty_one_never() -> None:
    assert few([Remark("run", "a"), Remark("run", "a"), Remark("loss", "")]) == ["a"]


def test_what_has_no_effect_is_said_beside_the_few() -> None:
    said = [Remark(kind, kind) for kind in ("cut", "reserve", "wear", "loss", "unread")]
    assert few(said) == ["unread", "cut", "reserve", "wear", "1 more remark with --explain."]


def test_a_kind_that_is_not_in_the_registry_is_refused() -> None:
    with pytest.raises(ValueError, match="not in list"):
        few([Remark("other", "a")])


def test_systems_that_do_less_than_their_parts_are_counted() -> None:
    assert slower_systems().startswith("3 of 19 published systems")
