"""Every check here runs under a limit of address space and a wall clock: what hangs or swells fails by itself."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from tests.fuzz.watch import MAX_BYTES

#: The slowest check takes some 60 s on a busy machine; a file that never ends takes for ever.
MAX_S = 600


@pytest.fixture(autouse=True)
def _limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Limit this process for one test; the long tier limits the processes that it starts itself (`watch`)."""
    if "test_watch" in str(request.path):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, _out_of_time)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MAX_BYTES, before[1]))
    signal.alarm(MAX_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"a check took more than {MAX_S} s")


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
