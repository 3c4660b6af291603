"""Why the rule of thumb differs: only what is true of the array and its workload."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.plan.search.difference import crosses_strips, why_other_operations
from diskmodel.workload import Workload


def load(**stream: Any) -> Workload:
    return Workload.parse({"clients": 1, **stream})


def array(**more: Any) -> Array:
    return Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 5, "strip": "64 KiB"}, **more})


@pytest.mark.parametrize(
    ("stream", "is_crossing"),
    [
        ({"size": "32 KiB"}, False),
        ({"size": "32 KiB", "alignment": "4 KiB"}, True),
        ({"size": "64 KiB"}, False),
        ({"size": "128 KiB"}, True),
        ({"size": "24 KiB"}, True),
        ({"size": "8 KiB", "alignment": "24 KiB"}, False),
        ({"sizes": ["8 KiB", "16 KiB"]}, True),
    ],
)
def test_crossing_is_what_the_requests_do(stream: dict[str, Any], is_crossing: bool) -> None:
    workload = load(**stream)
    drawn = workload.requests(capacity_bytes=10**9, n=5000, seed=1)
    strip = 64 << 10
    crossing = drawn.offset // strip != (drawn.offset + drawn.length - 1) // strip
    assert crossing.any() == is_crossing
    assert crosses_strips(workload.streams[0], strip) == is_crossing


def test_only_what_is_true_is_said() -> None:
    aligned, anywhere = load(size="32 KiB"), load(size="32 KiB", alignment="4 KiB")
    cached = array(controller={"read_cache": {"size": "1 GiB"}})
    assert "strip" not in why_other_operations(aligned, array(), is_fewer=False)
    assert "cache" not in why_other_operations(anywhere, array(), is_fewer=False)
    assert "cache" not in why_other_operations(anywhere, array(), is_fewer=True)
    assert why_other_operations(anywhere, array(), is_fewer=False) == "some requests cross a strip boundary"
    assert why_other_operations(aligned, cached, is_fewer=False) == "fewer requests hit the cache"
    assert why_other_operations(aligned, cached, is_fewer=True).startswith("the cache saves operations")


def test_a_check_is_why_disks_do_more() -> None:
    checked = {"layout": {"level": "raid5", "disks": 5, "rebuild": {"action": "check"}}}
    assert why_other_operations(load(size="4 KiB"), array(**checked), is_fewer=False) == "a check goes on"
