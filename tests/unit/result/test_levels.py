"""Does a level still rise or fall? By hand (rule Z8)."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.records import Int64
from diskmodel.result.levels import PARTS, drifts_of

N = 200
#: One record a ms, and 1,000 bytes written a ms.
TIMES = np.arange(1, N + 1) * 1_000_000
WRITTEN_PER_NS = 1e-3
NO_MARKS = (0, 0, 0)


def levels(of_controller: np.ndarray) -> Int64:
    nothing = np.zeros(N, np.int64)
    return np.stack([TIMES, of_controller.astype(np.int64), nothing, nothing], axis=1)


def test_a_level_that_rises_with_what_is_written() -> None:
    (drift,) = drifts_of(levels(np.arange(N) * 300), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS)
    assert drift.part == PARTS[0]
    assert drift.bytes_per_s == pytest.approx(300_000)
    assert "still fills at 0.3 MB/s" in drift.message


def test_a_level_that_falls() -> None:
    (drift,) = drifts_of(levels(100_000 - np.arange(N) * 300), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS)
    assert drift.bytes_per_s == pytest.approx(-300_000)
    assert "still drains" in drift.message


def test_a_level_that_has_settled() -> None:
    rng = np.random.default_rng(1)
    assert drifts_of(levels(50_000 + rng.normal(0, 3000, N)), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS) == ()
    reached_early = np.minimum(np.arange(N) * 2000, 100_000)
    assert drifts_of(levels(reached_early), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS) == ()


def test_records_of_one_moment() -> None:
    """Writes into a host's memory take no time: what waits grows between records, and not in time."""
    at_once = levels(np.arange(N) * 300)
    at_once[:, 0] = 7
    assert drifts_of(at_once, WRITTEN_PER_NS, 7, NO_MARKS, NO_MARKS) == ()


def test_growth_that_does_not_matter() -> None:
    """Four bytes in a thousand that are written; six would count."""
    assert drifts_of(levels(np.arange(N) * 4), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS) == ()
    assert len(drifts_of(levels(np.arange(N) * 6), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS)) == 1


def test_only_what_was_recorded_while_streams_came() -> None:
    late = np.where(np.arange(N) < 90, 50_000, 50_000 - (np.arange(N) - 90) * 400)
    assert drifts_of(levels(late), WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS) != ()
    assert drifts_of(levels(late), WRITTEN_PER_NS, int(TIMES[89]), NO_MARKS, NO_MARKS) == ()
    assert drifts_of(levels(late)[:10], WRITTEN_PER_NS, int(TIMES[-1]), NO_MARKS, NO_MARKS) == ()


def test_only_what_rises_above_its_marks_is_an_overload() -> None:
    rising = levels(np.arange(N) * 300)
    found = []
    for mark, full in ((60_000, 60_000), (30_000, 60_000), (30_000, 30_000)):
        (drift,) = drifts_of(rising, WRITTEN_PER_NS, int(TIMES[-1]), (mark, 0, 0), (full, 0, 0))
        found.append((drift.is_overload, drift.may_be_overload))
    # between its mark and that of full lines nothing is known
    assert found == [(False, False), (False, True), (True, True)]
