"""Both engines on pools with cache devices (rule X27): read from, fed, written over, and full from the beginning."""

from __future__ import annotations

import random

import pytest

from diskmodel.engine import native
from tests.differential.cases import Case, build
from tests.differential.compare import difference
from tests.differential.test_pools import pool_case

N_CASES = 32


def cache_device_case(seed: int) -> Case:
    """A pool behind a small ARC with cache devices of a few records or of all that is read, drawn from a seed."""
    rng = random.Random(2000 + seed)
    pick = rng.choice
    case = pool_case(seed)
    layout = case["array"]["layout"]
    record = pick((16384, 131072, 1 << 20, 16 << 20))
    layout |= {"record_bytes": record, "ashift": 12, "member_bytes": 8 << 30}
    n_records = pick((8, 30, 120))
    n_l2arc = pick((n_records // 4, n_records // 2, 2 * n_records))
    devices = pick((1, 1, 3))
    case["array"]["controller"] = {"read_cache": {"size_bytes": record * pick((2, 3, n_records // 4, n_records // 2))}}
    layout["cache"] = {
        "size_bytes": record * max(n_l2arc // devices, 1),
        "count": devices,
        "page_bytes": pick((4096, 16384)),
        "dies": pick((1, 4, 7)),
        "read_ns": pick((60_000, 1_000_000)),
        "command_ns": pick((0, 2_000)),
        "latency_ns": pick((0, 12_000)),
        "bytes_per_s": pick((1e9, 100e6)),
    }
    size = record * pick((1, 1, 2)) // pick((1, 2))
    stream = {"size_bytes": size, "alignment_bytes": record // 2, "span_bytes": record * n_records}
    # some tens of feeds
    stream |= {"rate_per_s": pick((20.0, 60.0)), "read_ratio": pick((1.0, 1.0, 0.8, 0.5))}
    if pick((False, False, True)):
        stream["addresses"] = {"pattern": "sequential", "mean_run": 20.0, "n_readers": pick((1, 3))}
    case["workload"] = {"streams": [stream]}
    case["start"] = pick((0, 0, 0.5, 1.0))
    case["n"] = 400
    return case


@pytest.mark.parametrize("block", range(4))
def test_the_engines_agree_on_cache_devices(block: int) -> None:
    for seed in range(block, N_CASES, 4):
        divergence = difference(cache_device_case(seed))
        assert divergence is None, f"cache_device_case({seed}): {divergence}"


def test_the_cases_show_every_part_of_the_rule() -> None:
    """Records that are found and others, from the beginning and after feeds; slots used again; reads for writes."""
    found = []
    for seed in range(N_CASES):
        scenario, requests = build(cache_device_case(seed))
        run = native.run(scenario, requests)
        found.append((len(scenario.start.l2arc) > 0, run.l2arc_hits, run.l2arc_misses))
    assert sum(hits > 20 for is_full, hits, _ in found if is_full) > 5
    assert sum(hits > 20 for is_full, hits, _ in found if not is_full) > 5
    assert sum(misses > 20 for *_, misses in found) > 20
