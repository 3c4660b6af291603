"""Where the data of a virtual drive lie: what was written is read back, or nothing is kept."""

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
#: The descriptor that says that reads give zeros and writes are forgotten.
NOTHING = -1


def describe(kind: DataKind, folder: Path | None = None) -> str:
    """Where data go, in words."""
    if kind == "zero":
        return "nowhere: reads give zeros, writes are forgotten"
    if kind == "memory":
        return "in memory, only what is written; gone at the end"
    return f"in a sparse temporary file in {folder or tempfile.gettempdir()}; gone at the end"


@contextlib.contextmanager
def opened(kind: DataKind, size_bytes: int, folder: Path | None = None) -> Iterator[int]:
    """Descriptor of a store that reads as zeros where nothing was written; `NOTHING` for the kind "zero".

    Neither kind leaves anything behind, however the process ends: the file has no name.

    Raises
    ------
    MountError
        When a file of that size cannot be made.
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
            raise MountError(Fault("data", kind, f"cannot hold {size_bytes} bytes ({reason})", fix)) from None
        yield fd
    finally:
        os.close(fd)


def _unnamed_file(folder: Path | None) -> int:
    try:
        fd, name = tempfile.mkstemp(prefix="diskmodel-", dir=folder)
    except OSError as error:
        place = str(folder or tempfile.gettempdir())
        reason = f"cannot hold the data ({(error.strerror or 'failed').lower()})"
        raise MountError(Fault("data_folder", place, reason, "name a folder that can be written")) from None
    os.unlink(name)
    return fd
