"""Open files to read: stored files only, and remember which files the running command has read.

A FIFO, a device or a file of `/proc` may never end, or never begin; such a file is refused before anything is read.
"""

from __future__ import annotations

import functools
import operator
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import IO

from diskmodel.errors import Fault, InputError

#: Device and inode: two names with the same pair are the same file.
Identity = tuple[int, int]

_FOLDERS_OF_THE_KERNEL = ("/proc", "/sys")
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


@dataclass
class Touched:
    """Files of one command.

    Attributes
    ----------
    read : dict of Identity to str
        What was read, with the path that named it.
    claimed : dict of Identity to (str, str)
        Files that exist and will be replaced at the end: the option that names the file, and its path.
    """

    read: dict[Identity, str] = field(default_factory=dict)
    claimed: dict[Identity, tuple[str, str]] = field(default_factory=dict)


_touched: ContextVar[Touched | None] = ContextVar("touched", default=None)


@contextmanager
def one_command() -> Iterator[Touched]:
    """Within the block, a file that was read cannot be written, and a file that will be written cannot be read.

    Outside of such a block, in a library or a notebook, a description may be loaded, changed and saved under its name.
    """
    touched = Touched()
    token = _touched.set(touched)
    try:
        yield touched
    finally:
        _touched.reset(token)


def touched() -> Touched | None:
    """Files of the running command; None outside of `one_command`."""
    return _touched.get()


def open_flags(*names: str) -> int:
    """Flags of `os.open` by their names without `O_`, those that this system has: Windows has no `O_CLOEXEC`."""
    return functools.reduce(operator.or_, (getattr(os, f"O_{name}", 0) for name in names))


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode of a file."""
    return status.st_dev, status.st_ino


def kind_of(status: os.stat_result) -> str:
    """What a path that is not a regular file is, in words; "" for a regular file."""
    return next((kind for test, kind in _KINDS if test(status.st_mode)), "")


def how_to_find(path: str | Path) -> str:
    """Return the fix for a path that cannot be opened: the name of a file beside it that is spelled almost alike."""
    folder = Path(path).parent
    try:
        names = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    except (OSError, ValueError):
        return "check the path"
    near = get_close_matches(Path(path).name, names, n=1, cutoff=0.8)
    return f"did you mean {folder / near[0]}?" if near and near[0] != Path(path).name else "check the path"


def open_input(path: str | Path) -> IO[bytes]:
    """Open a stored file to read its bytes.

    Returns
    -------
    binary file
        Buffered and seekable, at its beginning.

    Raises
    ------
    OSError, ValueError
        When the system refuses to open it.
    InputError
        When it is a directory, a FIFO, a socket, a device or a file that the kernel makes up, or when the running
        command is about to replace it.
    """
    # without O_NONBLOCK the opening of a FIFO waits for a writer; for stored files it means nothing
    handle = os.open(path, open_flags("RDONLY", "NONBLOCK", "NOCTTY", "CLOEXEC", "BINARY"))
    try:
        status = os.fstat(handle)
        _refuse(path, status)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _refuse(path: str | Path, status: os.stat_result) -> None:
    if kind := kind_of(status):
        if stat.S_ISDIR(status.st_mode):
            raise InputError(Fault("file", str(path), "is a directory", "name a file in it"))
        fix = "copy the data to a file first, and name that"
        raise InputError(Fault("file", str(path), f"is {kind}, not a file that can be read to its end", fix))
    if status.st_dev in _devices_of_the_kernel():
        fix = "copy its content to a file first, and name that"
        raise InputError(Fault("file", str(path), "is made up by the kernel and may never end", fix))
    now = _touched.get()
    if now is None:
        return
    if found := now.claimed.get(identity_of(status)):
        option, place = found
        raise InputError(Fault(option, place, "is an input of this command and would be overwritten", _ANOTHER))
    now.read[identity_of(status)] = str(path)


_ANOTHER = "name another file for the result"


def _devices_of_the_kernel() -> set[int]:
    found = set()
    for folder in _FOLDERS_OF_THE_KERNEL:
        try:
            found.add(os.stat(folder).st_dev)
        except OSError:  # not mounted here
            continue
    return found - {os.stat("/").st_dev}
