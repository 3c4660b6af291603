"""What caches and buffers of a random case hold when it begins."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from diskmodel.controller import ZfsArc
from diskmodel.controller.tables import CacheTables
from diskmodel.drive.flash.tables import FlashTables
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.engine.scenario import Scenario
from diskmodel.engine.steady import Start
from diskmodel.engine.steady.start import ArcLists
from diskmodel.host.tables import HostTables
from diskmodel.layout.pools.l2arc import L2arcTables
from diskmodel.records import Int64

#: Blocks, pages or writes that something holds at the beginning of a case, at most.
MAX_FILLED = 3_000
#: Units that each flash drive has programmed before a case begins: enough to clean blocks of most drives drawn here.
MAX_PROGRAMMED = 300


def filled_start(scenario: Scenario, fill: float, seed: int) -> Start:
    """Caches and buffers filled to a share of their room with whatever they may hold."""
    rng, capacity = random.Random(seed), scenario.layout.capacity

    def some(n_places: int, room: float) -> Int64:
        return np.array(rng.sample(range(n_places), min(int(room * fill), n_places, MAX_FILLED)), np.int64)

    given: dict[str, Any] = {}
    tables, controller, sector = scenario.drive, scenario.controller, scenario.drive.sector_bytes
    if controller.has_real_cache:
        caches = CacheTables.of(controller, scenario.layout, sector, scenario.depth)
        n_blocks = -(-capacity // caches.block_sectors)
        given["dirty"] = np.sort(some(n_blocks, caches.dirty_lines))
        cached = some(n_blocks, 3 * caches.read_blocks)
        writes = random.Random(f"written {seed}")
        is_written = [writes.random() < 0.3 for _ in cached]
        if scenario.layout.pool is not None and scenario.layout.pool.l2arc is None and caches.read_blocks:
            given["arc"] = _arc(random.Random(f"before {seed}"), caches.read_blocks, n_blocks, cached, is_written, fill)
        else:
            given |= {"cached": cached, "cached_written": np.flatnonzero(is_written)}
    if scenario.layout.pool is not None and scenario.layout.pool.l2arc is not None and fill:
        given |= _l2arc(random.Random(f"ring {seed}"), scenario.layout.pool.l2arc, given["cached"], fill)
    if isinstance(tables, HddTables) and tables.dirty_sectors:
        given["buffered"] = _buffered(rng, tables, scenario.layout.n_disks, fill)
        if tables.write_room_sectors:
            given["buffered_room"] = _rooms(given["buffered"], tables)
    if isinstance(tables, HddTables) and tables.media_cache is not None:
        logs = random.Random(f"logged {seed}")
        given["logged"] = _logged(logs, tables, fill)
        given["runs"] = _runs(logs, tables, given.get("buffered"), fill)
    if isinstance(tables, FlashTables):
        room = tables.buffer_units - (tables.units_per_page - 1) if tables.write_buffer_bytes else 0
        given["aged"] = np.array(rng.choices(range(tables.ftl.n_units), k=int(fill * MAX_PROGRAMMED)), np.int64)
        given["programmed"] = _units(rng, tables, scenario.n_devices, int(fill * MAX_PROGRAMMED))
        given["buffered"] = _units(rng, tables, scenario.n_devices, int(room * fill))
        pieces = random.Random(f"pieces {seed}")
        if fill and pieces.random() < 0.5:
            piece_units = min(pieces.choice((0, 1, 2, 5, 16)), tables.ftl.n_units)
            shifts = [pieces.randrange(tables.units_per_page) for _ in range(scenario.n_devices)]
            return Start(**given, piece_units=piece_units, shifts=np.array(shifts, np.int64))
    if scenario.host.page_cache is not None:
        host = HostTables.of(scenario.host, sector)
        assert host.page_cache is not None
        n_pages, room = -(-capacity // host.page_sectors), host.page_cache.memory_pages
        given["pages_dirty"] = some(n_pages, room / 2)
        given["pages_clean"] = some(n_pages, room)
    return Start(**given)


def _arc(rng: random.Random, n: int, n_blocks: int, uses: Int64, are_written: list[bool], fill: float) -> ArcLists:
    """An ARC of `n` records after these uses, and some of them again; with older records, and others in each list that
    no use reaches."""
    arc, again = ZfsArc(n), rng.choices(uses.tolist(), k=len(uses)) if len(uses) else []
    for block, is_written in zip([*uses.tolist(), *again], [*are_written, *are_written], strict=True):
        (arc.write if is_written else arc.insert)(block)
    lists = [list(blocks) for blocks in (arc.recent, arc.frequent, arc.was_recent, arc.was_frequent)]
    known = set().union(*lists)
    oldest = [block for block in rng.sample(range(n_blocks), min(n_blocks, 200)) if block not in known]
    lists[0] = oldest[: int(fill * n)] + lists[0]
    apart = [rng.randrange(n + 1) if rng.random() < fill / 2 else 0 for _ in lists]
    return ArcLists(*(np.array(blocks, np.int64) for blocks in lists), np.array(apart, np.int64), arc.share)


def _l2arc(rng: random.Random, l2arc: L2arcTables, cached: Int64, fill: float) -> dict[str, Any]:
    """Records on cache devices from two regions, and what an ARC evicts: some of them, and others near them."""
    first, n = rng.randrange(4), rng.randrange(1, 40)
    kept = min(int(rng.randrange(n + 1) * fill), l2arc.slots)
    second, n_second = first + n + rng.randrange(3), rng.randrange(1, 40)
    kept_second = min(rng.randrange(n_second + 1), l2arc.slots - kept)
    regions = [(first, n, _step(rng, n)), (second, n_second, _step(rng, n_second))]
    n_ages = rng.choice((1, 3))
    ages = [np.bincount([rng.randrange(n_ages) for _ in range(k)], minlength=n_ages) for k in (kept, kept_second)]
    near = [rng.randrange(second + n_second + 20) for _ in cached]
    lost = rng.sample(range(second + n_second + 20), rng.randrange(20))
    return {
        "l2arc": np.array(regions, np.int64),
        "l2arc_ages": np.concatenate(ages).astype(np.int64),
        "l2arc_taken": rng.randint(kept + kept_second, l2arc.slots),
        "cached": np.array(near, np.int64),
        "l2arc_from": rng.choice((0, len(near) // 2)),
        "l2arc_seen": rng.choice((0, 2, 10)),
        "l2arc_lost": np.array(lost, np.int64),
        "l2arc_lost_at": np.sort([rng.randrange(len(near) + 1) for _ in lost]).astype(np.int64),
    }


def _step(rng: random.Random, n: int) -> int:
    return rng.choice([step for step in range(n) if math.gcd(step, n) == 1])


def _buffered(rng: random.Random, tables: HddTables, n_disks: int, fill: float) -> Int64:
    """Writes that overlap, continue and hide each other, none of them on two arms."""
    arm = tables.n_sectors_per_actuator
    entries = []
    for disk in range(n_disks):
        room = int(tables.dirty_sectors * fill)
        near = rng.randrange(tables.n_sectors)
        while room and len(entries) < MAX_FILLED:
            at = rng.choice((rng.randrange(tables.n_sectors), min(near + rng.randrange(40), tables.n_sectors - 1)))
            border = min((at // arm + 1) * arm, tables.n_sectors)
            n = min(1 + rng.randrange(16), room, border - at)
            entries.append((disk, at, n))
            room -= n
    rng.shuffle(entries)
    return np.array(entries, np.int64).reshape(-1, 3)


def _rooms(buffered: Int64, tables: HddTables) -> Int64:
    """Room of each buffered write, at least `write_room_sectors` while the disk has so much."""
    left = dict.fromkeys(buffered[:, 0].tolist(), tables.buffer_sectors)
    for disk, _, n in buffered.tolist():
        left[disk] -= n
    rooms = []
    for disk, _, n in buffered.tolist():
        more = min(max(tables.write_room_sectors - n, 0), left[disk])
        left[disk] -= more
        rooms.append(n + more)
    return np.array(rooms, np.int64)


def _logged(rng: random.Random, tables: HddTables, fill: float) -> Int64:
    """Short writes that media caches hold, some of them at the same places."""
    cache, arm = tables.media_cache, tables.n_sectors_per_actuator
    assert cache is not None
    entries = []
    room, near = int(cache.log_sectors * fill), rng.randrange(tables.n_sectors)
    for _ in range(int(cache.max_extents * fill)):
        at = rng.choice((rng.randrange(tables.n_sectors), min(near + rng.randrange(200), tables.n_sectors - 1)))
        border = min((at // arm + 1) * arm, tables.n_sectors)
        n = min(1 + rng.randrange(16), cache.run_sectors - 1, room, border - at)
        if n > 0:
            entries.append((at, n))
            room -= n
    return np.array(entries, np.int64).reshape(-1, 2)


def _runs(rng: random.Random, tables: HddTables, buffered: Int64 | None, fill: float) -> Int64:
    """Runs of writes that end where a buffered write ends, or anywhere."""
    cache, arm = tables.media_cache, tables.n_sectors_per_actuator
    assert cache is not None
    ends = [(0, rng.randrange(1, tables.n_sectors)) for _ in range(int(4 * fill))]
    if buffered is not None:
        ends += [(disk, at + n) for disk, at, n in buffered.tolist() if rng.random() < 0.1]
    entries = []
    for disk, end in ends:
        first = max((end - 1) // arm * arm, end - cache.run_sectors - rng.randrange(20))
        entries.append((disk, first, end - first))
    return np.array(entries, np.int64).reshape(-1, 3)


def _units(rng: random.Random, tables: FlashTables, n_devices: int, n_units: int) -> Int64:
    """Writes of so many units at most on each flash drive, some of them in part."""
    entries = []
    for disk in range(n_devices):
        left = min(n_units, MAX_FILLED)
        while left:
            at = rng.randrange(tables.n_sectors)
            first = at // tables.sectors_per_unit
            most = min(left, 1 + rng.randrange(3)) * tables.sectors_per_unit
            end = min(first * tables.sectors_per_unit + rng.randrange(most) + 1, tables.n_sectors)
            entries.append((disk, at, max(end - at, 1)))
            left -= (at + entries[-1][2] - 1) // tables.sectors_per_unit - first + 1
    rng.shuffle(entries)
    return np.array(entries, np.int64).reshape(-1, 3)
