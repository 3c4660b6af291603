"""Write files: whole or not at all, regular files only, never through a link, never over an input.

Everything that diskmodel writes goes through this module. A file is written under a name of its own beside its place,
brought to the medium (fsync), and renamed; then the folder is brought to the medium. Whatever fails before the rename,
the old file is as it was.

Notes
-----
- `-` is standard output. Devices, pipes, sockets and symbolic links are refused: as root, to replace `/dev/null` by a
  file breaks the whole system, and a link in a shared folder may point anywhere.
- A new file gets the mode that the umask leaves. A replaced file keeps its mode, and its owner and group where the
  system permits that. Extended attributes and access control lists are not kept.
- A file without any write permission is refused, also for root.
- A file with several names (hard links) is refused: the other names would keep the old content, and writing in place
  cannot be atomic.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from diskmodel.errors import Fault, OutputError
from diskmodel.input import identity_of, kind_of, open_flags, touched

#: The path that means standard output.
STDOUT = "-"

#: Bytes of the final name that the temporary name repeats: with the rest it stays below the 255 of every file system.
_NAME_BYTES = 120
_PERMISSIONS = 0o777
#: Where a file can be named inside an open folder, that folder cannot be exchanged meanwhile. Windows knows only paths.
_IN_OPEN_FOLDER = os.open in os.supports_dir_fd
#: What some file systems answer where they have no fsync (of folders): nothing more can be done there.
_NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
_ANOTHER = "name another place"


@contextmanager
def output_file(path: str | Path, field: str = "out") -> Iterator[IO[bytes]]:
    """Open a file to write bytes to; it takes its name when the block ends well, and leaves nothing behind otherwise.

    Parameters
    ----------
    path : str or Path
        `-` for standard output.
    field : str
        The option that named it, for the message.

    Raises
    ------
    OutputError
        When it may not or cannot be written.
    """
    if str(path) == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    try:
        old = _old_file(path, field)
        folder = os.open(path.parent, open_flags("RDONLY", "DIRECTORY", "CLOEXEC")) if _IN_OPEN_FOLDER else None
    except (OSError, ValueError) as error:
        raise _unwritable(path, field, error) from None
    try:
        yield from _replacing(folder, path, field, old)
    except OSError as error:
        raise _unwritable(path, field, error) from None
    finally:
        # it was opened to read: by now all is done, or has failed for a better reason
        with contextlib.suppress(OSError):
            if folder is not None:
                os.close(folder)


def _replacing(folder: int | None, path: Path, field: str, old: os.stat_result | None) -> Iterator[IO[bytes]]:
    """Yield the temporary file once; afterwards it has the final name. Without an open folder both names are paths."""
    start = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    beside = path.parent if folder is None else Path()
    part = beside / f".{start}.{os.getpid()}.{os.urandom(8).hex()}.part"
    mode = 0o666 if old is None else 0o600
    handle = os.open(part, open_flags("WRONLY", "CREAT", "EXCL", "NOFOLLOW", "CLOEXEC", "BINARY"), mode, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if old is not None:
                _take_over(file.fileno(), old)
            _sync(file.fileno())
        _old_file(path, field)
        os.replace(part, beside / path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    now = touched()
    if now is not None and old is not None:
        now.claimed.pop(identity_of(old), None)
    if folder is not None:
        _sync(folder)


def _take_over(handle: int, old: os.stat_result) -> None:
    if not hasattr(os, "fchown"):
        return  # Windows: owners and modes belong to the folder's access list there
    with contextlib.suppress(PermissionError):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode) & _PERMISSIONS)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def write_bytes(path: str | Path, data: bytes, field: str = "out") -> None:
    """Write `data` to `path`, whole or not at all.

    Raises
    ------
    OutputError
        As `output_file`.
    """
    with output_file(path, field) as file:
        file.write(data)


def write_text(path: str | Path, text: str, field: str = "out") -> None:
    """Write `text` in UTF-8 to `path`, whole or not at all.

    Raises
    ------
    OutputError
        As `output_file`.
    """
    write_bytes(path, text.encode("utf-8"), field)


def append_line(path: str | Path, line: str, field: str = "memory") -> None:
    """Append `line` in one piece to a file that processes share; a file that does not exist is created.

    It is not brought to the medium: what is appended here can be calculated again.

    Raises
    ------
    OutputError
        When it is not a regular file, or the line cannot be written as a whole.
    """
    path = Path(path)
    # without O_NONBLOCK the opening of a FIFO waits for a reader
    flags = open_flags("WRONLY", "APPEND", "CREAT", "NOFOLLOW", "NONBLOCK", "CLOEXEC", "BINARY")
    data = line.encode("utf-8")
    try:
        handle = os.open(path, flags, 0o666)
        try:
            if kind := kind_of(os.fstat(handle)):
                raise _refusal(path, field, f"is {kind}, not a regular file", _ANOTHER)
            if os.write(handle, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        raise _unwritable(path, field, error) from None


def check_output(path: str | Path, field: str = "out", *, is_claimed: bool = True) -> None:
    """Refuse a place that cannot be written, before time is spent on what should be written there.

    Parameters
    ----------
    is_claimed : bool
        From now on the running command may not read that file (`diskmodel.input.one_command`).

    Raises
    ------
    OutputError
        When its folder is missing or closed to this user, or `output_file` would refuse it.
    """
    if str(path) == STDOUT:
        return
    path = Path(path)
    try:
        old = _old_file(path, field)
        if not path.parent.is_dir():
            raise _refusal(path, field, "its directory does not exist", f"create {path.parent} first")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise _refusal(path, field, "its directory is not writable", _ANOTHER)
    except (OSError, ValueError) as error:
        raise _unwritable(path, field, error) from None
    now = touched()
    if is_claimed and now is not None and old is not None:
        now.claimed[identity_of(old)] = (field, str(path))


def discard_stdout() -> None:
    """Send what is still to be written to standard output nowhere, so that the interpreter's own end does not fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, open_flags("WRONLY", "CLOEXEC"))
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _old_file(path: Path, field: str) -> os.stat_result | None:
    """The file that would be replaced, None where there is none.

    Raises
    ------
    OutputError
        When it may not be replaced.
    """
    try:
        old = os.lstat(path)
    except FileNotFoundError:
        return None
    if kind := kind_of(old):
        fix = {
            "a directory": "name a file in it",
            "a symbolic link": "name the file that it points to",
        }.get(kind, "name a file, or - for standard output")
        raise _refusal(path, field, f"is {kind}, not a regular file", fix)
    now = touched()
    if now is not None and identity_of(old) in now.read:
        rule = f"is the input {now.read[identity_of(old)]} and would be overwritten"
        raise _refusal(path, field, rule, "name another file for the result")
    if old.st_nlink > 1:
        rule = f"has {old.st_nlink} names (hard links), and the others would keep the old content"
        raise _refusal(path, field, rule, "remove this name first, or name another file")
    if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise _refusal(path, field, "is read-only", "allow writing (chmod u+w), or name another file")
    return old


def _refusal(path: Path, field: str, rule: str, fix: str) -> OutputError:
    return OutputError(Fault(field, str(path), rule, fix))


_REASONS = {
    errno.ENOSPC: ("the disk is full; the old file is as it was", "make room, or name a place on another disk"),
    errno.EDQUOT: ("the quota is used up; the old file is as it was", "make room, or name a place on another disk"),
    errno.EFBIG: ("it is larger than the file-size limit allows", "raise the limit (ulimit -f)"),
    errno.ENOENT: ("its directory does not exist", "create it first"),
}


def _unwritable(path: Path, field: str, error: OSError | ValueError) -> OutputError:
    if isinstance(error, OSError):
        rule, fix = _REASONS.get(error.errno or 0, ((error.strerror or str(error)).lower(), _ANOTHER))
    else:  # a NUL character, or half a surrogate pair, in the name
        rule, fix = str(error), _ANOTHER
    return _refusal(path, field, f"cannot be written: {rule}", fix)
