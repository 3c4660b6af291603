"""Which copy serves a read (rules L5 and X6)."""

from __future__ import annotations

from collections.abc import Sequence

from diskmodel.engine.reference.device import Device
from diskmodel.layout import ChooseCopy, Copy, VolumeTables


class CopyChoice:
    """What a choice among copies depends on: what was chosen before, and what waits on each disk."""

    def __init__(self, tables: VolumeTables, devices: Sequence[Device]) -> None:
        self.tables = tables
        self.devices = devices
        self.next_copy = 0
        #: Block after the last read that was chosen for each disk.
        self.read_end = [0] * len(devices)
        #: Choices of the request that is being planned.
        self.n_chosen = [0] * len(devices)

    def begin(self) -> ChooseCopy:
        """Return what chooses among copies for the pieces of one request, of which none is chosen yet."""
        self.n_chosen = [0] * len(self.devices)
        return self.choose

    def choose(self, copies: Sequence[Copy], n: int) -> Copy:
        """Copy that serves a read of `n` sectors (rule L5)."""
        copy = self._copy_by_policy(copies)
        self.read_end[copy.disk] = copy.lba + n
        self.n_chosen[copy.disk] += 1
        return copy

    def _copy_by_policy(self, copies: Sequence[Copy]) -> Copy:
        policy = self.tables.read_policy
        if policy == "primary":
            return copies[0]
        if policy == "round-robin":
            self.next_copy += 1
            return copies[(self.next_copy - 1) % len(copies)]
        if policy == "lowest":
            return min(copies, key=lambda copy: copy.lba)
        if policy == "least-loaded":
            outstanding = [self.devices[copy.disk].outstanding + self.n_chosen[copy.disk] for copy in copies]
            return self._least_loaded(copies, outstanding)
        pending = [self.devices[copy.disk].pending + self.n_chosen[copy.disk] for copy in copies]
        if policy == "shortest-queue":
            return copies[pending.index(min(pending))]
        distance = [abs(copy.lba - self.devices[copy.disk].completed_end) for copy in copies]
        if policy == "nearest":
            for copy, gap in zip(copies, distance, strict=True):
                if gap == 0 or self.read_end[copy.disk] == copy.lba:
                    return copy
            if min(pending) == 0:
                return copies[pending.index(0)]
        if policy == "idle-or-nearest":
            distance = [gap if waits else 0 for gap, waits in zip(distance, pending, strict=True)]
        return copies[distance.index(min(distance))]

    def _least_loaded(self, copies: Sequence[Copy], pending: list[int]) -> Copy:
        """Copy that a mirror of OpenZFS reads (rule X6)."""
        pool, tables = self.tables.pool, self.tables
        assert pool is not None
        loads = [
            min(waits, pool.most_active) + pool.seek_load(copy.lba - self.read_end[copy.disk])
            for copy, waits in zip(copies, pending, strict=True)
        ]
        least = [copy for copy, load in zip(copies, loads, strict=True) if load == min(loads)]
        return least[(least[0].lba - tables.data_offset) // pool.turn_of_copies % len(least)]
