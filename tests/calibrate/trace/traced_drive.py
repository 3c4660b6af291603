"""A drive of known geometry that serves one request at a time and leaves a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrate.evidence.requests import RequestTrace


@dataclass(frozen=True)
class TracedDrive:
    """Geometry by zone (cylinders, sectors per track), skews in turns, and times in ms."""

    period_ms: float = 60e3 / 7213.7
    heads: int = 4
    zones: tuple[tuple[int, int], ...] = ((800, 150), (700, 120), (700, 97))
    track_skew: float = 0.16
    cylinder_extra: float = 0.21
    overhead_ms: float = 0.3
    hit_ms: float = 0.25
    bus_block_ms: float = 0.08
    write_settle_ms: float = 0.7
    noise_ms: float = 0.02

    @property
    def n_blocks(self) -> int:
        return sum(cylinders * self.heads * spt for cylinders, spt in self.zones)

    def place(self, lba: int) -> tuple[int, float, int]:
        """Cylinder, angle in turns, and sectors per track of a block."""
        done = turns = 0.0
        for cylinders, spt in self.zones:
            blocks = cylinders * self.heads * spt
            if lba < blocks:
                track, sector = divmod(lba, spt)
                cylinder = track // self.heads
                angle = turns + sector / spt + track * self.track_skew + cylinder * self.cylinder_extra
                return int(done) + cylinder, angle % 1.0, spt
            lba -= blocks
            turns += cylinders * (self.heads * self.track_skew + self.cylinder_extra)
            done += cylinders
        raise ValueError("beyond the last block")

    def seek_ms(self, distance: int) -> float:
        """Seek time over a number of cylinders."""
        return 0.0 if distance == 0 else 0.8 + 0.16 * np.sqrt(distance)

    def trace(self, n: int, seed: int, *, pause_is_before: bool = False) -> RequestTrace:
        """A trace of local, sequential and scattered reads and writes."""
        rng = np.random.default_rng(seed)
        rows = []
        now, end, cylinder, was_read = 0.0, 1000, 0, False
        for _ in range(n):
            pause = float(rng.uniform(5.0, 45.0))
            now += pause
            kind = rng.random()
            is_write = bool(rng.random() < 0.35)
            blocks = int(rng.integers(1, 25))
            is_sequential = kind < 0.2
            if is_sequential:
                lba = end
            elif kind < 0.55:
                lba = int(end + rng.integers(-3000, 3000))
            else:
                lba = int(rng.integers(0, self.n_blocks))
            lba = min(max(lba, 0), self.n_blocks - 40)
            if is_sequential and was_read and not is_write:
                response = self.hit_ms + blocks * self.bus_block_ms
            else:
                response = self._media_ms(now, lba, blocks, is_write, cylinder)
            response += float(rng.uniform(0, self.noise_ms))
            now += response
            cylinder = self.place(lba + blocks - 1)[0]
            end, was_read = lba + blocks, not is_write
            rows.append((is_write, lba, blocks, response, pause))
        write, lbas, sizes, responses, pauses = (np.array(column) for column in zip(*rows, strict=True))
        if not pause_is_before:
            pauses = np.concatenate([pauses[1:], pauses[:1]])
        return RequestTrace(write, lbas, sizes, responses, pauses)

    def _media_ms(self, now: float, lba: int, blocks: int, is_write: bool, cylinder: int) -> float:
        target, angle, _ = self.place(lba)
        ready = now + self.overhead_ms + self.seek_ms(abs(target - cylinder))
        if is_write:
            ready += self.write_settle_ms
        wait = (angle - ready / self.period_ms) % 1.0 * self.period_ms
        done = ready + wait
        for block in range(lba, lba + blocks):
            _, here, spt = self.place(block)
            done += (here - done / self.period_ms) % 1.0 * self.period_ms if block > lba else 0.0
            done += self.period_ms / spt
            done -= 1e-9
        return done - now + (0.0 if is_write else blocks * self.bus_block_ms)
