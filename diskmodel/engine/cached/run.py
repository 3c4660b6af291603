"""A run of requests through an array behind a cache (rules J1 to J12)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from diskmodel.drive import CachedTables
from diskmodel.engine import _kernel
from diskmodel.engine.cached.contents import FOREVER
from diskmodel.engine.cached.members import scenarios
from diskmodel.engine.cached.program import BEHIND, CACHE, SYNC_PART, Program, Then
from diskmodel.engine.cached.start import Held
from diskmodel.engine.native import array_of
from diskmodel.engine.scenario import Scenario, refuse_before, too_long
from diskmodel.records import FLUSH, PARTS, READ, WRITE, Bool, Completions, DeviceCounters, Int64, Requests, Run
from diskmodel.units import MAX_NS, NS_PER_S, in_hours_or_days, nominal_bytes, pretty_ns
from diskmodel.workload import Streams


def run(scenario: Scenario, requests: Requests) -> Run:
    """Run `requests` through the volume of `scenario`, to the last completion.

    Raises
    ------
    CoverageError
        When something stands before the volume that is not modeled there.
    """
    refuse_before(scenario, requests, "a cache on SSDs")
    began = time.perf_counter()
    held = scenario.start.held
    assert held is None or isinstance(held, Held)
    simulation = Simulation(scenario, requests, held)
    end_ns = simulation.run()
    return simulation.outcome(end_ns, time.perf_counter() - began)


class Simulation(Program):
    """One run: clients, the program that caches, and the two arrays that it asks.

    Parameters
    ----------
    scenario : Scenario
    requests : Requests
    held : Held or None
        What the cache holds at first; None: nothing.
    """

    def __init__(self, scenario: Scenario, requests: Requests, held: Held | None) -> None:
        tables = scenario.drive
        assert isinstance(tables, CachedTables)
        seed = scenario.first_draw
        super().__init__(tables.volume, requests, held, seed)
        self._every = scenario.sample_every
        of_cache, of_behind = scenarios(tables.volume, seed)
        self._arrays = _kernel.OnlineArrays([array_of(of_cache), array_of(of_behind)], seed)
        self._n_disks = (of_cache.n_devices, of_behind.n_devices)
        self._heap: list[tuple[int, int, Then]] = []
        self._n_events = self._n_tags = 0
        self._pending: dict[int, Then] = {}

        n = len(requests)
        self.left = n
        # lists: a run takes a third longer with single values of numpy
        self._issued, self._ended, self._is_hit = [0] * n, [0] * n, [False] * n
        #: What each part of a request took: row, part, ns; and what writes took that still wait for their sync.
        self._parts: list[tuple[int, int, int]] = []
        self._written_ns: dict[int, int] = {}
        self.levels: list[tuple[int, int, int, int, int]] = []
        self._streams = Streams(requests, lambda when, _, action: self._at(when, lambda _: action()), self._issue)
        self._unsynced: dict[tuple[int, int], int] = {}
        self._first_until, self._first_dirty = self._first_draws(seed)

    def _first_draws(self, seed: int) -> tuple[list[float], list[float]]:
        """Return until when what each request finds first stays in the cache, and dirty (rule J3)."""
        n = len(self.requests)
        if self.held is None:
            return [-1.0] * n, [-1.0] * n
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0xCACD,))))
        until, dirty = self.held.first(self.requests.offset, rng)
        return until.tolist(), dirty.tolist()

    # ------------------------------------------------------------------ time
    def run(self) -> int:
        """Return when the last request is done, ns."""
        self._streams.start()
        heap, step, pending = self._heap, self._arrays.step, self._pending
        while self.left:
            limit = heap[0][0] if heap else MAX_NS
            done = step(limit)
            if done:
                for tag, when in done:
                    self.now = when
                    pending.pop(tag)(when)
            elif heap:
                self.now, _, action = heappop(heap)
                action(self.now)
            else:
                raise too_long()
        return self.now

    def _at(self, when: int, action: Then) -> None:
        self._n_events += 1
        heappush(self._heap, (when, self._n_events, action))

    def _ask(self, which: int, op: int, offset: int, length: int, then: Then, *, is_safe: bool = False) -> None:
        self._n_tags += 1
        self._pending[self._n_tags] = then
        self._arrays.submit(which, self.now, self._n_tags, op, offset, length, is_safe)

    # ------------------------------------------------------------------ clients
    def _issue(self, row: int) -> None:
        self._issued[row] = self.now
        op = self._streams.op[row]
        if op == FLUSH:
            self._commit(lambda now: self._done(row, SYNC_PART, now))
            return
        self._clock += 1
        if op == READ:
            self._read(row)
        else:
            self._write(row)

    def _answered(self, row: int, part: int) -> Then:
        """Return what follows the data of a write: the sync that its client waits for, or the end."""
        stream = self._streams.stream[row]
        rule = self.requests.streams[stream]
        if rule.sync and self._streams.op[row] == WRITE:
            key = (stream, self._streams.client[row])
            n = self._unsynced.get(key, 0) + 1
            self._unsynced[key] = n if n < rule.sync_every else 0
            if n >= rule.sync_every:

                def written(now: int) -> None:
                    self._written_ns[row] = took = now - self._issued[row]
                    self._parts.append((row, part, took))
                    self._commit(lambda then: self._done(row, SYNC_PART, then))

                return written
        return lambda now: self._done(row, part, now)

    def _hit(self, row: int) -> None:
        self._is_hit[row] = True

    def _done(self, row: int, part: int, now: int) -> None:
        issued = self._issued[row]
        self._ended[row] = now
        self._parts.append((row, part, now - issued - self._written_ns.pop(row, 0)))
        self.left -= 1
        if self._every and (len(self._ended) - self.left) % self._every == 0:
            self.levels.append((now, 0, 0, 0, 0))
        self._streams.completed(row, issued, now)

    # ------------------------------------------------------------------ what became of it
    @property
    def issue_ns(self) -> Int64:
        """When each request was issued."""
        return np.array(self._issued, np.int64)

    @property
    def done_ns(self) -> Int64:
        """When each request was done."""
        return np.array(self._ended, np.int64)

    @property
    def is_hit(self) -> Bool:
        """Which requests the cache alone served."""
        return np.array(self._is_hit, np.bool_)

    def _parts_ns(self) -> Int64:
        found = np.zeros((len(self._issued), len(PARTS)), np.int64)
        rows, parts, times = np.array(self._parts, np.int64).reshape(-1, 3).T
        np.add.at(found, (rows, parts), times)
        return found

    def writes_of(self, which: int) -> int:
        """Return the writes until now of each disk of the cache (0) or of the array behind (1), the mean of them."""
        counted = self._arrays.counters(which)["n_writes"]
        return sum(counted) // len(counted)

    def outcome(self, end_ns: int, wall_s: float) -> Run:
        """Return what became of all requests; the one device is the busier of the two arrays."""
        found = [self._arrays.counters(which) for which in (CACHE, BEHIND)]
        busy = [sum(each["busy_ns"]) / n for each, n in zip(found, self._n_disks, strict=True)]
        which = BEHIND if busy[BEHIND] >= busy[CACHE] else CACHE
        return Run(
            completions=Completions(self.issue_ns, self.done_ns, self._parts_ns(), self.is_hit),
            devices=DeviceCounters.of_one(self.requests, self.done_ns - self.issue_ns, min(busy[which], end_ns)),
            engine="cached",
            wall_s=wall_s,
            end_ns=end_ns,
            levels=np.array(self.levels, np.int64).reshape(-1, 5),
            busiest=("the cache's drives", "the array behind the cache")[which],
            said=tuple(self._said(end_ns)),
            n_behind=sum(sum(each["n_reads"]) + sum(each["n_writes"]) for each in found),
        )

    def _bytes_of(self, units: float) -> str:
        return nominal_bytes(int(units * self.volume.unit))

    def _said(self, end_ns: int) -> Iterator[str]:
        """Yield what the cache did, in sentences."""
        held, volume = self.held, self.volume
        per_s = self._clock * NS_PER_S / max(end_ns, 1)
        if volume.passes_all:
            yield "nothing is cached: all passes by, as where the cache is detached"
        elif held is not None and self.n_reads and volume.policy.keeps_reads:
            used = self._bytes_of(held.footprint_units)
            warm = held.warm_requests / per_s / 3600 if per_s else 0.0
            fits = f"which holds all {used} that are used" if held.stay.requests >= FOREVER else f"before {used} in use"
            text = f"{self.n_read_hits / self.n_reads:.0%} of reads hit the cache, {fits}"
            yield f"{text}; an empty one has 95 % of these hits after {in_hours_or_days(warm)} of this load"
        if self.n_syncs and volume.flush_ns is None and volume.behind_flush_ns:
            took = pretty_ns(volume.behind_flush_ns)
            yield (
                f"each sync waits for a flush of the disks behind, too, taken as {took} with nothing in their caches: "
                'one array took up to 600 us; "flush 600us" in the brackets, or flush = "600 us" in a file, says it'
            )
        if volume.is_written_back and held is not None and held.is_full and held.dirty_units < held.most_units:
            yield (
                f"the array behind the cache cleans less than is written: all {self._bytes_of(held.dirty_units)} that "
                f"are ever written stay dirty, {held.dirty_units / self._n_units:.0%} of the cache, and are on it alone"
            )
        elif volume.is_written_back and held is not None and held.is_full:
            do = "pass by the cache" if volume.policy.when_full == "bypass" else "wait until something has been cleaned"
            yield (
                f"more becomes dirty than the array behind the cache takes: {self._most / self._n_units:.0%} of the "
                f"cache is dirty, and then writes {do}; this is what lasts, a burst is faster (--start empty)"
            )
