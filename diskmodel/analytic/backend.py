"""Disk operations of a sample of host requests: pieces, phases, distances, lengths. Counts only, no times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.drive import Drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import ChildIo, RaidLevel
from diskmodel.layout.plan import plan
from diskmodel.records import FLUSH, READ
from diskmodel.workload import Workload

#: Strips of all requests of a sample, at most: requests of up to 12 MiB in strips of 64 KiB are a thousand. Those of
#: 1 GiB took 15 s and 2 GB; at half, requests of 8 MiB are fewer than a thousand.
_MOST_STRIPS = 200_000
#: Requests of a sample at least, however large they are.
_LEAST = 2


class BackEnd(NamedTuple):
    """Pieces of a sample of requests, in order; arrays of shape (n_pieces,) unless noted.

    Attributes
    ----------
    n_requests : int
        Host requests of the sample, cache hits included.
    hit_share : float
        Share of the requests that the controller's cache serves or accepts.
    disk, lba, n_sectors : int64
    is_write : bool
    is_revisit : bool
        A write to the place that an earlier phase of the same request has read: the block comes round again.
    previous_end : int64
        Where the same disk's piece before it ended; -1 for its first one.
    read_widths, write_widths : float64
        Mean number of parallel pieces in each phase of a read and of a write that reach the disks.
    read_share : float
        Share of reads among the requests that reach the disks.
    disk_share : float64, shape (n_disks,)
        Share of the pieces on each disk.
    """

    n_requests: int
    hit_share: float
    disk: NDArray[np.int64]
    lba: NDArray[np.int64]
    n_sectors: NDArray[np.int64]
    is_write: NDArray[np.bool_]
    is_revisit: NDArray[np.bool_]
    previous_end: NDArray[np.int64]
    read_widths: tuple[float, ...]
    write_widths: tuple[float, ...]
    read_share: float
    disk_share: NDArray[np.float64]

    @property
    def per_host(self) -> float:
        """Disk operations per host request."""
        return len(self.disk) / self.n_requests


def has_formula(level: RaidLevel, drive: Drive, workload: Workload) -> bool:
    """Return whether formulas estimate arrays of a drive, and its operations can be counted.

    What is written to a pool goes to places that only a run finds.
    """
    return bool(drive.formula) and (level.has_formula_of_writes or not workload.has_writes)


def back_end(array: Array, workload: Workload, *, n_sample: int = 1000, seed: int = 0) -> BackEnd:
    """Disk operations of a sample of `workload` on `array`.

    Parameters
    ----------
    array : Array
    workload : Workload
    n_sample : int
        Host requests drawn; of large ones fewer.
    seed : int
        Of the draws, as for a simulation.

    Notes
    -----
    Reads of mirrors alternate between the copies. A read cache given by its size hits with the share of the span
    that it holds (exact for uniform addresses, low for local ones). A write cache spares the disks nothing here:
    coalescing is left out.

    Raises
    ------
    DescriptionError
        When a pool is written to.
    """
    if workload.has_writes and not array.layout.kind.has_formula_of_writes:
        rule = "where a pool writes depends on what it has written, and no formula counts it"
        raise DescriptionError(Fault("layout.level", array.layout.level, rule, "simulate it"))
    tables, drive = array.tables(), array.drive
    strips = max(workload.mean_size_bytes / (tables.strip * drive.sector_bytes), 1.0)
    n_sample = min(n_sample, max(int(_MOST_STRIPS / strips), _LEAST))
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n_sample, seed=seed)
    hits = requests.cache_draw < _read_hit_ratio(array, requests.offset)
    turn = iter(range(1 << 62))
    pieces: list[ChildIo] = []
    revisit: list[bool] = []
    widths: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    n_hits = 0
    for op, offset, length, is_hit in zip(
        requests.op.tolist(), requests.offset.tolist(), requests.length.tolist(), hits.tolist(), strict=True
    ):
        if op == FLUSH:
            continue
        if op == READ and is_hit:
            n_hits += 1
            continue
        n_hits += op != READ and array.controller.write_cache is not None
        first_sector, last_sector = offset // drive.sector_bytes, -(-(offset + length) // drive.sector_bytes)
        steps = plan(
            tables, op, first_sector, last_sector - first_sector, lambda copies, _: copies[next(turn) % len(copies)]
        )
        seen = {(piece.disk, piece.lba) for piece in steps.first}
        pieces += steps.first + steps.then
        revisit += [False] * len(steps.first) + [(piece.disk, piece.lba) in seen for piece in steps.then]
        widths[op].append((len(steps.first), len(steps.then)))
    columns = np.array(pieces, dtype=np.int64).reshape(-1, 4)
    disk, op_column, lba, n_sectors = columns.T
    n_misses = len(widths[0]) + len(widths[1])
    return BackEnd(
        n_requests=n_sample,
        hit_share=n_hits / n_sample,
        disk=disk,
        lba=lba,
        n_sectors=n_sectors,
        is_write=op_column != READ,
        is_revisit=np.array(revisit, dtype=bool),
        previous_end=_previous_ends(disk, lba + n_sectors),
        read_widths=_mean_widths(widths[0]),
        write_widths=_mean_widths(widths[1]),
        read_share=len(widths[0]) / n_misses if n_misses else 0.0,
        disk_share=np.bincount(disk, minlength=array.layout.disks) / max(len(disk), 1),
    )


def _read_hit_ratio(array: Array, offsets: NDArray[np.int64]) -> float:
    cache = array.controller.read_cache
    if cache is None:
        return 0.0
    if cache.hit_ratio is not None:
        return cache.hit_ratio
    assert cache.size_bytes is not None
    span = int(offsets.max() - offsets.min()) if len(offsets) else 0
    # what a cache device has, the disks need not read
    held_bytes = cache.size_bytes + array.l2arc_slots * array.layout.pool_record_bytes
    return min(1.0, held_bytes / span) if span else 1.0


def _previous_ends(disk: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    previous = np.full(len(disk), -1, dtype=np.int64)
    last: dict[int, int] = {}
    for index, (which, where) in enumerate(zip(disk.tolist(), end.tolist(), strict=True)):
        previous[index] = last.get(which, -1)
        last[which] = where
    return previous


def _mean_widths(phases: list[tuple[int, int]]) -> tuple[float, ...]:
    """Return the mean width of each phase, over the requests that have it; with one phase, that is the first."""
    if not phases:
        return ()
    first, then = (np.array(column, dtype=np.float64) for column in zip(*phases, strict=True))
    if not then.any():
        return (float(first.mean()),)
    return float(first.mean()), float(then[then > 0].mean())
