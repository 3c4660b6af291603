"""The native kernel behind the same call as the SimPy engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.engine.boundary import CompletionsOut, Counters, Outcome, ScenarioTables, missing_drive
from diskmodel.engine.boundary import kernel as _kernel
from diskmodel.engine.scenario import Scenario, endless
from diskmodel.engine.steady.levels import cache_room, in_bytes, level_marks, low_mark, overload_marks
from diskmodel.engine.steady.unused_memory import give_back_memory
from diskmodel.errors import CoverageError, Fault
from diskmodel.records import PARTS, Completions, DeviceCounters, Int64, Requests, Run, StreamRule
from diskmodel.schema import to_kernel

#: Runs of more rows than these keep the parts of their times in half the memory, where they fit.
NARROW_ABOVE = 1 << 20
#: Memory of a run, bytes, from which it is made when no other such run is. At half, plans of large arrays of flash take
#: turns; at double, two of them take more than 1 GB.
_LARGE_BYTES = 120_000_000
#: How many times the memory of what it begins with a run takes.
_TIMES_ITS_START = 4
#: Schedulers that have a twin in the kernel.
KERNEL_SCHEDULERS = frozenset(_kernel.scheduler_names())

#: The kernel keeps seek times in 32 bits.
_MAX_SEEK_NS = 1 << 32
#: Of GNU's C library; others have none.
_large = threading.Lock()
_NOTHING = np.empty(0, np.int64)
_NO_REQUESTS = Requests(
    _NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING.astype(np.int32), _NOTHING.astype(np.float64), ()
)


def stop_runs() -> None:
    """End all runs of the kernel in this process within a moment; each raises KeyboardInterrupt where it was called."""
    _kernel.stop_runs()


def covers(scenario: Scenario, requests: Requests) -> str | None:
    """Why the kernel does not cover a scenario, or None when it does."""
    for of in (scenario, scenario.log, scenario.special, scenario.l2arc):
        if of is None:
            continue
        for queue in (of.queue, of.drive_queue):
            if queue.scheduler not in KERNEL_SCHEDULERS:
                return f"the scheduler {queue.scheduler}"
        if missing_drive(of.drive) is not None:
            return f"drives of the kind {of.drive.kind}, which only SimPy simulates"
        if of.drive.longest_seek_ns >= _MAX_SEEK_NS:
            return "seeks of 4.3 s and more"
    return None


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through `scenario` in the kernel; the interpreter is free meanwhile."""
    started = time.perf_counter()
    columns, done = _columns(requests), _room_for(requests)
    with _turn(scenario):
        outcome = _outcome(array_of(scenario), columns, done, requests)
    give_back_memory()
    if outcome["long_places"]:
        done = replace(done, parts_ns=done.parts_ns.astype(np.int64))
        done.parts_ns.reshape(-1)[outcome["long_places"]] = outcome["long_values"]
    return run_of(done, outcome, scenario, started)


def _is_large(scenario: Scenario) -> bool:
    """Return whether a run takes much memory beside its requests."""
    n_bytes = _TIMES_ITS_START * scenario.start.n_bytes + scenario.n_devices * scenario.drive.state_bytes
    return n_bytes > _LARGE_BYTES


def _turn(scenario: Scenario) -> AbstractContextManager[Any]:
    """Return what a run has to hold: large ones are made one after another."""
    return _large if _is_large(scenario) else nullcontext()


def run_of(completions: Completions, outcome: Mapping[str, Any], scenario: Scenario, started: float) -> Run:
    """Return a run of the kernel from what it reports; `started` is when it began, in `time.perf_counter`'s seconds."""
    marks = level_marks(scenario)
    return Run(
        completions=completions,
        devices=counters_of(outcome["counters"], scenario.drive.sector_bytes),
        own=_own_counters(outcome["own_counters"], scenario),
        engine="native",
        wall_s=time.perf_counter() - started,
        end_ns=outcome["end_ns"],
        rebuilt_bytes=outcome["rebuilt_sectors"] * scenario.drive.sector_bytes,
        cache_full_ns=outcome["cache_full_ns"],
        l2arc_hits=outcome["l2arc_hits"],
        l2arc_misses=outcome["l2arc_misses"],
        low_mark_bytes=low_mark(scenario),
        round_requests=scenario.start.round_requests,
        is_in_waves=scenario.start.is_in_waves,
        cleaning_requests=scenario.start.cleaning_requests,
        level_marks=marks,
        overload_marks=overload_marks(scenario, marks),
        cache_bytes=cache_room(scenario),
        levels=in_bytes(scenario, outcome["levels"]),
    )


class Repeated:
    """The same requests through many scenarios, of which only the times of completion are kept.

    Short runs spend more time on checking requests, and on what else a run returns, than in the kernel.

    Parameters
    ----------
    requests : Requests
        On every array that they will be run on.
    """

    def __init__(self, requests: Requests) -> None:
        self._columns, self._room = _columns(requests), _room_for(requests)
        self._requests = requests

    def done_ns(self, array: dict[str, Any]) -> Int64:
        """Return when each request completed on an array as `array_of` describes it; overwritten by the next call."""
        _outcome(array, self._columns, self._room, self._requests)
        return self._room.done_ns


def _room_for(requests: Requests) -> Completions:
    """Return arrays for the outcome of requests."""
    n = len(requests)
    # open requests are issued at their times (the kernel checks that): one column serves both
    return Completions(
        issue_ns=_column(requests.when_ns) if _are_open(requests) else np.empty(n, np.int64),
        done_ns=np.empty(n, np.int64),
        parts_ns=np.empty((n, len(PARTS)), np.int32) if n > NARROW_ABOVE else np.empty((n, len(PARTS)), np.int64),
        is_hit=np.empty(n, np.bool_),
    )


def _are_open(requests: Requests) -> bool:
    return len(requests) > 0 and not any(rule.n_clients for rule in requests.streams)


def _columns(requests: Requests) -> dict[str, Any]:
    """Return requests as the kernel takes them."""
    columns = to_kernel(requests)
    streams = streams_of(columns.pop("streams"))
    return {name: _column(column) for name, column in columns.items()} | {"streams": streams}


def _completions_out(done: Completions, requests: Requests) -> CompletionsOut:
    """Return where the kernel writes completions to."""
    return CompletionsOut(
        issue_ns=None if _are_open(requests) else done.issue_ns,
        done_ns=done.done_ns,
        parts=PARTS,
        parts_ns=done.parts_ns.reshape(-1),
        is_hit=done.is_hit,
    )


def _outcome(array: dict[str, Any], columns: dict[str, Any], done: Completions, requests: Requests) -> Outcome:
    """Run requests in the kernel, write their completions to `done`, and return the rest."""
    try:
        return _kernel.run(array, columns, to_kernel(_completions_out(done, requests)))
    except OverflowError as error:
        raise endless(error) from None
    except ValueError as error:
        raise refused(error) from None


def refused(error: ValueError) -> CoverageError:
    """What the kernel's tables cannot hold, though the description allows it."""
    return CoverageError(Fault("engine", "native", f"the kernel does not take {error}", "use simpy"))


def ports(scenario: Scenario, requests: Requests) -> Int64:
    """Return what stations say in a run, as `simpy_engine.ports` does; nothing unless the kernel `HAS_PORTS`."""
    out = _completions_out(_room_for(requests), requests)
    return np.array(_kernel.ports(array_of(scenario), _columns(requests), to_kernel(out)), np.int64).reshape(-1, 6)


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """As the kernel reads it: contiguous, or one value for all rows."""
    return values if values.strides == (0,) else np.ascontiguousarray(values)


def streams_of(rules: Sequence[StreamRule]) -> list[dict[str, Any]]:
    """How streams come, as the kernel takes it."""
    return [to_kernel(rule) for rule in rules]


def _own_counters(columns: Counters, scenario: Scenario) -> dict[str, DeviceCounters]:
    """Return counters of the drives beside the disks, which the kernel has one behind the other."""
    found, first = {}, 0
    for name, drives in scenario.own.items():
        part = {column: values[first : first + drives.n_devices] for column, values in columns.items()}  # type: ignore[index]
        found[name] = counters_of(part, drives.drive.sector_bytes)  # type: ignore[arg-type]
        first += drives.n_devices
    return found


def counters_of(columns: Counters, sector_bytes: int) -> DeviceCounters:
    """Counters of each disk, from the kernel's columns, which count sectors where ours count bytes."""
    named = {name: np.array(values, np.int64) for name, values in columns.items()}
    for op in ("read", "write"):
        named[f"{op}_bytes"] = named.pop(f"{op}_sectors") * sector_bytes
    return DeviceCounters(**named)


def array_of(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the kernel takes it: nested dictionaries of whole numbers."""
    return to_kernel(ScenarioTables.of(scenario))


def cannot_serve(scenario: Scenario) -> str | None:
    """Why the kernel cannot run a scenario along with a clock, or None when it can."""
    if not scenario.layout.has_strips:
        return "a pool of OpenZFS, whose transaction groups go on between requests"
    return covers(scenario, _NO_REQUESTS)


def serve(scenario: Scenario, settings: dict[str, Any]) -> dict[str, Any]:
    """Serve a scenario as a file over FUSE until stopped; the interpreter is free meanwhile.

    Counts of what was served; `settings` are descriptors and numbers as in `serve/glue.rs`.
    """
    try:
        return dict(_kernel.serve_array(array_of(scenario), settings))
    except ValueError as error:
        raise refused(error) from None
