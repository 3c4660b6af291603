"""The kernel's own entry, handed what no caller of this project hands it: an answer that keeps the laws, or a refusal.

A refusal is a ValueError that names the field, the value and the rule; a TypeError for what is of another kind or does
not fit its field, a KeyError for what is missing; an OverflowError for a run that is too long. A panic, a
`KernelError`, a signal, more than a gigabyte of memory or five seconds of processor time is none.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import struct
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from diskmodel.engine import _kernel
from diskmodel.records import PARTS, Completions, DeviceCounters, Requests, Run, StreamRule
from diskmodel.result.laws import check_laws
from tests.fuzz import kernel_calls
from tests.fuzz.check import check

#: Characters of a refusal.
MAX_REPORTED = 3000
_WHERE = re.compile(r"^[a-z_.\[\]0-9 +]+( \([a-z ]+\))?=.", re.DOTALL)


def _refused(call: Callable[[], Any]) -> Any:
    """What a call gives; None where it is refused as it may be."""
    try:
        return call()
    except (TypeError, KeyError) as error:
        reported, is_right = str(error), ": " in str(error)
    except OverflowError as error:
        reported, is_right = str(error), "417 days" in str(error)
    except ValueError as error:
        reported, is_right = str(error), _WHERE.match(str(error)) is not None
    assert is_right, reported
    assert len(reported) < MAX_REPORTED
    return None


@functools.cache
def _runs() -> list[bytes]:
    return kernel_calls.runs()


@functools.cache
def _streamed() -> list[bytes]:
    return kernel_calls.streamed_runs()


@check("kernel-entry")
def kernel_entry(choose: Random) -> bool:
    """`run` with damaged tables, requests and columns."""
    _array, requests, out = call = kernel_calls.damaged(choose, _runs())
    reported = _refused(lambda: _kernel.run(*call))
    if reported is None:
        return False
    check_laws(*_as_records(requests, out, reported))
    return True


def _as_records(requests: Any, out: Any, reported: Any) -> tuple[Requests, Run]:
    assert not reported["long_places"] or out["parts_ns"].dtype == np.int32
    columns = {
        name.replace("sectors", "bytes"): np.array(values, np.int64) for name, values in reported["counters"].items()
    }
    rules = tuple(StreamRule(str(i), **stream) for i, stream in enumerate(requests["streams"]))
    names = ("when_ns", "op", "offset", "length", "stream", "cache_draw")
    rows = Requests(**{name: requests[name] for name in names}, streams=rules)
    issue = requests["when_ns"] if out["issue_ns"] is None else out["issue_ns"]
    parts = out["parts_ns"].astype(np.int64)
    parts[reported["long_places"]] = reported["long_values"]
    done = Completions(issue, out["done_ns"], parts.reshape(-1, len(PARTS)), out["is_hit"])
    return rows, Run(
        completions=done, devices=DeviceCounters(**columns), engine="native", wall_s=0.0, end_ns=reported["end_ns"]
    )


@check("kernel-entry-streamed")
def kernel_entry_streamed(choose: Random) -> bool:
    """`run_streamed` with damaged tables and blocks."""
    array, streams, blocks = kernel_calls.damaged(choose, _streamed())
    n_rows = 0

    def next_block(stream: int) -> Any:
        nonlocal n_rows
        left = blocks[stream]
        block = left.pop(0)
        n_rows += len(block["row"])
        return block

    reported = _refused(lambda: _kernel.run_streamed(array, streams, _asked(next_block)))
    if reported is None:
        return False
    assert reported["n_done"] == n_rows
    assert reported["n_broken"] == 0
    return True


def _asked(next_block: Callable[[int], Any]) -> Callable[[int], Any]:
    """Damage to the list of blocks is a fault of the caller, reported like any other input that the kernel refuses."""

    def ask(stream: int) -> Any:
        try:
            return next_block(stream)
        except (IndexError, AttributeError, TypeError, KeyError, ValueError) as error:
            raise TypeError(f"no block: {error}") from None

    return ask


#: Descriptors are the caller's own: a wrong one would be another file.
_DESCRIPTORS = frozenset(("fuse_fd", "stop_fd", "store_fd"))


@functools.cache
def _servings() -> tuple[socket.socket, int, list[bytes]]:
    """A socket stands for the mount: what is sent into one end, the server reads at the other. It stops at once."""
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setblocking(False)
    ours.setblocking(False)
    stop, reported = os.pipe()
    os.write(reported, b"x")
    fuse = theirs.detach()
    settings = {
        "fuse_fd": fuse,
        "stop_fd": stop,
        "store_fd": -1,
        "uid": 0,
        "gid": 0,
        "seed": 1,
        "mounted_unix_s": 1_700_000_000,
        "time_scale": 1.0,
    }
    return ours, fuse, kernel_calls.servings(settings)


@check("kernel-entry-serve")
def kernel_entry_serve(choose: Random) -> bool:
    """`serve_array` with damaged tables and settings, and requests as the operating system sends them, damaged, too."""
    ours, fuse, calls = _servings()
    call = kernel_calls.damaged(choose, calls, kept=_DESCRIPTORS)
    if not isinstance(call[1], dict) or not call[1].keys() >= _DESCRIPTORS:
        call[1] = {}
    for _ in range(choose.choice((0, 0, 1, 3))):
        ours.send(_message(choose))
    try:
        reported = _refused(lambda: _kernel.serve_array(*call))
    except RuntimeError as error:
        # what the operating system never sends ends the server
        if not re.search("malformed|speaks FUSE", str(error)):
            raise
        reported = None
    finally:
        _drain(ours, fuse)
    return reported is not None


def _message(choose: Random) -> bytes:
    """A request of FUSE: header and body."""
    pick = choose.choice
    opcode = pick((1, 3, 4, 14, 15, 15, 15, 16, 16, 16, 17, 18, 20, 26, 27, 28, 29, 36, 38, 42, choose.randrange(60)))
    offset = pick((0, 512, 4096, 1 << 20, 1 << 40, (1 << 63) - 1, (1 << 64) - 1))
    length = pick((0, 1, 512, 4096, 65536, (1 << 32) - 1))
    data = b"d" * pick((0, 1, 512, 4096))
    body = struct.pack(
        "=QQIIQII", 0, offset, length if choose.random() < 0.5 else len(data), 0, 0, pick((0, 0o10000)), 0
    )
    body = pick((body + data, body + data, body, b"disk\0", choose.randbytes(choose.randrange(60))))
    total = 40 + len(body) + pick((0,) * 9 + (1,))
    return struct.pack("=IIQQIIII", total, opcode, choose.randrange(1 << 64), pick((1, 2, 2, 2, 3)), 0, 0, 0, 0) + body


def _drain(ours: socket.socket, fuse: int) -> None:
    """Takes away the answers, and what was not read."""
    for end in (ours.fileno(), fuse):
        with contextlib.suppress(BlockingIOError):
            while os.read(end, 1 << 21):
                pass
