"""Columns of iostat from counters by hand."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.records import PARTS, Completions, DeviceCounters, Run
from diskmodel.result.iostat import iostat


def test_columns_by_hand() -> None:
    def column(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(values, np.int64)

    none = np.zeros(0, np.int64)
    run = Run(
        Completions(none, none, np.zeros((0, len(PARTS)), np.int64), np.zeros(0, np.bool_)),
        # in two seconds: 100 reads of 4 KiB that took 5 ms each; 10 reads and 30 writes of 8 KiB; nothing
        DeviceCounters(
            busy_ns=column(400_000_000, 100_000_000, 0),
            response_ns=column(500_000_000, 80_000_000, 0),
            n_reads=column(100, 10, 0),
            n_writes=column(0, 30, 0),
            read_bytes=column(409_600, 81_920, 0),
            write_bytes=column(0, 245_760, 0),
            n_cache_hits=column(0, 0, 0),
            read_response_ns=column(500_000_000, 50_000_000, 0),
            n_flushes=column(0, 0, 0),
            n_units_written=column(0, 0, 0),
            n_units_programmed=column(0, 0, 0),
            n_charged=column(0, 0, 0),
        ),
        "simpy",
        0.0,
        2_000_000_000,
    )
    first, mixed, idle = iostat(run)
    assert (first["r/s"], first["rkB/s"], first["rareq-sz"], first["wareq-sz"]) == (50, 200, 4, None)
    assert (first["aqu-sz"], first["r_await"], first["%util"]) == (0.25, 5.0, pytest.approx(20))
    assert (mixed["w/s"], mixed["wkB/s"], mixed["wareq-sz"], mixed["await"]) == (15, 120, 8, 2.0)
    assert (mixed["r_await"], mixed["w_await"]) == (5.0, 1.0)
    assert (idle["await"], idle["%util"]) == (None, 0)
