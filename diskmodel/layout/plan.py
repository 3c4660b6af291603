"""From a host request to pieces, whatever the level."""

from __future__ import annotations

from diskmodel.layout.kinds import PLANS, STRIPS
from diskmodel.layout.pieces import ChooseCopy, Plan
from diskmodel.layout.volumes import VolumeTables


def plan(tables: VolumeTables, op: int, sector: int, n: int, choose: ChooseCopy, front: int = 0) -> Plan:
    """Return the pieces of one host request.

    Parameters
    ----------
    tables : VolumeTables
    op : int
        0 read, 1 write.
    sector, n : int
        First sector and number of sectors on the array.
    choose : callable
        Picks a copy where several can serve a read.
    front : int
        Sectors of the lost disk's data area that have been rebuilt onto the spare.
    """
    return PLANS[type(tables)](tables, op, sector, n, choose, front)


def strips(tables: VolumeTables, n_rows: int) -> list[list[int | None]]:
    """Return what the first rows of strips hold: for each disk the number of the host's strip, or -1, -2 … for parity.

    A disk that has failed is shown as it was (rules L3, L6).
    """
    return STRIPS[type(tables)](tables, n_rows)
