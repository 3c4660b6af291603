"""What a short run shows: where what waits to be written goes, and how fast (rules Z3, Z6, G9)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskmodel.engine.steady.parts import Parts
from diskmodel.engine.steady.past.history import distinct
from diskmodel.engine.steady.start import Level, Levels, Start
from diskmodel.records import Int64, Op, Requests, Run
from diskmodel.workload import Workload

#: Requests of the run that shows on which side of its mark a level moves. Half of it leaves a closed stream of 128
#: clients some 30 turns; twice it would take as long as the run itself often does.
TRIAL_REQUESTS = 6_000
#: Size from which on a request counts as several, and as how many at most: as many are written in fewer requests, which
#: take as long to simulate. Clients still get their turns. At a quarter of that size a trial of requests of 128 KiB
#: writes a quarter of what fills a buffer of 128 MB.
_LARGE_BYTES, _MOST = 128 << 10, 4
_TURNS = 30
#: Share of what was written by which a level must move to be called rising or falling: five standard deviations of
#: what a level at its mark moves in the trial. Less than that would take a run of millions of requests to fill a cache.
DRIFT = 0.05
#: Share of the room above its mark at which a level counts as full: writes that wait leave it a little below the top.
_NEARLY = 0.9


def trial_requests(workload: Workload, *, rebuilds_flash: bool) -> int:
    """Return the requests of a trial. Beside the rebuild of a flash drive, whose steps are most of it, fewer do."""
    counts_as = _MOST if rebuilds_flash else min(max(workload.mean_size_bytes / _LARGE_BYTES, 1.0), _MOST)
    return min(max(round(TRIAL_REQUESTS / counts_as), _TURNS * workload.queue_depth), TRIAL_REQUESTS)


class Pace(NamedTuple):
    """How fast a trial went: requests, pages that they wrote to, and by how many fewer were dirty, a second.

    `rise` is what waited more at its end than when it began, anywhere, as a share of what was written; `late_rise`
    more than after its first quarter, which fills queues; `cache_rise` what of that is in the controller's cache, for
    a whole trial, or by how much that fell through all of it: a small cache is drained within a quarter.
    """

    requests_per_s: float = 0.0
    pages_per_s: float = 0.0
    drained_per_s: float = 0.0
    rise: float = 0.0
    late_rise: float = 0.0
    cache_rise: float = 0.0


def pace_of(parts: Parts, requests: Requests, run: Run) -> Pace:
    """How fast a trial went."""
    seconds = max(run.end_ns, 1) / 1e9
    offset, length = (column[requests.op == Op.WRITE] for column in (requests.offset, requests.length))
    n_pages = int((-(-(offset + length) // parts.host.page_bytes) - offset // parts.host.page_bytes).sum())
    at, dirty = run.levels[:, 0], run.levels[:, 3] // parts.host.page_bytes
    # until next to nothing is left: then it rises again
    drained_to = np.flatnonzero(dirty <= dirty[:1] // 4)
    last = drained_to[0] if len(drained_to) else -1
    if not len(at):
        return Pace(len(requests) / seconds, n_pages / seconds)
    drained = (dirty[0] - dirty[last]) / max(at[last] - at[0], 1) * 1e9
    written = max(_written_bytes(requests), 1)
    waits = _waiting(parts, run)[[0, len(at) // 4, -1]]
    rise, late_rise = ((waits[2] - waits[:2]).sum(axis=1) / written).tolist()
    cache_rise = float(min((waits[2, 0] - waits[1, 0]) * 4 / 3, waits[2, 0] - waits[0, 0])) / written
    return Pace(len(requests) / seconds, n_pages / seconds, float(drained), rise, late_rise, cache_rise)


def fall_of_buffers(run: Run) -> float:
    """By how much what drives' buffers hold fell after the first quarter of a run, as a share of what was written."""
    if not len(run.levels):
        return 0.0
    buffered = run.levels[:, 2]
    fall = int(buffered[len(buffered) // 4] - buffered[-1])
    # what a buffer takes counts as written when it comes, and what was in it before does not
    return fall / max(fall + int(run.devices.write_bytes.sum()) * 3 // 4, 1)


def grown_old(parts: Parts, filling: Pace) -> int:
    """Pages that are dirty when the first of them has grown old, at this pace, or because they are so many."""
    assert parts.host.pages is not None
    n_uses = int(filling.pages_per_s * parts.host.pages.old_ns / 1e9) + 1
    uses = parts.history.uses(n_uses, parts.host.page_bytes, only_writes=True)
    return max(min(len(distinct(uses)), parts.host.pages.background_pages), 1)


def requests_of_wave(parts: Parts, filling: Pace, draining: Pace, n_dirty: int) -> int:
    """Requests from one time at which no page is dirty to the next, at these paces (rule Z6)."""
    assert parts.host.pages is not None
    drain_s = n_dirty / draining.drained_per_s if draining.drained_per_s > 0 else 0.0
    return round(filling.requests_per_s * parts.host.pages.old_ns / 1e9 + draining.requests_per_s * drain_s)


def _waiting(parts: Parts, run: Run) -> Int64:
    """What waits in the controller's cache, the drives' buffers and the host's memory, but for pages being filled.

    Those of a thousand idle flash drives fill for hours, which would look like buffers that no drive keeps up with.
    """
    at = run.levels[:, 1:4].copy()
    at[:, 1] = np.maximum(at[:, 1] - parts.drives.open_bytes, 0)
    return at


def levels_after(parts: Parts, levels: Levels, run: Run, requests: Requests, start: Start) -> Levels:
    """Where levels go that began at `levels`, at which this is the start."""
    if not len(run.levels):
        return Levels()
    at, ends = _waiting(parts, run), parts.marks()
    caches = parts.drives.logged(levels.media)
    # a full one has room for half of what a cleaning frees, on average
    logged = int(caches.writes[:, 1].sum()) - caches.gap_sectors // 2
    at[:, 1] -= logged * parts.drives.sector_bytes * parts.scenario.layout.n_disks
    host_bytes, disk_bytes = _written_bytes(requests), int(run.devices.write_bytes.sum())
    # the first quarter fills queues; before every client had a turn, what a cache took at once is what it takes
    begin = at[len(at) // 4].copy()
    if len(requests) <= parts.history.workload.queue_depth:
        begin[0] = min(begin[0], parts.controller.waiting_bytes(start))
    drift = (at[-1] - begin) / np.maximum([host_bytes, disk_bytes, host_bytes], 1) * 4 / 3
    controller, drives, pages = (
        _level(float(d), int(begin), int(end), *marks)
        for d, begin, end, marks in zip(drift, at[0], at[-1], ends, strict=True)
    )
    if controller is Level.LOW:
        controller = Level.MARK  # nothing destages below the mark
    if not parts.host.keeps_dirty_pages:
        pages = levels.pages
    elif pages is Level.FULL and at[-1, 2] <= ends[2][0]:
        pages = Level.LOW  # it rises below its mark because nothing has been dirty for long
    grown, rise = int(at[-1, 1]), int(at[-1, 1] - at[0, 1])
    media = _media_after(levels, grown / max(disk_bytes, 1), rise / max(disk_bytes, 1))
    return Levels(controller, drives, pages, media)


def _media_after(levels: Levels, grown: float, rise: float) -> Level:
    """Where the media caches go (rule G9).

    `grown` is what they and the buffers hold more than the logs had to begin with, `rise` how much of that came
    during the trial, both as shares of what was written. At the mark: they fill, but not with what was drawn.
    """
    if levels.media is Level.LOW:
        return Level.FULL if grown > DRIFT else Level.LOW
    if grown < -DRIFT:
        return Level.LOW
    return Level.MARK if levels.drives is Level.FULL and rise > DRIFT else Level.FULL


def _written_bytes(requests: Requests) -> int:
    return int(requests.length[requests.op == Op.WRITE].sum())


def _level(drift: float, begin: int, end: int, mark: int, room: int) -> Level:
    """Where a level goes that moved by the share `drift` of what was written, from `begin` to `end` bytes."""
    if end < mark / 2 <= begin:
        return Level.LOW  # it was drained, whatever its last drift
    if drift > DRIFT or end - mark > _NEARLY * (room - mark) > 0:
        return Level.FULL
    return Level.LOW if drift < -DRIFT or end < mark / 2 else Level.MARK
