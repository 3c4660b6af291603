"""The card of a kind of volume: all that others ask of a layout, so that nobody asks which kind it is.

Each kind answers in its own folder where it differs from what stands here. A level without an array (`RaidLevel`)
answers what follows from it alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

if TYPE_CHECKING:
    from diskmodel.errors import Fault
    from diskmodel.layout.levels import RaidLevel
    from diskmodel.layout.passes import Rebuild
    from diskmodel.layout.tables import LayoutTables
    from diskmodel.layout.volumes import VolumeTables


class Groups(NamedTuple):
    """What a plan says of groups: the most disks of one, the levels that are tried, and whether their number is stated.

    Attributes
    ----------
    widest : mapping
        The most disks in a group by the level of one group.
    levels : tuple of str
    are_stated : bool
    """

    widest: Mapping[str, int]
    levels: tuple[str, ...]
    are_stated: bool


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
    has_strips : bool
        Whether strips lie on the disks; records otherwise, of which a read takes the whole.
    log_name : str
        What its `log` is called.
    read_cache_name : str
        What the cache in front of it is called.
    is_cached_in_memory : bool
        Whether its cache is memory of the host, so that no controller stands before it.
    has_own_queue : bool
        Whether it has a queue of its own above each disk, which the description has none for.
    rebuild_name, rebuilt_by, rebuilds : str
        What the rebuild of a failed disk is called, with who does it, and that as a clause.
    faster_beside : str
        Which settings let a rebuild do more beside a load, as a clause.
    rebuilds_whole_disks : bool
        Whether a rebuild goes through all of a disk, and not through what is stored on it.
    usual_used_ratio : float
        How full it is taken to be for that where it is not said.
    slower_beside : str
        Which settings let requests go first where a rebuild is in their way, as a clause; "": none.
    slower_than_rated : str
        Why an operation takes longer than the rule of thumb assumes; "": for reasons of the drive.
    other_operations : str
        Why a request takes other operations than the rule of thumb counts; "": for usual reasons.
    no_hours_of_shingled : str
        Why the rebuild of drives that rewrite their own bands has no figure; "": it has.
    doubt_of_shingled : str
        Why not to rely on the figure that it has.
    writes_in_place : bool
        Whether what is written again goes to the place where it was.
    reads_between : bool
        Whether it may read ahead of requests at some distance from each other, which is not modeled.
    steps_have_pages : bool
        Whether a step of its rebuild takes the engines time for each of its pages.
    usual_levels : tuple of str
        Levels that a plan tries beside its own where none is named; (): those of any array.
    """

    in_words: ClassVar[str]
    usual: ClassVar[str]
    only: ClassVar[tuple[str, ...]] = ()
    has_strips: ClassVar[bool] = True
    log_name: ClassVar[str] = "log"
    read_cache_name: ClassVar[str] = "read cache"
    is_cached_in_memory: ClassVar[bool] = False
    has_own_queue: ClassVar[bool] = False
    rebuild_name: ClassVar[str] = "rebuild"
    rebuilt_by: ClassVar[str]
    rebuilds: ClassVar[str]
    faster_beside: ClassVar[str]
    rebuilds_whole_disks: ClassVar[bool] = True
    usual_used_ratio: ClassVar[float] = 1.0
    slower_beside: ClassVar[str] = ""
    slower_than_rated: ClassVar[str] = ""
    other_operations: ClassVar[str] = ""
    no_hours_of_shingled: ClassVar[str] = ""
    doubt_of_shingled: ClassVar[str] = ""
    writes_in_place: ClassVar[bool] = True
    reads_between: ClassVar[bool] = False
    steps_have_pages: ClassVar[bool] = False
    usual_levels: ClassVar[tuple[str, ...]] = ()

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

    def problem_in(self, array: Any) -> str | None:
        """Return what an array of such a layout cannot have before or below it; None where all fits."""
        return None

    def room_problem(self, tables: LayoutTables, sector_bytes: int, used: float | None = None) -> Fault | None:
        """Return why what it stores on devices of its own has no room there; None where it has.

        Parameters
        ----------
        tables : LayoutTables
        sector_bytes : int
        used : float, optional
            Data as a share of its space; unless given, what it says itself.
        """
        return None

    # ------------------------------------------------------------------ what there is to say about it
    @classmethod
    @abstractmethod
    def level_in_words(cls, level: str) -> str:
        """Return a level for people: "RAID 5", "a pool of RAID-Z2"."""

    @property
    @abstractmethod
    def groups_in_words(self) -> str:
        """The level with its groups for people: "RAID 50 in 2 groups", "a pool of 4 mirrors of 2"."""

    @property
    @abstractmethod
    def disks_in_words(self) -> str:
        """Its disks: "8", "2 × 6" of two vdevs."""

    @property
    @abstractmethod
    def pieces_in_words(self) -> str:
        """What lies on its disks: ", strip 64 KiB"; "" where there is nothing to say."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Devices of its own that it has: "a log"."""
        return ()

    def facts(self) -> list[tuple[str, str]]:
        """Return what there is to say about it beside disks and level: label, text."""
        return []

    def cache_facts(self) -> list[tuple[str, str]]:
        """Return the same of devices that cache."""
        return []

    @abstractmethod
    def doubts(self, *, is_throttled: bool) -> tuple[str, ...]:
        """Return why not to rely on answers about it; "" for what is not so.

        `is_throttled`: programs sleep while Linux md writes to mirrors, as rule Q11 has it.
        """

    @property
    def doubt_of_pass(self) -> str:
        """Why not to rely on what a run beside a pass over its members shows; "" where there is none."""
        return ""

    def doubts_of_devices(self, tables: LayoutTables) -> tuple[str, ...]:
        """Return the same about devices of its own."""
        return ()

    def left_out(self, array: Any, *, has_writes: bool, has_syncs: bool) -> tuple[str, ...]:
        """Return what an answer about an array of such a layout leaves out, whose load writes, or syncs."""
        return ()

    # ------------------------------------------------------------------ what it has where nobody says so
    def for_use(self, longest_bytes: int) -> dict[str, Any]:
        """Return the fields that a load suggests whose requests at random are no longer than that; 0: none is."""
        return {}

    def for_files(self) -> dict[str, Any]:
        """Return the fields that it has under a file system."""
        return {}

    def cut_by_default(self, *, longest_bytes: int, outstanding_bytes: int) -> dict[str, Any]:
        """Return the fields that say how long requests are cut; none where they are not, or it has them.

        Parameters
        ----------
        longest_bytes : int
            Of the requests.
        outstanding_bytes : int
            Memory of those outstanding at once.
        """
        return {}

    def bitmap_by_default(self, usable_bytes: int) -> dict[str, Any]:
        """Return the fields with the bitmap of a new array of that size; none where there is none, or one is given."""
        return {}

    def beyond(self, described: Any) -> str:
        """Return what it has by default beyond the layout that was described, for people; "" where that is nothing."""
        return ""

    # ------------------------------------------------------------------ what the engines read
    @abstractmethod
    def tables(
        self, disk_sectors: int, sector_bytes: int, cache_bytes: int | None = None, *, rotates: bool = True
    ) -> VolumeTables:
        """Return the layout in whole numbers over disks of so many sectors, which rotate or do not.

        They are behind a read cache of that size.

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

    # ------------------------------------------------------------------ caches before it
    def cached_records(self, cache_bytes: int) -> int:
        """Return what its cache devices can hold behind a read cache of that size (rule X27); 0 without any."""
        return 0

    def read_cache_fields(self, cache_bytes: int) -> dict[str, Any]:
        """Return what it makes of the description of a read cache of that size."""
        return {}

    # ------------------------------------------------------------------ what requests do
    @property
    def has_rows(self) -> bool:
        """Whether rows of strips have parity."""
        return False

    @property
    def n_locks(self) -> int:
        """Arrays of Linux md with parity that requests are divided among, each with its own lock; 0: none."""
        return 0

    @property
    def counts_requests(self) -> bool:
        """Whether Linux md has no lock for them, and counts the requests of all processors on one counter."""
        return False

    @property
    def classes_of_disks(self) -> int:
        """Into how many classes disks fall by turns that get equal shares of random requests; 0: that is not known."""
        return 0

    @abstractmethod
    def waits_for_several(self, longest_bytes: int, *, has_writes: bool) -> bool:
        """Return whether some request waits for several disks at once: copies, whole rows or strips."""

    @property
    def busy_together(self) -> float | None:
        """Disks that a small write keeps busy together by the rule of thumb; None: it counts operations."""
        return None

    @property
    def narrow_data(self) -> int | None:
        """Data strips of a group that is narrower than its vdev; None where none is."""
        return None

    # ------------------------------------------------------------------ its rebuild
    @classmethod
    @abstractmethod
    def rebuild_of(cls, level: RaidLevel, rebuild: Rebuild, used_ratio: float | None) -> Rebuild:
        """Return a rebuild as an array of that level has it, which is so full unless the rebuild says it."""

    @property
    def is_rebuilt_in_turn(self) -> bool:
        """Whether requests and steps of its rebuild wait for each other, so that no speed of it lets them go first."""
        return False

    def on_a_controller(self) -> Self:
        """Return what is left where a controller makes the array, and not Linux or OpenZFS."""
        return self

    @property
    @abstractmethod
    def step_bytes(self) -> int:
        """Bytes of a step of its rebuild."""

    @property
    def is_scrubbed(self) -> bool:
        """Whether a scrub goes on that copies nothing."""
        return False

    @abstractmethod
    def rebuilt_bytes(self, tables: LayoutTables, disk_bytes: int, sector_bytes: int, used_ratio: float | None) -> int:
        """Return what the rebuild of a disk goes through: all of it, or what is stored on it.

        Parameters
        ----------
        tables : LayoutTables
        disk_bytes, sector_bytes : int
        used_ratio : float or None
            How full it is, unless its rebuild says so.
        """

    def metadata_bytes(self, tables: LayoutTables, sector_bytes: int, used_ratio: float | None) -> int:
        """Return what a special vdev holds on each of its devices; 0 without one."""
        return 0

    # ------------------------------------------------------------------ plans
    @classmethod
    @abstractmethod
    def groups_tried(cls, level: RaidLevel, stated: tuple[int, ...] | None) -> tuple[int, ...]:
        """Return the numbers of groups that a plan tries; 1: as many as the width allows. None: it states none."""

    @classmethod
    @abstractmethod
    def divided(cls, level: str, disks: int, groups: int, asked: Groups) -> tuple[str, int]:
        """Return level and groups of so many disks: the groups that are stated, or the fewest within the widest one.

        Parameters
        ----------
        level : str
        disks : int
        groups : int
            As `groups_tried` has them.
        asked : Groups

        Raises
        ------
        DescriptionError
            When no groups of these disks are narrow enough.
        """

    @classmethod
    @abstractmethod
    def tried(cls, level: str) -> tuple[str, ...]:
        """Return which sizes and devices of its own a plan can try several of: fields of the candidates."""

    @classmethod
    @abstractmethod
    def grouped(cls, groups: int, strip_bytes: int, record_bytes: int) -> dict[str, Any]:
        """Return the fields of a candidate with so many groups, strips or records; 0: usual records."""

    @classmethod
    @abstractmethod
    def taken(cls, level: RaidLevel, stated: Mapping[str, Any]) -> dict[str, Any]:
        """Return which of the fields that are stated for all candidates an array of a level can have."""
