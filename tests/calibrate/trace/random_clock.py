"""The clock of a randomly drawn host, and the spindle against it: what stands between a drive's own time and a trace.

Drives turn evenly in their own time here. The host sees the spindle wander and drift while it warms, reads a clock of
some grain, and is late now and then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GRAINS_US = (1, 1, 1, 4, 16, 64)
JITTERS_MS = (0.0, 0.0, 0.01, 0.05)
#: A host that was busy is late by milliseconds, so often.
HICCUPS = 0.001
HICCUP_MS = 3.0


@dataclass(frozen=True)
class Clock:
    """The spindle is slow by `warming` at first and by nothing after some `warming_s`, and by `wander` to and fro every
    `wander_s` (shares of its speed); completions are noticed `jitter_ms` late and times are recorded in `grain_us`."""

    warming: float
    warming_s: float
    wander: float
    wander_s: float
    wander_from: float
    grain_us: int
    jitter_ms: float

    def host_ms(self, drive_ms: Floats) -> Floats:
        """Instants of the drive's own time on the host's clock."""
        warming_ms, wander_ms = self.warming_s * 1e3, self.wander_s * 1e3 / (2 * np.pi)
        warmed = self.warming * warming_ms * (1.0 - np.exp(-drive_ms / warming_ms))
        wandered = (
            self.wander * wander_ms * (np.sin(drive_ms / wander_ms + self.wander_from) - np.sin(self.wander_from))
        )
        return np.asarray(drive_ms + warmed + wandered)

    def recorded_ms(self, issued_ms: Floats, done_ms: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Issue and completion as the host records them, ms."""
        late = rng.exponential(self.jitter_ms, len(done_ms))
        late += (rng.random(len(done_ms)) < (HICCUPS if self.jitter_ms else 0.0)) * rng.exponential(
            HICCUP_MS, len(done_ms)
        )
        issued, done = self.host_ms(issued_ms), self.host_ms(done_ms) + late
        # the next request is issued after the host has noticed
        done[:-1] = np.minimum(done[:-1], issued[1:])
        grain = self.grain_us / 1e3
        return np.floor(issued / grain) * grain, np.floor(done / grain) * grain

    def describe(self) -> str:
        """A few words."""
        return (
            f"wander {self.wander:.0e} in {self.wander_s:.0f} s, "
            f"warming {self.warming:+.0e} in {self.warming_s:.0f} s, "
            f"clock {self.grain_us} us, jitter {self.jitter_ms:g} ms"
        )


def draw_clock(seed: int) -> Clock:
    """A host and spindle of the family."""
    rng = np.random.default_rng([seed, 1])
    return Clock(
        float(rng.choice([0.0, rng.uniform(-1e-4, 1e-4)])),
        float(rng.uniform(60.0, 600.0)),
        float(rng.choice([0.0, 10 ** rng.uniform(-6.0, -4.3)])),
        float(rng.uniform(30.0, 400.0)),
        float(rng.uniform(0.0, 2 * np.pi)),
        int(rng.choice(GRAINS_US)),
        float(rng.choice(JITTERS_MS)),
    )
