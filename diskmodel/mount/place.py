"""The directory that a virtual drive is mounted on: checked before, mounted, unmounted on every way out."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from diskmodel.errors import Fault, MountError

DEVICE = Path("/dev/fuse")
#: What `mount` and `df` call the file system.
SOURCE = "diskmodel"
_MS_NOSUID, _MS_NODEV = 2, 4
_MNT_DETACH = 2
#: A shell that unmounts when its standard input ends without a word: the server was killed and could not do it.
_WATCH = 'read -r done || {unmount} "$0" 2>/dev/null'


def check(directory: Path) -> None:
    """Refuse a place that cannot be mounted on.

    Raises
    ------
    MountError
        When it is no empty directory, is mounted on already, or FUSE is not there.
    """
    fault = _fault_of(directory)
    if fault is not None:
        raise MountError(fault)


def _fault_of(directory: Path) -> Fault | None:
    place = str(directory)
    if not sys.platform.startswith("linux"):
        return Fault("directory", place, "cannot be mounted on: virtual drives need Linux", "use a Linux machine")
    try:
        if not directory.exists():
            return Fault("directory", place, "is not there", f"make it first: mkdir {place}")
        if not directory.is_dir():
            return Fault("directory", place, "is not a directory", "name an empty directory")
        if os.path.ismount(directory):
            return Fault("directory", place, "is mounted on already", f"name another one, or umount {place} first")
        if any(directory.iterdir()):
            return Fault("directory", place, "is not empty", "name an empty directory")
    except OSError as error:
        if error.errno in (errno.ENOTCONN, errno.ECONNABORTED):
            rule = "is a dead mount: the program that served it was killed"
            return Fault("directory", place, rule, f"clear it with: umount -l {place}")
        return Fault("directory", place, (error.strerror or "cannot be read").lower(), "name another directory")
    if not DEVICE.exists():
        fix = "load it with: modprobe fuse; a container needs --device /dev/fuse and the right to mount"
        return Fault("fuse", str(DEVICE), "is not there: this kernel has no FUSE", fix)
    return None


@contextlib.contextmanager
def mounted(directory: Path) -> Iterator[int]:
    """The opened FUSE device of a new mount on `directory`, non-blocking; unmounted at the end, also when killed.

    Raises
    ------
    MountError
        When it may not be mounted.
    """
    check(directory)
    directory = directory.resolve()
    if os.geteuid() == 0:
        fd, unmount, by_helper = _mount_as_root(directory), ["umount", "-l"], False
    else:
        helper = _helper()
        fd, unmount, by_helper = _mount_by_helper(directory, helper), [helper, "-u", "-z", "-q"], True
    watcher = None
    try:
        os.set_blocking(fd, False)
        watcher = _watch(directory, unmount)
        yield fd
    finally:
        # the mount goes before the device: nobody shall meet a mount without a server
        if by_helper:
            subprocess.run([*unmount, "--", str(directory)], check=False, capture_output=True)
        else:
            _libc().umount2(os.fsencode(directory), _MNT_DETACH)
        os.close(fd)
        if watcher is not None:
            with contextlib.suppress(OSError):
                watcher.communicate(b"done\n")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _mount_as_root(directory: Path) -> int:
    fd = _open_device()
    options = f"fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other,default_permissions"
    # the type fuse.diskmodel says in `mount` whose it is
    arguments = (SOURCE.encode(), os.fsencode(directory), b"fuse.diskmodel", _MS_NOSUID | _MS_NODEV, options.encode())
    if _libc().mount(*arguments) == 0:
        return fd
    code = ctypes.get_errno()
    os.close(fd)
    fix = "run it where mounting is allowed; a container needs --cap-add SYS_ADMIN"
    raise MountError(Fault("directory", str(directory), f"cannot be mounted on: {os.strerror(code).lower()}", fix))


def _open_device() -> int:
    try:
        return os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        rule = f"cannot be opened: {(error.strerror or '').lower()}"
        fix = "run it as root, or load the module with: modprobe fuse"
        raise MountError(Fault("fuse", str(DEVICE), rule, fix)) from None


def _helper() -> str:
    """Program that mounts for users other than root.

    Raises
    ------
    MountError
        When it is not installed.
    """
    found = shutil.which("fusermount3") or shutil.which("fusermount")
    if found is None:
        fix = "install the package fuse3, or run it as root"
        raise MountError(Fault("fuse", "fusermount3", "was not found, and only root mounts without it", fix))
    return found


def _mount_by_helper(directory: Path, helper: str) -> int:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        outcome = subprocess.run(
            [helper, "-o", f"fsname={SOURCE},subtype=diskmodel,nosuid,nodev,default_permissions", "--", str(directory)],
            env={**os.environ, "_FUSE_COMMFD": str(theirs.fileno())},
            pass_fds=(theirs.fileno(),), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if outcome.returncode == 0:
            _, fds, _, _ = socket.recv_fds(ours, 1, 1)
            if fds:
                return fds[0]
    reason = outcome.stderr.strip() or f"{helper} failed"
    raise MountError(
        Fault(
            "directory",
            str(directory),
            f"cannot be mounted on: {reason}",
            "own the directory, and be allowed to use /dev/fuse",
        )
    )


def _watch(directory: Path, unmount: list[str]) -> subprocess.Popen[bytes]:
    """A process that unmounts if this one ends without saying so; Ctrl-C at the terminal does not reach it."""
    script = _WATCH.format(unmount=" ".join(unmount))
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        ["sh", "-c", script, str(directory)], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
    )
