"""Where the blocks of a randomly drawn drive lie, sector by sector: the ways in which makers laid out SCSI drives.

Every track has a place of its own in the tables, so that nothing is assumed to repeat: zones whose cylinders do not
divide evenly, spare sectors at the end of a track or of a cylinder, spare tracks, slipped defects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SPARINGS = ("none", "sectors_per_track", "sectors_per_cylinder", "tracks_per_zone", "track_every_few_cylinders")
DEFECTIVE_TRACKS = 0.003
CYLINDERS = (1400, 10_000)


@dataclass(frozen=True)
class Layout:
    """Tracks in the order of their addresses, one entry each.

    `first` is the address of a track's first block (with one more entry for the end), `sectors` how many sectors lie
    on it, `start_turns` the angle at which its first sector begins, `cylinder` and `head` its place, `bad` the slipped
    sectors by track.
    """

    heads: int
    first: Ints
    sectors: Ints
    start_turns: Floats
    cylinder: Ints
    head: Ints
    bad: dict[int, Ints]
    sparing: str
    n_zones: int

    @property
    def n_blocks(self) -> int:
        return int(self.first[-1])

    @property
    def n_cylinders(self) -> int:
        return int(self.cylinder[-1]) + 1

    def track_of(self, block: int) -> int:
        """The track that a block lies on."""
        return int(np.searchsorted(self.first, block, side="right")) - 1

    def sector(self, track: int, block: int) -> int:
        """The physical sector of a block on its track, behind slipped defects."""
        at = block - int(self.first[track])
        for bad in self.bad.get(track, ()):
            at += bad <= at
        return at


def draw_layout(rng: np.random.Generator, period_ms: float, head_ms: float, cylinder_ms: float) -> Layout:
    """A layout of 1,400 to 10,000 cylinders, with skews that hide switches of a head and of a cylinder."""
    heads = int(rng.integers(2, 21))
    n_zones = int(rng.integers(1, 21))
    sparing = str(rng.choice(SPARINGS))
    outer = int(rng.integers(60, 250))
    inner = max(int(outer * rng.uniform(0.5, 0.75)), 36)
    per_track = np.rint(np.linspace(outer, inner, n_zones)).astype(np.int64) if n_zones > 1 else np.array([outer])
    share = rng.dirichlet(np.full(n_zones, 6.0))
    cylinders = np.maximum(np.rint(share * np.exp(rng.uniform(*np.log(CYLINDERS)))), 12).astype(np.int64)
    head_ms, cylinder_ms = head_ms * rng.uniform(1.05, 1.3), cylinder_ms * rng.uniform(1.05, 1.3)
    spare = {
        "sectors_per_track": int(rng.integers(1, 3)),
        "sectors_per_cylinder": int(rng.integers(2, 13)),
        "track_every_few_cylinders": int(rng.integers(30, 200)),
        "tracks_per_zone": int(rng.integers(0, 3 * heads)),
    }.get(sparing, 0)
    is_in_ms = bool(rng.random() < 0.5)
    has_defects = rng.random() < 0.6
    usable, sectors, starts, places, sides = [], [], [], [], []
    bad: dict[int, Ints] = {}
    at_cylinder = 0
    for zone, (count, spt) in enumerate(zip(cylinders, per_track, strict=True)):
        turns = rng.random()
        track_skew = np.ceil(head_ms / period_ms * spt) if is_in_ms else np.ceil(head_ms / period_ms * outer)
        cylinder_skew = np.ceil(cylinder_ms / period_ms * spt) if is_in_ms else np.ceil(cylinder_ms / period_ms * outer)
        n_tracks = int(count) * heads
        left_out = spare if sparing == "tracks_per_zone" and zone < n_zones - 1 else 0
        owed = 0
        for k in range(n_tracks - min(left_out, n_tracks // 2)):
            cylinder, head = divmod(k, heads)
            if k:
                turns += (cylinder_skew if head == 0 else track_skew) / spt
            if sparing == "track_every_few_cylinders" and head == heads - 1 and cylinder % spare == spare - 1:
                continue
            slipped = np.empty(0, dtype=np.int64)
            if has_defects and rng.random() < DEFECTIVE_TRACKS:
                slipped = np.sort(rng.choice(int(spt), 1 + int(rng.random() < 0.1), replace=False))
                bad[len(usable)] = slipped
            room = int(spt) - len(slipped)
            if sparing == "sectors_per_track":
                room = min(room, int(spt) - spare)
            elif sparing == "sectors_per_cylinder":
                # the spare sectors at the cylinder's end take what its defects push out
                owed += len(slipped)
                if head == heads - 1:
                    room, owed = min(room, room + owed - spare), 0
            usable.append(room)
            sectors.append(int(spt))
            starts.append(turns % 1.0)
            places.append(at_cylinder + cylinder)
            sides.append(head)
        at_cylinder += int(count)
    first = np.concatenate([[0], np.cumsum(usable)]).astype(np.int64)
    columns = (np.array(column) for column in (sectors, starts, places, sides))
    return Layout(heads, first, *columns, bad, sparing, n_zones)
