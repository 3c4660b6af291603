"""Calls from Python to the kernel, intercepted and damaged."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.engine import native, streamed
from diskmodel.engine.scenario import Scenario, check_requests, resolve
from diskmodel.errors import DescriptionError
from diskmodel.workload import Workload
from tests.differential.cases import random_case
from tests.differential.filled import filled_start
from tests.fuzz import extremes

#: Arguments of a call of the kernel; an iterable of a stream's blocks stands for what the kernel asks for them.
Call = list[Any]

N_ARRAYS = 240
#: Longer tables are left to the other checks of the engines, since copying them takes longer than a run.
MAX_CYLINDERS = 20_000
#: Pauses of a host's processor that are kept.
MAX_LISTED = 12


class _Caught(BaseException):
    """The intercepted call."""


class _Catcher:
    def run(self, *arguments: Any) -> None:
        raise _Caught(*arguments)

    def run_streamed(self, array: Any, streams: Any, next_block: Callable[[int], dict[str, Any]]) -> None:
        raise _Caught(array, streams, [_blocks(next_block, index) for index in range(len(streams))])

    def serve_array(self, *arguments: Any) -> None:
        raise _Caught(*arguments)


def _blocks(next_block: Callable[[int], dict[str, Any]], stream: int) -> list[dict[str, Any]]:
    blocks = [dict(next_block(stream))]
    while len(blocks[-1]["row"]):
        blocks.append(dict(next_block(stream)))
    return blocks


def caught(call: Callable[[], object]) -> Call:
    """The arguments with which `call` would call the kernel."""
    catcher: Any = _Catcher()
    with patch.object(native, "_kernel", catcher), patch.object(streamed, "_kernel", catcher):
        try:
            call()
        except _Caught as caught:
            return list(caught.args)
    raise AssertionError("the kernel was not called")


def drawn() -> Iterator[tuple[Scenario, Workload, int]]:
    """Small arrays of every kind, and workloads on them."""
    choose = Random("kernel calls")
    arrays = [random_case(number)["array"] for number in range(N_ARRAYS)] + extremes.arrays()
    for number, array in enumerate(arrays):
        scenario = resolve(Array.parse(array), 1)
        if isinstance(scenario.drive, HddTables) and scenario.drive.n_cylinders > MAX_CYLINDERS:
            continue
        # without a start its columns have no number that could be damaged
        fill = choose.choice((0, 0.002, 0.1, 1))
        scenario = replace(scenario, start=filled_start(scenario, fill, number))
        workload = extremes.ANYWHERE[number % len(extremes.ANYWHERE)]
        if native.cannot_serve(scenario) is None:
            yield scenario, Workload.parse(workload), choose.choice((1, 5, 20, 60))


def _calls(of: Callable[[Scenario, Workload, int], object]) -> list[bytes]:
    found = []
    for scenario, workload, n in drawn():
        try:
            found.append(_writable(caught(lambda s=scenario, w=workload, k=n: of(s, w, k))))  # type: ignore[misc]
        except DescriptionError:  # a workload that does not fit the array
            continue
    return extremes.packed(found)


def _writable(value: Any) -> Any:
    """Tuples of numbers as lists, in which one number can be changed, and none of them long; NumPy keeps what it is."""
    if isinstance(value, dict):
        return {key: _writable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_writable(inner) for inner in value[:MAX_LISTED]]
    if isinstance(value, tuple):
        return [_writable(inner) for inner in value]
    return value


def runs() -> list[bytes]:
    """Calls of `run`."""

    def run(scenario: Scenario, workload: Workload, n: int) -> None:
        requests = workload.requests(capacity_bytes=_size(scenario), n=n, seed=1)
        check_requests(scenario, requests)
        native.run(scenario, requests)

    return _calls(run)


def streamed_runs() -> list[bytes]:
    """Calls of `run_streamed`; the third argument is a list of blocks for each stream."""
    return _calls(lambda s, w, n: streamed.run(s, w.blocks(capacity_bytes=_size(s), n=n, seed=1)))


def servings(settings: dict[str, Any]) -> list[bytes]:
    """Calls of `serve_array` with these settings and the size of the array."""
    return _calls(lambda s, w, n: native.serve(s, settings | {"size_bytes": _size(s)}))


def _size(scenario: Scenario) -> int:
    return scenario.layout.capacity * scenario.drive.sector_bytes


# ---------------------------------------------------------------------- damage
def damaged(choose: Random, calls: Sequence[bytes], kept: frozenset[str] = frozenset()) -> Call:
    """One of `calls` with one place or a few changed; fields named in `kept` stay as they are."""
    pick = choose.choice
    call: Call = pickle.loads(pick(calls))
    for _ in range(pick((0, 1, 1, 1, 1, 2, 2, 3))):
        places = [(parent, key) for parent, key in _places(call) if key not in kept]
        parent, key = pick(places)
        value = parent[key]
        if choose.random() < 0.05 and isinstance(parent, dict):
            del parent[key]
        elif isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype != np.object_:
            parent[key] = _other_column(choose, value)
        elif isinstance(value, list) and choose.random() < 0.7:
            parent[key] = _other_list(choose, value)
        elif type(value) in (int, float):
            parent[key] = _other_number(choose, value)
        else:
            others = (*extremes.OTHERS, *extremes.NUMBERS, "fcfs", "lru", "parity", "concat", "greedy")
            parent[key] = copy.deepcopy(pick(others))
    return call


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


#: Numbers near those at which something begins or ends; the others are made from the value that is there.
_EDGES = (
    0,
    1,
    -1,
    2,
    3,
    1 << 16,
    1 << 20,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 45,
    1 << 52,
    1 << 55,
    1 << 61,
    (1 << 63) - 1,
    1 << 63,
    -(1 << 63),
)


def _other_number(choose: Random, value: float) -> Any:
    pick = choose.choice
    how = choose.random()
    if how < 0.1:
        return copy.deepcopy(pick((*extremes.NUMBERS, *extremes.OTHERS, str(value))))
    if how < 0.4:
        return pick(_EDGES)
    factor = pick((2, 3, 10, 1000, 10**6, 10**9))
    return pick((value * factor, value // factor, value + 1, value - 1, -value))


def _other_list(choose: Random, values: list[Any]) -> Any:
    return choose.choice(
        (values[:-1], values + values[:1], values[::-1], values * 2, [], values[1:], sorted_again(values))
    )


def sorted_again(values: list[Any]) -> list[Any]:
    """In order where they have one."""
    try:
        return sorted(values)
    except (TypeError, ValueError):
        return copy.copy(values)


def _other_column(choose: Random, values: NDArray[Any]) -> Any:
    """Another length, shape, type, order, memory, or number somewhere."""
    how = choose.randrange(16)
    if how < 8 and len(values):
        changed = np.array(values)
        for _ in range(choose.choice((1, 1, 3))):
            _change_one(choose, changed)
        return changed
    if how == 8:
        return values[: choose.randrange(len(values) + 1)].copy()
    if how == 9:
        return np.concatenate([values, values[: choose.randrange(1, 5)]])
    if how == 10:
        with np.errstate(invalid="ignore"):  # NaN as a whole number is what it is
            return values.astype(choose.choice((np.int64, np.int32, np.uint8, np.float64, np.bool_, ">i8", "O")))
    if how == 11:
        return values[::-1] if choose.random() < 0.5 else np.repeat(values, 2)[::2]
    if how == 12:
        return np.broadcast_to(values[:1], (len(values),)) if len(values) else values
    if how == 13:
        unaligned = np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:]
        return unaligned.view(values.dtype) if values.dtype != np.bool_ else unaligned.astype(np.bool_)
    if how == 14:
        return choose.choice(
            (values.tolist(), values.reshape(1, -1), values.reshape(-1, 1), None, memoryview(values.tobytes()))
        )
    return np.sort(values)


def _change_one(choose: Random, values: NDArray[Any]) -> None:
    at = choose.randrange(len(values))
    if values.dtype == np.float64:
        values[at] = choose.choice((np.nan, np.inf, -1.0, 1.0, 2.0, 1e308, -0.0))
    elif values.dtype == np.bool_:
        values[at] = not values[at]
    else:
        limits = np.iinfo(values.dtype)
        number = int(choose.choice((*_EDGES, int(values[at]) * 1000, int(values[at]) + 1, int(values[at]) - 1)))
        values[at] = min(max(number, int(limits.min)), int(limits.max))
