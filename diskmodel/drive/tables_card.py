"""The card of a drive's tables: all that both engines, and what is around them, ask of a drive in whole numbers."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, ClassVar, Self

from diskmodel.drive.card import Parts
from diskmodel.queue import Queue

if TYPE_CHECKING:
    from diskmodel.drive.media_cache.tables import MediaCacheTables


class DriveTables(Parts, ABC):
    """The tables of any drive: what they answer, whatever their kind.

    A kind is a frozen dataclass with the fields below and its own. An engine has a device for it, or refuses it by its
    name (`kind`): a kind may be in one engine alone.

    Attributes
    ----------
    kind : str
    sector_bytes, n_sectors : int
    queue_depth : int
        Commands that the drive accepts at a time.
    has_pages : bool
        Whether it is simulated page by page, which takes time and memory by the bytes of a request.
    own_engine : str
        Function that runs requests through drives of this kind, "module:function", imported when it is called; empty of
        kinds that the two engines have.
    own_start : str
        Function that returns what such an engine finds after a long time of a workload, in the same form; empty where
        that is nothing.
    held : str
        Class that says what such drives hold after a long time of a workload, in the same form: a subclass of `Drives`
        in `engine/steady/drives`; empty of those that hold nothing.
    devices : str
        Function that makes the devices of the reference engine, of a clock, a scenario and these tables, in the same
        form; empty of kinds that it does not have.
    """

    kind: ClassVar[str]
    has_pages: ClassVar[bool] = False
    own_engine: ClassVar[str] = ""
    own_start: ClassVar[str] = ""
    held: ClassVar[str] = ""
    devices: ClassVar[str] = ""

    sector_bytes: int
    n_sectors: int
    queue_depth: int

    # ------------------------------------------------------------------ mechanics
    @property
    def arm_sectors(self) -> int:
        """Blocks of one arm, from the first one on: what lies on different arms does not merge; else all blocks."""
        return self.n_sectors

    @property
    def period_ns(self) -> int:
        """Time of a revolution; 0 where nothing rotates."""
        return 0

    @property
    def longest_seek_ns(self) -> int:
        """Longest seek."""
        return 0

    def track_sectors(self, lba: int) -> int:
        """Return the blocks that pass at a block in a revolution, to which its rate is proportional."""
        return 1

    @property
    def state_bytes(self) -> int:
        """About the memory of the state of one drive in a run, where that is much; else 0."""
        return 0

    # ------------------------------------------------------------------ what is drawn
    @property
    def has_draws(self) -> bool:
        """Whether accesses to the media draw what happens to them (rule M9)."""
        return False

    @property
    def n_drawn_times(self) -> int:
        """Equally likely times of which each drive draws from a place of its own (rules V2, F19)."""
        return 0

    def said_of(self, n_commands: int, n_charged: int) -> tuple[str, ...]:
        """Return what there is to say about a run of so many commands, in sentences.

        Parameters
        ----------
        n_commands : int
        n_charged : int
            Operations that they counted for against a limit (rule U1).
        """
        return ()

    # ------------------------------------------------------------------ queue and interface
    def own_queue(self) -> Queue:
        """Return the scheduler of its own command queue."""
        return Queue()

    @property
    def write_zone_sectors(self) -> int:
        """Length of the zones that the host writes in order (rule N2); 0 where it may write anywhere."""
        return 0

    @property
    def conventional_sectors(self) -> int:
        """Where such zones begin."""
        return 0

    # ------------------------------------------------------------------ writes that wait
    @property
    def buffer_sectors(self) -> int:
        """Room for writes that are not on the media; 0: none waits."""
        return 0

    @property
    def write_room_sectors(self) -> int:
        """Least room of a write in that buffer."""
        return 0

    @property
    def has_write_back(self) -> bool:
        """Whether a cache answers writes that can be switched off."""
        return False

    @property
    def media_cache(self) -> MediaCacheTables | None:
        """The media cache of each arm (rules G1 to G9); None without one."""
        return None

    @property
    def takes_flushes(self) -> bool:
        """Whether a host that wants its writes safe sends flushes (rule Y2)."""
        return self.buffer_sectors > 0

    @property
    def has_fua(self) -> bool:
        """Whether the host has a single write pass the buffer (rule Y7)."""
        return False

    def without_write_back(self) -> Self:
        """Return the tables of the same drive with its write-back cache switched off."""
        return self

    def with_fua(self, is_used: bool) -> Self:
        """Return the tables of the same drive whose host has single writes pass its buffer, where it has one."""
        return self

    def burst_write_ns(self, n_bytes: float, are_safe: bool) -> tuple[float, float] | None:
        """Return the times of a write that the buffer takes while it has room, in the drive and on its interface.

        None where no constant gives them.

        Parameters
        ----------
        n_bytes : float
            Length of the write.
        are_safe : bool
            Whether the host waits until writes survive a power cut.
        """
        return None
