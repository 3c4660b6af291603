"""Service times of the drives of an array under a sample of its back-end operations."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from diskmodel.analytic.backend import BackEnd
from diskmodel.drive import PPM, FlashTables, HddTables, VirtualTables
from diskmodel.loading import dataclass
from diskmodel.queue import SCHEDULERS

#: Numbers of candidates at which service times are sampled; between them they are interpolated.
_CHOICES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)

#: Candidates that are looked at together, of some 60 bytes each: 0.25 GB. At half, formulas take as long.
_CANDIDATES = 1 << 22


@dataclass(frozen=True)
class HddService:
    """Samples of the parts of a disk's service time, seconds, shape (n_pieces,).

    Attributes
    ----------
    overhead_s, seek_s, rotation_s, transfer_s : float64
        `overhead_s` delays the arm only on an idle disk.
    revisit_s : float64
        For a revisit of a piece: one revolution, its time when the arm has stayed; otherwise 0.
    schedulers : tuple of str
        Schedulers of the host's queue and of the drive's own.
    depth : int
        Commands that may be reordered.
    committed : int
        Of these, the newest that the drive has planned already and does not choose among.
    margin_s, turn_s : float
        A block that passes sooner than the margin after the seek counts as one revolution farther.
    miss_ratio : float
        Part of the seek that is added to the margin.
    ack_s : float or None, seconds
        Time in which a drive with a write-back cache accepts a write; it writes when no read waits. None: writes
        complete on the platter.
    write_share : float
        Share of writes among the pieces.
    """

    overhead_s: NDArray[np.float64]
    seek_s: NDArray[np.float64]
    rotation_s: NDArray[np.float64]
    transfer_s: NDArray[np.float64]
    revisit_s: NDArray[np.float64]
    schedulers: tuple[str, ...]
    depth: int
    ack_s: float | None
    write_share: float
    committed: int = 0
    margin_s: float = 0.0
    miss_ratio: float = 0.0
    turn_s: float = 0.0
    _known: dict[int, tuple[float, float, float]] = field(default_factory=dict, repr=False, compare=False)

    def moments(self, n_waiting: float) -> tuple[float, float, float]:
        """Return E[S], E[S²], E[S³] with `n_waiting` commands to choose from, interpolated between `_CHOICES`."""
        choice = max(1.0, min(n_waiting, float(self.depth)))
        at = int(np.searchsorted(_CHOICES, choice, side="right")) - 1
        low = _CHOICES[at]
        if choice == low or at + 1 == len(_CHOICES):
            return self._moments_of(low)
        high = _CHOICES[at + 1]
        part = (choice - low) / (high - low)
        below, above = self._moments_of(low), self._moments_of(high)
        first, second, third = (a + part * (b - a) for a, b in zip(below, above, strict=True))
        return first, second, third

    def _moments_of(self, choice: int) -> tuple[float, float, float]:
        if choice not in self._known:
            times = self.sample_s(choice)
            self._known[choice] = (float(times.mean()), float((times**2).mean()), float((times**3).mean()))
        return self._known[choice]

    def sample_s(self, n_waiting: int) -> NDArray[np.float64]:
        """Return service times with `n_waiting` commands to choose from; seconds, shape (n_pieces,).

        Notes
        -----
        The scheduler takes the best of `n_waiting` independent candidates. In reality, those left behind are worse than
        new ones, so that true service times are slightly longer.
        """
        choice = max(1, round(min(n_waiting, float(self.depth))))
        rng = np.random.default_rng(4711)
        n = len(self.seek_s)
        positioning = self._best_of(choice, rng)
        held = self.revisit_s > 0
        share_held = 1 / choice  # the more commands are waiting, the more often another comes in between
        revisit = np.where(rng.random(n) < share_held, self.revisit_s, positioning + self.transfer_s)
        overhead = self.overhead_s / choice
        return np.asarray(np.where(held, revisit, positioning + self.transfer_s) + overhead)

    def _best_of(self, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
        n = len(self.seek_s)
        k -= self.committed
        if k <= 1 or n == 0:
            return self.seek_s + self.rotation_s
        at_once = max(_CANDIDATES // k, 1)
        parts = [self._best(slice(at, at + at_once), k, rng) for at in range(0, n, at_once)]
        return np.concatenate(parts)

    def _best(self, rows: slice, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the same of some of the pieces."""
        own_seek, own_rotation = self.seek_s[rows], self.rotation_s[rows]
        others = rng.integers(0, len(self.seek_s), size=(len(own_seek), k - 1))
        seek = np.concatenate([own_seek[:, None], self.seek_s[others]], axis=1)
        rotation = np.concatenate([own_rotation[:, None], self.rotation_s[others]], axis=1)
        shortened = {SCHEDULERS[name].shortens for name in self.schedulers}
        if "positioning" in shortened:
            expected = seek + rotation + np.where(rotation < self.margin_s + self.miss_ratio * seek, self.turn_s, 0.0)
            chosen = expected.argmin(axis=1)
            return np.asarray((seek + rotation)[np.arange(len(chosen)), chosen])
        if "seek" in shortened:
            return np.asarray(seek.min(axis=1) + own_rotation)
        return own_seek + own_rotation


def hdd_service(tables: HddTables, sample: BackEnd, host_scheduler: str, drive_depth: int | None) -> HddService:
    """Return service times of hard disks: seek between consecutive pieces, uniform rotational latency, transfer.

    A piece that begins where the last one of the same disk ended needs neither seek nor rotation (read-ahead, skew).
    """
    cylinder, per_track = _cylinders(tables, sample.lba)
    previous, _ = _cylinders(tables, np.maximum(sample.previous_end - 1, 0))
    is_known = sample.previous_end >= 0
    shifted = np.roll(cylinder, 1)
    distance = np.abs(cylinder - np.where(is_known, previous, shifted))
    if sample.is_revisit.any():  # if other commands come in between, a revisit seeks as far as they do
        travels = distance[~sample.is_revisit]
        distance = distance.copy()
        distance[sample.is_revisit] = np.resize(travels, int(sample.is_revisit.sum()))
    follows = is_known & (sample.previous_end == sample.lba)
    seek = np.where(sample.is_write, _of_writes(tables)[distance], tables.seek_ns[distance])
    seek = seek + np.where(sample.is_write & ~follows, tables.write_settle_ns, 0)
    n = len(sample.lba)
    turn = tables.revolution_ns
    rotation = turn * np.random.default_rng(815).permutation((np.arange(n) + 0.5) / max(n, 1))
    transfer = sample.n_sectors * turn / per_track + _delayed_ns(tables)
    overhead = np.where(sample.is_write, tables.write_overhead_ns, tables.read_overhead_ns)
    depth = tables.queue_depth if drive_depth is None else min(drive_depth, tables.queue_depth)
    schedulers: tuple[str, ...] = (tables.scheduler,) if depth > 1 else ()
    is_rpo = "rpo" in schedulers
    if host_scheduler != "fcfs":
        schedulers, depth = (*schedulers, host_scheduler), 1 << 10
    return HddService(
        overhead_s=overhead / 1e9,
        seek_s=np.where(follows, 0, seek) / 1e9,
        rotation_s=np.where(follows, 0.0, rotation) / 1e9,
        transfer_s=transfer / 1e9,
        revisit_s=np.where(sample.is_revisit, float(turn), 0.0) / 1e9,
        schedulers=schedulers,
        depth=depth,
        ack_s=_ack_s(tables, sample) if tables.dirty_sectors else None,
        write_share=float(sample.is_write.mean()) if n else 0.0,
        committed=tables.committed if is_rpo else 0,
        margin_s=tables.miss_margin_ns / 1e9 if is_rpo else 0.0,
        miss_ratio=tables.miss_ratio if is_rpo else 0.0,
        turn_s=turn / 1e9,
    )


def _of_writes(tables: HddTables) -> NDArray[np.int64]:
    return tables.seek_ns if tables.write_seek_ns is None else tables.write_seek_ns


def _delayed_ns(tables: HddTables) -> float:
    """Return what retries and stalls add to an access on average."""
    return float(tables.retry_ns.mean()) * tables.retry_ppm / PPM if len(tables.retry_ns) else 0.0


def _ack_s(tables: HddTables, sample: BackEnd) -> float:
    n_bytes = float(sample.n_sectors.mean()) * tables.sector_bytes
    return (tables.write_overhead_ns + tables.completion_overhead_ns) / 1e9 + n_bytes / tables.interface_bytes_per_s


def _cylinders(tables: HddTables, lba: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cylinder and sectors per track of each block."""
    inside = lba % tables.n_sectors_per_actuator
    zone = np.searchsorted(tables.zone_first_lba, inside, side="right") - 1
    zone = np.minimum(zone, tables.n_zones - 1)
    cylinder = (inside - tables.zone_first_lba[zone]) // tables.blocks_per_cylinder[zone]
    return tables.zone_first_cylinder[zone] + cylinder, tables.sectors_per_track[zone]


@dataclass(frozen=True)
class FlashService:
    """Mean times of one command on a flash drive, seconds.

    Attributes
    ----------
    fixed_s : float
        Parts that overlap with other commands.
    die_s : float
        Time on one die.
    bottleneck_s : float
        Time between commands at saturation: the longest of all dies together, channels, interface and processor.
    n_dies: int
    """

    fixed_s: float
    die_s: float
    bottleneck_s: float
    n_dies: int


def flash_service(tables: FlashTables, sample: BackEnd) -> FlashService:
    """Return the service times of flash drives, without garbage collection and write buffers."""
    n_bytes = sample.n_sectors * tables.sector_bytes
    pages = np.maximum(1, -(-n_bytes // tables.page_bytes))
    die_ns = pages * np.where(sample.is_write, tables.program_ns, tables.read_ns)
    channel_ns = n_bytes * 1e9 / tables.channel_bytes_per_s
    interface_ns = n_bytes * 1e9 / tables.interface_bytes_per_s
    overhead_ns = np.where(sample.is_write, tables.write_overhead_ns, tables.read_overhead_ns).astype(np.float64)
    of_read, of_write = tables.mean_latency_ns
    latency_ns = np.where(sample.is_write, of_write, of_read)
    limits = (
        die_ns.mean() / tables.n_dies,
        channel_ns.mean() / tables.channels,
        interface_ns.mean(),
        overhead_ns.mean(),
    )
    lone_ns = np.where(pages > 1, die_ns / np.minimum(pages, tables.n_dies), die_ns)
    wires_ns = interface_ns + channel_ns / np.minimum(pages, tables.channels)
    return FlashService(
        fixed_s=float((latency_ns + overhead_ns + wires_ns).mean()) / 1e9,
        die_s=float(lone_ns.mean()) / 1e9,
        bottleneck_s=float(max(limits)) / 1e9,
        n_dies=tables.n_dies,
    )


@dataclass(frozen=True)
class VirtualService:
    """Mean times of one command on a virtual disk, seconds.

    Attributes
    ----------
    fixed_s : float
        Parts that overlap with other commands: waking up and latency.
    command_s : float
        Time of the command processor.
    batch_s : float
        Time spent once for all commands that complete together, at saturation.
    """

    fixed_s: float
    command_s: float
    batch_s: float


def virtual_service(tables: VirtualTables, sample: BackEnd) -> VirtualService:
    """Return the service times of virtual disks."""
    n_bytes = sample.n_sectors * tables.sector_bytes
    command_ns = np.where(sample.is_write, tables.write_overhead_ns, tables.read_overhead_ns).astype(np.float64)
    for is_write, rate in ((False, tables.read_copy_bytes_per_s), (True, tables.write_copy_bytes_per_s)):
        if rate:
            command_ns += np.where(sample.is_write == is_write, n_bytes * 1e9 / rate, 0.0)
    latency_ns = np.where(sample.is_write, tables.write_latency_ns, tables.read_latency_ns)
    wake_ns = float(tables.wake_ns.mean()) if len(tables.wake_ns) else 0.0
    return VirtualService(
        fixed_s=(wake_ns + float(latency_ns.mean())) / 1e9,
        command_s=float(command_ns.mean()) / 1e9,
        batch_s=wake_ns / 1e9 if tables.is_batched else 0.0,
    )
