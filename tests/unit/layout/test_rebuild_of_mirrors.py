"""A rebuild of mirrors reads what there is: within the data areas, and nothing for a strip that holds nothing."""

from __future__ import annotations

from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.layout.md.rebuild import step

STRIP = 4096
LOST = 2


def tables(**layout: Any) -> Any:
    drive = {
        "kind": "flash",
        "name": "small",
        "capacity_bytes": 97 * STRIP + 512,
        "channels": 1,
        "dies_per_channel": 1,
        "page_bytes": 4096,
        "pages_per_block": 16,
        "read_ns": 1,
        "program_ns": 1,
        "erase_ns": 1,
        "channel_bytes_per_s": 1e9,
        "interface_bytes_per_s": 1e9,
    }
    rebuild = {"window_bytes": STRIP}
    described = {"strip_bytes": STRIP, "failed": [LOST], "spares": 1, "rebuild": rebuild} | layout
    return Array.parse({"drive": drive, "layout": described}).tables()


LEVELS: list[dict[str, Any]] = [
    {"level": "raid1e", "disks": 3},
    {"level": "raid1e", "disks": 5},
    {"level": "raid10", "disks": 4, "arrangement": "far"},
    {"level": "raid10", "disks": 4},
]


@pytest.mark.parametrize("layout", LEVELS, ids=str)
def test_reads_lie_on_the_data_area_and_each_window_is_written_once(layout: dict[str, Any]) -> None:
    array = tables(**layout)
    n_read = 0
    for front in range(0, array.member, array.strip):
        plan = step(array, front)
        reads = [piece for piece in plan.first if piece.op == 0]
        n_read += len(reads)
        assert all(piece.disk != LOST and piece.lba + piece.n <= array.member for piece in reads)
        writes = [piece for piece in (*plan.first, *plan.then) if piece.op == 1]
        assert [(piece.disk, piece.lba, piece.n) for piece in writes] == [(array.n_disks, front, array.strip)]
    n_strips = array.member // array.strip
    # an odd number of places leaves one without a pair; it is on the last disk
    is_odd = array.n_disks * n_strips % 2 == 1 and array.n_disks - 1 == LOST
    is_short = array.far and n_strips % 2 == 1
    assert n_read == n_strips - (is_odd or is_short)
