"""More than a controller's link moves is said, where no link is described."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload, simulate


@pytest.mark.parametrize(
    ("controller", "size", "is_said"),
    [
        ({"read_cache": {"size": "64 GiB"}}, "16 MiB", True),
        ({"read_cache": {"size": "64 GiB"}}, "512 B", False),
        ({"read_cache": {"size": "64 GiB"}, "link": "7.9 GB/s"}, "16 MiB", False),
        ({}, "16 MiB", False),
    ],
)
def test_what_a_link_cannot_move_is_said(controller: dict[str, Any], size: str, is_said: bool) -> None:
    layout = {"level": "raid6", "disks": 10}
    array = Array.parse({"drive": "seagate-exos-x18", "layout": layout, "controller": controller})
    load = Workload.parse({"size": size, "read_ratio": 1, "clients": 64, "span": "10 GB"})
    result = simulate(array, load, n_requests=2000, profile_draws=0)
    said = [text for text in result.messages if "more than the link of a controller" in text]
    assert bool(said) == is_said
    assert not said or result.messages[0] == said[0]
