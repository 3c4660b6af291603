"""Files that appear whole or not at all, compressed if their name says so."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

from diskmodel.formats.faults import file_error


@contextmanager
def atomic_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write bytes to; it takes its name when the block ends well and leaves nothing behind otherwise.

    Raises
    ------
    FormatError
        When it cannot be created or written.
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        Path(temporary).unlink(missing_ok=True)


@contextmanager
def compressed(file: IO[bytes], path: str | Path) -> Iterator[IO[bytes]]:
    """A stream into `file`, compressed as the ending of `path` says: .gz, .bz2, .xz, .zst, or not at all.

    The bytes written depend on the content alone: no name and no time of day goes into them.
    """
    ending = Path(path).suffix
    stream: Any
    if ending == ".gz":
        stream = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
    elif ending == ".bz2":
        stream = bz2.BZ2File(file, "wb")
    elif ending == ".xz":
        stream = lzma.LZMAFile(file, "wb")  # noqa: SIM115 - closed below
    elif ending == ".zst":
        stream = zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    else:
        yield file
        return
    with stream:
        yield stream


@contextmanager
def text_file(path: str | Path) -> Iterator[IO[str]]:
    """An ASCII text file with Unix line ends, atomic and compressed by its ending."""
    with atomic_file(path) as raw, compressed(raw, path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        try:
            yield text
            text.flush()
        finally:
            text.detach()


def _unwritable(path: Path, error: OSError) -> Exception:
    return file_error(path, f"cannot be written: {(error.strerror or str(error)).lower()}", "name another place")
