"""Keeping outcomes in a file, so that an interrupted search continues where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.loading import dataclass
from diskmodel.output import append_line
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.result.statistics import Interval
from diskmodel.version import __version__
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Memory:
    """A file of JSON lines with the outcomes that were found so far.

    An outcome is found again when array, workload, length, seed, method and version are the same. Any number of
    processes may share the file: a line is written in one piece, and broken lines are ignored.

    Attributes
    ----------
    path : str
    """

    path: str
    _known: dict[str, Outcome] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._known.update(read_outcomes(self.path))

    def __reduce__(self) -> tuple[Callable[[str], Memory], tuple[str]]:
        return _sent_here, (self.path,)

    def outcome(
        self, method: Callable[..., Outcome], array: Array, workload: Workload, *, n_requests: int, seed: int
    ) -> Outcome:
        """Return the outcome that is known, or else that of the method, which is known from then on."""
        parts = [array.to_dict(), workload.to_dict(), n_requests, seed, repr(method), __version__]
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        if key not in self._known:
            outcome = method(array, workload, n_requests=n_requests, seed=seed)
            self._known[key] = outcome
            self._append(key, outcome)
        return self._known[key]

    def _append(self, key: str, outcome: Outcome) -> None:
        # begins with a newline too: a line that a killed process left half written must not swallow this one
        line = "\n" + json.dumps({"key": key, "outcome": to_plain(outcome)}) + "\n"
        # one write to a file opened for appending is not mixed with those of other processes
        append_line(self.path, line)


class _Sent:
    """Memories that were sent to this process, each with how far its file was read.

    A worker gets one with each task of a plan; the file may have thousands of lines.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[dict[str, Outcome], int]] = {}

    def memory(self, path: str) -> Memory:
        """Return the memory of a file, which is read from where it was left."""
        with self._lock:
            known, at = self._known.get(path, ({}, 0))
            data = _rest(path, at)
            if data is None:  # another file by now
                known, at, data = {}, 0, _rest(path, 0) or b""
            whole = data[: data.rfind(b"\n") + 1]
            known.update(_outcomes(whole))
            self._known[path] = known, at + len(whole)
            memory = Memory.__new__(Memory)
            vars(memory).update(path=path, _known=known)
            return memory


_SENT = _Sent()


def _sent_here(path: str) -> Memory:
    return _SENT.memory(path)


def _rest(path: str, at: int) -> bytes | None:
    """Return what a file has from a position on; None where it is shorter, or not there."""
    try:
        with Path(path).open("rb") as file:
            if file.seek(0, os.SEEK_END) < at:
                return None
            file.seek(at)
            return file.read()
    except FileNotFoundError:
        return None


def read_outcomes(path: str | Path) -> dict[str, Outcome]:
    """Return the outcomes of a file by key; nothing where there is no file. Incomplete lines are skipped."""
    return _outcomes(Path(path).read_bytes()) if Path(path).is_file() else {}


def _outcomes(data: bytes) -> dict[str, Outcome]:
    """Return the outcomes in lines by key."""
    found: dict[str, Outcome] = {}
    for line in data.decode("utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            found[entry["key"]] = from_plain(entry["outcome"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            continue
    return found


#: Fields of an outcome that are intervals.
_INTERVALS = ("iops", "bytes_per_s", "commits_per_s")


def to_plain(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data from which `from_plain` makes an equal one."""
    data = dict(vars(outcome))
    data |= {name: _ends(data[name]) for name in _INTERVALS}
    data["latency_ns"] = {
        stream: {name: _ends(interval) for name, interval in intervals.items()}
        for stream, intervals in outcome.latency_ns.items()
    }
    data["breakdown_ms"] = dict(outcome.breakdown_ms)
    return data


def from_plain(data: Mapping[str, Any]) -> Outcome:
    """Return the outcome in plain data."""
    values = dict(data)
    values |= {name: _interval(data[name]) for name in _INTERVALS}
    values["latency_ns"] = {
        stream: {name: _interval(ends) for name, ends in intervals.items()}
        for stream, intervals in data["latency_ns"].items()
    }
    values["breakdown_ms"] = {part: float(ms) for part, ms in data["breakdown_ms"].items()}
    return Outcome(**values)


def _ends(interval: Interval) -> list[float]:
    return [interval.value, interval.low, interval.high]


def _interval(ends: Iterable[float]) -> Interval:
    value, low, high = (float(end) for end in ends)
    return Interval(value, low, high)
