"""The list of all kinds of volumes, and of what the engines call for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diskmodel.layout.description import Layout
from diskmodel.layout.md import requests as md
from diskmodel.layout.md.layout import Md
from diskmodel.layout.md.tables import MdTables
from diskmodel.layout.pieces import Plan
from diskmodel.layout.pools import records
from diskmodel.layout.pools.layout import Pool
from diskmodel.layout.pools.tables import VdevTables
from diskmodel.layout.single import tables as single
from diskmodel.layout.single.layout import Single

#: All kinds: the first that takes a level has it. A kind is added here.
VOLUMES: tuple[type[Layout], ...] = (Pool, Single, Md)
#: Functions that return the pieces of a host request, as `plan.plan` does, by the tables of a kind.
PLANS: Mapping[type, Callable[..., Plan]] = {
    single.SingleTables: single.plan,
    MdTables: md.plan,
    VdevTables: records.plan,
}
#: Functions that return what rows of strips hold, as `plan.strips` does; a pool has none.
STRIPS: Mapping[type, Callable[..., list[list[int | None]]]] = {single.SingleTables: single.strips, MdTables: md.strips}
