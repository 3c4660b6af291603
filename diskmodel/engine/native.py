"""The native kernel behind the same call as the SimPy engine."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.controller.tables import CacheTables
from diskmodel.drive.tables import DriveTables, FlashTables, HddTables, VirtualTables
from diskmodel.engine import _kernel
from diskmodel.engine.scenario import Scenario, endless
from diskmodel.engine.steady.levels import in_bytes, level_marks, low_mark
from diskmodel.engine.steady.start import Start
from diskmodel.errors import CoverageError, Fault
from diskmodel.host.tables import HostTables
from diskmodel.queue import Queue
from diskmodel.queue.rpo import weight_ppm
from diskmodel.records import PARTS, READ, WRITE, Completions, DeviceCounters, Int64, Requests, Run, StreamRule

#: Runs of more rows than these keep the parts of their times in half the memory, where they fit.
NARROW_ABOVE = 1 << 20
#: Schedulers that have a twin in the kernel.
KERNEL_SCHEDULERS = frozenset(_kernel.scheduler_names())

#: The kernel keeps seek times in 32 bits.
_MAX_SEEK_NS = 1 << 32
#: Fields of flash drives and virtual disks that the kernel takes as they are.
_FLASH_FIELDS = frozenset(f.name for f in fields(FlashTables)) - {"blocks_per_die", "gc_policy", "queue_depth", "ftl"}
_VIRTUAL_FIELDS = frozenset(f.name for f in fields(VirtualTables)) - {"queue_depth"}
_NOTHING = np.empty(0, np.int64)
_NO_REQUESTS = Requests(
    _NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING.astype(np.int32), _NOTHING.astype(np.float64), ()
)


def covers(scenario: Scenario, requests: Requests) -> str | None:
    """Why the kernel does not cover a scenario, or None when it does."""
    for queue in (scenario.queue, scenario.drive_queue):
        if queue.scheduler not in KERNEL_SCHEDULERS:
            return f"the scheduler {queue.scheduler}"
    if isinstance(scenario.drive, HddTables) and scenario.drive.longest_seek_ns >= _MAX_SEEK_NS:
        return "seeks of 4.3 s and more"
    return None


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through `scenario` in the kernel; the interpreter is free meanwhile."""
    started = time.perf_counter()
    columns, done = _columns(requests), _room_for(requests)
    outcome = _outcome(array_of(scenario), columns, done, requests)
    if outcome["long_places"]:
        done = replace(done, parts_ns=done.parts_ns.astype(np.int64))
        done.parts_ns.reshape(-1)[outcome["long_places"]] = outcome["long_values"]
    return run_of(done, outcome, scenario, started)


def run_of(completions: Completions, outcome: Mapping[str, Any], scenario: Scenario, started: float) -> Run:
    """Return a run of the kernel from what it reports; `started` is when it began, in `time.perf_counter`'s seconds."""
    return Run(
        completions=completions,
        devices=counters_of(outcome["counters"], scenario),
        engine="native",
        wall_s=time.perf_counter() - started,
        end_ns=outcome["end_ns"],
        rebuilt_bytes=outcome["rebuilt_sectors"] * scenario.drive.sector_bytes,
        cache_full_ns=outcome["cache_full_ns"],
        low_mark_bytes=low_mark(scenario),
        round_requests=scenario.start.round_requests,
        is_in_waves=scenario.start.is_in_waves,
        cleaning_requests=scenario.start.cleaning_requests,
        level_marks=level_marks(scenario),
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
    return {
        "when_ns": _column(requests.when_ns),
        "op": _column(requests.op),
        "offset": _column(requests.offset),
        "length": _column(requests.length),
        "stream": _column(requests.stream),
        "cache_draw": _column(requests.cache_draw),
        "streams": streams_of(requests.streams),
    }


def _outcome(array: dict[str, Any], columns: dict[str, Any], done: Completions, requests: Requests) -> _kernel.Outcome:
    """Run requests in the kernel, write their completions to `done`, and return the rest."""
    out = {
        "issue_ns": None if _are_open(requests) else done.issue_ns,
        "done_ns": done.done_ns,
        "parts": list(PARTS),
        "parts_ns": done.parts_ns.reshape(-1),
        "is_hit": done.is_hit,
    }
    try:
        return _kernel.run(array, columns, out)
    except OverflowError as error:
        raise endless(error) from None
    except ValueError as error:
        raise refused(error) from None


def refused(error: ValueError) -> CoverageError:
    """What the kernel's tables cannot hold, though the description allows it."""
    return CoverageError(Fault("engine", "native", f"the kernel does not take {error}", "use simpy"))


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """As the kernel reads it: contiguous, or one value for all rows."""
    return values if values.strides == (0,) else np.ascontiguousarray(values)


def streams_of(rules: Sequence[StreamRule]) -> list[dict[str, int]]:
    """How streams come, as the kernel takes it."""
    return [{"n_clients": rule.n_clients, "pace_ns": rule.pace_ns} for rule in rules]


def counters_of(columns: dict[str, list[int]], scenario: Scenario) -> DeviceCounters:
    """Counters of each disk, from the kernel's columns, which count sectors where ours count bytes."""
    named = {name: np.array(values, np.int64) for name, values in columns.items()}
    for op in ("read", "write"):
        named[f"{op}_bytes"] = named.pop(f"{op}_sectors") * scenario.drive.sector_bytes
    return DeviceCounters(**named)


def array_of(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the kernel takes it: nested dictionaries of whole numbers."""
    tables, controller, queue = scenario.drive, scenario.controller, scenario.queue
    cache = controller.read_cache
    caches = _caches(scenario) if controller.has_real_cache else None
    return {
        "drive": _drive(tables),
        "layout": dict(vars(scenario.layout)),
        "queue": _queue(scenario.queue),
        "drive_queue": _queue(scenario.drive_queue),
        "merge_sectors": queue.merge_limit_bytes // tables.sector_bytes if queue.merge else 0,
        "write_zones": _write_zones(tables, queue.merge_limit_bytes),
        "throttle_requests": queue.block_requests if queue.write_throttle == "linux" else 0,
        "depth": scenario.depth,
        "command_ns": controller.command_ns,
        "hit_ns": controller.hit_ns,
        "link_bytes_per_s": scenario.link_bytes_per_s,
        "hit_ratio": cache.hit_ratio if cache is not None and cache.hit_ratio is not None else 0.0,
        "cache": caches,
        "host": None if scenario.host.is_transparent else _host(scenario),
        "revolution_ns": scenario.revolution_ns,
        "phase_ns": scenario.phase_ns,
        "first_draw": scenario.first_draw,
        "start": _start(scenario.start),
        "sample_every": scenario.sample_every,
    }


def _start(start: Start) -> dict[str, Any]:
    return {
        "dirty": start.dirty,
        "cached": start.cached,
        "aged": start.aged,
        "piece_units": start.piece_units,
        "shifts": start.shifts,
        "programmed": _writes(start.programmed),
        "buffered": _writes(start.buffered),
        "buffered_room": start.buffered_room,
        "logged": {
            name: np.ascontiguousarray(column) for name, column in zip(("lba", "n"), start.logged.T, strict=True)
        },
        "runs": _writes(start.runs),
        "pages_dirty": start.pages_dirty,
        "pages_clean": start.pages_clean,
    }


def _writes(rows: Int64) -> dict[str, Int64]:
    return {name: np.ascontiguousarray(column) for name, column in zip(("disk", "lba", "n"), rows.T, strict=True)}


def _caches(scenario: Scenario) -> dict[str, Any]:
    return asdict(CacheTables.of(scenario.controller, scenario.layout, scenario.drive.sector_bytes, scenario.depth))


def _host(scenario: Scenario) -> dict[str, Any]:
    tables = HostTables.of(scenario.host, scenario.drive.sector_bytes)
    gaps_ns, pauses_ns = scenario.pauses_ns.T
    return asdict(tables) | {
        "submission_ns": _by_op(tables.submission_ns),
        "submission_sequential_ns": _by_op(tables.submission_sequential_ns),
        "lock_ns": _by_op(tables.lock_ns),
        "pause_gap_ns": np.ascontiguousarray(gaps_ns),
        "pause_ns": np.ascontiguousarray(pauses_ns),
    }


def _by_op(costs_ns: tuple[int, int]) -> dict[str, int]:
    return {"read": costs_ns[READ], "write": costs_ns[WRITE]}


def _drive(tables: DriveTables) -> dict[str, Any]:
    if isinstance(tables, HddTables):
        return _hdd(tables)
    return _flash(tables) if isinstance(tables, FlashTables) else _virtual(tables)


def _hdd(tables: HddTables) -> dict[str, Any]:
    sector = tables.sector_bytes
    names = (
        "sector_bytes n_sectors n_sectors_per_actuator actuators heads zone_first_lba zone_first_cylinder "
        "sectors_per_track start_skew track_skew cylinder_skew spare_sectors_per_cylinder seek_ns "
        "seek_inward_ns head_switch_ns write_settle_ns zero_latency zero_latency_ppm retry_ppm retry_ns "
        "read_overhead_ns write_overhead_ns completion_overhead_ns write_completion_overhead_ns interface_bytes_per_s "
        "buffer_full_ppm read_ahead_in_track read_ahead_in_own_track read_on_arrival reads_whole_track cache_segments "
        "writes_drop_all keeps_writes weighed_commands weighed_writes"
    )
    return {name: getattr(tables, name) for name in names.split()} | {
        "kind": "hdd",
        "segment_sectors": max(tables.cache_segment_bytes // sector, 1),
        "prefill_sectors": tables.write_prefill_bytes // sector,
        "read_ahead_sectors": tables.read_ahead_bytes // sector,
        "dirty_sectors": tables.buffer_sectors,
        "write_room_sectors": min(tables.write_room_sectors, tables.buffer_sectors),
        "media_cache": None if tables.media_cache is None else asdict(tables.media_cache),
        # so that writes that seek as reads do share the table
        "write_seek_ns": tables.write_seek_ns if len(tables.write_seek_ns) else None,
    }


def _write_zones(tables: DriveTables, merge_limit_bytes: int) -> dict[str, int] | None:
    if not isinstance(tables, HddTables) or not tables.write_zone_sectors:
        return None
    return {
        "sectors": tables.write_zone_sectors,
        "first_sector": tables.conventional_sectors,
        "merge_sectors": merge_limit_bytes // tables.sector_bytes,
    }


def _flash(tables: FlashTables) -> dict[str, Any]:
    known = {name: getattr(tables, name) for name in _FLASH_FIELDS}
    return known | {"kind": "flash", "ftl": dict(vars(tables.ftl))}


def _virtual(tables: VirtualTables) -> dict[str, Any]:
    return {name: getattr(tables, name) for name in _VIRTUAL_FIELDS} | {"kind": "virtual"}


def _queue(queue: Queue) -> dict[str, Any]:
    tunables = "age_ns miss_margin_ns committed read_expire_ns write_expire_ns fifo_batch writes_starved"
    names = ["scheduler", *tunables.split()]
    return {name: getattr(queue, name) for name in names} | {"age_weight_ppm": weight_ppm(queue.age_weight)}


def cannot_serve(scenario: Scenario) -> str | None:
    """Why the kernel cannot run a scenario along with a clock, or None when it can."""
    return covers(scenario, _NO_REQUESTS)


def serve(scenario: Scenario, settings: dict[str, Any]) -> dict[str, Any]:
    """Serve a scenario as a file over FUSE until stopped; the interpreter is free meanwhile.

    Counts of what was served; `settings` are descriptors and numbers as in `serve/glue.rs`.
    """
    try:
        return dict(_kernel.serve_array(array_of(scenario), settings))
    except ValueError as error:
        raise refused(error) from None
