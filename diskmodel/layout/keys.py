"""The keys of a layout: those of all kinds of volumes. What a kind has of its own is added here."""

from __future__ import annotations

from diskmodel.layout.fields import DiskFields, LevelFields
from diskmodel.layout.md.fields import ConsistencyFields, StripFields
from diskmodel.layout.pools.fields import PoolFields


# the bases from the last one on: the order of the keys
class Keys(ConsistencyFields, DiskFields, StripFields, PoolFields, LevelFields):
    """All keys that a layout can have."""
