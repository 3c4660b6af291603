"""Rows drawn in blocks are the rows drawn at once."""

from typing import Any

import numpy as np
import pytest

from diskmodel.records import Requests
from diskmodel.workload import Workload
from diskmodel.workload.blocks import Blocks
from diskmodel.workload.excerpts import Excerpts

CAPACITY = 10**11
PATTERNS: list[dict[str, Any]] = [
    {"addresses": "uniform", "clients": 3},
    {"addresses": {"pattern": "sequential"}, "clients": 3, "think": "1 ms", "think_distribution": "exponential"},
    {"addresses": {"pattern": "sequential", "n_readers": 7}, "rate": "100/s"},
    {"addresses": {"pattern": "sequential", "n_readers": 5, "mean_run": 30}, "clients": 900, "client_rate": "80/s"},
    {"addresses": {"pattern": "sequential", "mean_run": 200}, "rate": "100/s"},
    {"addresses": {"pattern": "zipf"}, "rate_per_s": 50, "profile": {"relative_rates": [1, 3], "period": "10 s"}},
    {"addresses": {"pattern": "hot_spot", "access_ratio": 0.8, "space_ratio": 0.2}, "clients": 1},
    {"addresses": {"pattern": "reuse_walk", "n_walkers": 9}, "rate": "40/s"},
    {"addresses": {"pattern": "strided", "stride": "1 MiB"}, "clients": 1},
    {"addresses": {"pattern": "sorted", "n_batch": 48}, "clients": 1},
    {
        "addresses": "uniform",
        "arrival": {"kind": "bursts", "on_rate": "900/s", "off_rate_per_s": 3, "mean_on": "20 ms", "mean_off": "50 ms"},
    },
    {"addresses": "uniform", "arrival": {"kind": "given", "inter_arrival": ["5 ms", "1 ms", "0 ms"]}},
    {
        "addresses": "excerpts",
        "arrival": {"kind": "excerpts", "rate": "90/s"},
        "excerpts": Excerpts.pack(
            excerpt=[0, 1, 0],
            duration_ns=[10**8, 10**7, 10**9],
            shift_bytes=[0, 1 << 20, -(2 << 20)],
            ends=[3, 6],
            gap_ns=[1, 2, 3, 9, 0, 0],
            op=[0, 1, 0, 0, 0, 1],
            length=[4096, 8192, 65536, 65536, 8192, 4096],
            place=[0, 4096, 12288, 8 << 20, 4096, 0],
        ).to_dict(),
    },
]


def _stream(index: int, **other: Any) -> dict[str, Any]:
    return {"name": f"s{index}", "size": ["4 KiB", "8 KiB", "64 KiB"], "read_ratio": 0.6} | PATTERNS[index] | other


def _assert_same(workload: Workload, n: int, rows_per_block: int) -> None:
    whole = workload.requests(capacity_bytes=CAPACITY, n=n, seed=7)
    blocks = Blocks(workload.streams, None, CAPACITY, n, 7, rows_per_block)
    assert blocks.rules == whole.streams
    seen = 0
    for index in range(len(workload.streams)):
        expected = np.flatnonzero(whole.stream == index)
        seen += _assert_stream(blocks, index, whole, expected)
    assert seen == n


def _assert_stream(blocks: Blocks, index: int, whole: Requests, expected: np.ndarray) -> int:
    at = n_blocks = 0
    while len((block := blocks.next(index)).row):
        rows = expected[at : at + len(block.row)]
        for name in ("when_ns", "op", "offset", "length", "cache_draw"):
            assert np.array_equal(getattr(block, name), getattr(whole, name)[rows]), (name, at)
        assert np.array_equal(block.row, rows)
        at += len(rows)
        n_blocks += 1
    assert at == len(expected)
    assert n_blocks > 1
    return at


@pytest.mark.parametrize("index", range(len(PATTERNS)))
def test_one_stream(index: int) -> None:
    _assert_same(Workload.parse({"streams": [_stream(index)]}), 3001, 100)


def test_streams_that_mix() -> None:
    weights = (1.0, 3.0, 0.1, 7.3, 2.0, 1.0)
    streams = [_stream(index, weight=weight) for index, weight in enumerate(weights)]
    _assert_same(Workload.parse({"streams": streams}), 20_011, 64)


def test_equal_weights_tie() -> None:
    _assert_same(Workload.parse({"streams": [_stream(index, weight=1.0) for index in (0, 6, 7)]}), 5000, 128)
