"""What a request costs: as a run of some shows it, or guessed before any run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Self

from diskmodel.array import Array
from diskmodel.engine.effort.beside import Beside, most_per_s
from diskmodel.engine.effort.limits import EACH_BYTES, LEAST_OF_MOVED, LOOK_S, MOST_BYTES, RUN_BYTES, RUNS_S
from diskmodel.engine.effort.prices import (
    BLOCK_KEPT_BYTES,
    CHILD_S,
    COLUMN_KEPT_BYTES,
    COMMAND_S,
    CROWDED_S,
    FEW_RECORDS,
    FLASH_WRITE_S,
    FLUSH_S,
    KEPT_BYTES,
    PAGE_BYTES,
    PAGE_S,
    READ_BLOCK_S,
    RECORD_KEPT_BYTES,
    STRIP_S,
    WRITE_BLOCK_S,
    host_page_s,
    in_memory_s,
    is_sized,
    on_disks_s,
    record_of_disks,
    waiting_of,
)
from diskmodel.engine.ledger import current
from diskmodel.records import Run
from diskmodel.workload import TraceWorkload, Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

AnyWorkload = Workload | TraceWorkload
#: Requests of the longest run that shows what a request costs.
PROBE = 1_000
#: By how much a request may cost more than is guessed: from an eighth of the allowed time on it is looked at.
GUESS = 8


class Cost(NamedTuple):
    """What a request costs, as a run of some shows it.

    Attributes
    ----------
    run_s : float
        Computing time, seconds: estimated from counts, not from a clock.
    kept_bytes : float
        Memory that stays taken until the run ends.
    """

    run_s: float
    kept_bytes: float

    @classmethod
    def of(cls, run: Run, scenario: Scenario, n: int, workload: AnyWorkload) -> Self:
        """Return what each of the `n` requests of a run has cost."""
        is_flash = scenario.drive.has_pages
        run_s = on_disks_s(run, scenario, n * _children(scenario, workload), run.engine)
        run_s += STRIP_S[run.engine] * n * _strips(scenario, workload)
        run_s += host_page_s(scenario, run.engine) * n * _bytes(workload) / PAGE_BYTES
        cached = _in_caches(scenario, workload, run.engine)
        run_s += n * (cached.run_s + CROWDED_S[run.engine] * _crowded(scenario, workload))
        run_s += in_memory_s(run, n, run.engine)
        written = int(run.devices.write_bytes.sum())
        # what caches took is written later
        mean_written = workload.mean_written_bytes if isinstance(workload, Workload) else 0.0
        late_pages = max(n * mean_written * scenario.layout.copies - written, 0.0) / PAGE_BYTES * is_flash
        run_s += (PAGE_S[run.engine] + FLASH_WRITE_S[run.engine]) * late_pages
        kept = KEPT_BYTES * (written / PAGE_BYTES + late_pages) if is_flash else 0.0
        if workload.is_open and not scenario.layout.has_strips:
            # in an overload ever more of them wait
            kept += RECORD_KEPT_BYTES * waiting_of(run)
        return cls(run_s / n, kept / n + cached.kept_bytes + _kept_of_a_record(scenario) * _crowded(scenario, workload))

    def most(self, n_runs: int = 1, spent_s: float = 0.0) -> int:
        """Return the most requests of each of so many runs, after what other runs have taken of the question's time."""
        return self.within(
            current().allowed_s(max(RUNS_S - spent_s, 0.0)) / n_runs, RUN_BYTES if n_runs == 1 else EACH_BYTES
        )

    def within(self, run_s: float, kept_bytes: float) -> int:
        """Return the most requests of a run that take so long, and so much memory, at most."""
        return int(min(run_s / max(self.run_s, 1e-12), kept_bytes / max(self.kept_bytes, 1e-9)))

    def at_least(self, n: int, least: int) -> int:
        """Return `n`, or `least` where that is more and memory has room for so many."""
        return max(n, min(least, int(MOST_BYTES / max(self.kept_bytes, 1e-9))), 1)

    def most_of_each(self, run_s: float) -> int:
        """Return the most requests of each of many runs that take so long at most; at least a few."""
        return self.at_least(self.within(run_s, EACH_BYTES), LEAST_OF_MOVED)


def looked_at(
    run_of: Callable[[int], Run],
    scenario: Scenario,
    workload: Workload,
    look_s: float = LOOK_S,
    guess: Cost | None = None,
    most: int = PROBE,
) -> Cost:
    """Return what a request costs, from runs of one request and more until they show it, of at most so many.

    `run_of` makes a run of so many requests; all together take about as long as `look_s`. By a guess the first runs are
    left out that are short even where a request costs as much more as it may.
    """
    n = 1
    while guess is not None and n < most and guess.run_s * GUESS * min(4 * n, most) * 4 <= look_s:
        n = min(4 * n, most)
    while True:
        cost = Cost.of(run_of(n), scenario, n, workload)
        if n >= most or cost.run_s * n * 4 > look_s or cost.kept_bytes * n * 4 > EACH_BYTES:
            return cost
        n = min(4 * n, most)


class CostSeen(NamedTuple):
    """What a request of an array was seen to cost, from which follows what one of a similar array does.

    Attributes
    ----------
    cost, guess : Cost
        As a run showed it, and as it was guessed before.
    is_beside : bool
        Whether a rebuild went on meanwhile.
    """

    cost: Cost
    guess: Cost
    is_beside: bool

    @classmethod
    def of(cls, run: Run, scenario: Scenario, n: int, workload: Workload, array: Array) -> Self:
        """Return what each of the `n` requests of a run of an array has cost."""
        cost, guess = Cost.of(run, scenario, n, workload), guessed(scenario, workload, array)
        return cls(cost, guess, array.layout.rebuild is not None)

    def changed_to(self, array: Array, workload: Workload, scenario: Scenario) -> Cost | None:
        """Return what a request of a changed array costs; None beside a rebuild, which has to be looked at."""
        if array.layout.rebuild is not None and not self.is_beside:
            return None
        guess = guessed(scenario, workload, array)
        ratio = max(guess.run_s / max(self.guess.run_s, 1e-12), 1.0)
        return Cost(ratio * self.cost.run_s, max(self.cost.kept_bytes, guess.kept_bytes))


def guessed(scenario: Scenario, workload: Workload, array: Array | None = None) -> Cost:
    """Return what a request costs in the kernel, guessed from counts before any run; beside the rebuild of `array`."""
    layout = scenario.layout
    sector = scenario.drive.sector_bytes
    is_flash = scenario.drive.has_pages
    unit = layout.strip * sector
    # a record of a pool goes over the data disks of a vdev
    width = 1 if layout.has_strips else max(min(layout.n_disks - layout.n_parity, unit // PAGE_BYTES), 1)
    copies = layout.copies + layout.n_parity
    command_s = COMMAND_S[scenario.drive.kind if scenario.drive.own_engine else "native"]
    run_s = kept = total = 0.0
    for stream in workload.streams:
        size, weight = stream.mean_size_bytes, stream.row_weight
        # what lies one after the other on a disk is one command
        pieces = min(max(size / unit, 1.0), layout.n_disks) if layout.has_strips else max(size / unit, 1.0) * width
        n_pages = max(size, 1.0 if layout.has_strips else unit) / PAGE_BYTES * is_flash
        read_s = command_s * pieces + PAGE_S["native"] * n_pages
        write_s = command_s * (pieces * copies + 2 * copies) + FLASH_WRITE_S["native"] * n_pages * copies
        if stream.sync != "none" and layout.has_strips and scenario.drive.takes_flushes:
            write_s += FLUSH_S["native"] * layout.n_disks / stream.sync_every
        total += weight
        run_s += weight * (stream.read_ratio * read_s + stream.write_ratio * write_s)
        kept += weight * stream.write_ratio * n_pages * copies * KEPT_BYTES * is_flash
    parts_s = CHILD_S["native"] * _children(scenario, workload) + STRIP_S["native"] * _strips(scenario, workload)
    cached = _in_caches(scenario, workload, "native")
    n_crowded = _crowded(scenario, workload)
    kept_bytes = kept / max(total, 1e-300) + cached.kept_bytes + _kept_of_a_record(scenario) * n_crowded
    parts_s += cached.run_s + CROWDED_S["native"] * n_crowded
    parts_s += host_page_s(scenario, "native") * workload.mean_size_bytes / PAGE_BYTES
    cost = Cost(run_s / max(total, 1e-300) + parts_s, kept_bytes)
    beside = None if array is None else Beside.of(array)
    if beside is None:
        return cost
    apart_s = 1 / max(most_per_s(workload, is_flash=is_flash), 1e-12)
    return Cost(cost.run_s + beside.work_s * apart_s, cost.kept_bytes + beside.kept_bytes * apart_s)


def _bytes(workload: AnyWorkload) -> float:
    """Return the mean bytes of a request; 0 of a trace, whose length is given."""
    return workload.mean_size_bytes if isinstance(workload, Workload) else 0.0


def _in_caches(scenario: Scenario, workload: AnyWorkload, engine: str) -> Cost:
    """Return what a request costs in the controller's caches of blocks."""
    controller = scenario.controller
    if not controller.has_real_cache or not isinstance(workload, Workload) or not scenario.layout.has_strips:
        return Cost(0.0, 0.0)
    n_blocks = max(workload.mean_size_bytes / PAGE_BYTES, 1.0)
    is_read = is_sized(controller.read_cache)
    block_s = READ_BLOCK_S[engine] * is_read + WRITE_BLOCK_S[engine] * (controller.write_cache is not None)
    return Cost(block_s * n_blocks, BLOCK_KEPT_BYTES * n_blocks * is_read)


def _children(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return how many I/Os of a pool of hard disks a request has before its disks' queues join them; 0 without one."""
    record = record_of_disks(scenario)
    if record is None or not isinstance(workload, Workload):
        return 0.0
    record_bytes, width = record
    beside = scenario.layout.n_parity + scenario.layout.copies - 1
    children = sum(
        stream.row_weight * max(stream.mean_size_bytes / record_bytes, 1.0) * (width + beside * stream.write_ratio)
        for stream in workload.streams
    )
    return children / max(sum(stream.row_weight for stream in workload.streams), 1e-300)


def _crowded(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return the records of a large request of a pool that wait while others come; 0 without one."""
    if scenario.layout.has_strips or not isinstance(workload, Workload):
        return 0.0
    record_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    weights = [stream.row_weight for stream in workload.streams]
    records = [max(stream.mean_size_bytes / record_bytes - FEW_RECORDS, 0.0) for stream in workload.streams]
    return sum(weight * n for weight, n in zip(weights, records, strict=True)) / max(sum(weights), 1e-300)


def _kept_of_a_record(scenario: Scenario) -> float:
    """Return the bytes that the kernel keeps of a record of a pool that waits."""
    pool = scenario.layout.pool
    is_padded = pool is not None and pool.draid is not None
    return max(RECORD_KEPT_BYTES, COLUMN_KEPT_BYTES * (scenario.layout.n_data + scenario.layout.n_parity) * is_padded)


def _strips(scenario: Scenario, workload: AnyWorkload) -> float:
    """Return how many strips a request has, where there are strips."""
    if not scenario.layout.has_strips or not isinstance(workload, Workload):
        return 0.0
    strip_bytes = scenario.layout.strip * scenario.drive.sector_bytes
    strips = sum(stream.row_weight * max(stream.mean_size_bytes / strip_bytes, 1.0) for stream in workload.streams)
    return strips / max(sum(stream.row_weight for stream in workload.streams), 1e-300)
