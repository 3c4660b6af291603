"""Files of the measurements of flushes (`tests/data/flush.md`): where they lie, and what a commit of them takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskmodel.records import Int64, Requests
from diskmodel.workload import Workload

FILE = {"append": "append", "overwrite": "overwrite", "shared": "overwrite", "falloc": "unwritten"}
#: From one file, or one writer's part of the shared file, to the next one's, KiB.
STEP_KIB = {"append": 64, "overwrite": 4096, "shared": 1024, "falloc": 32 << 10}
BLOCK_BYTES = 4096
#: Files of the writers begin there in the traces.
FIRST_BYTE = 132 << 20
#: Up to this size ext4 takes a file's blocks from those that it has set aside for all small files (`mb_stream_req`).
SMALL_BYTES = 64 << 10
#: Those blocks begin there in the trace of eight writers without a cache. With one they are as far behind the journal
#: as here before it.
SMALL_FIRST_BYTE = (8320 << 20) + SMALL_BYTES
#: The longest stretch that a file below 4 MiB is given at once (`ext4_mb_normalize_request`).
LONGEST_WINDOW_BYTES = 2 << 20


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


def is_grown(row: dict[str, str]) -> bool:
    """Whether files grow side by side."""
    return pattern_of(row) == "append" and int(row["writers"]) > 1


def placed(row: dict[str, str], requests: Requests, issue_ns: Int64) -> Requests:
    """Requests whose files grow as those of the file system do when they are issued at these times."""
    return _placed_in_ext4(requests, issue_ns) if row["target"] == "ext4" else _placed_in_xfs(requests)


def _placed_in_ext4(requests: Requests, issue_ns: Int64) -> Requests:
    """Requests whose blocks are where ext4 puts them: who comes first decides where those of each file are.

    Small files are given the next block of those that are set aside for all of them. Then a file is given a stretch as
    long as it is already, from a multiple of that length on, behind all that was given before.
    """
    offset, order = requests.offset.copy(), np.argsort(issue_ns, kind="stable")
    n_written = np.zeros(len(requests.streams), np.int64)
    begin = np.zeros_like(n_written)
    small, end = SMALL_FIRST_BYTE, FIRST_BYTE + SMALL_BYTES
    for at in order.tolist():
        writer = requests.stream[at]
        place = int(n_written[writer])
        n_written[writer] += BLOCK_BYTES
        if place < SMALL_BYTES:
            offset[at] = small
            small += BLOCK_BYTES
            continue
        window = min(1 << (place.bit_length() - 1), LONGEST_WINDOW_BYTES)
        if place % window == 0:
            begin[writer] = -(-end // window) * window
            end = begin[writer] + window
        offset[at] = begin[writer] + place % window
    return replace(requests, offset=offset)


def _placed_in_xfs(requests: Requests) -> Requests:
    """Requests whose files grow through stretches that double, beside those of the others."""
    offset, n = requests.offset.copy(), len(requests.streams)
    for writer in range(n):
        rows = np.flatnonzero(requests.stream == writer)
        place = np.arange(len(rows)) * BLOCK_BYTES
        first, begin, window = 0, FIRST_BYTE, SMALL_BYTES
        while first <= place[-1]:
            inside = (place >= first) & (place < first + window)
            offset[rows[inside]] = begin + writer * window + place[inside] - first
            first, begin, window = first + window, begin + n * window, 2 * window
    return replace(requests, offset=offset)
