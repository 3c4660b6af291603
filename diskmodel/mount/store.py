"""Where a virtual drive keeps its data: in a file, in memory, or nowhere."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from diskmodel.errors import Fault, MountError

DataKind = Literal["sparse-file", "memory", "zero"]
DATA_KINDS: tuple[str, ...] = get_args(DataKind)
#: The descriptor that means that reads return zeros and writes are discarded.
NOTHING = -1


def describe(kind: DataKind, folder: Path | None = None) -> str:
    """Return in words where data are kept."""
    if kind == "zero":
        return "nowhere: reads return zeros, writes are discarded"
    if kind == "memory":
        return "in memory, deleted at the end"
    return f"in a sparse temporary file in {folder or tempfile.gettempdir()}, deleted at the end"


@contextlib.contextmanager
def opened(kind: DataKind, size_bytes: int, folder: Path | None = None) -> Iterator[int]:
    """Yield the descriptor of a store that reads as zeros where nothing was written; `NOTHING` for the kind "zero".

    No kind leaves anything behind, however the process ends: the file has no name.

    Raises
    ------
    MountError
        When a file of that size cannot be created.
    """
    if kind == "zero":
        yield NOTHING
        return
    fd = os.memfd_create("diskmodel") if kind == "memory" else _unnamed_file(folder)
    try:
        try:
            os.truncate(fd, size_bytes)
        except OSError as error:
            reason = (error.strerror or "failed").lower()
            fix = "use --data memory or --data zero" if kind == "sparse-file" else "use --data zero"
            raise MountError(Fault("data", kind, f"cannot store {size_bytes} bytes ({reason})", fix)) from None
        yield fd
    finally:
        os.close(fd)


def _unnamed_file(folder: Path | None) -> int:
    try:
        fd, name = tempfile.mkstemp(prefix="diskmodel-", dir=folder)
    except OSError as error:
        place = str(folder or tempfile.gettempdir())
        reason = f"cannot store the data ({(error.strerror or 'failed').lower()})"
        raise MountError(Fault("data_folder", place, reason, "name a directory that you can write to")) from None
    os.unlink(name)
    return fd
