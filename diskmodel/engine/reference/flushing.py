"""Event adapters of flushes: who waits for whom above each disk (rule Y4) and above the array (rule Y5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Device
from diskmodel.records import FLUSH

#: For so long at most a flush waits for writes that will want one, too: `FLUSH_PENDING_TIMEOUT` of Linux.
MAX_DEFERRED_NS = 5_000_000_000


class BlockFlushes:
    """Flushes of one disk: one is in progress while the next ones gather (rule Y4)."""

    def __init__(self, clock: Clock, device: Device, next_number: Callable[[], int]) -> None:
        self.clock = clock
        self.device = device
        self.next_number = next_number
        self.gathered: list[Callable[[], None]] = []
        self.gathered_since_ns = 0
        self.is_in_progress = False
        #: Writes that a flush follows and that the disk has not answered.
        self.n_data = 0

    def flush(self, done: Callable[[], None]) -> None:
        """Call `done` when a flush that begins from now on has completed."""
        if not self.gathered:
            self.gathered_since_ns = self.clock.now
        self.gathered.append(done)
        self._begin()

    def data_begins(self) -> None:
        """A write that a flush will follow is sent to the disk."""
        self.n_data += 1

    def data_ended(self, done: Callable[[Command], None]) -> Callable[[Command], None]:
        """Return what to do when the disk has answered such a write: flush, then `done`."""

        def answered(command: Command) -> None:
            self.n_data -= 1
            self.flush(lambda: done(command))

        return answered

    def _begin(self) -> None:
        is_deferred = self.n_data and self.clock.now < self.gathered_since_ns + MAX_DEFERRED_NS
        if self.is_in_progress or not self.gathered or is_deferred:
            return
        served, self.gathered = self.gathered, []
        self.is_in_progress = True
        now = self.clock.now
        self.device.flush(
            Command(self.next_number(), self.device.index, FLUSH, 0, 0, now, lambda _: self._ended(served))
        )

    def _ended(self, served: list[Callable[[], None]]) -> None:
        self.is_in_progress = False
        self._begin()
        for done in served:
            done()


class ArrayFlushes:
    """Flushes of an array: each goes to all disks, one at a time; those that come meanwhile share the next.

    `host_work_ns` is how long the host works on one request: what the end of a flush lets it issue comes first.
    """

    def __init__(
        self, clock: Clock, device: int, host_work_ns: int, disks: Callable[[], Sequence[BlockFlushes]]
    ) -> None:
        self.clock = clock
        self.device = device
        self.host_work_ns = host_work_ns
        self.disks = disks
        self.gathered: list[Callable[[], None]] = []
        self.is_in_progress = False

    def flush(self, done: Callable[[], None]) -> None:
        """Call `done` when a flush of all disks that begins from now on has completed."""
        disks = self.disks()
        if not disks:
            done()
        elif len(disks) == 1:
            disks[0].flush(done)
        else:
            self.gathered.append(done)
            self._begin()

    def _begin(self) -> None:
        if self.is_in_progress or not self.gathered:
            return
        served, self.gathered = self.gathered, []
        self.is_in_progress = True
        disks = self.disks()
        left = len(disks)

        def flushed() -> None:
            nonlocal left
            left -= 1
            if not left:
                self._ended(served)

        for disk in disks:
            disk.flush(flushed)

    def _ended(self, served: list[Callable[[], None]]) -> None:
        """Those who waited go on; then comes the turn of the next flush."""
        next_ns = self.clock.now + (len(served) + 1) * self.host_work_ns
        if self.host_work_ns:
            self.clock.at(next_ns, ARRIVE, self.device, LAST, self._may_begin)
        else:
            self._may_begin()
        for done in served:
            done()

    def _may_begin(self) -> None:
        self.is_in_progress = False
        self._begin()
