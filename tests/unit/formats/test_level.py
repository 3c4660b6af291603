"""Levels of a recorded load: of the time, and of the requests."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload
from diskmodel.formats.level import Level

#: 90 intervals with 10 requests a second and 10 with 410: 900 and 4100 requests of 5000.
RATES = np.concatenate([np.full(90, 10.0), np.full(10, 410.0)])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (95, Level(95.0)),
        ("95", Level(95.0)),
        ("99.5 %", Level(99.5)),
        ("90% of time", Level(90.0)),
        ("95% of requests", Level(95.0, is_of_requests=True)),
        ("50 of the requests", Level(50.0, is_of_requests=True)),
    ],
)
def test_ways_to_write_a_level(text, found):
    assert Level.of(text) == found
    assert Level.of(str(found)) == found


@pytest.mark.parametrize("text", ["95%%", "", "ninety", "95% of disks", "101", "-1", 100.5])
def test_other_texts_are_refused(text):
    with pytest.raises(FormatError, match="percentile"):
        Level.of(text)


def test_a_level_of_requests_by_hand():
    # 900 of 5000 requests, 18 %, arrive in intervals of 10 a second
    assert Level(18, is_of_requests=True).rate(RATES) == 10
    assert Level(18.1, is_of_requests=True).rate(RATES) == 410
    assert Level(80).rate(RATES) == 10


def test_the_warning_says_how_many_requests_are_above_the_level():
    assert "82 % of the requests" in Level(80).warning(RATES)
    assert '"80% of requests" plans for 410/s' in Level(80).warning(RATES)


def test_no_warning_where_the_load_is_even():
    even = np.random.default_rng(2).poisson(100, 1000) / 1.0
    assert Level(95).warning(even) is None
    assert Level(80, is_of_requests=True).warning(RATES) is None


def test_a_trace_is_planned_for_at_a_level_of_requests(tmp_path):
    seconds = np.repeat(np.arange(101), [*np.full(90, 10), *np.full(10, 410), 1])
    lines = [f"{1000 * s + i % 900}.0 0 {i * 8} 8 1" for i, s in enumerate(seconds)]
    trace = tmp_path / "bursts.trace"
    trace.write_text("\n".join(lines) + "\n")
    of_time = find_workload(trace, level=80)
    of_requests = find_workload(trace, level="80% of requests")
    assert sum(s["arrival"]["rate_per_s"] for s in of_time.workload["streams"]) == pytest.approx(10)
    assert sum(s["arrival"]["rate_per_s"] for s in of_requests.workload["streams"]) == pytest.approx(410)
    assert any("82 % of the requests arrive while the load is above this level" in note for note in of_time.notes)
    assert any(note.startswith("80 % of the requests arrive at these rates or lower") for note in of_requests.notes)
