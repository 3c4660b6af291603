"""Up to which working set a cache pays."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diskmodel import Array, Workload
from diskmodel.plan.answer.working_sets import WorkingSet, WorkingSets
from diskmodel.plan.comparison.capacity import find_capacity
from diskmodel.plan.comparison.working_sets import find_working_sets

MIB = 1 << 20


def volume(iops: float, us: float) -> dict[str, Any]:
    time = f"{us} us"
    return {"kind": "cloud", "name": "volume", "capacity": "1 GiB", "iops": iops, "read_p50": time, "read_p95": time,
            "bucket": "0 s", "exact": True}  # fmt: skip


ARRAY = Array.parse(
    {
        "drive": {
            "kind": "cached",
            "drive": volume(1000, 5000),
            "layout": {"level": "jbod", "disks": 1},
            "cache": {"drive": volume(100_000, 20), "size": "128 MiB"},
            "software": "open-cas",
        },
        "layout": {"level": "jbod", "disks": 1},
    }
)
READS = Workload.parse({"size": "4 KiB", "rate": "100/s", "span": "256 MiB"})


def test_what_hits_is_not_asked_of_the_array_behind() -> None:
    """Of data twice as large as the cache half hits, so that twice as much is served; of four times a quarter."""
    found = find_working_sets(ARRAY, READS)
    assert found is not None
    by_span = {row.span_bytes // MIB: row for row in found.rows}
    assert list(by_span) == [64, 128, 256, 512, 1024]
    for span, hits in ((256, 1 / 2), (512, 1 / 4), (1024, 1 / 8)):
        assert by_span[span].read_hits == pytest.approx(hits, abs=0.03)
        assert by_span[span].gain == pytest.approx(1 / (1 - hits), rel=0.06)
        assert by_span[span].alone_iops == pytest.approx(1000, rel=0.03)
    # 1.33 times with 512 MiB, 1.14 with 1 GiB: 1.25 between them
    assert 512 * MIB < found.pays_to_bytes < 850 * MIB
    assert "up to about" in found.in_words()


def test_where_there_is_none() -> None:
    assert find_working_sets(Array("4x generic-7k2 raid10"), READS) is None
    streams = [{"size": "4 KiB", "rate": "100/s", "span": "256 MiB", "name": name} for name in ("a", "b")]
    assert find_working_sets(ARRAY, Workload.parse({"streams": streams})) is None


def test_words_at_the_ends() -> None:
    def of(*gains: float) -> WorkingSets:
        rows = (WorkingSet(10**9 << at, math.nan, gain * 100, 100) for at, gain in enumerate(gains))
        return WorkingSets(10**9, tuple(rows))

    assert of(3, 2).in_words() == "with all of 2 GB in use, too (1.25 times the array alone or more)"
    assert of(1.1, 1).in_words() == "nowhere: less than 1.25 times the array alone with 1 GB in use, too"
    assert of(1.5, 1).pays_to_bytes == pytest.approx(2**0.5 * 10**9)
    assert of(3, 2).to_dict()["pays_to_bytes"] is None


def test_hits_that_come_before_all_misses_do_not_make_a_capacity() -> None:
    """A run whose last requests take longer than all came in shows no rate that lasts."""
    busy = find_capacity(ARRAY, READS, n_requests=200, n_draws=0)
    assert busy.highest.offered < 5000
    assert not busy.highest.outcome.is_brief
    assert busy.working_sets is not None
    assert "of reads hit the cache" in busy.knee.outcome.said
