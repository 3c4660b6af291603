"""The card of a kind of volume: all that others ask of a layout, so that nobody asks which kind it is.

Each kind answers in its own folder where it differs from what stands here. A level without an array (`RaidLevel`)
answers what follows from it alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from diskmodel.layout.levels import RaidLevel
    from diskmodel.layout.passes import Rebuild
    from diskmodel.layout.tables import LayoutTables


class Card(ABC):
    """What a layout answers, whatever its kind.

    Attributes
    ----------
    in_words : str
        Arrays of the kind, in the plural.
    usual : str
        A level that is often taken of the kind.
    only : tuple of str
        Fields that no other kind has; None where they are not given.
    """

    in_words: ClassVar[str]
    usual: ClassVar[str]
    only: ClassVar[tuple[str, ...]] = ()

    # ------------------------------------------------------------------ what it is, and what it refuses
    @classmethod
    @abstractmethod
    def takes(cls, level: RaidLevel, disks: int | None) -> bool:
        """Return whether an array of a level is of this kind; `disks` is None where their number is not known."""

    def field_problem(self) -> str | None:
        """Return which field does not fit the kind, "field: rule; fix"; None where all do."""
        return None

    def count_problem(self) -> str | None:
        """Return the same of what depends on disks, groups and copies, which are a shape of the level."""
        return None

    @abstractmethod
    def rebuild_problem(self, rebuild: Rebuild) -> str | None:
        """Return why no pass over the disks goes on as it is described; None where it can."""

    # ------------------------------------------------------------------ what the engines read
    @abstractmethod
    def tables(self, disk_sectors: int, sector_bytes: int) -> LayoutTables:
        """Return the layout in whole numbers over disks of so many sectors.

        Raises
        ------
        DescriptionError
            When a size is no multiple of the sector, or does not fit on the disk.
        """

    # ------------------------------------------------------------------ passes over its disks
    def fastest_rebuild(self, rebuild: Rebuild) -> float:
        """Return the rate that limits a pass over the disks, bytes/s of each disk; infinite where nothing does."""
        return math.inf

    @property
    def is_rebuilt_in_order(self) -> bool:
        """Whether the resilver of a pool goes through allocated space in its order: a sequential one."""
        return False

    @property
    def groups_at_once(self) -> int:
        """Number of whole groups of dRAID that are next to each other on the disks of a vdev; 1 elsewhere."""
        return 1
