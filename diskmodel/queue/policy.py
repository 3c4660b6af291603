"""Interface of every scheduler: a choice among waiting commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self

if TYPE_CHECKING:
    from diskmodel.queue.description import Queue


class Waiting(Protocol):
    """What a scheduler may look at in a waiting command."""

    @property
    def seq(self) -> int: ...
    @property
    def op(self) -> int: ...
    @property
    def lba(self) -> int: ...
    @property
    def n_sectors(self) -> int: ...
    @property
    def arrived_ns(self) -> int: ...


class Positioning(Protocol):
    """Seek and rotational latency to a command, in ns; a revolution more where the latency is below the margin.

    The margin is a time, and a part of the move in 256ths.
    """

    def __call__(self, command: Waiting, margin_ns: int = 0, move_256ths: int = 0, /) -> int: ...


@dataclass
class Head:
    """Where the head is, as far as a scheduler knows.

    Attributes
    ----------
    lba : int
        The block after the last one of the command that was chosen last.
    positioning_ns : callable
        Seek and rotational latency to a waiting command from now, in ns (rule Q6).
    """

    lba: int
    positioning_ns: Positioning


class Policy(ABC):
    """A scheduler. Subclasses keep what state they need; one instance serves one queue.

    `choose` gets the waiting commands in order of arrival, never an empty list, and returns the index of the next
    one. Ties go to the earlier arrival (rule Q1), which `min` over the list does by itself.
    """

    #: As descriptions name it; in one line, for people; its rule on the semantics page.
    name: ClassVar[str]
    title: ClassVar[str]
    #: Fields of a queue that it alone reads.
    reads: ClassVar[tuple[str, ...]] = ()
    rule: ClassVar[str]
    #: Whether the firmware of a drive may use it; otherwise it is only used above a disk.
    is_in_drives: ClassVar[bool] = True
    #: What its choice shortens, for the formulas of `diskmodel.analytic`.
    shortens: ClassVar[Literal["nothing", "seek", "positioning"]] = "nothing"
    #: "turn": the arm goes on to the edge before it turns (SCAN); "wrap": to the edge, then across to block 0 (C-SCAN).
    edge: ClassVar[str] = ""
    #: Whether the last choice turned the direction (or wrapped round); read by the mechanism when `edge` is set.
    turned: bool = False
    #: Direction of the sweep before the last choice, +1 toward higher blocks.
    swept: int = 1

    @classmethod
    def of(cls, queue: Queue) -> Self:
        """Return the scheduler with fresh state; those with tunables take them from `queue`."""
        return cls()

    @abstractmethod
    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        """Return the index of the command to serve next."""
