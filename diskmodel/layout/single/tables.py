"""A disk on its own in whole numbers, as the engines read it."""

from __future__ import annotations

from typing import ClassVar, Literal

from diskmodel.layout.description import Layout
from diskmodel.layout.md.tables import shape_of
from diskmodel.layout.pieces import ChildIo, ChooseCopy, Plan
from diskmodel.layout.tables import LayoutTables
from diskmodel.loading import dataclass


@dataclass(frozen=True, kw_only=True)
class SingleTables(LayoutTables):
    """A disk on its own in sectors.

    Attributes
    ----------
    family : "concat" or "copies"
        "copies": where its size is whole strips.
    """

    kind: ClassVar[str] = "single"
    #: Of pools alone.
    pool: ClassVar[None] = None

    family: Literal["concat", "copies"]


def single_tables(layout: Layout, disk_sectors: int, sector_bytes: int) -> SingleTables:
    """Return a disk of `disk_sectors` sectors on its own.

    Raises
    ------
    DescriptionError
        When a size is no multiple of the sector, or does not fit on the disk.
    """
    return SingleTables(**shape_of(layout, disk_sectors, sector_bytes))


def plan(tables: SingleTables, op: int, sector: int, n: int, choose: ChooseCopy, front: int = 0) -> Plan:
    """Return the piece of a request."""
    return Plan([ChildIo(0, op, tables.data_offset + sector, n)], [])


def strips(tables: SingleTables, n_rows: int) -> list[list[int | None]]:
    """Return what the first strips hold, as `plan.strips` does."""
    return [list(range(n_rows))]
