"""What every scheduler is: a choice among waiting commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol


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
    positioning_ns: Callable[[Waiting], int]


class Policy(ABC):
    """A scheduler. Subclasses keep what state they need; one instance serves one queue.

    `choose` gets the waiting commands in order of arrival, never an empty list, and returns the index of the next
    one. Ties go to the earlier arrival (rule Q1), which `min` over the list does by itself.
    """

    name: ClassVar[str]
    #: "turn": the arm goes on to the edge before it turns (SCAN); "wrap": to the edge, then across to block 0 (C-SCAN).
    edge: ClassVar[str] = ""
    #: Whether the last choice turned the direction (or wrapped round); read by the mechanism when `edge` is set.
    turned: bool = False
    #: Direction of the sweep before the last choice, +1 towards higher blocks.
    swept: int = 1

    @abstractmethod
    def choose(self, waiting: Sequence[Waiting], head: Head, now_ns: int) -> int:
        """Index of the command to serve next."""
