"""Scenarios of the md RAID measurements: what was measured, and the model of it.

The random rows are simulated with fio's own requests, one by one: its generator is public, and where a trace exists its
requests are these (`test_md_raid.py`). A measured run lasts 10 to 60 s; other addresses would make other queues.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests
from diskmodel.workload import Workload

TABLE = Path(__file__).parents[2] / "data" / "md-raid.csv"
#: 168 segments (`AHCI_MAX_SG` in Linux) of a page of 4 KiB; the measurements do not state it. With 512 to 920 KiB a
#: write of 1 MiB becomes as many commands as were counted (10), and its mean latency changes by up to 8 %.
LARGEST_REQUEST = "672 KiB"
#: Four buffers of 1 MiB are 4 MiB of memory, which contain one aligned huge page of 2 MiB: two of the four lie in it
#: with enough of their pages, at some alignments three. One buffer alone lies in none. Counted: 6.78 commands a
#: request, as if 54 % were whole (4 commands) and the others cut (10).
HUGE_PAGE_RATIO = 0.5
SEED = 1
DIRECTIONS = {"read": 0, "write": 1}
#: Processor time of the host from a completion to the next command at a disk, in the three traces of the evidence: what
#: 5 % of the gaps do not exceed (medians are 13.0, 16.3 and 44, but a completion of RAID 5 seldom leads to a command at
#: once). The other levels of md as RAID 10. From 5 to 50 µs no sequential row changes by more than 1 %.
TURNAROUND_US = {"single": 13.0, "RAID5": 22.5}
TURNAROUND_MD_US = 15.6
#: Of the first request of a run; what fio measures begins after its `ramp_time`.
WARM_UP_S = 2.0
#: Moments at which a run may have begun: their spindles' angles differ by all amounts within the time in which disk 1
#: gains one revolution on disk 0. The moments of the measured runs are unknown.
STARTS = 8
GAIN_NS = 5_985_037 * 2500
#: Seeds of fio: of its addresses (`FIO_RANDSEED`), and of its mix of reads and writes (`randseed=7`).
ADDRESS_SEED, MIX_SEED = 0xB1899BED, 0x9C08000B
READ_PERCENT = 70


@dataclass(frozen=True)
class Setup:
    """What was run: one line of the table, or the two of a mix."""

    level: str
    disks: int
    pattern: str
    depth: int

    @property
    def is_sequential(self) -> bool:
        return "seq" in self.pattern


@dataclass(frozen=True)
class Figures:
    """One direction of a run."""

    iops: float
    mean_ms: float
    p99_ms: float


def rows() -> list[dict[str, str]]:
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def setup_of(row: dict[str, str]) -> Setup:
    return Setup(row["level"], int(row["disks"]), row["pattern"], int(row["queue_depth"]))


def n_measured(row: dict[str, str]) -> int:
    """Requests of the measured run, both directions together."""
    return int(int(row["n"]) * float(row["total_iops"]) / float(row["iops"]))


def array_of(setup: Setup) -> Array:
    level = "jbod" if setup.level == "single" else setup.level.split()[0].lower()
    layout: dict[str, object] = {"level": level, "disks": setup.disks}
    if "full" not in setup.level and "full" not in setup.pattern:
        # behind the data offset each member has 16 GiB: the arrays of the traces have 32 and 48 GiB
        layout["member"] = "16 GiB" if level == "jbod" else f"{16 * 1024 + 1} MiB"
    if level != "jbod":
        layout |= {"data_offset": "1 MiB", "read_strips": "separate"}
    if level == "raid5":
        layout["stripe_cache_pages"] = 256
    if level == "raid10":
        layout |= {"largest_request": LARGEST_REQUEST, "huge_page_ratio": HUGE_PAGE_RATIO if setup.depth > 1 else 0}
    drive = load_drive("md-raid-10k").to_dict()
    if " RA" in setup.pattern and "no RA" not in setup.pattern:
        drive["cache"] = {"size": "512 KiB", "segments": 1, "read_ahead": "512 KiB"}
    spindles = {"phase": "spread", "drift_ppm": 400}
    host = {"submission": f"{TURNAROUND_US.get(setup.level, TURNAROUND_MD_US)} us"}
    queue = {"write_throttle": "linux"}
    return Array.parse({"drive": drive, "layout": layout, "spindles": spindles, "queue": queue, "host": host})


def read_ratio(setup: Setup) -> float:
    """Share of reads that was really issued; a mix of 70/30 has drawn 69 to 70.5 % of them."""
    counts = {row["dir"]: int(row["n"]) for row in rows() if setup_of(row) == setup}
    return counts.get("read", 0) / sum(counts.values())


def workload_of(setup: Setup) -> Workload:
    stream: dict[str, object] = {"size": "4 KiB", "read_ratio": read_ratio(setup), "clients": setup.depth}
    if setup.is_sequential:
        stream |= {"size": "1 MiB", "addresses": {"pattern": "sequential"}}
    return Workload.parse(stream)


def tausworthe(seed: int) -> Iterator[int]:
    """Numbers of 32 bits as fio draws them (L'Ecuyer 1996, taus88).

    References
    ----------
    P. L'Ecuyer, "Maximally Equidistributed Combined Tausworthe Generators", Mathematics of Computation 65 (1996).
    """
    word = 0xFFFFFFFF
    state, x = [], (2 ^ 31) + (2 ^ 17) + (2 ^ 7)  # as fio has it: the signs mean "exclusive or" in C, too
    for least in (1, 7, 15):
        x = (x * 69069 ^ seed) & word
        x += least if x < least else 0
        state.append(x)
    a, b, c = state
    n_skipped = 6
    while True:
        a = (a & word - 1) << 12 & word ^ ((a << 13 & word) ^ a) >> 19
        b = (b & word - 7) << 4 & word ^ ((b << 2 & word) ^ b) >> 25
        c = (c & word - 15) << 17 & word ^ ((c << 3 & word) ^ c) >> 11
        if n_skipped:
            n_skipped -= 1
        else:
            yield a ^ b ^ c


@cache
def fio_offsets(n: int, n_blocks: int) -> np.ndarray:
    """First bytes of fio's first `n` random requests of 4 KiB to `n_blocks` blocks."""
    drawn = np.fromiter(islice(tausworthe(ADDRESS_SEED), n), np.float64, n)
    return (drawn / 2**32 * n_blocks).astype(np.int64) * 4096


@cache
def fio_mix(n: int) -> np.ndarray:
    """Operations of fio's first `n` requests of a mix (`get_rw_ddir` in its io_u.c): 0 read, 1 write."""
    draws = tausworthe(MIX_SEED)
    share = (READ_PERCENT, 100 - READ_PERCENT)
    op, n_issued, until = 0, [0, 0], 0
    ops = np.empty(n, np.uint8)
    for i in range(n):
        if n_issued[op] >= until:
            drawn = int(1 + (next(draws) * 100 >> 32) > READ_PERCENT)
            if drawn != op:
                until = n_issued[op] * share[1 - op] // 100
            op = drawn
        n_issued[op] += 1
        ops[i] = op
    return ops


def fio_requests(setup: Setup, capacity_bytes: int, n: int, start_ns: int = 0) -> Requests:
    """The first `n` requests of a random row; the run begins at `start_ns`."""
    requests = workload_of(setup).requests(capacity_bytes=capacity_bytes, n=n, seed=SEED)
    when = np.zeros(n, np.int64)
    when[: setup.depth] = start_ns
    op = fio_mix(n) if "mix" in setup.pattern else np.full(n, "write" in setup.pattern, np.uint8)
    return replace(requests, offset=fio_offsets(n, capacity_bytes // 4096), op=op, when_ns=when)


@cache
def measured_again(
    setup: Setup, starts: tuple[int, ...] = tuple(range(STARTS))
) -> tuple[dict[int, Figures], float, float]:
    """Figures of a random row by direction, and member reads and writes per operation.

    The measured run, as long as it was, from each of the given starts; latencies of all of them together.
    """
    row = next(row for row in rows() if setup_of(row) == setup)
    rate = float(row["total_iops"])
    seconds = n_measured(row) / rate
    array = array_of(setup)
    n = int(n_measured(row) + 1.5 * WARM_UP_S * rate) + 4 * setup.depth
    ms: dict[int, list[np.ndarray]] = {op: [] for op in DIRECTIONS.values()}
    member = np.zeros(2)
    for start in starts:
        start_ns = start * GAIN_NS // STARTS
        requests = fio_requests(setup, array.usable_bytes, n, start_ns)
        outcome = run(resolve(array, SEED), requests)
        done = outcome.completions
        since_s = (done.done_ns - start_ns) / 1e9
        assert since_s.max() > WARM_UP_S + seconds
        is_counted = (since_s > WARM_UP_S) & (since_s <= WARM_UP_S + seconds)
        for op, latencies in ms.items():
            latencies.append((done.done_ns - done.issue_ns)[is_counted & (requests.op == op)] / 1e6)
        member += [outcome.devices.n_reads.sum() / n, outcome.devices.n_writes.sum() / n]
    figures = {}
    for op, latencies in ms.items():
        together = np.concatenate(latencies)
        if len(together):
            iops = len(together) / seconds / len(starts)
            figures[op] = Figures(iops, float(together.mean()), float(np.percentile(together, 99)))
    reads, writes = member / len(starts)
    return figures, float(reads), float(writes)


@cache
def sequential(setup: Setup, n: int = 1500) -> tuple[dict[int, Figures], float, float]:
    """Figures of a sequential row, as `measured_again`; a tenth of the run is warm-up."""
    array = array_of(setup)
    requests = workload_of(setup).requests(capacity_bytes=array.usable_bytes, n=n, seed=SEED)
    op = int("write" in setup.pattern)
    outcome = run(resolve(array, SEED), replace(requests, op=np.full(n, op, np.uint8)))
    done = outcome.completions
    order = np.argsort(done.done_ns, kind="stable")[n // 10 : n - setup.depth]
    seconds = (done.done_ns[order[-1]] - done.done_ns[order[0]]) / 1e9
    ms = (done.done_ns - done.issue_ns)[order] / 1e6
    figures = {op: Figures(len(order) / seconds, float(ms.mean()), float(np.percentile(ms, 99)))}
    return figures, float(outcome.devices.n_reads.sum() / n), float(outcome.devices.n_writes.sum() / n)


def simulated(setup: Setup) -> tuple[dict[int, Figures], float, float]:
    """Figures of a row by direction, and member reads and writes per operation."""
    return sequential(setup) if setup.is_sequential else measured_again(setup)
