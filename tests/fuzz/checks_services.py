"""What comes in from outside while something runs: the lab's requests, the mount's and the commands' options."""

from __future__ import annotations

import asyncio
import atexit
import json
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any
from urllib.parse import quote_from_bytes

from diskmodel.array import Array
from diskmodel.cli.measure import parse_bytes
from diskmodel.cli.shared.numbers import request_range
from diskmodel.errors import DescriptionError, InputError, MountError
from diskmodel.lab.quiz import Quiz
from diskmodel.lab.server import application
from diskmodel.lab.settings import Settings
from diskmodel.mount import Stopper, serve
from tests.fuzz import extremes
from tests.fuzz.check import check
from tests.fuzz.checks_formats import say
from tests.fuzz.damage import damaged

_SETTINGS: list[dict[str, Any]] = [
    Settings().to_dict(),
    {
        "level": "raid6",
        "disks": 6,
        "has_failed_disk": True,
        "size": "64 KiB",
        "pattern": "zipf",
        "drive": "generic-7k2",
    },
    {"level": "raid10", "disks": 4, "arrivals": "rate", "rate": "300/s", "scheduler": "look", "write_cache": "1 GiB"},
    {"drive": "generic-sas-ssd", "level": "raid1", "disks": 2, "read_hit_ratio": 0.4, "seed": 7},
]
_PACKED = extremes.packed(_SETTINGS)


@check("lab-settings")
def lab_settings(choose: Random) -> bool:
    """The controls of the lab, as a page that is not ours may send them."""
    change = choose.choice((extremes.damaged, extremes.stretched))
    try:
        settings = Settings.parse(change(choose, _PACKED))
        array = settings.array()
        settings.workload()
        assert array.usable_bytes > 0
    except DescriptionError as error:
        say(error)
        return False
    return True


@check("quiz")
def quiz(choose: Random) -> bool:
    """Any number and any seed: a question with choices, or a refusal."""
    numbers = (*range(40), 9_999, 10_000, -1, 2**31, 2**63, 2**64, 10**30)
    try:
        asked = Quiz(choose.choice(numbers), choose.choice((*numbers, choose.getrandbits(32)))).to_dict()
    except DescriptionError as error:
        say(error)
        return False
    assert len(asked["choices"]) >= 2
    json.dumps(asked, allow_nan=False)
    return True


_BODIES = (*(json.dumps(settings).encode() for settings in _SETTINGS), b'{"seed": 3, "choice": 1}')
_PATHS = ("/", "/offers", "/curve", "/quiz/3", "/quiz/99999", "/quiz/-1", "/moving-head", "/page/lab.js", "/nowhere")
_QUERIES = (
    b"stage=refined&effort=0.5",
    b"effort=2",
    b"seed=7",
    b"show=small_write",
    b"schedulers=fcfs,look&requests=2001",
    b'settings={"disks": 3}&requests=0',
    b"save=1&show=x",
)


@check("lab-http")
def lab_http(choose: Random) -> bool:
    """Requests to the lab: an answer or a refusal, never a fault of the server. What would be simulated is not sent:
    `lab-settings` holds the valid ones."""
    path, query, body = choose.choice(_PATHS), b"", b""
    method = choose.choice(("GET", "POST", "POST", "PUT"))
    if choose.random() < 0.7:
        query = quote_from_bytes(damaged(choose, _QUERIES), safe='=&{}:," ').encode()
    if method == "POST":
        body = damaged(choose, _BODIES) if choose.random() < 0.6 else extremes.as_json(choose, _PACKED).encode()
    if _would_simulate(path, method, body):
        body, query = b"{" + body, b"requests=x"
    status, answer = _THREAD.submit(_LOOP.run_until_complete, _ask(choose, method, path, query, body)).result()
    assert status in (200, 206, 307, 400, 403, 404, 405, 416, 422), (status, answer)
    if status == 422 and path != "/moving-head":
        assert json.loads(answer)["faults"]
    return status == 200


def _would_simulate(path: str, method: str, body: bytes) -> bool:
    if path == "/moving-head":
        return method == "GET"
    if method != "POST" or path not in ("/curve", "/quiz/3"):
        return False
    try:
        data = json.loads(body)
        return bool(path == "/quiz/3" or Settings.parse(data))
    except (ValueError, RecursionError, InputError):
        return False


_LOOP = asyncio.new_event_loop()
atexit.register(_LOOP.close)
#: Of its own, since a test's browser keeps a loop running in the main one.
_THREAD = ThreadPoolExecutor(1)
_APPLICATION = application()


async def _ask(choose: Random, method: str, path: str, query: bytes, body: bytes) -> tuple[int, bytes]:
    """Hand a request to the application as a server would; status and body of the answer."""
    host = choose.choice((b"127.0.0.1:8000",) * 9 + (b"evil.example",))
    origin = choose.choice((None, None, None, b"http://127.0.0.1:8000", b"http://evil.example", b"\xff"))
    headers = [(b"host", host)] + ([(b"origin", origin)] if origin else [])
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": headers,
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 9),
    }
    half = choose.randrange(len(body) + 1)
    pieces = [(body[:half], True), (body[half:], False)]
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not pieces:
            await asyncio.Event().wait()  # the client stays; one that leaves may be answered by an empty 503
        piece, more = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": more}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await _APPLICATION(scope, receive, send)
    return said[0]["status"], b"".join(message.get("body", b"") for message in said[1:])


_ARRAY = Array.parse({"drive": "generic-15k", "layout": {"level": "jbod", "disks": 1}})
_STOPPER = Stopper()


@check("mount")
def mount(choose: Random) -> bool:
    """Options of a mount, on a directory that is none: they are refused, or the directory is."""
    pick = choose.choice
    options: dict[str, Any] = {
        "data": pick(("sparse-file", "memory", "zero", "", "x\0", "\ud800", None, 3)),
        "size_bytes": pick((None, *extremes.NUMBERS)),
        "time_scale": pick((1.0, *extremes.NUMBERS)),
        "seed": pick((0, 1, 2**32, 2**64, -1, 10**30)),
    }
    try:
        serve(_ARRAY, pick(("/nowhere", "", "\0", "/proc/1", "x" * 5000, "/dev/null")), _STOPPER, **options)
    except (MountError, DescriptionError) as error:
        say(error)
        return isinstance(error, MountError) and error.faults[0].field == "directory"
    raise AssertionError("it was mounted")


_OPTIONS = (b"0:10000", b":50%", b":5", b"7:", b"64 KiB", b"4 GiB", b"1e3", b"10")


@check("options")
def options(choose: Random) -> bool:
    """Texts of options that the commands parse themselves."""
    text = damaged(choose, _OPTIONS).decode("utf-8", errors="surrogateescape")
    n_refused = 0
    for parse in (lambda text: request_range(text)(1000), lambda text: parse_bytes("size", text)):
        try:
            parse(text)
        except InputError as error:
            say(error)
            n_refused += 1
    return n_refused < 2
