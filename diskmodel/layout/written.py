"""Where many writes go at once, as columns: the data strips, their copies and their parity (rules L1, L3, L6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskmodel.layout.volumes import VolumeTables
from diskmodel.records import Int64


class Written(NamedTuple):
    """Pieces that are written, in the order of their requests; int64, shape (n,), in sectors of the disks."""

    disk: Int64
    lba: Int64
    n: Int64


def written(tables: VolumeTables, sector: Int64, n: Int64) -> Written:
    """Pieces that writes of `n` sectors from `sector` on leave on the disks; int64, shape (n_requests,) each.

    Every strip of data is a piece, with the same sectors of each copy or of each parity strip. Pieces on lost disks are
    left out, and nothing is on a spare.
    """
    unit = tables.member if tables.family == "concat" else tables.strip
    first, last = sector // unit, (sector + n - 1) // unit
    count = last - first + 1
    before = np.cumsum(count) - count
    request = np.repeat(np.arange(len(sector)), count)
    chunk = first[request] + np.arange(len(request)) - before[request]
    low = np.maximum(sector[request] - chunk * unit, 0)
    size = np.minimum((sector + n)[request] - chunk * unit, unit) - low
    disk, strip = _places(tables, chunk)
    lba = tables.data_offset + strip * unit + low[:, None]
    lost = np.isin(disk, tables.failed)
    size = np.broadcast_to(size[:, None], disk.shape)
    return Written(disk[~lost], lba[~lost], size[~lost])


def _places(tables: VolumeTables, chunk: Int64) -> tuple[Int64, Int64]:
    """Disks of each chunk and strip numbers there; shape (n, copies) or (n, 1 + parity)."""
    n = tables.n_disks
    if tables.family == "concat":
        return chunk[:, None], np.zeros((len(chunk), 1), np.int64)
    if tables.family == "copies":
        copy = np.arange(tables.copies)[None, :]
        if tables.md is not None and tables.md.far:
            part = tables.member // tables.strip // tables.copies
            return (chunk[:, None] + copy) % n, chunk[:, None] // n + copy * part
        at = chunk[:, None] * tables.copies + copy
        return at % n, at // n
    width, m = tables.n_data + tables.n_parity, tables.n_parity
    row, strip = chunk // tables.n_data, chunk % tables.n_data
    group, number = row % tables.n_groups, row // tables.n_groups
    assert tables.md is not None
    rotation = tables.md.rotation
    if rotation == "none":
        begin = np.full(len(chunk), width - m)
    elif rotation.startswith("left"):
        begin = width - 1 - number % width
    else:
        begin = number % width
    parity = (begin[:, None] + np.arange(m)[None, :]) % width
    if rotation.endswith("-symmetric"):
        data = (begin + m + strip) % width
    else:
        # the strip-th of the disks without parity: parity disks that come before it move it on
        data = strip.copy()
        for lost in np.sort(parity, axis=1).T:
            data += lost <= data
    disk = group[:, None] * width + np.concatenate([data[:, None], parity], axis=1)
    return disk, np.broadcast_to(number[:, None], disk.shape)
