"""The lab served from a thread of the tests' process."""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from diskmodel.lab.server import listen, server, url_of


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Address of a lab that ends with the block."""
    sock = listen()
    lab = server()
    thread = threading.Thread(target=lab.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        while not lab.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield url_of(sock)
    finally:
        lab.should_exit = True
        thread.join(timeout=20)
        sock.close()
        assert not thread.is_alive()


def fetch(url: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def ask(url: str, body: object = None) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    status, _, text = fetch(url, body)
    return status, json.loads(text)
