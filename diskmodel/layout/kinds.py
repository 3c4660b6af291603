"""The list of all kinds of volumes, and of what the engines call for each of their families."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diskmodel.layout.description import Layout
from diskmodel.layout.levels import Family
from diskmodel.layout.md import mirror, parity
from diskmodel.layout.md.layout import Md
from diskmodel.layout.pieces import ChooseCopy, Plan
from diskmodel.layout.pools import records
from diskmodel.layout.pools.layout import Pool
from diskmodel.layout.single.layout import Single
from diskmodel.layout.tables import LayoutTables

#: All kinds: the first that takes a level has it. A kind is added here.
VOLUMES: tuple[type[Layout], ...] = (Pool, Single, Md)
#: Functions that return the pieces of a host request, as `plan.plan` does.
PLANS: Mapping[Family, Callable[[LayoutTables, int, int, int, ChooseCopy, int], Plan]] = {
    "concat": mirror.plan,
    "copies": mirror.plan,
    "parity": parity.plan,
    "pool": records.plan,
}
#: Functions that return what rows of strips hold, as `plan.strips` does; a pool has none.
STRIPS: Mapping[Family, Callable[[LayoutTables, int], list[list[int | None]]]] = {
    "concat": mirror.strips,
    "copies": mirror.strips,
    "parity": parity.strips,
}
