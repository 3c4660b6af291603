"""What every address pattern is: where the requests of a stream go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from diskmodel.description import Description
from diskmodel.records import Int64
from diskmodel.workload.draws import Draws
from diskmodel.workload.space import Space


class AddressPattern(Description, ABC):
    """Where the requests of a stream go.

    Attributes
    ----------
    pattern : str
        The name; each subclass fixes it.
    title : str
        In one line, for people.
    example : mapping
        Fields that have no default, as a file could give them; the tests of all patterns use them.
    is_scattered : bool
        Whether requests begin where the last one ended only as often as anywhere else.
    """

    pattern: str
    title: ClassVar[str]
    example: ClassVar[Mapping[str, object]] = MappingProxyType({})
    is_scattered: ClassVar[bool] = False

    @property
    def n_together(self) -> int:
        """Rows that are drawn together: a stream is cut into blocks only at multiples of it."""
        return 1

    @property
    def n_course(self) -> float:
        """Rows after which a run has seen all kinds of places; 0: any row may be anywhere."""
        return 0

    @property
    def is_in_order(self) -> bool:
        """Whether requests go through the region in order, and the description leaves open where a run begins."""
        return False

    @property
    def goes_through(self) -> bool:
        """Whether requests go on from where they begin until the region ends, and then from its front."""
        return False

    def at_the_end(self, n: int, step_bytes: float, space: Space) -> AddressPattern:
        """Return the pattern begun so late that `n` requests end where the region ends (rule W9).

        Itself where it is not in order, or says where it begins.

        Parameters
        ----------
        n : int
            Requests of the stream in the run.
        step_bytes : float
            Mean size of a request, aligned.
        space : Space
        """
        return self

    def misfit(self, space: Space) -> str:
        """Return why requests cannot be placed in a region; "" where they can."""
        return ""

    @abstractmethod
    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """Return the first byte of each request, relative to the region.

        Parameters
        ----------
        lengths : int64, shape (n,), bytes
        space : Space
            The region and the alignment.
        draws : Draws
            All randomness; the rows of a longer call begin with those of a shorter one.

        Returns
        -------
        int64, shape (n,), bytes
            Multiples of the alignment, so that each request ends within the region.
        """
