"""Random cases at real sizes: whole drives of the catalogue under every option of the public model.

`cases.py` draws small drives, on which caches fill and tracks end within some hundred requests. Here the same options
meet real geometries, seek tables, buffers and capacities, and requests come from a `Workload`, as a user's do.
As a program it compares a range of cases: `python -m tests.differential.whole_drives FIRST LAST [SECONDS]`.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from diskmodel.array import Array
from diskmodel.drive import Hdd, catalogue, load_drive
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.errors import DescriptionError
from diskmodel.layout.levels import LEVELS
from diskmodel.workload import Workload
from tests.differential.cases import HOST_SCHEDULERS, LEVEL_DISKS, build, draw_check
from tests.differential.compare import between

Case = dict[str, Any]
Pick = Callable[[Sequence[Any]], Any]

#: Disk commands that one case may make, about: one or two tenths of a second in the reference engine.
MAX_COMMANDS = 3_000
#: Disk commands beyond which a case is left out: the reference engine would take several seconds.
MAX_REFERENCE_COMMANDS = 20_000
#: Drives whose zones the host writes in order accept few of the loads that are drawn (`test_zoned_drives.py`).
ZONED = ("wd-ultrastar-hc620",)
DRIVES = tuple(name for name in catalogue() if name not in ZONED)
#: Fields of a check or a resync.
CHECKS: dict[str, Sequence[object]] = {
    "window_bytes": (1 << 20, 128 << 10),
    "done_ratio": (0, 0.5),
    "speed_max_bytes_per_s": (1e18, 1e6, 50e6),
    "speed_min_bytes_per_s": (1e3, 1e6, 1e18),
    "page_ns": (0, 3000),
}


def whole_case(seed: int) -> Case:
    """Case number `seed`: the same on any machine with the same catalogue."""
    return draw_whole_case(random.Random(seed).choice)


def draw_whole_case(pick: Pick) -> Case:
    """A case that the public model accepts, every choice made by `pick`."""
    while True:
        case = _draw(pick)
        try:
            array = Array.parse(case["array"])
            Workload.parse(case["workload"]).requests(capacity_bytes=array.usable_bytes, n=1, seed=case["seed"])
        except DescriptionError:  # options that exclude each other: draw again
            continue
        return case


@cache
def _is_hdd(drive: str) -> bool:
    return isinstance(load_drive(drive), Hdd)


def _draw(pick: Pick) -> Case:
    level = pick(tuple(LEVEL_DISKS))
    drive = pick(DRIVES)
    is_held = pick((False, True)) and LEVELS[level].family == "parity"
    array = {
        "drive": drive,
        "layout": _layout(pick, level, is_held),
        "queue": _queue(pick, is_held),
        "controller": _controller(pick),
        "host": _host(pick),
        "spindles": {"phase": pick(("synchronised", "random", "spread")), "drift_ppm": pick((0, 0, 20, 400))},
        "drive_write_cache": pick((None, True, False)) if _is_hdd(drive) else None,
    }
    workload = {"streams": [_stream(pick) for _ in range(pick((1, 1, 2, 3)))]}
    disks = array["layout"]["disks"]
    n = pick((60, 200, 600))
    case = {
        "array": array,
        "workload": workload,
        "n": _affordable(n, workload, array["layout"], disks),
        "seed": pick(range(10_000)),
    }
    draw_check(pick, array["layout"], (True, True, True, False), CHECKS)
    return case


def _affordable(n: int, workload: Case, layout: Case, disks: int) -> int:
    """Return so many requests that the case stays within `MAX_COMMANDS`."""
    longest = max(stream["size_bytes"] for stream in workload["streams"])
    strip = 512 if layout["level"] == "raid3" else layout["strip_bytes"]
    pieces = 2 * (longest // strip + 2)
    if layout["read_strips"] == "joined" and layout["read_modify_write"] == "released":
        pieces = min(pieces, 4 * disks)
    return min(n, max(MAX_COMMANDS // pieces, 12))


def _layout(pick: Pick, level: str, is_held: bool) -> Case:
    kind = LEVELS[level]
    n = pick(
        (*LEVEL_DISKS[level], LEVEL_DISKS[level][-1] * (2 if level in ("raid5", "raid3", "raid4", "raid0") else 1))
    )
    layout: Case = {
        "level": level,
        "disks": n,
        "strip_bytes": pick((64 << 10, 4096, 16 << 10, 256 << 10, 1 << 20)),
        "read_policy": pick(("nearest", "shortest-queue", "round-robin", "primary", "nearest-arm")),
        "read_strips": pick(("joined", "separate")),
        "write_policy": pick(("fewest", "read-modify-write", "reconstruct-write")),
        "read_modify_write": "held" if is_held else "released",
        "data_offset_bytes": pick((0, 0, 1 << 20)),
    }
    if kind.n_parity is None:
        layout |= {"n_parity": pick((1, 2)), "groups": n // 5}
    if kind.has_far_copies:
        layout["arrangement"] = pick(("near", "far"))
    if kind.family == "parity" and kind.rotates:
        layout["rotation"] = pick(("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"))
    if pick((False, False, True)):
        layout["member_bytes"] = pick((1 << 28, 1 << 24))
    if kind.is_redundant and pick((False, False, True)):
        layout["failed"] = [pick(range(n))]
        if pick((False, True)):
            rate, least = pick((1e18, 1e6, 50e6)), pick((1e3, 1e6, 1e18))
            layout |= {
                "spares": pick((1, 2)),
                "rebuild": {
                    "window_bytes": pick((1 << 20, 64 << 10)),
                    "done_ratio": pick((0, 0.001, 0.5)),
                    "speed_max_bytes_per_s": rate,
                    "speed_min_bytes_per_s": least,
                },
            }
    return layout


def _queue(pick: Pick, is_held: bool) -> Case:
    queue: Case = {"scheduler": pick(HOST_SCHEDULERS)}
    if pick((False, True)):
        queue["drive_depth"] = pick((1, 2, 32))
    if pick((False, False, True)):
        queue |= {"merge": True, "merge_limit_bytes": pick((1 << 20, 64 << 10))}
    if queue["scheduler"] == "mq-deadline":
        queue |= {
            "fifo_batch": pick((16, 1)),
            "writes_starved": pick((2, 1)),
            "read_expire_ns": pick((500_000_000, 50_000_000)),
            "write_expire_ns": pick((5_000_000_000, 10**8)),
        }
    if queue["scheduler"] == "sptf-aged":
        queue["age_ns"] = pick((300_000_000, 20_000_000))
    if queue["scheduler"] == "rpo":
        queue |= {"age_weight": pick((0.2, 1.0)), "committed": pick((0, 8))}
    if not is_held and pick((False, False, True)):
        queue |= {"write_throttle": "linux", "block_requests": pick((256, 16))}
    return queue


def _controller(pick: Pick) -> Case:
    controller: Case = {"hit_ns": pick((30_000, 0, 100_000)), "command_ns": pick((0, 0, 20_000))}
    if pick((False, True)):
        controller["link_bytes_per_s"] = pick((400e6, 40e6))
    block = pick((4096, 512, 16384))
    kind = pick(("none", "none", "ratio", "size"))
    if kind == "ratio":
        controller["read_cache"] = {"hit_ratio": pick((0.0, 0.3, 0.9))}
    if kind == "size":
        controller["read_cache"] = {
            "size_bytes": pick((1 << 20, 16 << 20)),
            "policy": pick(("lru", "2q", "arc")),
            "block_bytes": block,
        }
        controller["read_ahead_bytes"] = pick((0, 128 << 10, 1 << 20))
    if pick((False, False, True)):
        high, low = pick(((0.5, 0.25), (1, 0), (0, 0), (0.9, 0.8)))
        controller["write_cache"] = {
            "size_bytes": pick((256 << 10, 1 << 20, 16 << 20)),
            "block_bytes": block,
            "destage_depth": pick((32, 1, 4)),
            "line_bytes": pick((4096, 64 << 10)),
            "high_ratio": high,
            "low_ratio": low,
        }
    return controller


def _host(pick: Pick) -> Case:
    if pick((False, False, True)):
        return {}
    host: Case = {"submission_ns": pick((0, 10_000, 200_000))}
    if pick((False, True)):
        host |= {"submission_sequential_ns": pick((0, 4_000)), "write_cost_ratio": pick((1.0, 1.5))}
    if pick((False, False, True)):
        host |= {"pause_ns": pick((300_000, 5_000_000)), "pause_interval_ns": pick((1_000_000, 20_000_000))}
    if pick((False, True)):
        host |= {
            "is_buffered": True,
            "read_ahead_bytes": pick((0, 128 << 10, 1 << 20)),
            "page_bytes": pick((4096, 16384)),
            "largest_request_bytes": pick((512 << 10, 64 << 10)),
        }
        if pick((False, True)):
            background, limit = pick(((0.1, 0.2), (0, 0.1), (0.3, 0.5)))
            cache: Case = {
                "memory_bytes": pick((64 << 20, 4 << 20, 1 << 30)),
                "dirty_background_ratio": background,
                "dirty_ratio": limit,
                "dirty_expire_ns": pick((30_000_000_000, 50_000_000)),
                "dirty_writeback_ns": pick((5_000_000_000, 20_000_000)),
                "writeback_depth": pick((128, 4)),
                "is_synchronous": pick((False, False, True)),
            }
            if not cache["is_synchronous"] and pick((False, True)):
                cache["sync_every"] = pick((1, 7))
            host["page_cache"] = cache
    return host


def _stream(pick: Pick) -> Case:
    addresses = pick(
        (
            {"pattern": "uniform"},
            {"pattern": "sequential"},
            {"pattern": "sequential", "mean_run": 8},
            {"pattern": "sequential", "n_readers": 4},
            {"pattern": "hot_spot", "access_ratio": 0.8, "space_ratio": 0.2},
            {"pattern": "zipf"},
            {"pattern": "strided", "stride": "1 MiB"},
            {"pattern": "sorted", "n_batch": 16},
        )
    )
    stream: Case = {
        "addresses": addresses,
        "size_bytes": pick((4096, 512, 8192, 65536, 1 << 20)),
        "read_ratio": pick((0.5, 0.0, 0.7, 1.0)),
    }
    if pick((False, True)):
        stream["span_ratio"] = pick((0.5, 0.001))
    arrival = pick(("clients", "clients", "think", "pace", "rate", "constant", "bursts"))
    if arrival in ("clients", "think", "pace"):
        stream["clients"] = pick((1, 2, 4, 16, 64))
    if arrival == "think":
        stream |= {"think_ns": pick((1_000_000, 20_000_000)), "think_distribution": pick(("fixed", "exponential"))}
    elif arrival == "pace":
        stream["client_rate_per_s"] = pick((20, 200))
    elif arrival == "rate":
        stream["rate_per_s"] = pick((50, 400, 5000))
    elif arrival == "constant":
        stream["arrival"] = {"kind": "constant", "rate_per_s": pick((50, 1000))}
    elif arrival == "bursts":
        stream["arrival"] = {"kind": "bursts", "on_rate": "1000/s", "mean_on": "50 ms", "mean_off": "200 ms"}
    return stream


def whole_difference(case: Case) -> tuple[int, str | None]:
    """Completions that were compared, and how the engines differ, or None.

    None are compared where the kernel's run shows that the reference engine would take too long, or that requests wait
    for a rebuild without an end.
    """
    scenario, requests = build(case)
    reason = native.covers(scenario, requests)
    assert reason is None, f"the kernel does not cover {reason}"
    try:
        kernel = native.run(scenario, requests)
    except DescriptionError as error:
        if error.faults[0].field != "layout.rebuild":  # starves the requests (rule R6), which would take hours here
            raise
        return 0, None
    if int((kernel.devices.n_reads + kernel.devices.n_writes).sum()) > MAX_REFERENCE_COMMANDS:
        return 0, None
    found = between(requests, simpy_engine.run(scenario, requests), kernel)
    return len(requests), found and f"{found}\ncase: {json.dumps(case)}"


def _compare_many(first: int, last: int, seconds: float) -> int:
    """Compare cases [first, last) until the time is up; print every difference and the totals."""
    until, n_pairs, n_cases, n_differ = time.monotonic() + seconds, 0, 0, 0
    for seed in range(first, last):
        if time.monotonic() > until:
            break
        try:
            n, found = whole_difference(whole_case(seed))
        except Exception as error:
            n, found = 0, f"{type(error).__name__}: {error}\ncase: {json.dumps(whole_case(seed))}"
        n_cases, n_pairs = n_cases + 1, n_pairs + n
        if found:
            n_differ += 1
            print(f"whole_case({seed}): {found}", flush=True)
    print(f"{n_cases} cases, {n_pairs} pairs of completions, {n_differ} cases with a difference")
    return 1 if n_differ else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(_compare_many(int(arguments[0]), int(arguments[1]), float(arguments[2]) if arguments[2:] else 1e9))
