"""Where writes wait for room in the cache of a single disk, results say how much longer than predicted that may be."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.engine.messages.cached_writes import MEASURED_P99_RATIO
from tests.validation import published_arrays

WORDS = "writes wait for room"
MIRRORS = {"level": "raid10", "disks": 4}


def is_named(
    reads: float,
    drive: str = "generic-7k2",
    has_cache: bool | None = None,
    layout: dict[str, Any] = published_arrays.SINGLE,
    **load: Any,
) -> bool:
    array = Array.parse({"drive": drive, "layout": layout, "drive_write_cache": has_cache})
    workload = Workload.parse({"size": "4 KiB", "read_ratio": reads} | load)
    return any(WORDS in text for text in simulate(array, workload, n_requests=2_000, profile_draws=0).messages)


@pytest.mark.parametrize("load", [{"clients": 1}, {"clients": 16}, {"clients": 4, "size": "1 MiB"}], ids=str)
def test_writes_of_clients_that_do_nothing_else_wait_for_room(load: dict[str, Any]) -> None:
    assert is_named(0, **load)


def test_those_of_arrays_do_where_the_disks_cache_them() -> None:
    assert is_named(0, layout=MIRRORS, clients=8)
    assert not is_named(0, layout=MIRRORS, has_cache=False, clients=8)
    assert not is_named(0, layout=MIRRORS, has_cache=True, rate="50/s")


@pytest.mark.parametrize(
    "case",
    [
        {"reads": 1, "clients": 4},
        {"reads": 0.2, "clients": 16},
        {"reads": 0, "rate": "50/s"},
        {"reads": 0, "clients": 4, "has_cache": False},
        {"reads": 0, "clients": 4, "drive": "seagate-archive-st8000as0002"},
        {"reads": 0, "clients": 4, "drive": "generic-sas-ssd"},
    ],
    ids=str,
)
def test_writes_that_find_room_or_do_not_look_for_it_are_not_named(case: dict[str, Any]) -> None:
    assert not is_named(**case)


def test_the_spread_is_that_of_the_measured_drives() -> None:
    ratios = []
    for row in published_arrays.rows():
        if row["id"] in ("lw-samsung-f1-1tb", "lw-wd740gd-raptor"):
            writes = [point for point in row["points"] if point["reads"] == 0]
            found = published_arrays.figures(row | {"points": writes})
            ratios += [figure.measured / figure.predicted for figure in found if figure.quantity == "p99_ms"]
            others = [abs(figure.error_ratio) for figure in found if figure.quantity != "p99_ms"]
            assert max(others) < 0.15
    assert len(ratios) == 5
    assert (min(ratios), max(ratios)) == pytest.approx(MEASURED_P99_RATIO, abs=0.1)
    assert MEASURED_P99_RATIO[0] < min(ratios) < max(ratios) < MEASURED_P99_RATIO[1]
