"""A log to which clients append records: at most one batch is written at a time (rule Y6)."""

from __future__ import annotations

from collections.abc import Callable

from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.records import StreamRule


class GroupCommit:
    """The log of one stream.

    Parameters
    ----------
    clock : Clock
    rule : StreamRule
    write : callable
        Called with the rows of a batch, its first byte and its bytes.
    """

    def __init__(self, clock: Clock, rule: StreamRule, write: Callable[[list[int], int, int], None]) -> None:
        self.clock = clock
        self.rule = rule
        self.write = write
        #: Rows that wait for the next batch, and the bytes of each.
        self.waiting: list[tuple[int, int]] = []
        self.is_writing = False
        self.is_delayed = False
        #: Where the log ends, in bytes from its beginning.
        self.end = 0

    def append(self, row: int, length: int) -> None:
        """A client wants a record in the log, now."""
        self.waiting.append((row, length))
        self._begin()

    def written(self) -> None:
        """The batch is safe: the next one may begin."""
        self.is_writing = False
        self._begin()

    def _begin(self) -> None:
        if self.is_writing or self.is_delayed or not self.waiting:
            return
        if self.rule.log_delay_ns:
            self.is_delayed = True
            self.clock.at(self.clock.now + self.rule.log_delay_ns, ARRIVE, 0, LAST, self._delayed)
        else:
            self._write_all()

    def _delayed(self) -> None:
        self.is_delayed = False
        self._write_all()

    def _write_all(self) -> None:
        rule, block = self.rule, self.rule.log_block_bytes
        batch, self.waiting = self.waiting, []
        n_bytes = sum(length for _, length in batch)
        if self.end + n_bytes > rule.log_bytes:
            # the log begins again at its beginning
            self.end = 0
        first = self.end // block * block
        self.end = min(self.end + n_bytes, rule.log_bytes)
        end = min(-(-self.end // block) * block, rule.log_bytes)
        self.is_writing = True
        self.write([row for row, _ in batch], rule.log_first_byte + first, end - first)
