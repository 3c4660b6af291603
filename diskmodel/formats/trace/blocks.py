"""Blocks of whole lines out of a stream of bytes, in flat memory whatever the lines look like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from diskmodel.formats.faults import unreadable
from diskmodel.formats.opening import READ_ERRORS
from diskmodel.formats.trace.columns import Tally
from diskmodel.loading import dataclass

BLOCK_BYTES = 4 * 2**20

#: No line of any format is nearly as long; what is longer is malformed and is skipped without being held.
MAX_LINE_BYTES = 2**16


@dataclass(frozen=True)
class Block:
    """Whole lines without the line end of the last one; `first_line` counts from 1."""

    text: str
    first_line: int

    def lines(self) -> list[str]:
        return self.text.split("\n")


def blocks_of(stream: IO[bytes], tally: Tally, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about `block_bytes` that end at line ends; line ends of Windows and a byte order mark are dropped.

    Bytes are taken as Latin-1, which never fails; formats here are ASCII.
    """
    line = 1
    rest = b""
    is_start = True
    in_long_line = False
    while True:
        try:
            data = stream.read(block_bytes)
        except READ_ERRORS as error:
            raise unreadable(tally.path, error) from None
        if is_start:
            data, is_start = data.removeprefix(b"\xef\xbb\xbf"), False
        if not data:
            break
        if in_long_line:
            end = data.find(b"\n")
            if end < 0:
                continue
            data, in_long_line, line = data[end + 1 :], False, line + 1
        whole, newline, tail = (rest + data).rpartition(b"\n")
        if newline:
            yield _block(whole, line)
            line += whole.count(b"\n") + 1
        rest = tail
        if len(rest) > MAX_LINE_BYTES:
            tally.malformed(line, 0, "", rest[:300].decode("latin-1"), f"is longer than {MAX_LINE_BYTES} bytes")
            rest, in_long_line = b"", True
    if rest:
        yield _block(rest, line)


def _block(data: bytes, line: int) -> Block:
    return Block(data.decode("latin-1").replace("\r\n", "\n").removesuffix("\r"), line)
