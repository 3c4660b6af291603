"""Files as streams of bytes, decompressed as they are read, and UTF-16 turned into UTF-8.

Compression and encoding are recognized by content, not by name.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

from diskmodel.errors import InputError
from diskmodel.formats.faults import file_error, unreadable
from diskmodel.input import open_input

#: What decompressors and files raise on damaged or unreadable input.
READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError)

#: What is looked at to recognize a file.
HEAD_BYTES = 1 << 16

#: A document (not a trace) larger than this when decompressed is refused: it would not fit into memory gracefully.
MAX_DOCUMENT_BYTES = 128 * 2**20

#: A text whose first bytes have carriage returns and no line feed has none later on.
_LOOKED_AT = 4096

# One block of zstd that repeats a byte turns 4 bytes into 128 KiB, so so few at a time keep memory flat.
_ZSTD_STEP = 512


class _ZstdFile(io.RawIOBase):
    """Frames of zstd one after another; unlike `zstandard.stream_reader`, a frame that is cut short is an error."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._ready = memoryview(b"")
        self._compressed = b""
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            if not self._compressed:
                self._compressed = self._raw.read(_ZSTD_STEP)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError("compressed file ended before the end-of-stream marker was reached")
                return 0
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(self._compressed))
            self._compressed = b""
            if self._frame.eof:
                self._compressed = self._frame.unused_data
                self._frame = None
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def close(self) -> None:
        self._raw.close()
        super().close()


_OPENERS: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", lambda raw: io.BufferedReader(_ZstdFile(raw), 1 << 18)),
)


class _ReturnsFile(io.RawIOBase):
    """Lines that end with a carriage return alone, as lines."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)


class _Utf16File(io.RawIOBase):
    """UTF-16 as UTF-8: PowerShell's `>` writes it."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            data = self._raw.read(1 << 16)
            self._ready = memoryview(self._decoder.decode(data, final=not data).encode())
            if not data:
                break
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n


def _is_utf16(head: bytes) -> bool:
    """Whether a file begins with the byte order mark of UTF-16 and goes on with plain text."""
    if head[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return False
    high = head[3::2] if head[:2] == codecs.BOM_UTF16_LE else head[2::2]
    return len(high) > 0 and high.count(0) >= 0.9 * len(high)


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file: plain, gzip, bzip2, xz, zstd or UTF-16, recognized by its first bytes.

    Raises
    ------
    FormatError
        When the file cannot be opened.
    """
    try:
        raw: IO[bytes] = open_input(path)
    except (OSError, ValueError, InputError) as error:
        raise unreadable(path, error) from None
    with raw:
        try:
            head = raw.read(64)
            raw.seek(0)
        except OSError as error:
            raise unreadable(path, error) from None
        for magic, opener in _OPENERS:
            if head.startswith(magic):
                with opener(raw) as stream:
                    yield _without_mark(stream)
                return
        yield _without_mark(io.BufferedReader(_Utf16File(raw)) if _is_utf16(head) else raw)


def _without_mark(stream: Any) -> Any:
    """Return the stream behind a byte-order mark, which editors of Windows put before a text.

    Lines of a text that only has carriage returns end with them.
    """
    # the reader meets the same damage, and says where
    with contextlib.suppress(*READ_ERRORS):
        if stream.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        head = stream.peek(_LOOKED_AT)
        if head.count(b"\r") > 1 and b"\n" not in head and b"\0" not in head:
            return io.BufferedReader(_ReturnsFile(stream))
    return stream


def read_head(path: str | Path, n_bytes: int = HEAD_BYTES) -> bytes:
    """The first `n_bytes` of the decompressed file, or all of a shorter one."""
    with open_bytes(path) as stream:
        try:
            return _read_up_to(stream, n_bytes)
        except READ_ERRORS as error:
            raise unreadable(path, error) from None


def read_document(path: str | Path, max_bytes: int = MAX_DOCUMENT_BYTES) -> str:
    """The whole decompressed text of a file of modest size; bytes that are not UTF-8 become U+FFFD.

    Raises
    ------
    FormatError
        When it cannot be read, or is longer than `max_bytes`.
    """
    with open_bytes(path) as stream:
        try:
            data = _read_up_to(stream, max_bytes + 1)
        except READ_ERRORS as error:
            raise unreadable(path, error) from None
    if len(data) > max_bytes:
        raise file_error(path, f"is longer than {max_bytes} bytes", "only traces may be that long; is this the file?")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")


def _read_up_to(stream: IO[bytes], n_bytes: int) -> bytes:
    parts = []
    while n_bytes > 0 and (part := stream.read(min(n_bytes, 1 << 20))):
        parts.append(part)
        n_bytes -= len(part)
    return b"".join(parts)
