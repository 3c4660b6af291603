"""The journal of the file system on an array: one transaction is committed at a time (rules Y8 to Y10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.engine.reference.processors import Processors
from diskmodel.records import StreamRule


class Journal:
    """Who waits for which commit, and what a commit writes.

    Parameters
    ----------
    clock : Clock
    rules : sequence of StreamRule
        Of all streams. The first one with a journal says where it is.
    sector_bytes : int
    device : int
        Number of the controller among the devices.
    host_work_ns : int
        How long the host works on one request.
    processors : Processors
        Those of the host, for one of which a commit waits that is woken up.
    write : callable
        Called with a row, a first sector, sectors, whether the write is to pass the drives' caches, whether it needs a
        place (rule Q10), and what to do when it is done.
    flush : callable or None
        Called with a row and what to do when all before it is safe; None where nothing takes flushes.
    """

    def __init__(
        self,
        clock: Clock,
        rules: Sequence[StreamRule],
        sector_bytes: int,
        device: int,
        host_work_ns: int,
        processors: Processors,
        write: Callable[[int, int, int, bool, bool, Callable[[], None]], None],
        flush: Callable[[int, Callable[[], None]], None] | None,
    ) -> None:
        self.clock = clock
        self.rules = rules
        self.sector_bytes = sector_bytes
        self.device = device
        self.host_work_ns = host_work_ns
        self.processors = processors
        self.write = write
        self.flush = flush
        place = next(rule for rule in rules if rule.journal_bytes)
        self.first = place.journal_first_byte // sector_bytes
        self.n = place.journal_bytes // sector_bytes
        #: Where the next commit is written, in sectors from the beginning.
        self.end = 0
        self.n_ended = 0
        self.is_committing = False
        #: A commit has been woken up and has not begun.
        self.is_woken = False
        #: The commit in progress is one of ext4, whose writes need places (rule Q10); XFS marks its own as exempt.
        self.has_body = False
        #: Row, stream and what to do of those whose changes are being committed, and of those who wait for the next.
        self.members: list[tuple[int, int, Callable[[], None]]] = []
        self.waiting: list[tuple[int, int, Callable[[], None]]] = []
        #: Tick in which each stream last changed its file's times, and the number of the commit that takes that.
        self.stamped: dict[int, tuple[int, int]] = {}

    def sync(self, stream: int, row: int, issue_ns: int, done: Callable[[], None]) -> bool:
        """Call `done` when what a write of that time changed is committed; False where that has been (rule Y8)."""
        tick_ns = self.rules[stream].journal_tick_ns
        number = self.n_ended + self.is_committing + 1
        if tick_ns:
            tick, stamped = self.stamped.get(stream, (-1, 0))
            if tick == issue_ns // tick_ns:
                number = stamped
            self.stamped[stream] = (issue_ns // tick_ns, number)
        if number <= self.n_ended:
            return False
        if self.is_committing and number == self.n_ended + 1:
            self.members.append((row, stream, done))
            return True
        self.waiting.append((row, stream, done))
        if not self.is_committing and not self.is_woken:
            self.is_woken = True
            when_ns = max(self.clock.now, self.processors.first_free_ns) + self.host_work_ns
            self.clock.at(when_ns, ARRIVE, self.device, LAST, self._woken)
        return True

    def _woken(self) -> None:
        """Who has come while the commit waited for its turn is a member, too (rule Y9)."""
        self.is_woken = False
        self._begin(0)

    def _begin(self, wait_ns: int) -> None:
        """Commit for all that wait, and write after a while (rule Y9)."""
        self.is_committing = bool(self.waiting)
        if not self.waiting:
            return
        self.members, self.waiting = self.waiting, []
        row = self.members[0][0]
        rules = [self.rules[stream] for _, stream, _ in self.members]
        body_bytes = max(rule.journal_body_bytes for rule in rules)
        block_bytes = max(rule.journal_block_bytes for rule in rules)
        more_bytes = sum(rule.journal_more_bytes for rule in rules[1:])
        if body_bytes:
            body_bytes += more_bytes
        else:
            block_bytes += more_bytes
        block = min(-(-block_bytes // self.sector_bytes), self.n)
        body = min(-(-body_bytes // self.sector_bytes), self.n - block)
        self.has_body = body > 0
        when_ns = self.clock.now + wait_ns
        self.clock.at(when_ns, ARRIVE, self.device, LAST, lambda: self._write_body(row, body, block))

    def _place(self, n: int) -> int:
        """First sector of what is written next."""
        if self.end + n > self.n:
            # the journal begins again at its beginning
            self.end = 0
        self.end += n
        return self.first + self.end - n

    def _write_body(self, row: int, body: int, block: int) -> None:
        if body:
            self.write(row, self._place(body), body, False, True, lambda: self._body_written(row, block))
        else:
            self._flush(row, block)

    def _body_written(self, row: int, block: int) -> None:
        if self.host_work_ns:
            when_ns = self.clock.now + self.host_work_ns
            self.clock.at(when_ns, ARRIVE, self.device, LAST, lambda: self._flush(row, block))
        else:
            self._flush(row, block)

    def _flush(self, row: int, block: int) -> None:
        """What was written before is safe before the block that makes it valid (rule Y10)."""
        if self.flush is None:
            self._write_block(row, block)
        else:
            self.flush(row, lambda: self._write_block(row, block))

    def _write_block(self, row: int, block: int) -> None:
        self.write(row, self._place(block), block, True, self.has_body, self._ended)

    def _ended(self) -> None:
        served = self.members
        self.n_ended += 1
        # those that were served issue what they issue first
        self._begin((len(served) + 1) * self.host_work_ns)
        for _, _, done in served:
            done()
