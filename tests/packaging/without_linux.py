"""Run `diskmodel` without the names that Python has on Linux alone: python -m tests.packaging.without_linux plan ...

What other packages need of them is loaded before. It cannot show that a package works on Windows, only that diskmodel
itself asks for nothing that is missing there.
"""

import asyncio  # noqa: F401
import concurrent.futures.process  # noqa: F401
import importlib
import multiprocessing  # noqa: F401
import os
import signal
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

#: Names of `os` that Python's documentation gives as available on Unix only, and that programs like this one use.
OF_OS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_DIRECT", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod", "fchown", "fork",
    "getegid", "geteuid", "getgid", "getuid", "killpg", "mkfifo", "posix_fadvise", "posix_fallocate", "pread", "pwrite",
    "sched_getaffinity", "sched_getscheduler", "sched_setscheduler", "setsid", "statvfs", "sysconf", "uname",
)  # fmt: skip
OF_SIGNAL = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "alarm", "pthread_sigmask", "setitimer", "sigwait")
#: Modules that Windows does not have.
MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
#: Packages that are loaded first, as they are: what they ask of the system is theirs.
PACKAGES = (
    "anyio",
    "jinja2",
    "matplotlib.figure",
    "numpy",
    "pydantic",
    "rich.console",
    "scipy.optimize",
    "simpy",
    "typer",
)


def hide() -> None:
    for name in PACKAGES:
        importlib.import_module(name)
    for name in OF_OS:
        vars(os).pop(name, None)
    for name in OF_SIGNAL:
        vars(signal).pop(name, None)
    # functions that take dir_fd on this system alone
    os.supports_dir_fd.clear()
    for module in MODULES:
        sys.modules[module] = None  # type: ignore[assignment]


if __name__ == "__main__":
    hide()
    from diskmodel.cli import main

    main()
