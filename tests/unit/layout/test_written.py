"""Where many writes go at once is where each of them goes (rules L1, L3, L6)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from diskmodel.layout.description import Layout
from diskmodel.layout.md.mirror import plan as plan_copies
from diskmodel.layout.md.parity import plan as plan_parity
from diskmodel.layout.md.tables import md_tables
from diskmodel.layout.written import written
from diskmodel.records import Op

LAYOUTS = [
    {"level": "jbod", "disks": 3},
    {"level": "raid0", "disks": 4},
    {"level": "raid1", "disks": 2},
    {"level": "raid1e", "disks": 5},
    {"level": "raid10", "disks": 6},
    {"level": "raid10", "disks": 4, "arrangement": "far"},
    {"level": "raid10", "disks": 4, "failed": [2]},
    {"level": "raid4", "disks": 4},
    {"level": "raid50", "disks": 8},
    {"level": "raid6", "disks": 5, "failed": [1]},
    *(
        {"level": "raid6", "disks": 6, "rotation": f"{side}-{kind}"}
        for side in ("left", "right")
        for kind in ("symmetric", "asymmetric")
    ),
]


@pytest.mark.parametrize("described", LAYOUTS, ids=lambda data: "-".join(str(value) for value in data.values()))
def test_sectors_of_a_write(described: dict[str, object]) -> None:
    """Sector by sector; a parity write also covers what lies between its parts, which is left out here."""
    tables = md_tables(Layout.parse({"strip": "4 KiB", "data_offset": "8 KiB", **described}), 10_000, 512)
    rng = np.random.default_rng(3)
    n = rng.integers(1, 40, 300)
    sector = rng.integers(0, tables.capacity - n)
    for first, size in zip(sector.tolist(), n.tolist(), strict=True):
        if tables.family == "parity":
            plan = plan_parity(tables, Op.WRITE, first, size)
        else:
            plan = plan_copies(tables, Op.WRITE, first, size, lambda copies, _: copies[0])
        pieces = [piece for piece in (*plan.first, *plan.then) if piece.op == Op.WRITE]
        expected = {(piece.disk, piece.lba + i) for piece in pieces for i in range(piece.n)}
        columns = written(tables, np.array([first]), np.array([size]))
        told = {(d, at + i) for d, at, k in zip(*(c.tolist() for c in columns), strict=True) for i in range(k)}
        if tables.family == "parity" and size < tables.strip and first % tables.strip + size > tables.strip:
            assert told <= expected
        else:
            assert told == expected


def test_pieces_come_in_the_order_of_their_requests() -> None:
    tables = md_tables(Layout.parse({"level": "raid0", "disks": 2, "strip": "4 KiB"}), 10_000, 512)
    columns = written(tables, np.array([4, 0]), np.array([8, 2]))
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == [(0, 4, 4), (1, 0, 4), (0, 0, 2)]
    assert Counter(columns.disk.tolist()) == {0: 2, 1: 1}
