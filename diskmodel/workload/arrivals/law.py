"""What every arrival law is: when the requests of a stream come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Self

from diskmodel.description import Description
from diskmodel.records import Int64
from diskmodel.workload.draws import Draws


class ArrivalLaw(Description, ABC):
    """When the requests of a stream come. Subclasses have a field `kind` with the name that descriptions use.

    Attributes
    ----------
    title : str
        In one line, for people.
    example : mapping
        Fields that have no default, as a file could give them; the tests of all laws use them.
    """

    title: ClassVar[str]
    example: ClassVar[Mapping[str, object]] = MappingProxyType({})

    @property
    @abstractmethod
    def expected_rate_per_s(self) -> float:
        """Mean rate of requests; for clients that wait, a guess by which rows are divided among streams."""

    @property
    def cycle_ns(self) -> float:
        """Mean time in which the rate goes through its ups and downs once; 0: it has none."""
        return 0.0

    @property
    def has_random_cycles(self) -> bool:
        """Whether each of these ups and downs takes a time of its own."""
        return False

    @property
    def peak_ns(self) -> float:
        """Mean time for which the rate is at its highest, at a stretch; 0 where it does not change."""
        return 0.0

    @property
    def peak_share(self) -> float:
        """Share of the requests that come while the rate is at its highest; 1 where that is not known."""
        return 1.0

    def at_peak(self) -> ArrivalLaw:
        """Return the law at its busiest, for good; itself where the rate does not change."""
        return self

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the same law at `factor` times the load."""

    @abstractmethod
    def when(self, n: int, draws: Draws) -> Int64:
        """Return absolute issue times that never decrease, or think times of clients; int64, shape (n,), ns.

        The rows of a longer call begin with those of a shorter one.
        """
