"""The lab under load: one limit for the process, refusals before simulating, readers who leave, and the end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator

import pytest

from diskmodel.errors import DescriptionError
from diskmodel.lab.effort import check_animation, check_curve
from diskmodel.lab.moving_head import moving_head_page
from diskmodel.lab.server import WORKERS
from diskmodel.lab.settings import Settings
from diskmodel.lab.workers import N_THREADS, BusyError, LeftError, Ticket, Workers
from tests.unit.lab.serving import ask, fetch, serving

pytestmark = pytest.mark.slow

#: Most work for the least text: 8,193 strips for each of 2,000 requests. It once took more than 200 s.
LARGEST = {"level": "raid6", "disks": 8, "size_bytes": 4 << 20, "strip_bytes": 512, "read_ratio": 0.0}
#: An animation that is accepted and takes several seconds.
LONG = {"disks": 3, "outstanding": 512}


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    with serving() as url:
        yield url


def _moving_head(settings: dict[str, object], requests: int, schedulers: str = "sptf,sptf-aged") -> str:
    query = {"requests": requests, "settings": json.dumps(settings), "schedulers": schedulers}
    return "moving-head?" + urllib.parse.urlencode(query)


def test_an_animation_that_would_take_minutes_is_refused_at_once(lab: str) -> None:
    status, _, page = fetch(lab + _moving_head(LARGEST, 2000))
    assert status == 422
    assert b"to simulate" in page
    with pytest.raises(DescriptionError) as refused:
        check_animation(Settings.parse(LARGEST), 2000, 2)
    possible = int(refused.value.faults[0].fix.split()[1])
    check_animation(Settings.parse(LARGEST), possible, 2)
    with pytest.raises(DescriptionError):
        check_animation(Settings.parse(LARGEST), possible + 1, 2)


def test_the_largest_useful_animation_is_not_refused() -> None:
    check_animation(Settings.parse({}), 2000, 2)
    check_animation(Settings.parse({"outstanding": 256, "disks": 24}), 1000, 2)


def test_a_curve_that_would_take_gigabytes_is_refused() -> None:
    with pytest.raises(DescriptionError) as refused:
        check_curve(Settings.parse(LARGEST | {"outstanding": 512}), 60)
    assert refused.value.faults[0].field == "size_bytes"


@pytest.mark.parametrize("level", ["raid5", "raid10"])
@pytest.mark.parametrize("show", ["schedulers", "small_write"])
def test_the_head_moves_under_a_controller_cache_too(level: str, show: str) -> None:
    settings = Settings.parse({"level": level, "disks": 4, "write_cache_bytes": 1 << 24, "read_hit_ratio": 0.9})
    assert "<title>" in moving_head_page(settings, show, ["fcfs", "sptf"], 20)


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "1e3", "x"])
def test_a_question_with_a_strange_number(lab: str, number: str) -> None:
    status, answer = ask(f"{lab}quiz/{number}")
    assert status == 422
    assert answer["faults"][0]["field"] == "number"
    assert len(answer["faults"][0]["text"]) < 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_only_link_to_the_start_page(lab: str, site: str) -> None:
    headers = {"Sec-Fetch-Site": site}
    for path in ("offers", "quiz/0", "page/lab.js", _moving_head({}, 20)):
        assert fetch(lab + path, headers=headers)[0] == 403, path
    assert fetch(lab + "curve", {}, headers)[0] == 403
    assert fetch(lab, headers=headers)[0] == 200
    for own in ("same-origin", "none"):
        assert fetch(lab + "quiz/0", headers={"Sec-Fetch-Site": own})[0] == 200


def test_many_readers_share_two_threads(lab: str) -> None:
    answers: list[int] = []
    readers = [
        threading.Thread(target=lambda i=i: answers.append(ask(lab + "curve?effort=0.1", {"seed": i})[0]))
        for i in range(24)
    ]
    for reader in readers:
        reader.start()
    n_threads = 0
    while any(reader.is_alive() for reader in readers):
        n_threads = max(n_threads, sum(thread.name == "lab simulation" for thread in threading.enumerate()))
        time.sleep(0.01)
    assert answers == [200] * 24
    assert n_threads == N_THREADS


def test_a_simulation_ends_when_its_reader_leaves(lab: str) -> None:
    address = urllib.parse.urlsplit(lab)
    with socket.create_connection((str(address.hostname), int(address.port or 0))) as reader:
        reader.sendall(f"GET /{_moving_head(LONG, 1500)} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        _wait_until(lambda: WORKERS.is_running)
    begun = time.monotonic()
    _wait_until(lambda: not WORKERS.is_running)
    rest_s = time.monotonic() - begun
    begun = time.monotonic()
    moving_head_page(Settings.parse(LONG), "schedulers", ["sptf", "sptf-aged"], 1500)
    assert rest_s < (time.monotonic() - begun) / 2


def test_what_waits_is_limited_and_what_is_cancelled_never_begins() -> None:
    workers, gate, begun = Workers(n_threads=1, max_waiting=2), threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait(30)

    first, ticket = workers.submit(hold, Ticket()), Ticket()
    assert begun.wait(30)
    waiting = [workers.submit(lambda: 1, ticket), workers.submit(lambda: 2, Ticket())]
    with pytest.raises(BusyError):
        workers.submit(lambda: 3, Ticket())
    ticket.cancel()
    gate.set()
    assert waiting[1].result(30) == 2
    assert waiting[0].cancelled()
    first.result(30)
    with pytest.raises(LeftError):
        ticket.check()


@pytest.mark.parametrize("is_busy", [False, True])
def test_one_interrupt_ends_the_lab(is_busy: bool) -> None:
    """Also with a connection that stays open, and in the middle of a simulation."""
    command = [sys.executable, "-m", "diskmodel", "lab", "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        text = b""
        while not text.rstrip().endswith(b"}"):
            line = process.stdout.readline()
            assert line, "the lab did not start"
            text += line
        address = urllib.parse.urlsplit(json.loads(text)["url"])
        with socket.create_connection((str(address.hostname), int(address.port or 0))) as reader:
            path = _moving_head(LONG, 1500) if is_busy else "offers"
            reader.sendall(f"GET /{path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            if is_busy:
                time.sleep(0.5)
            else:
                assert reader.recv(100)
            process.send_signal(signal.SIGINT)
            begun = time.monotonic()
            # within 2 s where nothing else runs; the rest is for a loaded machine
            try:
                assert process.wait(timeout=10) == 0
            finally:
                process.kill()
            print(f"ended {time.monotonic() - begun:.2f} s after the interrupt")


def _wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)
