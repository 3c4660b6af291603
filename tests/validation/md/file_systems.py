"""Files of the measurements of flushes (`tests/data/flush.md`): where they lie, and what a commit of them takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskmodel.records import Int64, Requests
from diskmodel.workload import Workload

FILE = {"append": "append", "overwrite": "overwrite", "shared": "overwrite", "falloc": "unwritten"}
#: From one file, or one writer's part of the shared file, to the next one's, KiB.
STEP_KIB = {"append": 64, "overwrite": 4096, "shared": 1024, "falloc": 32 << 10}
#: Files of the writers begin there in the traces.
FIRST_BYTE = 132 << 20
#: What ext4 sets aside for a file that grows, each time twice as much, in the trace of eight writers.
FIRST_WINDOW_BYTES = 64 << 10


def is_file(row: dict[str, str]) -> bool:
    """Whether files were written, not the device."""
    return row["target"] in ("ext4", "xfs")


def pattern_of(row: dict[str, str]) -> str:
    """Pattern of a row, through the page cache or not."""
    return row["pattern"].removesuffix("_direct")


def waits_in_write(row: dict[str, str]) -> bool:
    """Whether the write call itself waits until the data is safe."""
    is_overwritten = row["pattern"] == "overwrite_direct" and row["wcache"] == "0"
    return row["mode"] == "odsync" or is_overwritten


def seeds_of(row: dict[str, str]) -> tuple[int, ...]:
    """Seeds of a row: one where nothing is drawn."""
    return tuple(range(1, 9)) if int(row["writers"]) > 1 and pattern_of(row) != "append" else (1,)


def is_all_in_sync(row: dict[str, str]) -> bool:
    """Whether the data, too, is written by the sync call."""
    return not row["pattern"].endswith("_direct")


def workload_of(row: dict[str, str], sync: str, seed: int) -> Workload:
    """A stream for each writer, which goes through its file in order, and again.

    Writers do not come in the order of files that were there before them: which one owns which is drawn. Files that
    grow are given their blocks in the order in which writers come.
    """
    n, pattern = int(row["writers"]), pattern_of(row)
    step = 1024 if pattern == "overwrite" and n == 64 else STEP_KIB[pattern]
    span = "256 MiB" if pattern == "append" else f"{step} KiB"
    common = {"size": "4 KiB", "read_ratio": 0.0, "sync": sync, "clients": 1, "weight": 1, "span": span}
    common |= {"addresses": {"pattern": "sequential"}, "file_system": row["target"], "file": FILE[pattern]}
    first = FIRST_BYTE >> 10
    order = np.arange(n) if pattern == "append" else np.random.default_rng(seed).permutation(n)
    places = [f"{first + at * step} KiB" for at in order.tolist()]
    return Workload.parse({"streams": [common | {"name": str(at), "offset": place} for at, place in enumerate(places)]})


def placed(row: dict[str, str], requests: Requests) -> Requests:
    """Requests whose files grow as those of ext4 do, each through windows that double, beside those of the others."""
    n = int(row["writers"])
    if pattern_of(row) != "append" or n == 1:
        return requests
    offset = requests.offset.copy()
    for writer in range(n):
        rows = np.flatnonzero(requests.stream == writer)
        offset[rows] = _grown(np.arange(len(rows)) * 4096, writer, n)
    return replace(requests, offset=offset)


def _grown(place: Int64, writer: int, n: int) -> Int64:
    """Where bytes of a writer's file lie on the device."""
    found = np.empty_like(place)
    first, begin, window = 0, FIRST_BYTE, FIRST_WINDOW_BYTES
    while first <= place[-1]:
        inside = (place >= first) & (place < first + window)
        found[inside] = begin + writer * window + place[inside] - first
        first, begin, window = first + window, begin + n * window, 2 * window
    return found
