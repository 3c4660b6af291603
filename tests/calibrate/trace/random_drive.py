"""SCSI drives drawn at random from the family of the nineties, and the traces that they leave.

The simulation is sector-exact and event by event, and shares no code with the model that is fitted: blocks lie where
`random_layout` put them one by one, a transfer is followed track by track, read-ahead and write-back advance while the
host pauses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibrate.evidence.requests import RequestTrace
from tests.calibrate.trace.random_clock import draw_clock
from tests.calibrate.trace.random_layout import Layout, draw_layout

ROUNDING_TURNS = 1e-7
USUAL_RPM = (4000.0, 5400.0, 6400.0, 7200.0, 10_000.0)


@dataclass(frozen=True)
class RandomDrive:
    """What was drawn. Times are in ms, sizes in blocks."""

    layout: Layout
    period_ms: float
    seek_short: tuple[float, float]
    seek_long: tuple[float, float]
    head_switch_ms: float
    write_settle_ms: float
    read_overhead_ms: float
    write_overhead_ms: float
    bus_block_ms: float
    is_cut_through: bool
    takes_on_arrival: bool
    is_write_back: bool
    segments: int
    segment_blocks: int
    reads_ahead_to: str
    noise_ms: float
    retry_ratio: float
    recalibrates_every_ms: float
    recalibration_ms: float

    def seek_ms(self, cylinders: int) -> float:
        """Time to move over a number of cylinders, settled for reading."""
        if cylinders == 0:
            return 0.0
        base, root = self.seek_short
        start, slope = self.seek_long
        return float(min(base + root * np.sqrt(cylinders), start + slope * cylinders))

    def describe(self) -> str:
        """One line."""
        here = self.layout
        return (
            f"{60e3 / self.period_ms:.0f} rpm, {here.heads} heads, {here.n_zones} zones, {here.n_blocks} blocks, "
            f"spares {here.sparing}, {len(here.bad)} bad tracks, "
            f"{'write-back' if self.is_write_back else 'write-through'}, "
            f"{self.segments} segments of {self.segment_blocks}, ahead to {self.reads_ahead_to}, "
            f"{'cut-through' if self.is_cut_through else 'store-and-forward'}"
            f"{', on arrival' if self.takes_on_arrival else ''}, noise {self.noise_ms:.3f} ms"
            f"{f', recalibrates {self.recalibration_ms:.0f} ms' if self.recalibration_ms else ''}"
        )


def draw_drive(seed: int) -> RandomDrive:
    """A drive of the family."""
    rng = np.random.default_rng(seed)
    rpm = float(rng.choice(USUAL_RPM)) * (1 + rng.uniform(-0.003, 0.003))
    period = 60e3 / rpm
    settle = float(rng.uniform(0.4, 1.1))
    switch = settle * float(rng.uniform(0.5, 1.0))
    base = settle + float(rng.uniform(0.2, 1.2))
    write_settle = float(rng.choice([0.0, rng.uniform(0.05, 0.9)]))
    layout = draw_layout(rng, period, switch + write_settle, base + 0.2 + write_settle)
    cylinders = layout.n_cylinders
    average = rng.uniform(0.55, 1.1) * period + rng.uniform(0.5, 2.0)
    root = (average - base) / np.sqrt(cylinders / 3)
    full = average * rng.uniform(1.6, 2.0)
    slope = (full - average) / (cylinders * 2 / 3)
    return RandomDrive(
        layout,
        period,
        (base, root),
        (average - slope * cylinders / 3, slope),
        switch,
        write_settle,
        float(rng.uniform(0.1, 1.5)),
        float(rng.uniform(0.1, 1.5)),
        float(512 / rng.uniform(4e3, 40e3)),
        bool(rng.random() < 0.6),
        bool(rng.random() < 0.3),
        bool(rng.random() < 0.5),
        int(rng.choice([1, 2, 3, 4, 8, 10])),
        int(rng.choice([64, 128, 256, 512])),
        str(rng.choice(["none", "track", "cylinder", "segment"], p=[0.1, 0.3, 0.2, 0.4])),
        float(rng.choice([0.01, 0.03, 0.08])),
        float(rng.choice([0.0, 0.001, 0.004])),
        float(rng.uniform(40e3, 300e3)),
        float(rng.choice([0.0, rng.uniform(40.0, 250.0)])),
    )


@dataclass
class Segment:
    """A part of the cache: blocks from `first` to `last`; one that is `ahead` grows while the platter turns."""

    first: int
    last: int


@dataclass
class State:
    """Where the drive stands between requests."""

    now: float = 0.0
    cylinder: int = 0
    head: int = 0
    free_at: float = 0.0
    ahead_from: float | None = None
    segments: list[Segment] = field(default_factory=list)


class Recorder:
    """Serves requests one at a time and knows when each is done."""

    def __init__(self, drive: RandomDrive, seed: int) -> None:
        self.drive = drive
        self.state = State()
        self.rng = np.random.default_rng(seed)
        self.next_recalibration_ms = drive.recalibrates_every_ms / 2

    def serve(self, is_write: bool, lba: int, blocks: int) -> float:
        """Response of a request that is issued now, ms."""
        drive, state = self.drive, self.state
        self._read_on(lba)
        issued = state.now
        self._recalibrate()
        noise = float(self.rng.exponential(drive.noise_ms))
        if is_write:
            done = self._write(issued + drive.write_overhead_ms + noise, lba, blocks)
        else:
            done = self._read(issued + drive.read_overhead_ms + noise, lba, blocks)
        state.now = done
        return done - issued

    def _read(self, ready: float, lba: int, blocks: int) -> float:
        drive, state = self.drive, self.state
        bus = drive.bus_block_ms
        held = self._held(lba, blocks)
        if held is not None and held.last >= lba + blocks:
            self._touch(held)
            return ready + blocks * bus
        if held is not None and held is state.segments[-1] and state.ahead_from is not None:
            # the read-ahead in progress reaches the rest of the blocks
            media, begun = self._transfer(state.ahead_from, held.last, lba + blocks)
            held.last = lba + blocks
        else:
            media, begun = self._access(ready, lba, blocks, 0.0)
            state.segments.append(Segment(lba, lba + blocks))
            del state.segments[: -drive.segments]
        state.ahead_from = media
        begun = begun if drive.is_cut_through else media
        return max(max(begun, ready) + blocks * bus, media + bus)

    def _write(self, ready: float, lba: int, blocks: int) -> float:
        drive, state = self.drive, self.state
        state.segments = [s for s in state.segments if s.last <= lba or s.first >= lba + blocks]
        state.ahead_from = None
        if drive.is_write_back:
            done = ready + blocks * drive.bus_block_ms
            done = max(done, state.free_at + 0.05) if state.free_at - ready > 30.0 else done
            state.free_at, _ = self._access(max(done, state.free_at), lba, blocks, drive.write_settle_ms)
            return done
        media, _ = self._access(ready, lba, blocks, drive.write_settle_ms)
        return media + 0.05

    def _access(self, ready: float, lba: int, blocks: int, settle: float) -> tuple[float, float]:
        """When the last of the blocks has passed the head, from a seek on."""
        drive, state, here = self.drive, self.state, self.drive.layout
        ready = max(ready, state.free_at)
        track = here.track_of(lba)
        move = abs(int(here.cylinder[track]) - state.cylinder)
        at_head = int(here.head[track])
        positioned = drive.seek_ms(move) if move else (drive.head_switch_ms if at_head != state.head else 0.0)
        ready += positioned + settle
        if self.rng.random() < drive.retry_ratio:
            ready += drive.period_ms
        last = here.track_of(lba + blocks - 1)
        if drive.takes_on_arrival and track == last:
            first_at, end_at = self._angle(track, lba), self._angle(track, lba + blocks - 1)
            length = (end_at - first_at) % 1.0 + 1.0 / here.sectors[track]
            behind = (ready / drive.period_ms - first_at) % 1.0
            if behind < length:
                state.cylinder, state.head = int(here.cylinder[track]), at_head
                return ready + drive.period_ms, ready
        wait = (self._angle(track, lba) - ready / drive.period_ms) % 1.0 * drive.period_ms
        return self._transfer(ready + wait, lba, lba + blocks)

    def _transfer(self, ready: float, first: int, last: int) -> tuple[float, float]:
        """Follows blocks `first` to `last` (excluded) track by track, with the head there at `ready`."""
        drive, state, here = self.drive, self.state, self.drive.layout
        now = ready
        while first < last:
            track = here.track_of(first)
            cylinder, head = int(here.cylinder[track]), int(here.head[track])
            if cylinder != state.cylinder:
                now += drive.seek_ms(abs(cylinder - state.cylinder)) if now > ready else 0.0
            elif head != state.head and now > ready:
                now += drive.head_switch_ms
            state.cylinder, state.head = cylinder, head
            end = min(last, int(here.first[track + 1]))
            behind = (self._angle(track, first) - now / drive.period_ms + ROUNDING_TURNS) % 1.0 - ROUNDING_TURNS
            now += behind * drive.period_ms
            passed = here.sector(track, end - 1) - here.sector(track, first) + 1
            now += passed / here.sectors[track] * drive.period_ms
            first = end
        return now, ready

    def _angle(self, track: int, block: int) -> float:
        here = self.drive.layout
        return float(here.start_turns[track]) + here.sector(track, block) / float(here.sectors[track])

    def _read_on(self, lba: int) -> None:
        """What the drive read ahead until now."""
        drive, state, here = self.drive, self.state, self.drive.layout
        if state.ahead_from is None or not state.segments:
            return
        segment = state.segments[-1]
        track = here.track_of(segment.last - 1)
        limit = segment.first + drive.segment_blocks
        if drive.reads_ahead_to == "none":
            limit = segment.last
        elif drive.reads_ahead_to == "track":
            limit = min(limit, int(here.first[track + 1]))
        elif drive.reads_ahead_to == "cylinder":
            same = int(np.searchsorted(here.cylinder, here.cylinder[track], side="right"))
            limit = min(limit, int(here.first[same]))
        limit = min(limit, here.n_blocks)
        now = state.ahead_from
        while segment.last < limit:
            step = min(segment.last + 4, limit, int(here.first[here.track_of(segment.last) + 1]))
            later, _ = self._transfer(now, segment.last, step)
            if later > state.now:
                state.ahead_from = now
                return
            now, segment.last = later, step
        state.ahead_from = None

    def _recalibrate(self) -> None:
        """The thermal recalibrations that were due until now: the first that could not wait for the host to pause."""
        drive, state = self.drive, self.state
        if drive.recalibration_ms and state.now >= self.next_recalibration_ms:
            state.free_at = max(state.free_at, self.next_recalibration_ms) + drive.recalibration_ms
            state.ahead_from = None
            self.next_recalibration_ms += drive.recalibrates_every_ms

    def _held(self, lba: int, blocks: int) -> Segment | None:
        for segment in reversed(self.state.segments):
            if segment.first <= lba and (segment.last >= lba + blocks or segment.last >= lba):
                return segment
        return None

    def _touch(self, segment: Segment) -> None:
        self.state.segments.remove(segment)
        self.state.segments.append(segment)


def draw_trace(drive: RandomDrive, n: int, seed: int) -> RequestTrace:
    """A trace of sequential, local and scattered requests, in one of the two manners of the published traces.

    Times are those of a host's clock, the pause is before or after its request, and some requests may be
    missing.
    """
    clock = draw_clock(seed)
    rng = np.random.default_rng(seed)
    # later drives were traced with writes cached, requests of 2 KiB and more, and issues at least 25 ms apart
    is_late = drive.is_write_back or bool(rng.random() < 0.2)
    writes, sequential, local = (
        float(rng.uniform(0.25, 0.5)),
        float(rng.uniform(0.1, 0.35)),
        float(rng.uniform(0.1, 0.45)),
    )
    recorder = Recorder(drive, seed + 1)
    reach = drive.layout.n_blocks
    rows = []
    end, was_write, response = reach // 2, False, 0.0
    pause_is_before = bool(rng.random() < 0.3)
    missing = float(rng.choice([0.0, 0.0, 0.001]))
    for _ in range(n):
        pause = max(26.0 + float(rng.exponential(20.0)) - response, 4.0) if is_late else float(rng.uniform(2.0, 32.0))
        recorder.state.now += pause
        kind = rng.random()
        blocks = 4 * int(rng.geometric(0.63)) if is_late else int(np.ceil(rng.exponential(16.0)))
        is_write = bool(rng.random() < writes)
        if kind < sequential:
            lba, is_write = end, was_write if rng.random() < 0.7 else is_write
        elif kind < sequential + local:
            lba = int(end + np.rint(rng.normal(0.0, 300.0 if rng.random() < 0.5 else 10_000.0)))
        else:
            lba = int(rng.integers(0, reach))
        lba = min(max(lba // 4 * 4 if is_late and kind >= sequential else lba, 0), reach - blocks)
        issued = recorder.state.now
        response = recorder.serve(is_write, lba, blocks)
        rows.append((is_write, lba, blocks, issued, issued + response))
        end, was_write = lba + blocks, is_write
    write, lbas, sizes, issues, ends = (np.array(column) for column in zip(*rows, strict=True))
    issues, ends = clock.recorded_ms(issues, ends, np.random.default_rng([seed, 2]))
    pauses = np.concatenate([issues[:1], issues[1:] - ends[:-1]])
    if not pause_is_before:
        pauses = np.concatenate([pauses[1:], pauses[:1]])
    kept = rng.random(n) >= missing
    return RequestTrace(
        write[kept], lbas[kept], sizes[kept], np.round(ends - issues, 3)[kept], np.round(pauses, 3)[kept]
    )
