"""What a case of the engines has: the features whose pairs the fixed cases have to draw together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from diskmodel.records import Sync
from tests.differential.cases import Case


def features_of(case: Case) -> frozenset[str]:
    """Return the features of a case drawn by `cases.draw_case`: what engines do differently with or without it."""
    array = case["array"]
    drive, layout, controller = array["drive"], array["layout"], array.get("controller", {})
    host, queue = array.get("host", {}), array.get("queue", {})
    streams = case["streams"]
    rebuild = layout.get("rebuild", {})
    caches = controller.get("read_cache", {})
    found = {
        f"{drive['kind']} drives": True,
        "two actuators": drive.get("actuators") == 2,
        "drive cache": "cache" in drive,
        "write-back in drives": drive.get("cache", {}).get("write_back", False),
        "media cache": "media_cache" in drive,
        "write zones": "write_zones" in drive,
        "retries": "retries" in drive,
        "suspended programs": bool(drive.get("suspend_ns")),
        "unused flash": drive.get("used_ratio", 1.0) < 1,
        "drive_fua": array.get("drive_fua", False),
        "a lost disk": "failed" in layout,
        "a rebuild": "spares" in layout,
        "a check": rebuild.get("action") in ("check", "resync"),
        "bitmap": "bitmap" in layout,
        "journal of md": "log" in layout,
        "partial parity log": layout.get("consistency_policy") == "ppl",
        "stripe cache": "stripe_cache_pages" in layout,
        "held disks": layout.get("read_modify_write") == "held",
        "far copies": layout.get("arrangement") == "far",
        "largest request": "largest_request_bytes" in layout,
        f"{layout['level']}": True,
        "drawn hits": "hit_ratio" in caches,
        "read cache": "size_bytes" in caches,
        "read-ahead of the controller": bool(controller.get("read_ahead_bytes")),
        "write cache": "write_cache" in controller,
        "link": "link_bytes_per_s" in controller,
        "processor": bool(host.get("submission_ns")),
        "buffered host": host.get("is_buffered", False),
        "page cache": "page_cache" in host,
        "pauses": "pause_ns" in host,
        "lock": bool(host.get("lock_ns")),
        "mq-deadline": queue.get("scheduler") == "mq-deadline",
        "drive depth": "drive_depth" in queue,
        "merging": queue.get("merge", False),
        "write throttle": "write_throttle" in queue,
        "clients": any(s["clients"] for s in streams),
        "a rate": not all(s["clients"] for s in streams),
        "syncs by flushes": any(s.get("sync") == Sync.FLUSH for s in streams),
        "dsync": any(s.get("sync") == Sync.DSYNC for s in streams),
        "dsync of files": any(s.get("sync") == Sync.FILE_DSYNC for s in streams),
        "commits": any("log_ratio" in s for s in streams),
        "journal of files": any("journal" in s for s in streams),
        "flushes alone": any(s.get("is_of_flushes") for s in streams),
        "filled start": bool(case.get("start")),
    }
    return frozenset(name for name, has in found.items() if has)


def features_of_pool(case: Case) -> frozenset[str]:
    """Return the features of a pool's case (`pools.pair_case`)."""
    array, streams = case["array"], case["workload"]["streams"]
    layout, first = array["layout"], streams[0]
    found = {
        f"drives {array['drive'] if isinstance(array['drive'], str) else 'with a cache'}": True,
        layout["level"]: True,
        "several vdevs": layout["vdevs"] > 1,
        "a lost disk": "failed" in layout,
        "a scan": "rebuild" in layout,
        "small records": layout["record_bytes"] <= 8192,
        "large records": layout["record_bytes"] > 131072,
        "work on records": bool(layout.get("record_work_ns")),
        "log device": "log" in layout,
        "special vdev": "special" in layout,
        "cache device": "cache" in layout,
        "ARC": "controller" in array,
        "sync disabled": layout.get("sync") == "disabled",
        "processor": bool(array.get("host", {}).get("submission_ns")),
        "several processors": array.get("host", {}).get("processors", 1) > 1,
        "page cache": "page_cache" in array.get("host", {}),
        "reads in order": first.get("addresses", {}).get("pattern") == "sequential",
        "clients": "clients" in first,
        "a rate": "rate_per_s" in first,
        "reads": first.get("read_ratio", 1.0) > 0,
        "writes": first.get("read_ratio", 1.0) < 1,
        "fdatasync": first.get("sync") == "fdatasync",
        "dsync": first.get("sync") == "dsync",
        "commits": any(s.get("kind") == "commits" for s in streams),
        "flushes alone": any(s.get("kind") == "flushes" for s in streams),
        "filled start": bool(case.get("start")),
    }
    return frozenset(name for name, has in found.items() if has)


def pairs_of(found: Iterable[frozenset[str]]) -> Counter[tuple[str, str]]:
    """Return how many cases have both features of each pair."""
    return Counter(pair for features in found for pair in combinations(sorted(features), 2))
