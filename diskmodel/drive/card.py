"""The card of a kind of drives: all that others ask of a description, so that nobody asks which kind it is.

Each kind answers in its own folder where it differs from what stands here. `tables_card.py` is the card of what the
engines read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from diskmodel.drive.assumed_order import AssumedOrder
    from diskmodel.drive.hdd.parts import DriveQueue
    from diskmodel.drive.perturbation import DrivePerturbation
    from diskmodel.drive.zones import WriteZones

#: Bytes of the random reads whose rate a data sheet prints.
RATED_BYTES = 4096
#: Length of the commands of a long transfer, bytes: the largest that Linux sends to most disks. At half, a virtual disk
#: pays its overhead per command twice as often, at double half as often.
LONG_BYTES = 1 << 20


class OtherPrograms(NamedTuple):
    """A drive that is a whole system with other programs than it is taken to have.

    Attributes
    ----------
    system : the drive with these
    assumed : str
        What is assumed instead, as a clause.
    said_by : str
        The words that say which it has.
    """

    system: Any
    assumed: str
    said_by: str


@dataclass(frozen=True)
class Trouble:
    """One thing that makes a drive that is a whole system slower, or faster, than it is described.

    Attributes
    ----------
    name : str
    title : str
        In plain words, as a clause.
    found : "often", "sometimes" or "seldom"
        Relative to other causes.
    fingerprint : str
        What it leaves in the figures, in words.
    command, shows : str
        What decides about it, and what to look for there.
    change : callable
        Of the drive and a strength: the drive as it then is; None where it cannot be like that, or is so already.
    strengths : mapping of words to values
    about : str
        What it is about; two troubles about the same thing do not go together.
    """

    name: str
    title: str
    found: Literal["often", "sometimes", "seldom"]
    fingerprint: str
    command: str
    shows: str
    change: Callable[[Any, Any], Any]
    strengths: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({"": None}))
    about: str = "system"


class OwnEffort(NamedTuple):
    """What a run of an engine of its own costs.

    Attributes
    ----------
    command_s : float
        Computing time of a command, on a processor of 2023.
    most_requests : int
        Of the longest run when precision chooses the length.
    """

    command_s: float
    most_requests: int


class Parts:
    """Parts of a drive that both of its cards know: of its description, and of its tables."""

    @property
    def arms(self) -> int:
        """Arms that seek, each over its own part of the blocks; 0 where nothing perturbation."""
        return 0

    @property
    def has_arms(self) -> bool:
        """Whether arms seek and platters rotate."""
        return self.arms > 0

    @property
    def link_bytes_per_s(self) -> float:
        """Rate of its interface; infinite where it has none that limits it."""
        return math.inf


class Card(Parts, ABC):
    """What the description of a drive answers, whatever its kind.

    Attributes
    ----------
    formula : str
        Function that makes what formulas estimate an array of it from, which searches start at, "module:function",
        imported when it is called (`diskmodel/analytic/disks.py`); empty of kinds without.
    usual_ure_per_bit : float
        Unreadable bits per bit read where its sheet gives none: what data sheets of enterprise disks print, and what
        JESD218 allows enterprise flash drives, whose sheets mostly print a tenth of that. The probability of data loss
        is proportional to it.
    slower_than_rated : str
        Why an operation takes longer than the rule of thumb assumes, as a clause.
    is_host_bound : bool
        Whether arrays of such drives are often limited by the host before they are by the drives.
    loses_in_pieces : bool
        Whether a long request may take longer because it comes in pieces, as a disk loses a revolution between two.
    spares_unused : bool
        Whether what holds no data makes its writes faster, as in flash.
    members : tuple of str
        Fields of its description that are drives, a dot before those of a part.
    stands_alone : bool
        Whether it is a volume as a whole, and no member of arrays.
    has_units : bool
        Whether it stores data in units, so that a request costs more that does not begin at one.
    has_flushes_of_its_own : bool
        Whether a flush takes a time that a description can give.
    """

    formula: ClassVar[str] = ""
    members: ClassVar[tuple[str, ...]] = ()
    usual_ure_per_bit: ClassVar[float] = 1e-15
    slower_than_rated: ClassVar[str] = "a command waits for others"
    is_host_bound: ClassVar[bool] = False
    loses_in_pieces: ClassVar[bool] = True
    has_flushes_of_its_own: ClassVar[bool] = False
    spares_unused: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    stands_alone: ClassVar[bool] = False

    # ------------------------------------------------------------------ what it is
    @property
    def period_ns(self) -> int | None:
        """Time of a revolution; None where nothing rotates."""
        return None

    @property
    def spindle_rpm(self) -> float:
        """Revolutions per minute; infinite where nothing has to come round."""
        return math.inf

    @property
    @abstractmethod
    def speed_class(self) -> str:
        """What a list of drives is grouped by: the spindle speed, or the kind."""

    # ------------------------------------------------------------------ what there is to say about it
    #: Function that plots what it can do, "module:function", imported when it is called; empty where there is none.
    plotted_by: ClassVar[str] = ""

    def derived(self) -> dict[str, float]:
        """Return the figures that follow from the description, by name."""
        return {}

    def facts(self) -> list[tuple[str, str]]:
        """Return what there is to say about it beside the fields of every drive: label, text."""
        return []

    # ------------------------------------------------------------------ what it does
    @property
    def rated_iops(self) -> float:
        """Random reads of 4 KiB per second at best, as a data sheet prints them; nan where no sheet says it."""
        return math.nan

    @property
    @abstractmethod
    def sequential_bytes_per_s(self) -> float:
        """Rate of a long transfer, the mean over the whole drive."""

    @property
    @abstractmethod
    def accepted_commands(self) -> int:
        """Commands that the drive accepts at a time."""

    @property
    def is_write_back(self) -> bool:
        """Whether a cache of its own that can be switched off answers writes before they are on the media."""
        return False

    @property
    def write_cache_bytes(self) -> int:
        """Room of that cache where writes that wait for room in it were measured; 0 elsewhere."""
        return 0

    @property
    def is_flushed(self) -> bool:
        """Whether it reports a volatile cache, so that Linux sends it flushes."""
        return True

    # ------------------------------------------------------------------ what it refuses
    @property
    def zones_in_order(self) -> WriteZones | None:
        """Zones that the host has to write in order; None where it may write anywhere."""
        return None

    @property
    def rewrites_tracks(self) -> bool:
        """Whether the drive itself rewrites the tracks next to a random write: shingled, not managed by the host."""
        return False

    @property
    def rewrites_bands(self) -> bool:
        """Whether it does so by bands, behind a media cache that is described."""
        return False

    # ------------------------------------------------------------------ what may be wrong with it
    #: Names in answers for what is not known of it, by those that drives in general have (`diskmodel.uncertainty`).
    unknowns_called: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: What is busy where such drives limit an array, in words.
    busy_as: ClassVar[str] = "the disks"
    #: Whether a controller with a cache may stand before such drives.
    may_have_controller: ClassVar[bool] = True
    #: Functions of the drive and of a strength, by their names; None where a drive cannot be like that, or is.
    deviations: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType({})
    #: What else may be the case, where it is a system: `explain` looks for each.
    troubles: ClassVar[tuple[Trouble, ...]] = ()

    def deviating(self, name: str, strength: Any = None) -> Self | None:
        """Return the drive as it would be with something wrong; None where that cannot be, or is so already.

        Parameters
        ----------
        name : str
            A key of `deviations` of some kind.
        strength : optional
            What that one takes.
        """
        of = self.deviations.get(name)
        found: Self | None = None if of is None else of(self, strength)
        return found

    # ------------------------------------------------------------------ words for it
    @classmethod
    def of_words(cls, words: str, of_array: Callable[[str], Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return the fields of a volume of this kind that words describe; None where they describe another thing.

        Parameters
        ----------
        words : str
            Of a whole array.
        of_array : callable
            Returns the fields of an array, of words in it.

        Raises
        ------
        DescriptionError
            When they are about such a volume and have another form.
        """
        return None

    #: Words for it in lists of drives: the kind to search for, and the heading above such drives; empty of kinds that
    #: are listed by what they are made of, or not at all.
    listed_as: ClassVar[tuple[str, str] | tuple[()]] = ()

    #: Key of an array in a file that puts it into a system of this kind, as "cached_by" does; empty of other kinds.
    array_key: ClassVar[str] = ""

    @classmethod
    def of_array(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the system that an array with the key `array_key` is in.

        Raises
        ------
        TypeError
            For kinds that no array is in.
        """
        raise TypeError(f"no array is in a {cls.__name__}")

    #: Function that plans such volumes, "module:function", imported when it is called: of the options of a question it
    #: returns the plan of its own that answers it, None of questions about other things
    #: (`diskmodel.plan.own_plans`). Empty of kinds that are planned as arrays of drives are.
    planned_by: ClassVar[str] = ""

    #: What a run of its own engine costs; None of kinds that the two engines have.
    own_effort: ClassVar[OwnEffort | None] = None

    # ------------------------------------------------------------------ a cache before it
    @property
    def cache_bytes(self) -> int:
        """Size of a cache on other drives that is part of it; 0 without one."""
        return 0

    def without_cache(self) -> dict[str, Any] | None:
        """Return the fields of the array that such a cache stands before; None without one."""
        return None

    # ------------------------------------------------------------------ what is bought of it by the piece
    def about_credits(self, ops_per_s: float, bytes_per_s: float) -> str:
        """Return in a sentence what credits for bursts would do under a load; "" of drives without."""
        return ""

    def sold_per_s(self, n_bytes: float, *, in_order: bool) -> float:
        """Return the rate of requests of that size that it was sold with, and never exceeds for long.

        Infinite of drives without such a limit.
        """
        return math.inf

    def under(self, ops_per_s: float, bytes_per_s: float) -> Self:
        """Return the drive as it is when such a load has lasted; itself where that makes no difference."""
        return self

    def in_a_test(self) -> Self:
        """Return the drive as a test of a minute finds it, where a short run would be in its first second; itself."""
        return self

    @property
    def full_unless_said(self) -> bool:
        """Whether it is taken to be full of data because its description does not say how full it is."""
        return False

    def fast_states(self) -> tuple[tuple[Self, int], ...]:
        """Return the drive in the states in which it is faster before it is as described, in order.

        Each with the bytes that can be written to it until then; none of a drive that is always equally fast.
        """
        return ()

    def filled(self, used_ratio: float | None) -> Self:
        """Return the drive with so much of it in use, as a share; itself of None, and where that changes nothing."""
        return self

    def buffered_writes(self) -> tuple[int, float] | None:
        """Return the time of a write that is safe in a buffer, and the bytes that it takes in a second for long.

        None of drives whose writes are not safe when they are answered, or not out of a buffer.
        """
        return None

    def of_a_log(self) -> Self:
        """Return the drive as a log has it, which writes one part of it in order, again and again."""
        return self

    def with_write_cache(self, is_on: bool) -> Self:
        """Return the drive with its own write cache on or off; itself where that changes nothing that a host sends."""
        return self

    def without_host(self, host_ns: int, *, is_assumed: bool) -> Self:
        """Return the drive behind a host that takes its own time; itself where its latencies contain none of a host.

        Parameters
        ----------
        host_ns : int
            What a host took of a request where the latencies of drives were measured.
        is_assumed : bool
            Whether nobody described that host.
        """
        return self

    @property
    def is_provisioned(self) -> bool:
        """Whether its size and its limits are bought by the piece, as those of a cloud's volume are."""
        return False

    @classmethod
    def bought_in(cls, part: str) -> dict[str, Any]:
        """Return what a part of the words of an array says is bought of such drives: "6000 IOPS"; else nothing."""
        return {}

    @classmethod
    def bought_by_name(cls, name: str) -> tuple[str, dict[str, Any]] | None:
        """Return a shorter name, and what a name says is bought of such a drive ("…-500GB"); None where nothing."""
        return None

    def provisioned(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the drive with what somebody provisions of it; only where `is_provisioned`.

        Raises
        ------
        TypeError
            For drives of which nothing is bought by the piece.
        """
        raise TypeError(f"nothing of {type(self).__name__} is bought by the piece")

    # ------------------------------------------------------------------ what is not known of it
    #: Part of it that may fail, where it has parts of its own; of an array a disk.
    part: ClassVar[str] = "disk"

    def broken(self) -> Self | None:
        """Return the volume with a part of its own failed, and being copied where it can be; None without parts."""
        return None

    def replaced_by(self, other: Any) -> Any:
        """Return what an array has in its place that is asked about with another drive: the other one."""
        return other

    def other_programs(self) -> Mapping[str, OtherPrograms]:
        """Return it with programs that it may also have, by what of them nobody said: "release" or "build"."""
        return {}

    @property
    def spread_class(self) -> str:
        """Class of drives whose spread it has when only its sheet is known (`diskmodel/uncertainty/spread.toml`).

        Empty where nothing is known of how far such drives are from their sheets.
        """
        return ""

    @property
    def quantities(self) -> frozenset[str]:
        """Quantities that differ from drive to drive of its class, and that a draw can change in its description."""
        return frozenset()

    @abstractmethod
    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return the drive that a draw of what is not known describes.

        Raises
        ------
        DescriptionError
            When no such drive is possible.
        """

    @property
    def assumption(self) -> AssumedOrder | None:
        """What the order of its queued commands is assumed from; None where it is not assumed."""
        return None

    def one_at_a_time(self) -> Self:
        """Return the drive that takes one command at a time, so that it orders none."""
        return self

    @property
    def likely_queues(self) -> tuple[DriveQueue, ...]:
        """Queues that fit what was measured alike; empty where there is only its own."""
        return ()
