"""Which copy serves a read, and in how many pieces, by hand (rules L4 and L5), on both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests, Run, StreamRule
from tests.theory.plain_disks import seeking_drive

STRIP = 4096


def _reads(layout: dict[str, Any], engine: str, offsets: list[int], length: int, gap_ns: int) -> Run:
    """Outcome of reads that arrive `gap_ns` apart."""
    array = Array.parse({"drive": seeking_drive(), "layout": {"strip_bytes": STRIP, **layout}})
    n = len(offsets)
    requests = Requests(
        when_ns=np.arange(n, dtype=np.int64) * gap_ns,
        op=np.zeros(n, np.uint8),
        offset=np.array(offsets, np.int64),
        length=np.full(n, length, np.int64),
        stream=np.zeros(n, np.int32),
        cache_draw=np.ones(n),
        streams=(StreamRule("s", 0, 0),),
    )
    return run(resolve(array, 0), requests, engine)  # type: ignore[arg-type]


ENGINES = pytest.mark.parametrize("engine", ["simpy", "native"])


@ENGINES
def test_a_sequential_reader_stays_on_its_disk_of_a_raid1(engine: str) -> None:
    """Each read comes before the last one has completed: only the read that was sent shows where the reader is."""
    offsets = [i * STRIP for i in range(100, 110)]
    outcome = _reads({"level": "raid1", "disks": 2}, engine, offsets, STRIP, gap_ns=1000)
    assert outcome.devices.n_reads.tolist() == [10, 0]


@ENGINES
def test_raid10_looks_only_at_what_has_completed(engine: str) -> None:
    """All at once: the first copy, the idle other copy, then both wait and heads are where they were."""
    offsets = [100 * STRIP + i * 512 for i in range(4)]
    outcome = _reads({"level": "raid10", "disks": 4}, engine, offsets, 512, gap_ns=0)
    # nothing has completed, so both heads count as at block 0, and ties go to the first copy
    assert outcome.devices.n_reads.tolist() == [3, 1, 0, 0]


@ENGINES
def test_far_copies_are_read_at_their_lowest_address(engine: str) -> None:
    layout = {"level": "raid10", "disks": 4, "arrangement": "far"}
    outcome = _reads(layout, engine, [8 * STRIP] * 6, STRIP, gap_ns=0)
    assert outcome.devices.n_reads.tolist() == [6, 0, 0, 0]


@ENGINES
@pytest.mark.parametrize(("strips", "expected"), [("joined", [1, 1, 1, 1]), ("separate", [2, 2, 2, 2])])
def test_strips_of_a_read_go_together_or_one_by_one(engine: str, strips: str, expected: list[int]) -> None:
    outcome = _reads({"level": "raid0", "disks": 4, "read_strips": strips}, engine, [0], 8 * STRIP, gap_ns=0)
    assert outcome.devices.n_reads.tolist() == expected


@ENGINES
def test_strips_of_one_read_see_the_choices_before_them(engine: str) -> None:
    """Eight strips of a RAID 10: of each pair the first takes the first disk, the second the one that is still idle."""
    layout = {"level": "raid10", "disks": 4, "read_strips": "separate"}
    outcome = _reads(layout, engine, [0], 4 * STRIP, gap_ns=0)
    assert outcome.devices.n_reads.tolist() == [1, 1, 1, 1]


@ENGINES
def test_a_plain_mirror_has_no_strips_to_separate(engine: str) -> None:
    outcome = _reads({"level": "raid1", "disks": 2, "read_strips": "separate"}, engine, [0], 8 * STRIP, gap_ns=0)
    assert outcome.devices.n_reads.tolist() == [1, 0]
