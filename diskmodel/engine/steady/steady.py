"""The stationary state of every cache and buffer for a workload (rules Z2 to Z6, F18)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from diskmodel.engine.effort import LEAST_OF_MOVED, few_enough, few_enough_beside
from diskmodel.engine.steady.parts import Parts
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.start import EMPTY, Level, Levels, Start
from diskmodel.engine.steady.trial import (
    DRIFT,
    Pace,
    fall_of_buffers,
    grown_old,
    levels_after,
    pace_of,
    requests_of_wave,
    trial_requests,
)
from diskmodel.loading import dataclass
from diskmodel.records import Requests, Run
from diskmodel.workload import Sequential, Strided, TraceWorkload, Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Computing time of a trial at most, seconds, by counts. At half, trials of pools are shorter than is enough; at
#: double, a question with a hundred arrays takes half a minute.
_LONGEST_S = 0.2
#: Times at which a trial records what waits.
_SAMPLES = 64
#: Share of what was written by which what waits may rise in the trial where buffers that began empty stay so. Half of
#: what chance does to the queues of a busy array would repeat every other trial from half a buffer.
_STAYS = 0.01

#: Part of a disk's time that writes take at most which leave nothing in its buffer for long, if each had the longest
#: seek and two revolutions. At half, plans of rare requests simulate hours of a rebuild to see it; at double, beside a
#: rebuild some wait.
_HARDLY = 0.2
#: Stripes of a region from which on what lies anywhere in it is on all disks. At half, some have half of the writes.
_WIDELY = 100
#: Parts of a trial of which the first may show that buffers empty, and how many of the bytes that are written meanwhile
#: must come from them. An idle disk empties a buffer of 512 MB within seconds, and simulating that took ten times as
#: long as the run. With half of the share, chance in the queues of a busy array would count; at 0.9, hardly anything.
_PART, _FAST = 32, 0.5
#: Part of what buffers hold with which that is looked at first. The fewer wait, the longer are the seeks between them:
#: what empties then empties faster when full. Of 48 disks with 256 MiB each, half of it are 800,000 writes, which took
#: 0.3 s to draw and to place before the first request came. At half, a part of a trial may empty it; at double, twice
#: as many are placed.
_FEW = 32

#: Trials that look for the level of a cache between its mark and full, and the share of that room which is no
#: difference. With half as many, a level between stays where a line through the ends has it; each takes as long as the
#: trial before.
_SEARCHES, _SAME = 4, 1 / 32

Engine = Callable[["Scenario", Requests], Run]


class Near(NamedTuple):
    """What is known of an array that differs little from another one, under the same workload.

    Attributes
    ----------
    start : Start
        Its steady start. The other one begins with the same levels, and a pool under clients with as much to write.
    shown : (Levels, Pace), optional
        What a trial shows that begins at these levels: the other one has them only if its trial shows the same. None:
        this array is so far from its limits that it has them without a trial.
    """

    start: Start
    shown: tuple[Levels, Pace] | None = None


@dataclass(frozen=True)
class _Trials:
    """Short runs of a workload, without its bursts: in one everything would fill, and between two of them nothing."""

    parts: Parts
    workload: Workload
    capacity_bytes: int
    seed: int
    engine: Engine
    #: Requests of each at most, once one of them has shown it.
    most: list[int] = field(default_factory=list)

    def run(self, levels: Levels, n_dirty: int = 0) -> tuple[Levels, Pace]:
        """What a trial shows that begins at these levels, and with so many dirty pages where theirs is low."""
        requests, run = self._tried(levels, n_dirty)
        return levels_after(self.parts, levels, run, requests, self._start(levels, 1)), pace_of(
            self.parts, requests, run
        )

    def drains_at_once(self, levels: Levels) -> bool:
        """Whether a part of a trial shows that drives' buffers empty, so that the rest need not be simulated."""
        return any(fall_of_buffers(self._tried(levels, 0, _PART, held)[1]) > _FAST for held in (_FEW, 1))

    def _start(self, levels: Levels, held: int) -> Start:
        """Return the start at these levels, with one of so many parts of what drives' buffers hold."""
        parts = self.parts
        if held == 1:
            return parts.start(levels)
        drives = parts.drives
        of_each = drives.buffer // 2 // held
        programmed, buffered, room = drives.once("buffered", held, lambda: drives.buffered(of_each))
        start = parts.start(replace(levels, drives=Level.LOW))
        return replace(start, programmed=programmed, buffered=buffered, buffered_room=room)

    def _tried(self, levels: Levels, n_dirty: int, part: int = 1, held: int = 1) -> tuple[Requests, Run]:
        """Return a trial, or its first requests: one of so many parts."""
        parts, scenario = self.parts, self.parts.scenario
        rebuilds_flash = scenario.drive.has_pages and scenario.layout.rebuild_disk >= 0
        start = self._start(levels, held)
        n = trial_requests(self.workload, rebuilds_flash=rebuilds_flash)
        n = few_enough(n, scenario, self.workload, _LONGEST_S, len(start.buffered))
        if n_dirty:
            start = replace(start, pages_dirty=parts.host.waiting(n_dirty))

        def run_of(n: int) -> tuple[Requests, Run]:
            requests = self.workload.at_mean(n).requests(
                capacity_bytes=self.capacity_bytes,
                n=n,
                seed=self.seed,
                with_cache_draws=scenario.has_drawn_hits,
                n_before=parts.history.n_before,
            )
            trial = replace(scenario, start=start, sample_every=max(n // _SAMPLES, 1))
            return requests, parts.with_all_that_waits(self.engine(trial, requests), start)

        if not self.most:
            self.most.append(few_enough_beside(n, lambda n: run_of(n)[1], scenario, self.workload))
        n = min(n, self.most[0])
        # of one request alone, which may be a read, nothing is seen of what a flush does
        return run_of(max(n // part, min(n, LEAST_OF_MOVED), 1))


def shown_at(
    levels: Levels, scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int, engine: Engine
) -> tuple[Levels, Pace]:
    """What a trial shows that begins at these levels."""
    parts = Parts(scenario, History(workload, capacity_bytes, seed))
    return _Trials(parts, workload, capacity_bytes, seed, engine).run(levels)


def begun_like(near: Start, scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int) -> Start:
    """The state of an array at the levels of one from which it differs little."""
    return _with_levels(Parts(scenario, History(workload, capacity_bytes, seed)), near)


def shown_by(
    requests: Requests, run: Run, scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int
) -> tuple[Levels, Pace]:
    """What a run shows of the levels that it began with, as a trial would."""
    start = scenario.start
    assert start.levels is not None
    parts = Parts(replace(scenario, start=EMPTY), History(workload, capacity_bytes, seed))
    run = parts.with_all_that_waits(run, start)
    return levels_after(parts, start.levels, run, requests, start), pace_of(parts, requests, run)


def calm_start(scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int) -> Start | None:
    """The state in which drives' buffers hold little, of an array of which a trial from there is the first (rule Z3).

    None of others: nothing waits, something beside these buffers does, or they hold little without a trial.
    """
    if scenario.drive.own_start or scenario.layout.own_start or scenario.drive.media_cache is not None:
        return None
    parts = Parts(scenario, History(workload, capacity_bytes, seed))
    first = parts.first_levels
    if not parts.drives.has_level or parts.controller.has_level or parts.host.has_level:
        return None
    if not workload.has_writes or (first.drives is Level.MARK and _holds_little(scenario, workload, capacity_bytes)):
        return None
    return parts.start(replace(first, drives=Level.LOW))


def stays_calm(shown: tuple[Levels, Pace], strictness: float = 1.0) -> bool:
    """Whether drives' buffers that began with little go on so, and hardly more waits than when queues were filled.

    By that part of what may come to wait in a trial: what chance does to queues is a smaller part of a longer run.
    """
    levels, pace = shown
    return levels.controller is Level.MARK and levels.drives is Level.LOW and pace.late_rise < strictness * _STAYS


def settled(
    scenario: Scenario,
    workload: Workload | TraceWorkload,
    *,
    capacity_bytes: int,
    seed: int,
    engine: Engine,
    near: Near | None = None,
) -> Start:
    """The state in which caches and buffers are after a long time of this workload.

    Parameters
    ----------
    scenario : Scenario
    workload : Workload or TraceWorkload
        A trace does not show what came before it: everything is empty.
    capacity_bytes, seed : int
    engine : callable
        Runs requests; both engines give the same.
    near : Near, optional
        What is known of an array that differs little.

    Notes
    -----
    Each level stands at its mark, at the top or near nothing (rule Z3). A trial of 6,000 requests, or fewer large ones,
    shows whether drives' buffers that begin empty stay so; otherwise one that begins at the marks shows where levels
    go: one that rises by more than a twentieth of what is written goes on to the top.
    """
    if isinstance(workload, TraceWorkload):
        return EMPTY
    if scenario.drive.own_start:
        of = resolve_name(scenario.drive.own_start)
        return Start(held=of(scenario, workload, capacity_bytes=capacity_bytes, seed=seed))
    if scenario.layout.own_start:
        if near is not None and workload.has_writes and workload.queue_depth:
            return near.start
        begin = resolve_name(scenario.layout.own_start)
        of_volume: Start = begin(scenario, workload, capacity_bytes=capacity_bytes, seed=seed, engine=engine)
        return of_volume
    parts = Parts(scenario, History(workload, capacity_bytes, seed))
    first = parts.first_levels
    if not parts.has_levels or not workload.has_writes:
        return parts.start(first)

    trials = _Trials(parts, workload, capacity_bytes, seed, engine)
    tried = cache(trials.run)

    def checked(levels: Levels) -> Levels:
        """These levels, with a full cache of the controller only if it stays full."""
        return _with_cache_between(levels, lambda between: tried(between)[1].cache_rise)

    def begun(levels: Levels) -> Start:
        return parts.start(checked(levels))

    guess = None if near is None else near.start.levels
    if near is not None and guess is not None and (near.shown is None or move_alike(near.shown, tried(guess))):
        return _with_levels(parts, near.start)

    if scenario.drive.media_cache is not None:
        found = _with_media_caches(first, lambda levels: tried(levels)[0])
        if found.media is Level.FULL and not parts.drives.knows_cleanings:
            # with full buffers nothing but the logs can rise
            full, _ = tried(replace(first, drives=Level.FULL))
            found = replace(found, media=full.media if full.media is Level.MARK else Level.FULL)
        if parts.host.pages is None:
            return begun(found)
        first = replace(first, media=found.media)
    calm = None
    if not parts.host.keeps_dirty_pages and first.drives is Level.MARK:
        if not parts.controller.has_level and _holds_little(scenario, workload, capacity_bytes):
            return parts.start(replace(first, drives=Level.LOW))
        # half a buffer that is drained slowly would look like one that stays, and delay requests for hours
        calm, pace = tried(replace(first, drives=Level.LOW))
        if calm.drives is Level.LOW:
            calm = checked(calm)
        if calm.controller is not Level.MARK or calm.drives is not Level.LOW:
            calm = None
        elif stays_calm((calm, pace)) or trials.drains_at_once(first):
            return begun(replace(calm, media=first.media))
    shown, pace = tried(first)
    if calm is not None and shown.drives is Level.LOW:
        # the buffers empty either way, and what rose meanwhile in the controller's cache waited for that
        return begun(replace(calm, media=first.media))
    if shown.pages is Level.LOW and pace.rise > DRIFT:
        # what the caches below took still waits: whether the disks keep up shows when these are full
        shown, _ = tried(replace(first, controller=Level.FULL, drives=Level.FULL))
    shown = replace(shown, media=first.media)
    if shown.pages is Level.LOW:
        _, filling = tried(replace(shown, pages=Level.LOW))
        n_dirty = grown_old(parts, filling)
        _, draining = tried(shown, n_dirty)
        start, n_in_wave = begun(shown), requests_of_wave(parts, filling, draining, n_dirty)
        if n_in_wave < start.round_requests:
            return start
        return replace(start, round_requests=n_in_wave, is_in_waves=True)
    if shown.pages is Level.FULL:
        # a level that moves changes what the caches below it are asked for
        full, _ = tried(replace(first, pages=Level.FULL))
        is_full = full.pages is Level.FULL
        shown = replace(full, media=first.media, pages=Level.FULL if is_full else Level.MARK)
    return begun(shown)


def _holds_little(scenario: Scenario, workload: Workload, capacity_bytes: int) -> bool:
    """Whether drives' buffers hold little without a trial: a flush follows each write, or little is written."""
    writers = [stream for stream in workload.streams if stream.write_ratio]
    if scenario.takes_flushes and all(stream.sync != "none" and stream.sync_every == 1 for stream in writers):
        return True
    return _hardly_writes(scenario, workload, capacity_bytes)


def _hardly_writes(scenario: Scenario, workload: Workload, capacity_bytes: int) -> bool:
    """Whether disks write all that comes, however far apart it lies, in a small part of their time."""
    drive, layout = scenario.drive, scenario.layout
    if not drive.has_arms or not layout.has_strips or not workload.is_open:
        return False
    strips = workload.mean_size_bytes / (layout.strip * drive.sector_bytes) + 1
    # each is read before, and all of a strip goes over as many tracks as it has
    tracks = 2 + layout.strip / drive.track_sectors(drive.n_sectors - 1)
    access_s = (drive.longest_seek_ns + tracks * drive.period_ns) / 1e9
    work_s = workload.offered_rate_per_s * strips * 2 * (layout.copies + layout.n_parity) * access_s
    # what goes through a region in order may keep a few disks busy at a time
    stripe_bytes = layout.n_disks * layout.strip * drive.sector_bytes
    is_spread = all(
        not isinstance(stream.addresses, Sequential | Strided)
        and workload.space(stream, capacity_bytes).span_bytes > _WIDELY * stripe_bytes
        for stream in workload.streams
        if stream.write_ratio
    )
    return work_s < _HARDLY * (layout.n_disks if is_spread else 1)


def _with_levels(parts: Parts, near: Start) -> Start:
    """Return a start with the levels of another one, and with its waves."""
    assert near.levels is not None
    start = parts.start(near.levels)
    return replace(start, round_requests=near.round_requests, is_in_waves=True) if near.is_in_waves else start


def move_alike(first: tuple[Levels, Pace], second: tuple[Levels, Pace]) -> bool:
    """Whether two trials that began at the same levels go on to the same, and by about as much."""
    apart = max(abs(first[1].cache_rise - second[1].cache_rise), abs(first[1].late_rise - second[1].late_rise))
    return first[0] == second[0] and apart <= DRIFT


def _with_media_caches(first: Levels, tried: Callable[[Levels], Levels]) -> Levels:
    """Levels of an array of drives that clean their media caches when they have time (rule G9)."""
    busy = tried(first)
    if busy.media is Level.FULL and busy.drives is not Level.LOW:
        return busy
    # as much as half of a buffer would keep the arms from resting for hours
    calm = tried(replace(first, drives=Level.LOW))
    if calm.media is Level.FULL:
        return calm
    rested = tried(replace(first, drives=Level.LOW, media=Level.LOW))
    # what is drained at one end and rises at the other is between them: full is the slower one
    return rested if rested.media is Level.LOW else replace(calm, media=Level.FULL)


def _with_cache_between(levels: Levels, rise_at: Callable[[Levels], float]) -> Levels:
    """Levels with a full cache of the controller where it stays full, else where as much is written as comes.

    `rise_at` is by how much it rises in a trial that begins at levels, as a share of what is written there. The more
    waits, the longer are the runs that are written at once, and the more of what comes is in the cache already. And few
    writes of a trial, in long runs, move a level at its mark by as much as those that cannot be written in time.
    """
    if levels.controller is not Level.FULL:
        return levels
    low, high = 0.0, 1.0
    fall = -rise_at(levels)
    if fall <= DRIFT:
        return levels
    # more than a twentieth was found to come at the mark
    rise = DRIFT
    for _ in range(_SEARCHES):
        # in steps of what is no difference: runs share what was drawn for one, and an end that was looked at will do
        step = _SAME * round((low + (high - low) * rise / (rise + fall)) / _SAME)
        if step <= low or step >= high:
            break
        found = rise_at(replace(levels, filled_ratio=step))
        if abs(found) <= DRIFT:
            break
        if found > 0:
            low, rise = step, found
        else:
            high, fall = step, -found
    return replace(levels, filled_ratio=step) if step > 0 else replace(levels, controller=Level.MARK)


def filled(scenario: Scenario, workload: Workload, *, capacity_bytes: int, seed: int) -> Start:
    """The state in which every write cache and buffer is full, to check that a run forgets how it began."""
    parts = Parts(scenario, History(workload, capacity_bytes, seed))
    return parts.start(Levels(Level.FULL, Level.FULL, Level.FULL))
