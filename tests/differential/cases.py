"""Random cases for both engines: an array on small drives and rows that ask something of it.

A case is plain data, so that it can be printed, shrunk and kept as JSON. One function draws it; what it draws from is
either hypothesis (which shrinks towards the first option) or a seeded generator (the same list of cases every time).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.errors import DescriptionError
from diskmodel.layout.description import Layout
from diskmodel.layout.levels import LEVELS, RaidLevel
from diskmodel.layout.md.journal import PARTIAL_BYTES, PARTIAL_FIRST_BYTES
from diskmodel.queue import SCHEDULERS
from diskmodel.records import Op, Requests, StreamRule, Sync
from diskmodel.workload import Workload
from tests.differential.drawn_drives import (
    SECTOR,
    Pick,
    draw_drive,
    in_order,
    media_cache,
)
from tests.differential.filled import filled_start

Case = dict[str, Any]

#: Cases that are kept: engines once differed on them, or they are the rare ones that catch a mutant.
CORPUS = sorted((Path(__file__).parent / "corpus").rglob("*.json"))
#: Cases `random_case(0)` to this one are run in the fast tier; with the kept ones they have to catch every mutant.
N_FIXED = 400


def _disk_counts(level: RaidLevel) -> tuple[int, ...]:
    """Two numbers of disks that a level can have."""
    parities = {"n_parity": 2} if level.n_parity is None else {}
    found = []
    for disks in range(level.min_disks, 16):
        with contextlib.suppress(DescriptionError):
            Layout.parse({"level": level.name, "disks": disks, **parities})
            found.append(disks)
    return tuple(found[:2])


#: Numbers of disks where a case draws others than the two smallest.
_DISKS = {
    "jbod": (1, 3),
    "raid0": (2, 4),
    "raid1e": (3, 5),
    "raid5": (3, 5),
    "raid6": (4, 6),
    "raid60": (8,),
    "erasure": (5, 10),
}
#: Every level, and the numbers of disks that its cases have.
LEVEL_DISKS = {name: _DISKS.get(name) or _disk_counts(level) for name, level in LEVELS.items()}
#: Above a disk a scheduler that goes to the edge is one that does not.
HOST_SCHEDULERS = in_order(
    ("fcfs", "mq-deadline", "sstf", "look", "c-look", "f-scan", "sptf", "sptf-aged"),
    (name for name, policy in SCHEDULERS.items() if not policy.edge),
)
#: Completions between two records of the levels: some in every case, and not at every one.
SAMPLE_EVERY = 7
#: Fields of a check or a resync.
CHECKS: dict[str, Sequence[object]] = {
    "window_bytes": (4096, 65536, 512),
    "done_ratio": (0, 0.5),
    "steps_at_once": (2, 1, 3),
    "speed_max_bytes_per_s": (1e18, 1e6),
    "speed_min_bytes_per_s": (1e3, 1e6, 1e9),
    "page_ns": (0, 3000, 100_000),
}
#: Pieces that one case may make of its rows, about: what SimPy does in some tens of milliseconds.
MAX_PIECES = 8_000


def draw_case(pick: Pick) -> Case:
    """A case, every choice made by `pick`."""
    level, drive = pick(tuple(LEVEL_DISKS)), draw_drive(pick)
    case = {
        "array": {
            "drive": drive,
            "layout": _layout(pick, level),
            "controller": _controller(pick),
            "queue": _queue(pick),
            "drive_write_cache": pick((None, True)) if drive["kind"] == "hdd" else None,
            "spindles": {"drift_ppm": pick((0, 400)), "phase": pick(("synchronised", "spread", "random"))},
        },
        "streams": [_stream(pick) for _ in range(pick((1, 2)))],
        "n": pick((20, 100, 250, 500)),
        "seed": pick(range(1000)),
    }
    # last, so that older cases keep everything else that they drew
    case["array"]["controller"] |= _caches(pick)
    case["array"]["host"] = _host(pick)
    case["array"]["queue"] |= _block_layer(pick, case["array"]["layout"]["read_modify_write"] == "held")
    if pick((False,) * 7 + (True,)):
        # queues so deep that the kernel keeps them in order
        case["streams"][0] |= {"clients": 150, "pace_ns": 0, "mean_gap_ns": 0, "sectors": 8}
    if "is_buffered" in case["array"]["host"] and pick((False, True)):
        case["array"]["host"]["page_cache"] = _page_cache(pick)
    _costs_and_syncs(pick, case["array"]["host"])
    case["start"] = pick((0, 0, 1, 0.5, 0.1))
    _processors(pick, case["array"]["host"])
    _bitmap(pick, case["array"]["layout"])
    if "rebuild" in case["array"]["layout"]:
        case["array"]["layout"]["rebuild"]["speed_min_bytes_per_s"] = pick((1e3, 1e6, 1e9))
    if LEVELS[level].default_copies > 1 and pick((False, True)):
        case["array"]["layout"]["largest_request_bytes"] = pick((11_264, 512, 4096, 32 << 10))
        case["array"]["layout"]["huge_page_ratio"] = pick((0, 0.3, 0.5, 1))
    draw_check(pick, case["array"]["layout"], (True, True, False), CHECKS)
    if case["array"]["drive"]["kind"] == "hdd" and pick((False, False, True)):
        media_cache(pick, case["array"]["drive"])
    if case["array"]["drive"]["kind"] == "hdd" and pick((False,) * 9 + (True,)):
        _write_zones(pick, case)
    if case["array"]["drive"]["kind"] == "flash":
        tables: Sequence[tuple[int, ...]] = ((), (0, 0, 40_000), (9_000,), (0, 1_000, 5_000, 700_000))
        case["array"]["drive"] |= {"read_delay_ns": pick(tables), "write_delay_ns": pick(tables)}
    if case["array"]["drive"].get("cache"):
        case["array"]["drive"]["cache"]["write_room_bytes"] = pick((0, 0, 8192, 5000))
    _stripe_cache(pick, case["array"]["layout"])
    if pick((False, True)):
        _durable_writes(pick, case)
    if pick((False,) * 5 + (True,)):
        case["streams"].append(_stream(pick) | {"pattern": "uniform", "sectors": 1, "is_of_flushes": True})
    _journal(pick, case["array"]["layout"])
    _partial_parity(pick, case["array"])
    if case["array"]["drive"]["kind"] == "flash":
        case["array"]["drive"] |= {"suspend_ns": pick((0, 0, 40_000, 300_000)), "used_ratio": pick((1.0, 1.0, 0.6))}
        batches = {"gc_batch_ns": pick((0, 0, 400_000, 3_000_000)), "gc_batch_room_bytes": pick((4096, 65536))}
        case["array"]["drive"] |= batches | {"volatile_cache": pick((None, True, False))}
        case["array"]["drive"] |= {"paces_writes": pick((False, True)), "read_beside_writes_ns": pick((0, 0, 90_000))}
        case["array"]["drive"] |= {"program_beside_reads_ns": pick((0, 0, 400_000))}
    return case


def _partial_parity(pick: Pick, array: dict[str, Any]) -> None:
    """Log partial parity on the disks, where they have room for it."""
    layout, drive = array["layout"], array["drive"]
    has_other = "bitmap" in layout or "log" in layout or layout["read_modify_write"] == "held"
    is_large = drive["capacity_bytes"] >= PARTIAL_FIRST_BYTES + PARTIAL_BYTES
    is_possible = layout["level"] == "raid5" and layout["strip_bytes"] % 4096 == 0 and is_large
    if is_possible and not has_other and pick((False, True)):
        layout["consistency_policy"] = "ppl"


def _journal(pick: Pick, layout: dict[str, Any]) -> None:
    """Give an array a journal so small that its room is freed, and runs out, within a case."""
    is_possible = layout["level"] in ("raid4", "raid5", "raid6") and layout["strip_bytes"] % 4096 == 0
    if is_possible and "bitmap" not in layout and layout["read_modify_write"] != "held" and pick((False, True)):
        layout["log"] = {
            "write_ns": pick((30_000, 1, 2_000_000)),
            "bytes_per_s": pick((500e6, 20e6, 1e15)),
            "flush_ns": pick((0, 0, 700_000, 10_000_000)),
            "size_bytes": 4 << 20,
        }


def _file_system(pick: Pick, case: Case) -> None:
    """Let syncs of most streams commit a journal, or write to a file with O_DSYNC."""
    journal_ratio = pick((0.1, 0.5))
    for stream in case["streams"]:
        stream["is_of_file"] = pick((1, 1, 0))
        if stream["sync"] == Sync.DSYNC and pick((False, True)):
            stream["sync"] = Sync.FILE_DSYNC.value
        elif stream["sync"] == Sync.FLUSH and pick((False, True, True, True)):
            stream["journal"] = {
                "ratio": journal_ratio,
                "body_bytes": pick((0, 8192, 16384, 3000)),
                "more_bytes": pick((0, 4096, 1024)),
                "block_bytes": pick((4096, 512)),
                "tick_ns": pick((0, 0, 4_000_000, 50_000_000)),
            }


def _durable_writes(pick: Pick, case: Case) -> None:
    """Let writes be followed by flushes, or pass the drives' caches."""
    array, drive = case["array"], case["array"]["drive"]
    for stream in case["streams"]:
        stream["sync"] = pick((Sync.FLUSH, Sync.DSYNC, Sync.NONE)).value
        stream["sync_every"] = pick((1, 1, 3)) if stream["sync"] == Sync.FLUSH else 1
        if pick((False, False, True)):
            stream |= {"log_block_bytes": pick((4096, 512, 3000)), "log_delay_ns": pick((0, 0, 2_000_000))}
            stream |= {"log_ratio": pick((1, 0.1)), "sync": stream["sync"] or 1, "write_ratio": 1, "sync_every": 1}
    if drive["kind"] == "hdd":
        array |= {"drive_fua": pick((False, True)), "drive_write_cache": pick((True, True, None))}
        cache = drive.setdefault("cache", {"size_bytes": 32 << 10, "segments": 2})
        cache |= {
            "write_back": pick((True, True, True, False)),
            "destage": pick(("scheduled", "in-order")),
            "power_loss_protected": pick((False, False, False, True)),
        }
    elif drive["kind"] == "flash":
        drive["flush_ns"] = pick((2_400_000, 0, 300_000))
    if pick((False, True)):
        _file_system(pick, case)
    if "write_cache" in array["controller"]:
        array["controller"]["write_cache"]["protected"] = pick((True, False))


def _write_zones(pick: Pick, case: Case) -> None:
    """Make the array a single disk whose host writes zones in order, with many writes that wait for the one before."""
    case["array"]["layout"] = {"level": "jbod", "disks": 1, "read_modify_write": "released"}
    drive = case["array"]["drive"]
    drive.pop("media_cache", None)
    zone = pick((300, 1000, 64))
    conventional = pick((0, drive["capacity_bytes"] // SECTOR // zone // 2))
    drive["recording"] = "shingled"
    drive["write_zones"] = {"size_bytes": zone * SECTOR, "conventional": conventional, "max_open": 2}
    case["streams"][0] |= {"clients": 20, "write_ratio": pick((1, 0.5)), "pattern": pick(("sequential", "hot", "tail"))}
    case["array"]["queue"]["merge_limit_bytes"] = pick((1 << 20, 8192, 64 << 10))


def draw_check(
    pick: Pick, layout: dict[str, Any], is_without: Sequence[bool], choices: Mapping[str, Sequence[object]]
) -> None:
    """Let a check or a resync of the array go on, where it can, with fields drawn from `choices`."""
    can_check = LEVELS[layout["level"]].is_redundant and layout.get("arrangement", "near") == "near"
    if not can_check or "failed" in layout or pick(is_without):
        return
    layout["rebuild"] = {"action": pick(("check", "resync")), **{name: pick(some) for name, some in choices.items()}}


def random_case(seed: int) -> Case:
    """Case number `seed`: the same on any machine."""
    return draw_case(random.Random(seed).choice)


def _layout(pick: Pick, level: str) -> dict[str, Any]:
    n, kind = pick(LEVEL_DISKS[level]), LEVELS[level]
    layout: dict[str, Any] = {
        "level": level,
        "disks": n,
        "strip_bytes": pick((4096, 512, 16384)),
        "data_offset_bytes": pick((0, 65536)),
        "read_policy": pick(("nearest", "shortest-queue", "round-robin", "primary", "nearest-arm")),
        "read_strips": pick(("joined", "separate")),
        "write_policy": pick(("fewest", "read-modify-write", "reconstruct-write")),
        "read_modify_write": pick(("released", "held")),
    }
    if kind.n_parity is None:
        layout |= {"n_parity": 2, "groups": n // 5}
    if kind.has_far_copies:
        layout["arrangement"] = pick(("near", "far"))
    if kind.family == "parity" and kind.rotates:
        layout["rotation"] = pick(("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"))
    if kind.is_redundant and pick((False, True)):
        layout["failed"] = [pick(range(n))]
        if pick((False, True, True)):
            layout |= {"spares": 1, "rebuild": {"window_bytes": pick((4096, 65536)), "done_ratio": pick((0, 0.5))}}
            layout["rebuild"]["steps_at_once"] = pick((2, 2, 1, 3))
            layout["rebuild"]["speed_max_bytes_per_s"] = pick((1e18, 1e6))
    return layout


def _controller(pick: Pick) -> dict[str, Any]:
    controller: dict[str, Any] = {"hit_ns": pick((100_000, 0)), "command_ns": pick((0, 20_000))}
    if pick((False, True)):
        controller["read_cache"] = {"hit_ratio": 0.3}
    if pick((False, True)):
        controller["link_bytes_per_s"] = 23e6
    return controller


def _caches(pick: Pick) -> dict[str, Any]:
    """Real caches of a controller, small enough to fill."""
    caches: dict[str, Any] = {}
    block_bytes = pick((512, 4096))
    if pick((False, False, True)):
        size_bytes, policy = pick((16 << 10, 48 << 10, 512 << 10)), pick(("lru", "2q", "arc"))
        caches["read_cache"] = {"size_bytes": size_bytes, "policy": policy, "block_bytes": block_bytes}
        caches["read_ahead_bytes"] = pick((0, 8 << 10, 64 << 10))
    if pick((False, False, True)):
        high, low = pick(((0.5, 0.25), (1, 0), (0, 0), (0.9, 0.8)))
        caches["write_cache"] = {
            "size_bytes": pick((16 << 10, 64 << 10, 512 << 10)),
            "block_bytes": block_bytes,
            "high_ratio": high,
            "low_ratio": low,
            "destage_depth": pick((32, 1, 3)),
            "line_bytes": pick((4096, 512, 12 << 10, 64 << 10)),
        }
    return caches


def _host(pick: Pick) -> dict[str, Any]:
    kind = pick(("transparent", "transparent", "processor", "buffered", "page by page"))
    host: dict[str, Any] = {}
    if kind != "transparent":
        host["submission_ns"] = pick((15_000, 0, 400_000))
    if kind in ("buffered", "page by page"):
        host |= {"is_buffered": True, "page_bytes": pick((4096, 2048)), "largest_request_bytes": pick((16 << 10, 8192))}
    if kind == "buffered":
        host["read_ahead_bytes"] = pick((128 << 10, 30_000))
    return host


def _page_cache(pick: Pick) -> dict[str, Any]:
    """Memory that is filled, and pages that become old, within the few hundred requests of a case."""
    background, limit = pick(((0.1, 0.2), (0.3, 0.5), (0, 0.1), (0.2, 0.25), (0, 0), (0.5, 1)))
    return {
        "memory_bytes": pick((256 << 10, 64 << 10, 1 << 20, 8 << 20)),
        "dirty_background_ratio": background,
        "dirty_ratio": limit,
        "dirty_expire_ns": pick((30_000_000_000, 50_000_000, 0)),
        "dirty_writeback_ns": pick((5_000_000_000, 20_000_000, 3_000_000)),
        "writeback_depth": pick((128, 1, 4)),
        "is_synchronous": pick((False, False, False, True)),
    }


def _costs_and_syncs(pick: Pick, host: dict[str, Any]) -> None:
    if host and pick((False, False, True)):
        host |= {"submission_sequential_ns": pick((0, 5_000)), "write_cost_ratio": pick((1.0, 1.5))}
    if host and pick((False, False, True)):
        host |= {"pause_ns": pick((300_000, 5_000_000)), "pause_interval_ns": pick((1_000_000, 20_000_000))}
    cache = host.get("page_cache")
    if cache and not cache["is_synchronous"] and pick((False, True)):
        cache["sync_every"] = pick((1, 7))


def _bitmap(pick: Pick, layout: dict[str, Any]) -> None:
    """Chunks of a few strips, and bits that are cleared many times within a run."""
    if LEVELS[layout["level"]].is_redundant and pick((False, True)):
        chunk_bytes = pick((1, 4)) * max(layout["strip_bytes"], 4096)
        layout["bitmap"] = {
            "chunk_bytes": chunk_bytes,
            "clear_interval_ns": pick((5_000_000, 1_000_000, 5_000_000_000)),
        }
        layout["bitmap"]["flush_ns"] = pick((0, 0, 400_000))


def _stripe_cache(pick: Pick, layout: dict[str, Any]) -> None:
    """So few pages that rows are soon forgotten, or all that are written."""
    is_possible = layout["level"] in ("raid4", "raid5", "raid6") and layout["strip_bytes"] % 4096 == 0
    if is_possible and layout["read_modify_write"] != "held" and pick((False, True)):
        layout["stripe_cache_pages"] = pick((8, 1, 256))


def _processors(pick: Pick, host: dict[str, Any]) -> None:
    if host and "pause_ns" not in host and pick((False, True)):
        host |= {"processors": pick((1, 2, 3)), "lock_ns": pick((0, 8_000, 200_000))}
        host |= {"write_lock_ns": pick((50_000, 0))} if pick((False, True)) else {}


def _queue(pick: Pick) -> dict[str, Any]:
    queue: dict[str, Any] = {"scheduler": pick(HOST_SCHEDULERS)}
    if pick((False, True)):
        queue["drive_depth"] = pick((1, 3))
    if queue["scheduler"] == "mq-deadline":
        queue |= {
            "fifo_batch": pick((16, 2, 1)),
            "writes_starved": pick((2, 1)),
            "read_expire_ns": pick((500_000_000, 5_000_000)),
            "write_expire_ns": pick((5_000_000_000, 20_000_000)),
        }
    if queue["scheduler"] == "sptf-aged":
        queue["age_ns"] = pick((300_000_000, 9_000_000))
    if queue["scheduler"] == "rpo":
        queue |= {"age_weight": pick((0.2, 1.0)), "committed": pick((0, 2))}
    return queue


def _block_layer(pick: Pick, holds_disks: bool) -> dict[str, Any]:
    queue: dict[str, Any] = {}
    if pick((False, True)):
        queue |= {"merge": True, "merge_limit_bytes": pick((1 << 20, 8192))}
    if pick((False, True)) and not holds_disks:
        queue |= {"write_throttle": "linux", "block_requests": pick((256, 8))}
    return queue


def _stream(pick: Pick) -> dict[str, Any]:
    return {
        "clients": pick((1, 0, 5, 20)),
        "pace_ns": pick((0, 10_000_000)),
        "pattern": pick(("uniform", "sequential", "hot", "backward", "tail")),
        "sectors": pick((1, 8, 30, 130)),
        "write_ratio": pick((0, 0.5, 1)),
        "mean_gap_ns": pick((0, 1_000_000, 6_000_000)),
    }


def build(case: Case) -> tuple[Scenario, Requests]:
    """What the engines take, of a case drawn here or of one with a `Workload` (`whole_drives.py`)."""
    array = Array.parse(case["array"])
    scenario = resolve(array, case["seed"])
    start = filled_start(scenario, case.get("start", 0), case["seed"])
    scenario = replace(scenario, start=start, sample_every=SAMPLE_EVERY)
    if "workload" in case:
        load = Workload.parse(case["workload"])
        return scenario, load.requests(capacity_bytes=array.usable_bytes, n=case["n"], seed=case["seed"])
    return scenario, _requests(case, scenario)


def _requests(case: Case, scenario: Scenario) -> Requests:
    rng = random.Random(case["seed"])
    streams = case["streams"]
    n_sectors, layout = scenario.layout.capacity, scenario.layout
    n = case["n"]
    pieces = sum(2 * (s["sectors"] / layout.strip + 1) * max(layout.copies, 2) for s in streams) / len(streams)
    n = min(n, max(int(MAX_PIECES / pieces), 3))
    at, clock = [rng.randrange(n_sectors) for _ in streams], [0] * len(streams)
    rows = []
    for _ in range(n):
        i = rng.randrange(len(streams))
        s = streams[i]
        length = min(1 + rng.randrange(s["sectors"]) if s["sectors"] > 8 else s["sectors"], n_sectors)
        sector = _next_sector(s["pattern"], at[i], length, n_sectors, rng)
        at[i] = sector if s["pattern"] == "backward" else sector + length
        gap = rng.randrange(2 * s["mean_gap_ns"] + 1) // 1000 * 1000
        clock[i] += gap
        # now and then requests that neither begin nor end on a sector
        cut = rng.choice((0, 0, 0, 100)) if length > 1 else 0
        if s.get("is_of_flushes"):
            rows.append((gap if s["clients"] else clock[i], int(Op.FLUSH), 0, 0, i, 1.0))
            continue
        rows.append(
            (
                gap if s["clients"] else clock[i],
                int(rng.random() < s["write_ratio"]),
                sector * SECTOR + cut,
                length * SECTOR - 2 * cut,
                i,
                rng.random(),
            )
        )
    when, op, offset, size, stream, draw = zip(*rows, strict=True)
    return Requests(
        np.array(when, np.int64),
        np.array(op, np.uint8),
        np.array(offset, np.int64),
        np.array(size, np.int64),
        np.array(stream, np.int32),
        np.array(draw),
        tuple(_rule(f"s{i}", stream, n_sectors) for i, stream in enumerate(streams)),
    )


def _rule(name: str, stream: dict[str, Any], n_sectors: int) -> StreamRule:
    rule = StreamRule(name, stream["clients"], stream["pace_ns"] if stream["clients"] else 0)
    rule = replace(rule, sync=stream.get("sync", 0), sync_every=stream.get("sync_every", 1))
    rule = replace(rule, is_of_flushes=stream.get("is_of_flushes", False))
    rule = replace(rule, is_of_file=stream.get("is_of_file", 0))
    if "journal" in stream:
        journal = stream["journal"]
        journal_bytes = max(int(n_sectors * journal["ratio"]), 128) * SECTOR
        rule = replace(
            rule,
            journal_first_byte=(n_sectors * SECTOR - journal_bytes) // 2,
            journal_bytes=journal_bytes,
            journal_body_bytes=journal["body_bytes"],
            journal_more_bytes=journal["more_bytes"],
            journal_block_bytes=journal["block_bytes"],
            journal_tick_ns=journal["tick_ns"],
        )
    if "log_ratio" not in stream:
        return rule
    n_bytes = max(int(n_sectors * stream["log_ratio"]), 1) * SECTOR
    block_bytes = min(stream["log_block_bytes"], n_bytes)
    first = (n_sectors * SECTOR - n_bytes) // 3
    return replace(
        rule,
        log_first_byte=first,
        log_bytes=n_bytes,
        log_block_bytes=block_bytes,
        log_delay_ns=stream["log_delay_ns"],
    )


def _next_sector(pattern: str, at: int, length: int, n_sectors: int, rng: random.Random) -> int:
    last = n_sectors - length
    if pattern == "sequential":
        return at if at <= last else 0
    if pattern == "backward":
        return min(at - length if at >= length else last, last)
    if pattern == "tail":
        return max(last - rng.randrange(40), 0)
    if pattern == "hot":
        return min(rng.randrange(256), last)
    return rng.randrange(last + 1)
