"""All that predictions depend on and nobody knows exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from diskmodel.drive import Drive, drawn_values
from diskmodel.uncertainty.case import FEW_WRITES, Case, slowness
from diskmodel.uncertainty.origin import origin_of
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.uncertainty.perturbed import PART_RATIO
from diskmodel.uncertainty.spread import Spread, spread_of
from diskmodel.uncertainty.unknown import Known, Unknown, columns_of
from diskmodel.workload import Workload

#: Parameters of a fit that are drawn together at most so many times.
_MAX_DRAWS = 256
#: Quarters of a recording that are drawn from. With eight, two draws of sixteen share each.
_PARTS = 16
#: Share of flash drives whose firmware copies in batches: two models of the six that were measured under loads
#: (docs/explanation/validation/flash.md) do, and of one more it is as likely as not: (2 + 1/2) / (6 + 1).
_BATCHES_RATIO = 0.36
#: Share of the others that let writes in at the pace of their cleaning: two models of these four, counted alike.
_PACED_RATIO = 0.5
#: Share of those that program more slowly while they are read: one model of the six, which copies in batches, and of
#: one more it is as likely as not.
_SLOWED_RATIO = 0.21
#: Phases of the shortest recording that has quarters.
_FEWEST_PHASES = 4


def _order(case: Case) -> Known | None:
    if queues := case.likely_queues:
        words = "orders that fit its measurement alike"
        return Known(words, lambda score, _: Perturbation(queue=queues[_place(score, len(queues))]))
    assumption = case.assumed_order
    if assumption is None:
        return None
    orders = sorted(assumption.drawn, key=slowness, reverse=True)
    return Known(assumption.words, lambda score, _: Perturbation(order=orders[_place(score, len(orders))]))


def _place(score: float, n: int) -> int:
    """Return which of `n` equally likely choices a normal score stands for."""
    return min(int(_level(score) * n), n - 1)


def _level(score: float) -> float:
    """Return the probability of a lower normal score."""
    return 0.5 * math.erfc(-score / math.sqrt(2))


def _seeks(case: Case) -> Known | None:
    if not (case.is_hdd and case.is_sheet):
        return None
    return _of_class(case, case.spread("positioning"), lambda factor: Perturbation(positioning=factor))


def _queue(case: Case) -> Known | None:
    """How well a queue of commands is ordered, beside the orders that are drawn."""
    if not (case.is_hdd and case.is_sheet) or "queue" not in case.effects:
        return None
    return _of_class(case, case.spread("queue"), lambda factor: Perturbation(speed=factor))


def _overheads(case: Case) -> Known | None:
    if not (case.is_hdd and case.is_sheet) or _is_printed(case.array.drive, "read_overhead_ns"):
        return None
    if _destages_as_measured(case):
        # whether a destage still meets the revolution of the one before it depends on them; the depth was fitted so
        return None
    return _of_class(case, case.spread("overhead"), lambda factor: Perturbation(overhead=factor))


def _zone_rates(case: Case) -> Known | None:
    drive = case.array.drive
    if not case.is_sheet or "sequential" not in drive.quantities:
        return None
    if all(_is_printed(drive, name) for name in ("outer_bytes_per_s", "inner_bytes_per_s")):
        return None
    return _of_class(case, case.spread("sequential"), lambda factor: Perturbation(sequential=factor))


def _is_printed(drive: Drive, name: str) -> bool:
    """Return whether the drive's own sheet prints a figure."""
    return name in drive.provenance.get("printed", ())


def _cached_writes(case: Case) -> Known | None:
    if not (case.is_sheet and case.has_cached_writes) or case.seen.write_ratio < FEW_WRITES:
        return None
    return _of_class(case, case.spread("cached_writes"), lambda factor: Perturbation(writes=factor))


def _own_spread(case: Case, quantity: str) -> Spread | None:
    """Return the spread of a quantity of drives that are known from their sheets; None of those without it."""
    return case.spread(quantity) if case.is_sheet and quantity in case.array.drive.quantities else None


def _flash_times(case: Case) -> Known | None:
    return _of_class(case, _own_spread(case, "flash_read_time"), lambda factor: Perturbation(read_time=factor))


def _flash_dies(case: Case) -> Known | None:
    return _of_class(case, _own_spread(case, "flash_parallelism"), lambda factor: Perturbation(parallelism=factor))


def _flash_writes(case: Case) -> Known | None:
    if case.seen.write_ratio < FEW_WRITES:
        return None
    return _of_class(case, _own_spread(case, "flash_write"), lambda factor: Perturbation(write_rate=factor))


def _write_latency(case: Case) -> Known | None:
    if case.seen.write_ratio < FEW_WRITES:
        return None
    return _of_class(case, _own_spread(case, "flash_write_latency"), lambda factor: Perturbation(write_latency=factor))


def _flushes(case: Case) -> Known | None:
    is_flushed = case.array.drive.with_write_cache(case.array.has_drive_write_cache).is_flushed
    if not (case.seen.has_flushes and is_flushed):
        return None
    return _of_class(case, _own_spread(case, "flash_flush"), lambda factor: Perturbation(flush=factor))


def _processors(case: Case) -> Known | None:
    """What the programs of a system take of their processors."""
    return _of_class(case, _own_spread(case, "processors"), lambda factor: Perturbation(overhead=factor))


def _firmware(case: Case) -> Known | None:
    """How the firmware takes writes, which neither a sheet nor a measurement by reads shows."""
    drive = case.array.drive
    unknown = drive.quantities & {"flash_batches", "flash_pace"}
    if case.seen.write_ratio < FEW_WRITES or origin_of(drive) != "sheet" or not unknown:
        return None
    evenly = 1 - _BATCHES_RATIO if "flash_batches" in unknown else 1.0
    at_once = evenly * (1 - _PACED_RATIO) if "flash_pace" in unknown else evenly

    def perturbation(score: float, _: int) -> Perturbation:
        level = _level(score)
        return Perturbation(
            has_batches=level > evenly,
            paces_writes=at_once < level <= evenly,
            is_slowed_by_reads=level > max(evenly, 1 - _SLOWED_RATIO),
        )

    return Known("six measured firmwares", perturbation)


def _fitted(case: Case) -> Known | None:
    drive = case.array.drive
    if drive.uncertainty is None or case.as_measured or case.origin == "exact":
        return None
    rows = _rows(drive.model_dump_json(), drive)
    if not rows:
        return None
    return Known("the covariance of its calibration", lambda _, row: Perturbation(values=rows[row % len(rows)]))


@lru_cache(maxsize=4)
def _kept_rows(key: str) -> list[list[dict[str, float]]]:
    """Return a place for the values drawn of one drive."""
    return []


def _rows(key: str, drive: Drive) -> list[dict[str, float]]:
    """Return values of the parameters that a calibration left uncertain, always the same ones."""
    kept = _kept_rows(key)
    if not kept:
        kept.append(drawn_values(drive, _MAX_DRAWS))
    return kept[0]


def _controller(case: Case) -> Known | None:
    controller, writes = case.array.controller, case.seen.write_ratio
    if case.origin == "exact":
        return None
    if case.draws_destaging:
        return Known("what controllers can be set to", lambda by, _: Perturbation(destaging=2 * _level(by) - 1))
    if controller.is_measured:
        return _measured_controller(case)
    name = case.array_class
    spread = spread_of(name, "controller")
    if case.is_hdd:
        is_open = case.array.has_controller_cache and case.is_sheet
        return _known(name, spread, lambda factor: Perturbation(speed=factor)) if is_open else None
    if not (case.array.has_controller_cache or controller.command_ns):
        return None
    if case.array.has_controller_cache and writes > FEW_WRITES:
        return _known(name, spread, lambda factor: Perturbation(speed=factor * writes, command=-factor))
    return _known(name, spread, lambda factor: Perturbation(command=-factor)) if controller.command_ns else None


def _destages_as_measured(case: Case) -> bool:
    """Whether writes are destaged by a controller of the catalogue, whose rate was measured."""
    controller = case.array.controller
    return controller.is_measured and controller.write_cache is not None and case.seen.write_ratio > FEW_WRITES


def _measured_controller(case: Case) -> Known | None:
    """What is known of a controller in the catalogue: how many requests it takes at once, and how it destages."""
    controller = case.array.controller
    if _destages_as_measured(case):
        writes = case.seen.write_ratio
        found = spread_of("measured-controller", "destages")
        return _known("measured-controller", found, lambda factor: Perturbation(speed=factor * writes))
    if controller.volume_depth is None:
        return None
    return _known("measured-controller", spread_of("measured-controller", "volume"), lambda by: Perturbation(volume=by))


def _host(case: Case) -> Known | None:
    if case.origin == "exact" or case.array.host.is_transparent:
        return None
    name = "assumed-host" if case.array.host.is_assumed else "host"
    return _known(name, spread_of(name, "host"), lambda factor: Perturbation(host=factor))


def _workload(case: Case) -> Known | None:
    load = case.workload
    if not isinstance(load, Workload) or not load.is_recorded:
        return None
    return _known("recording", spread_of("recording", "level"), lambda factor: Perturbation(level=factor))


def _parts(case: Case) -> Known | None:
    """Which quarter of its recording a fitted load is like: those that overlap, the one of the longest waits last."""
    load = case.workload
    if not isinstance(load, Workload):
        return None
    recorded = [stream.excerpts for stream in load.streams if stream.excerpts is not None]
    if max((excerpts.n_phases for excerpts in recorded), default=0) < _FEWEST_PHASES:
        return None
    waits = sum(excerpts.waits_of_parts(_PARTS, PART_RATIO) for excerpts in recorded)
    order = np.argsort(waits, kind="stable") / _PARTS
    return Known("quarters of its recording", lambda score, _: Perturbation(part=float(order[_place(score, _PARTS)])))


def _excerpts(case: Case) -> Known | None:
    """By how much a fitted load misses the latencies of its recording, on arrays that both were tried on."""
    load = case.workload
    if not isinstance(load, Workload) or load.fitted is None or not (log_error := load.fitted.log_error):
        return None
    return Known("the errors of its fit", lambda score, _: Perturbation(speed=log_error * score))


def _tail(case: Case) -> Known | None:
    if case.origin == "exact" or (tails := case.tails) is None:
        return None
    of_all, of_reads, of_writes = tails

    def perturbation(score: float, _: int) -> Perturbation:
        return Perturbation(
            p99=of_all.log_factor(score), read_p99=of_reads.log_factor(score), write_p99=of_writes.log_factor(score)
        )

    return Known(f"the spread of {case.drive_class}", perturbation)


def _model(case: Case) -> Known | None:
    if case.origin == "exact":
        return None
    spread = case.remaining("iops")
    if spread is None or (not spread.log_sd and spread.median == 1):
        return None
    return _known(case.drive_class, spread, lambda factor: Perturbation(speed=factor))


def _layout(case: Case) -> Known | None:
    if case.origin == "exact":
        return None
    return _known("layouts over known disks", case.layout, lambda factor: Perturbation(speed=factor))


def _of_class(case: Case, spread: Spread | None, perturbation: Callable[[float], Perturbation]) -> Known | None:
    return _known(case.drive_class, spread, perturbation)


def _known(name: str, spread: Spread | None, perturbation: Callable[[float], Perturbation]) -> Known | None:
    """Return what is known of a factor with a spread; None where nothing is."""
    if spread is None:
        return None
    return Known(f"the spread of {name}", lambda score, _: perturbation(spread.log_factor(score)))


#: Names of the unknowns that change no more than the tail of the latencies, and that have no score of their own.
TAIL, FITTED = "slowest requests", "fitted parameters"
#: That of a recorded load, which no measurement of a drive settles.
PART = "part of the recording"

#: First those that matter most: these have the first columns of a draw.
UNKNOWNS: tuple[Unknown, ...] = (
    Unknown("order of commands", "drive", _order, "hdd"),
    Unknown("seeks", "drive", _seeks, "hdd"),
    Unknown("model", "drive", _model),
    Unknown("layout", "array", _layout),
    Unknown("rate of a queue", "drive", _queue, "hdd"),
    Unknown("room of cached writes", "drive", _cached_writes, "hdd"),
    Unknown("flash times", "drive", _flash_times, "flash"),
    Unknown("flash dies", "drive", _flash_dies, "flash"),
    Unknown("flash writes", "drive", _flash_writes, "flash"),
    Unknown("latency of writes", "drive", _write_latency, "flash"),
    Unknown("controller", "all", _controller),
    Unknown("host", "all", _host),
    Unknown("workload", "all", _workload, is_of_recording=True),
    Unknown("zone rates", "drive", _zone_rates, "hdd"),
    Unknown("overheads", "drive", _overheads, "hdd"),
    Unknown(TAIL, "drive", _tail),
    Unknown(FITTED, "drive", _fitted),
    Unknown(PART, "all", _parts, is_of_recording=True),
    Unknown("fit of the recording", "all", _excerpts, is_of_recording=True),
    Unknown("time of flushes", "drive", _flushes, "flash"),
    Unknown("flash firmware", "drive", _firmware, "flash"),
    Unknown("processors of daemons", "drive", _processors, "flash"),
)

#: The column of each.
COLUMNS = columns_of(UNKNOWNS)
