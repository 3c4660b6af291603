"""Runs of the kernel end when they are interrupted, and threads are fewer where the system starts no more."""

import signal
import threading
import time
from types import FrameType
from typing import NoReturn

import pytest

from diskmodel.array import Array
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.threads import Threads
from diskmodel.workload import Workload

ARRAY = Array.from_words("8x generic-15k raid5")
#: Some seconds of processor time in the kernel.
N_REQUESTS = 1_500_000


def long_run() -> None:
    load = Workload.parse({"streams": [{"read_ratio": 0.5, "size": "8 KiB", "rate": "500/s"}]})
    requests = load.requests(capacity_bytes=ARRAY.usable_bytes, n=N_REQUESTS, seed=1)
    native.run(resolve(ARRAY, 1), requests)


class Signaled(BaseException):
    """Raised by the handler of a signal."""


@pytest.mark.skipif(not hasattr(signal, "ITIMER_VIRTUAL"), reason="needs a timer of processor time")
@pytest.mark.parametrize(
    ("words", "stream", "n"),
    [
        ("8x generic-15k raid5", {"read_ratio": 0.5, "size": "8 KiB", "rate": "500/s"}, N_REQUESTS),
        # a second of simulated time that takes many of processor time: each write reads and writes 128 KiB of 24 drives
        ("24x micron-7450-pro-1920 raidz1", {"read_ratio": 0, "size": "512 B", "rate": "100000/s"}, 100_000),
    ],
    ids=["disks", "pool of flash"],
)
def test_a_signal_ends_a_run_of_the_kernel(words: str, stream: dict[str, object], n: int) -> None:
    array = Array.from_words(words)
    load = Workload.parse({"streams": [stream]})
    requests = load.requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
    scenario = resolve(array, 1)
    handled: list[float] = []

    def handler(signum: int, frame: FrameType | None) -> NoReturn:
        handled.append(time.process_time())
        raise Signaled

    before = signal.signal(signal.SIGVTALRM, handler)
    try:
        began = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
        with pytest.raises(Signaled):
            native.run(scenario, requests)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    # 0.2 s to the signal, up to 0.1 s to the next look, and the columns that were made before
    assert time.process_time() - began < 1.0


def test_another_thread_ends_all_runs() -> None:
    ended: list[BaseException] = []

    def run() -> None:
        try:
            long_run()
        except BaseException as error:
            ended.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        native.stop_runs()
        time.sleep(0.05)
    assert [type(error) for error in ended] == [KeyboardInterrupt] * 2
    # later runs are not ended
    load = Workload.parse({"streams": [{"read_ratio": 0.5, "size": "8 KiB", "rate": "500/s"}]})
    native.run(resolve(ARRAY, 1), load.requests(capacity_bytes=ARRAY.usable_bytes, n=1000, seed=1))


def test_an_interrupted_pool_ends_its_runs() -> None:
    began = time.process_time()
    pool = Threads(2)
    futures = [pool.submit(native.run, *made) for made in [_made()] * 4]
    pool.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert all(future.done() for future in futures)
    assert time.process_time() - began < 8.0


def _made() -> tuple[object, object]:
    load = Workload.parse({"streams": [{"read_ratio": 0.5, "size": "8 KiB", "rate": "500/s"}]})
    return resolve(ARRAY, 1), load.requests(capacity_bytes=ARRAY.usable_bytes, n=N_REQUESTS, seed=1)


@pytest.mark.parametrize("most", [0, 1])
def test_fewer_threads_do_the_same(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if len(started) >= most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Threads(4) as pool:
        assert list(pool.map(lambda value: value * value, range(20))) == [value * value for value in range(20)]
        failed = pool.submit(int, "x")
    assert len(started) == most
    with pytest.raises(ValueError, match="invalid literal"):
        failed.result()


def test_threads_are_started_as_they_are_needed() -> None:
    with Threads(8) as pool:
        assert pool.submit(sum, [1, 2]).result() == 3
        assert pool.submit(sum, [1, 3]).result() == 4
        assert len(pool._threads) == 1
