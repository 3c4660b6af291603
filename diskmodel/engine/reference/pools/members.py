"""What pools ask of the disks below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.copy_choice import CopyChoice
from diskmodel.engine.reference.device import Device
from diskmodel.engine.reference.flushing import ArrayFlushes, BlockFlushes
from diskmodel.layout import ChildIo, VolumeTables


class Members(Protocol):
    """Disks that pieces are handed to.

    Attributes
    ----------
    tables : VolumeTables
    devices : sequence of Device
    flushes : list of BlockFlushes
        Of each disk; empty where they take none.
    array_flushes : ArrayFlushes
    choice : CopyChoice
    front : int
        Sectors that a pass over the disks is through.
    """

    tables: VolumeTables
    devices: Sequence[Device]
    flushes: list[BlockFlushes]
    array_flushes: ArrayFlushes
    choice: CopyChoice
    front: int

    def access(self, op: int, sector: int, n: int, done: Callable[[Access, Command], None]) -> None:
        """Start an access of `n` sectors."""

    def start(
        self,
        first: list[ChildIo],
        then: list[ChildIo],
        done: Callable[[Access, Command], None],
        *,
        is_of_group: bool = False,
        is_of_scan: bool = False,
    ) -> None:
        """Start pieces in two phases."""

    def read_record(self, record: int, n: int, done: Callable[[Access, Command], None], *, is_ahead: bool) -> None:
        """Read a record of `n` sectors into memory."""
