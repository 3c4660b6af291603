"""The tables of all kinds of volumes: a kind's are added here."""

from __future__ import annotations

from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pools.tables import VdevTables
from diskmodel.layout.single.tables import SingleTables

#: Tables of a layout; `kind` says which they are.
VolumeTables = SingleTables | MdTables | VdevTables
