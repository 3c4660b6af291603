"""The reference engine: wires the stages over SimPy and runs a workload through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives
from diskmodel.engine.reference.cached_controller import CachedController
from diskmodel.engine.reference.clients import Clients
from diskmodel.engine.reference.clock import Clock
from diskmodel.engine.reference.controller import Controller, HostRequest, Volume
from diskmodel.engine.reference.device import Device
from diskmodel.engine.reference.group_commit import GroupCommit
from diskmodel.engine.reference.host import Host
from diskmodel.engine.reference.md.rebuild import Rebuild
from diskmodel.engine.reference.page_cache import CachingHost
from diskmodel.engine.reference.pools.writes import PoolWrites
from diskmodel.engine.reference.processors import Processors
from diskmodel.engine.reference.raid import Raid
from diskmodel.engine.scenario import Scenario, too_long
from diskmodel.engine.steady.levels import cache_room, in_bytes, level_marks, low_mark, overload_marks
from diskmodel.errors import CoverageError, Fault
from diskmodel.host import HostTables
from diskmodel.records import FLUSH, PARTS, WRITE, Completions, DeviceCounters, Int64, Requests, Run, StreamRule, Sync
from diskmodel.units import MAX_NS


def make_devices(clock: Clock, scenario: Scenario) -> list[Device]:
    """Return the disks of a scenario, spares last.

    Raises
    ------
    CoverageError
        When this engine has no such kind of drive.
    """
    tables = scenario.drive
    if not tables.devices:
        rule = f"simulates no drives of the kind {tables.kind}"
        raise CoverageError(Fault("engine", "simpy", rule, "use engine native, or another kind of drive"))
    devices: list[Device] = resolve_name(tables.devices)(clock, scenario, tables)
    return devices


def make_stages(
    clock: Clock, scenario: Scenario, done: Callable[[HostRequest], None]
) -> tuple[list[Device], Raid, Controller]:
    """Disks, layout and controller of a scenario, wired; `done` gets each host request that has completed."""
    tables = scenario.drive
    devices = make_devices(clock, scenario)
    split_at = tables.arm_sectors
    merge_limit = scenario.queue.merge_limit_bytes // tables.sector_bytes
    for device in devices:
        device.merge_border = split_at
        device.merge_limit = merge_limit if scenario.queue.merge else 0
        if (pool := scenario.layout.pool) is not None:
            device.gather_gap, device.gather_limit = pool.gather_gap, pool.gather
            device.write_gap = pool.writes.gather_gap
            device.most_active = pool.most_active
            device.scan = pool.scan
            device.most_ahead = pool.reads.active
        device.zone_sectors, device.first_zoned = tables.write_zone_sectors, tables.conventional_sectors
        device.zone_merge_limit = merge_limit
    block_queue = scenario.queue.block_requests if scenario.queue.write_throttle == "linux" else 0
    if scenario.n_devices == 1 and scenario.controller.has_real_cache:
        # Linux sees the controller's volume, whose writes need no place at the disk
        block_queue = 0
    # while it submits one request the host notices no completion (rule Q11)
    host = HostTables.of(scenario.host, tables.sector_bytes)
    host_work_ns, processors = max(host.submission_ns), Processors(host.n_processors)
    raid = Raid(clock, scenario.layout, devices, split_at, block_queue, host_work_ns, tables, scenario.log)
    volume: Volume = raid
    if not scenario.layout.has_strips:
        hit_ns, sector = scenario.controller.hit_ns, tables.sector_bytes
        volume = PoolWrites(clock, raid, processors, hit_ns, host_work_ns, sector, scenario)
    make_controller = CachedController if scenario.controller.has_real_cache else Controller
    return devices, raid, make_controller(clock, scenario, raid, volume, processors, done)


def make_host(clock: Clock, scenario: Scenario, controller: Controller, done: Callable[[HostRequest], None]) -> Host:
    """The host of a scenario, which takes its requests to the controller; `done` gets those that it has answered."""
    kind = Host if scenario.host.page_cache is None else CachingHost
    return kind(clock, scenario, controller.processors, controller.submit, done)


def load_buffers(scenario: Scenario, devices: Sequence[Device], raid: Raid) -> None:
    """Give the drives' buffers what they hold when the run begins (rules Z5, F18)."""
    logged, runs = [(lba, n) for lba, n in scenario.start.logged.tolist()], _by_disk(scenario.start.runs)
    for disk, device in enumerate(devices[: scenario.layout.n_disks] if logged or runs else ()):
        device.load_log(logged, [row[1:] for row in runs.get(disk, [])])
    programmed, buffered = (_by_disk(rows) for rows in (scenario.start.programmed, scenario.start.buffered))
    room = scenario.start.room_of_buffered.tolist()
    for disk in sorted(programmed.keys() | buffered.keys()):
        devices[disk].load([row[1:] for row in programmed.get(disk, [])], buffered.get(disk, []), room)
    raid.n_commands = len(scenario.start.buffered)


def _by_disk(writes: Int64) -> dict[int, list[tuple[int, int, int]]]:
    """Number, first block and sectors of the writes of each disk."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for seq, (disk, lba, n) in enumerate(writes.tolist()):
        found.setdefault(disk, []).append((seq, lba, n))
    return found


def make_rebuild(
    clock: Clock, scenario: Scenario, raid: Raid, requests: Callable[[], tuple[int, int]]
) -> Rebuild | None:
    """The rebuild of a scenario, not yet started; None when there is none. `requests` as `Rebuild`.

    A resilver or a scrub is none: the transaction groups of a pool begin it (`PoolWrites.begin`).
    """
    layout = scenario.layout
    if not layout.has_strips or layout.sync_action == "none" or layout.rebuild_front >= layout.member:
        return None
    return Rebuild(clock, raid, scenario.n_devices + 1, requests, scenario.drive.sector_bytes)


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through `scenario`, to the last completion."""
    started = time.perf_counter()
    simulation = Simulation(scenario, requests)
    end_ns = simulation.run()
    return simulation.outcome(end_ns, time.perf_counter() - started)


def ports(scenario: Scenario, requests: Requests) -> Int64:
    """Return what stations say in such a run, a row each: time, port, drive, operation, first sector, sectors."""
    simulation = Simulation(scenario, requests)
    simulation.clock.ports = []
    simulation.run()
    return np.array(simulation.clock.ports, np.int64).reshape(-1, 6)


def counters_of(devices: Sequence[Device], end_ns: int, sector_bytes: int) -> DeviceCounters:
    """Return the counters of devices in a run that ended at `end_ns`."""
    counters = [device.counters_until(end_ns) for device in devices]

    def column(name: str, scale: int = 1) -> NDArray[Any]:
        try:
            return np.array([getattr(c, name) * scale for c in counters], np.int64)
        except OverflowError:
            raise too_long() from None

    return DeviceCounters(
        busy_ns=column("busy_ns"),
        response_ns=column("response_ns"),
        n_reads=column("n_reads"),
        n_writes=column("n_writes"),
        read_bytes=column("read_sectors", sector_bytes),
        write_bytes=column("write_sectors", sector_bytes),
        n_cache_hits=column("n_cache_hits"),
        read_response_ns=column("read_response_ns"),
        n_flushes=column("n_flushes"),
        n_units_written=column("n_units_written"),
        n_units_programmed=column("n_units_programmed"),
        n_charged=column("n_charged"),
    )


class Simulation:
    """One run: the stages wired together, and what becomes of each request."""

    def __init__(self, scenario: Scenario, requests: Requests) -> None:
        self.env = simpy.Environment(initial_time=0)
        self.clock = Clock(self.env)
        self.scenario = scenario
        self.requests = requests
        self.devices, self.raid, self.controller = make_stages(self.clock, scenario, self._answered)
        tables = scenario.drive
        self.host = make_host(self.clock, scenario, self.controller, self._done)
        self.host.use_file_system(scenario, requests)
        self.clients = Clients(self.clock, requests, self._issue)
        n = len(requests)
        self.rebuild = make_rebuild(self.clock, scenario, self.raid, lambda: (self.n_issued, n - self.left))
        load_buffers(scenario, self.devices, self.raid)
        self.levels: list[tuple[int, int, int, int, int]] = []
        #: Of streams of commits: their logs, and the rows of each batch that is out, by the first of them (rule Y6).
        self.logs = {
            stream: GroupCommit(self.clock, rule, self._write_batch(rule))
            for stream, rule in enumerate(requests.streams)
            if rule.log_bytes
        }
        self.batches: dict[int, list[int]] = {}
        self.left = n
        self.n_issued = 0
        self.issue_ns = np.zeros(n, np.int64)
        self.done_ns = np.zeros(n, np.int64)
        self.parts_ns = np.zeros((n, len(PARTS)), np.int64)
        self.is_hit = np.zeros(n, np.bool_)
        self.columns = (
            requests.op.tolist(),
            (requests.offset // tables.sector_bytes).tolist(),
            (-(-(requests.offset + requests.length) // tables.sector_bytes)).tolist(),
            self._hits().tolist(),
        )

    def _hits(self) -> NDArray[Any]:
        cache = self.scenario.controller.read_cache
        ratio = cache.hit_ratio if cache is not None and cache.hit_ratio is not None else 0.0
        return np.asarray(self.requests.cache_draw < ratio)

    def run(self) -> int:
        if not self.left:
            return 0
        start = self.scenario.start
        if isinstance(self.controller.array, PoolWrites):
            self.controller.array.begin(start.group_records, start.group_indirect, start.group_top)
        self.clients.start()
        if self.rebuild is not None:
            self.rebuild.start()
        while self.left:
            self.env.step()
            if self.env.now > MAX_NS:
                raise too_long()
        return self.clock.now

    def _issue(self, row: int, sync: Sync) -> None:
        op, first, end, hits = self.columns
        self.n_issued += 1
        self.issue_ns[row] = self.clock.now
        log = self.logs.get(int(self.requests.stream[row])) if self.logs else None
        if log is not None:
            log.append(row, int(self.requests.length[row]))
            return
        if op[row] == FLUSH:
            self.host.flush(HostRequest(row, FLUSH, 0, 0, False, self.clock.now))
            return
        n = end[row] - first[row]
        request = HostRequest(row, op[row], first[row], n, hits[row], self.clock.now, sync=self._passed(sync))
        request.is_of_file = bool(self.requests.streams[int(self.requests.stream[row])].is_of_file)
        self.host.submit(request)

    def _passed(self, sync: Sync) -> Sync:
        """What follows a write where drives may lack FUA (rule Y7); a pool makes it safe itself (rule X10)."""
        if not self.scenario.layout.has_strips:
            return Sync.FILE_DSYNC if sync == Sync.DSYNC else sync
        caches = self.scenario.caches
        is_exposed = caches is not None and caches.dirty_lines > 0 and not caches.is_protected
        has_fua = self.raid.has_fua and bool(self.raid.flushes) and not is_exposed
        return Sync.FLUSH if sync == Sync.FILE_DSYNC and not has_fua else sync

    def _write_batch(self, rule: StreamRule) -> Callable[[list[int], int, int], None]:
        def write(rows: list[int], first_byte: int, n_bytes: int) -> None:
            sector = self.scenario.drive.sector_bytes
            first, end = first_byte // sector, -(-(first_byte + n_bytes) // sector)
            self.batches[rows[0]] = rows
            sync = self._passed(Sync(rule.sync))
            request = HostRequest(rows[0], WRITE, first, end - first, False, self.clock.now, sync=sync)
            request.is_of_file = bool(rule.is_of_file)
            self.host.submit(request)

        return write

    def _answered(self, request: HostRequest) -> None:
        self.host.completed(request)

    def _done(self, request: HostRequest) -> None:
        rows = self.batches.pop(request.row, None) if self.logs else None
        if rows is None:
            self._row_done(request.row, request, 0)
            return
        for row in rows:
            self._row_done(row, request, request.issue_ns - int(self.issue_ns[row]))
        self.logs[int(self.requests.stream[request.row])].written()

    def _row_done(self, row: int, request: HostRequest, waited_ns: int) -> None:
        """A row is done with a request that was issued `waited_ns` after it."""
        self.done_ns[row] = self.clock.now
        self.parts_ns[row] = (
            request.link_ns,
            request.cache_ns,
            request.queue_ns + waited_ns,
            request.overhead_ns,
            request.seek_ns,
            request.rotation_ns,
            request.transfer_ns,
            request.parity_ns,
            request.sync_ns,
        )
        self.is_hit[row] = request.is_hit
        self.left -= 1
        every = self.scenario.sample_every
        if every and (len(self.done_ns) - self.left) % every == 0:
            n_buffered = sum(device.n_buffered for device in self.devices)
            now = self.clock.now
            busy_ns = sum(device.counters_until(now).busy_ns for device in self.devices) // len(self.devices)
            self.levels.append((now, self.controller.n_dirty, n_buffered, self.host.n_dirty, busy_ns))
        self.clients.completed(row, int(self.issue_ns[row]), self.clock.now)

    def _own_drives(self) -> Iterator[tuple[str, AuxiliaryDrives]]:
        """Yield the drives beside the disks with what they are."""
        journal, pool = self.raid.journal, self.controller.array
        if journal is not None:
            yield "log", journal.drives
        if isinstance(pool, PoolWrites):
            found = {"log": pool.log.drives, "special": pool.special, "cache": pool.reads.drives}
            yield from ((name, drives) for name, drives in found.items() if drives is not None)

    def outcome(self, end_ns: int, wall_s: float) -> Run:
        sector = self.scenario.drive.sector_bytes
        marks = level_marks(self.scenario)
        return Run(
            completions=Completions(self.issue_ns, self.done_ns, self.parts_ns, self.is_hit),
            devices=counters_of(self.devices, end_ns, sector),
            own={
                name: counters_of(drives.devices, end_ns, drives.tables.drive.sector_bytes)
                for name, drives in self._own_drives()
            },
            engine="simpy",
            wall_s=wall_s,
            end_ns=end_ns,
            rebuilt_bytes=(self.raid.front - self.scenario.layout.rebuild_front) * sector,
            cache_full_ns=self.controller.cache_full_ns,
            l2arc_hits=self.controller.array.l2arc_reads[0],
            l2arc_misses=self.controller.array.l2arc_reads[1],
            low_mark_bytes=low_mark(self.scenario),
            round_requests=self.scenario.start.round_requests,
            is_in_waves=self.scenario.start.is_in_waves,
            cleaning_requests=self.scenario.start.cleaning_requests,
            level_marks=marks,
            overload_marks=overload_marks(self.scenario, marks),
            cache_bytes=cache_room(self.scenario),
            levels=in_bytes(self.scenario, self.levels),
        )
