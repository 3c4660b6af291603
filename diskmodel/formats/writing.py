"""Text files that appear whole or not at all, compressed if their name says so."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

from diskmodel.output import output_file


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
    with output_file(path) as raw, compressed(raw, path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        try:
            yield text
            text.flush()
        finally:
            text.detach()
