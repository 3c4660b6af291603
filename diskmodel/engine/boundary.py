"""The boundary to the kernel: every record that crosses it, and the kernel itself where it has the same schema."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypedDict

from diskmodel.controller import CacheTables
from diskmodel.drive import DriveTables, KernelTables
from diskmodel.engine.auxiliary import AuxiliaryTables
from diskmodel.engine.compiled import kernel
from diskmodel.engine.scenario import Scenario
from diskmodel.engine.steady.start import Start
from diskmodel.errors import CoverageError, Fault, StaleKernelError
from diskmodel.host import HostTables
from diskmodel.layout import VolumeTables
from diskmodel.loading import dataclass
from diskmodel.queue import QueueTables
from diskmodel.records import Bool, Int32, Int64, Requests
from diskmodel.schema import schema_of
from diskmodel.workload import Block

__all__ = [
    "RECORDS",
    "CompletionsOut",
    "Counters",
    "Outcome",
    "ScenarioTables",
    "WriteZoneTables",
    "check_schema",
    "kernel",
]


class WriteZoneTables(NamedTuple):
    """Zones that the host writes in order (rule N2).

    Attributes
    ----------
    sectors, first_sector : int
        Length of a zone, and where the zones begin.
    merge_sectors : int
        Sectors up to which writes that wait for a zone become one.
    """

    sectors: int
    first_sector: int
    merge_sectors: int

    @classmethod
    def of(cls, tables: DriveTables, merge_limit_bytes: int) -> Self | None:
        """Return the zones of a drive; None where it is written anywhere."""
        if not tables.write_zone_sectors:
            return None
        return cls(tables.write_zone_sectors, tables.conventional_sectors, merge_limit_bytes // tables.sector_bytes)


@dataclass(frozen=True, eq=False)
class ScenarioTables:
    """A scenario as the kernel takes it.

    Attributes
    ----------
    drive : KernelTables
    layout : VolumeTables
    queue, drive_queue : QueueTables
        Above each drive, and in it.
    merge_sectors : int
        Sectors up to which adjacent waiting commands become one above a disk; 0: they do not.
    write_zones : WriteZoneTables, optional
    throttle_requests : int
        Requests of a disk's block queue, where write-back throttling is modeled; 0: it is not.
    depth, command_ns, gap_ns, hit_ns, link_bytes_per_s : int
    hit_ratio : float
    volume_depth : int
        Requests that the controller works on at once; 0: any number.
    cache : CacheTables, optional
        Of a controller with real caches.
    host : HostTables, optional
        Of a host that costs time or buffers.
    revolution_ns, phase_ns, first_draw, start, sample_every
        As in `Scenario`.
    log, special, l2arc : AuxiliaryTables, optional
        Drives of a log or a journal, of a special vdev, and of the cache devices of a pool.
    """

    drive: KernelTables
    layout: VolumeTables
    queue: QueueTables
    drive_queue: QueueTables
    merge_sectors: int
    write_zones: WriteZoneTables | None
    throttle_requests: int
    depth: int
    command_ns: int
    gap_ns: int
    hit_ns: int
    link_bytes_per_s: int
    hit_ratio: float
    volume_depth: int
    cache: CacheTables | None
    host: HostTables | None
    revolution_ns: Int64
    phase_ns: Int64
    first_draw: int
    start: Start
    log: AuxiliaryTables | None
    special: AuxiliaryTables | None
    l2arc: AuxiliaryTables | None
    sample_every: int

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """Return the tables of a scenario.

        Raises
        ------
        CoverageError
            When the kernel has no such kind of drive.
        """
        if (fault := missing_drive(scenario.drive)) is not None:
            raise CoverageError(fault)
        assert isinstance(scenario.drive, KernelTables)
        drive, controller, queue = scenario.drive, scenario.controller, scenario.queue
        sector, cache, host = drive.sector_bytes, controller.read_cache, scenario.host
        return cls(
            drive=drive,
            layout=scenario.layout,
            queue=QueueTables.of(queue),
            drive_queue=QueueTables.of(scenario.drive_queue),
            merge_sectors=queue.merge_limit_bytes // sector if queue.merge else 0,
            write_zones=WriteZoneTables.of(drive, queue.merge_limit_bytes),
            throttle_requests=queue.block_requests if queue.write_throttle == "linux" else 0,
            depth=scenario.depth,
            command_ns=controller.command_ns,
            gap_ns=controller.gap_ns,
            hit_ns=controller.hit_ns,
            link_bytes_per_s=scenario.link_bytes_per_s,
            hit_ratio=cache.hit_ratio if cache is not None and cache.hit_ratio is not None else 0.0,
            volume_depth=controller.volume_depth or 0,
            cache=scenario.caches,
            host=None if host.is_transparent else scenario.host_tables,
            revolution_ns=scenario.revolution_ns,
            phase_ns=scenario.phase_ns,
            first_draw=scenario.first_draw,
            start=scenario.start,
            log=AuxiliaryTables.of(scenario.log),
            special=AuxiliaryTables.of(scenario.special),
            l2arc=AuxiliaryTables.of(scenario.l2arc),
            sample_every=scenario.sample_every,
        )


def missing_drive(tables: DriveTables) -> Fault | None:
    """Return that the kernel has no such kind of drive; None where it has it."""
    if isinstance(tables, KernelTables):
        return None
    rule = "is a kind of drive that the compiled kernel does not have, and only the SimPy engine simulates"
    return Fault("drive.kind", tables.kind, rule, "use engine simpy (or auto), or another kind of drive")


@dataclass(frozen=True, eq=False)
class CompletionsOut:
    """Columns that the kernel fills.

    Attributes
    ----------
    issue_ns : int64, shape (n,), optional
        None: the requests' own times, all of them being open.
    done_ns, is_hit
        As in `Completions`.
    parts : tuple of str
        Names of the columns of `parts_ns`, which lie side by side for each row.
    parts_ns : int64 or int32, shape (n * len(parts),)
    """

    issue_ns: Int64 | None
    done_ns: Int64
    parts: tuple[str, ...]
    parts_ns: Int64 | Int32
    is_hit: Bool


class Counters(TypedDict):
    """Counters of a run in columns, a value for each disk; `DeviceCounters` in sectors."""

    busy_ns: list[int]
    response_ns: list[int]
    n_reads: list[int]
    n_writes: list[int]
    read_sectors: list[int]
    write_sectors: list[int]
    n_cache_hits: list[int]
    read_response_ns: list[int]
    n_flushes: list[int]
    n_units_written: list[int]
    n_units_programmed: list[int]
    n_charged: list[int]


class Outcome(TypedDict):
    """What a run leaves behind, beside the columns that it fills."""

    end_ns: int
    rebuilt_sectors: int
    cache_full_ns: int | None
    l2arc_hits: int
    l2arc_misses: int
    counters: Counters
    own_counters: Counters
    long_places: list[int]
    long_values: list[int]
    levels: list[list[int]]


#: What crosses the boundary; the records in these do, too.
RECORDS = (ScenarioTables, Requests, Block, CompletionsOut, Outcome)


def check_schema(of: Any) -> None:
    """Refuse a kernel that was compiled from other sources than those next to this Python code.

    Raises
    ------
    StaleKernelError
        Naming fields that only one of the two knows.
    """
    ours = schema_of(RECORDS)
    theirs = frozenset(of.schema() if hasattr(of, "schema") else ())
    if ours != theirs:
        raise StaleKernelError(f"is of another version than the Python code ({_differences(ours, theirs)})")


def _differences(ours: frozenset[str], theirs: frozenset[str]) -> str:
    if not theirs:
        return "it has no schema"
    sides = {"it does not know": sorted(ours - theirs), "only it knows": sorted(theirs - ours)}
    found = [
        f"{side} {', '.join(lines[:3])}{', …' if len(lines) > 3 else ''}" for side, lines in sides.items() if lines
    ]
    return "; ".join(found)


check_schema(kernel)
