"""Requests to RAID of any level: striped, mirrored or with parity."""

from __future__ import annotations

from diskmodel.layout.md import mirror, parity
from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import ChooseCopy, Plan


def plan(tables: MdTables, op: int, sector: int, n: int, choose: ChooseCopy, front: int = 0) -> Plan:
    """Return the pieces of a host request, as `layout.plan.plan` does."""
    of_family = parity.plan if tables.has_rows else mirror.plan
    return of_family(tables, op, sector, n, choose, front)


def strips(tables: MdTables, n_rows: int) -> list[list[int | None]]:
    """Return what the first rows hold, as `layout.plan.strips` does."""
    return parity.strips(tables, n_rows) if tables.has_rows else mirror.strips(tables, n_rows)
