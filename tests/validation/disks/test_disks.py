"""Disks since 2015 over a short span: rates and percentiles are within the limits of the page."""

from __future__ import annotations

import pytest

from tests.validation.disks.page import DEPTH_10, beside_streams, chosen, rates, run, synced


@pytest.mark.parametrize("unit", DEPTH_10)
def test_ten_reads_over_a_short_span(unit: str) -> None:
    assert all(row.is_within for row in rates([unit], 100))


def test_the_longest_waits_are_those_of_an_exponential_and_more() -> None:
    """Of p99 and p99.9 over the mean 4.6 and 6.9 are exponential; `generic-7k2` has 3.3 and 4.2."""
    (case,) = (case for case in chosen("hdwd110", 100) if "depth 10" in case.name)
    latency = run(case).to_dict()["latency_ms"]
    assert latency["p99"] / latency["mean"] == pytest.approx(case.measured["p99"] / case.measured["mean"], rel=0.15)
    assert latency["p50"] / latency["mean"] == pytest.approx(case.measured["p50"] / case.measured["mean"], rel=0.15)


def test_streams_leave_a_random_reader_its_share() -> None:
    """Without rule D12 it has one or two reads a second; three drives of four gave it 25 to 45."""
    found = [row for row in beside_streams() if row.figure == "rate"]
    assert all(25 < row.here < 60 for row in found)


def test_cached_writes_over_a_short_span() -> None:
    """A write's short seek takes hardly longer than a read's: with 1 ms more for each they are a third too slow."""
    cases = [case for case in chosen("mirantis-perf1-sizes", 0) if case.name.endswith(("depth 1", "depth 10"))]
    assert len(cases) == 2
    for case in cases:
        assert float(run(case, 8000).iops.mean) == pytest.approx(case.measured["iops"], rel=0.15)


def test_synced_writes_on_ext4() -> None:
    """One waits for three turns beside the journal; many share commits. Where the file lay is not said."""
    beside, away = list(synced("50%")), list(synced())
    one = beside[0]
    assert one.here == pytest.approx(one.measured, rel=0.15)
    assert all(abs(row.error) < 0.3 for row in away)
    lowest, highest = (min(away, key=lambda row: row.error), max(away, key=lambda row: row.error))
    assert lowest.error < 0 < highest.error
