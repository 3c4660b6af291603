"""The directory on which a virtual drive is mounted: checked first, then mounted, and always unmounted."""

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
#: Name of the file system in the output of `mount` and `df`.
SOURCE = "diskmodel"
# Flags of mount(2) and umount2(2), from <sys/mount.h>.
_MS_NOSUID, _MS_NODEV = 2, 4
_MNT_DETACH = 2
#: Shell command that unmounts when its standard input closes without a message, because the server was killed.
_WATCH = 'read -r done || {unmount} "$0" 2>/dev/null'


def check(directory: Path) -> None:
    """Refuse a directory that cannot be mounted on.

    Raises
    ------
    MountError
        When it is not an empty directory, is already a mount point, or FUSE is missing.
    """
    fault = _fault_of(directory)
    if fault is not None:
        raise MountError(fault)


def _fault_of(directory: Path) -> Fault | None:
    place = str(directory)
    if not sys.platform.startswith("linux"):
        return Fault("directory", place, "cannot be a mount point: virtual drives need Linux", "use a Linux machine")
    try:
        if not directory.exists():
            return Fault("directory", place, "does not exist", f"create it first: mkdir {place}")
        if not directory.is_dir():
            return Fault("directory", place, "is not a directory", "name an empty directory")
        if os.path.ismount(directory):
            return Fault("directory", place, "is already a mount point", f"name another one, or umount {place} first")
        if any(directory.iterdir()):
            return Fault("directory", place, "is not empty", "name an empty directory")
    except OSError as error:
        if error.errno in (errno.ENOTCONN, errno.ECONNABORTED):
            rule = "is a dead mount point: the program that served it was killed"
            return Fault("directory", place, rule, f"clear it with: umount -l {place}")
        return Fault("directory", place, (error.strerror or "cannot be read").lower(), "name another directory")
    if not DEVICE.exists():
        fix = "load FUSE with: modprobe fuse; a container needs --device /dev/fuse and permission to mount"
        return Fault("fuse", str(DEVICE), "does not exist: this kernel has no FUSE", fix)
    return None


@contextlib.contextmanager
def mounted(directory: Path) -> Iterator[int]:
    """Mount on `directory` and yield the open, non-blocking FUSE device; unmount at the end, even after a kill.

    Raises
    ------
    MountError
        When mounting is not allowed.
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
        # unmount before closing the device, so that no program meets a mount without a server
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
    # the type fuse.diskmodel shows in `mount` which program serves it
    arguments = (SOURCE.encode(), os.fsencode(directory), b"fuse.diskmodel", _MS_NOSUID | _MS_NODEV, options.encode())
    if _libc().mount(*arguments) == 0:
        return fd
    code = ctypes.get_errno()
    os.close(fd)
    fix = "run it where mounting is allowed; a container needs --cap-add SYS_ADMIN"
    raise MountError(Fault("directory", str(directory), f"cannot be mounted: {os.strerror(code).lower()}", fix))


def _open_device() -> int:
    try:
        return os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        rule = f"cannot be opened: {(error.strerror or '').lower()}"
        fix = "run it as root, or load the module with: modprobe fuse"
        raise MountError(Fault("fuse", str(DEVICE), rule, fix)) from None


def _helper() -> str:
    """Return the program that mounts for users other than root.

    Raises
    ------
    MountError
        When it is not installed.
    """
    found = shutil.which("fusermount3") or shutil.which("fusermount")
    if found is None:
        fix = "install the package fuse3, or run it as root"
        raise MountError(Fault("fuse", "fusermount3", "was not found; only root can mount without it", fix))
    return found


def _mount_by_helper(directory: Path, helper: str) -> int:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        outcome = subprocess.run(
            [helper, "-o", f"fsname={SOURCE},subtype=diskmodel,nosuid,nodev,default_permissions", "--", str(directory)],
            env={**os.environ, "_FUSE_COMMFD": str(theirs.fileno())},
            pass_fds=(theirs.fileno(),),
            capture_output=True,
            text=True,
            check=False,
        )
        if outcome.returncode == 0:
            _, fds, _, _ = socket.recv_fds(ours, 1, 1)
            if fds:
                return fds[0]
    reason = outcome.stderr.strip() or f"{helper} failed"
    raise MountError(
        Fault(
            "directory",
            str(directory),
            f"cannot be mounted: {reason}",
            "use a directory of your own, and check the permissions of /dev/fuse",
        )
    )


def _watch(directory: Path, unmount: list[str]) -> subprocess.Popen[bytes]:
    """Start a process that unmounts if this one dies without a message; Ctrl-C in the terminal does not reach it."""
    script = _WATCH.format(unmount=" ".join(unmount))
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        ["sh", "-c", script, str(directory)], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
    )
