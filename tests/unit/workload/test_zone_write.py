"""Writes at the write pointers of open zones (rule N4)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskmodel.drive.zones import WriteZones
from diskmodel.engine.write_pointers import first_misplaced
from diskmodel.errors import DescriptionError
from diskmodel.records import Op
from diskmodel.workload import Workload
from diskmodel.workload.addresses.zone_write import _coprime

ZONE = 1 << 20
CAPACITY = 1 << 30


def load(n_open=3, **stream):
    addresses = {"pattern": "zone_write", "n_open": n_open, "zone": "1 MiB"}
    size = {} if "sizes" in stream else {"size": "64 KiB"}
    return Workload.parse({**size, "read_ratio": 0, "clients": 4, "addresses": addresses} | stream)


def drawn(workload, n=3000, seed=1):
    return workload.requests(capacity_bytes=CAPACITY, n=n, seed=seed)


sizes = st.lists(st.sampled_from(["4 KiB", "64 KiB", "192 KiB", "512 B", "1 MiB"]), min_size=1, max_size=3, unique=True)


@given(sizes, st.integers(1, 50), st.integers(0, 40), st.integers(2, 60), st.integers(0, 99), st.sampled_from([0, 0.4]))
def test_every_write_is_at_a_write_pointer_and_within_its_zone(some, n_open, first, n_zones, seed, reads):
    region = {"offset_bytes": first * (ZONE // 2), "span_bytes": n_zones * ZONE}
    workload = load(n_open, sizes=some, read_ratio=reads, **region)
    rows = drawn(workload, n=600, seed=seed)
    assert first_misplaced(WriteZones(size_bytes=ZONE), rows.op, rows.offset, rows.length) is None
    space = workload.space(workload.streams[0], CAPACITY)
    assert (rows.offset >= space.first_byte).all()
    assert (rows.offset + rows.length <= space.first_byte + space.span_bytes).all()


def test_no_more_zones_are_open_than_asked_and_all_alike():
    rows = drawn(load(3, span="300 MiB"), n=30_000)
    zone = rows.offset // ZONE
    # zones of writer i are i, i + 3, …: a zone that it has left is full
    per_writer = Counter((zone % 3).tolist())
    assert all(abs(n - 10_000) < 500 for n in per_writer.values())
    last: dict[int, int] = {}
    for z, at in zip(zone.tolist(), (rows.offset % ZONE).tolist(), strict=True):
        if z % 3 in last and last[z % 3] != z:
            assert at == 0
        last[z % 3] = z


def test_zones_of_a_writer_come_equally_often_and_from_all_of_the_region():
    rows = drawn(load(1, size="1 MiB", span="100 MiB"), n=200)
    assert set(Counter((rows.offset // ZONE).tolist()).values()) == {2}


def test_the_past_ends_where_the_run_begins():
    workload = load(4, span="200 MiB")
    before = workload.past(capacity_bytes=CAPACITY, n=500, seed=3)
    run = drawn(workload, n=500, seed=3)
    op = np.concatenate([before.op, run.op])
    offset, length = (np.concatenate([getattr(before, name), getattr(run, name)]) for name in ("offset", "length"))
    assert first_misplaced(WriteZones(size_bytes=ZONE), op, offset, length) is None
    ends = set((before.offset + before.length)[-100:].tolist())
    assert sum(at in ends for at in run.offset[:40].tolist()) >= 3


def test_reads_go_anywhere_in_the_region():
    rows = drawn(load(2, read_ratio=0.5, offset="10 MiB", span="100 MiB"), n=4000)
    reads = rows.offset[rows.op == Op.READ]
    assert reads.min() < 12 << 20
    assert reads.max() > 107 << 20


def test_more_open_zones_than_the_region_has_are_all_of_them():
    rows = drawn(load(1000, span="5 MiB"), n=2000)
    assert set((rows.offset // ZONE).tolist()) == set(range(5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"span": "1 MiB", "offset": "512 KiB"}, "no whole zone"),
        ({"size": "2 MiB"}, "does not fit into a zone"),
        ({"alignment": "192 KiB"}, "do not begin at multiples"),
    ],
)
def test_a_region_that_cannot_be_written_in_zones_is_refused(changes, words):
    with pytest.raises(DescriptionError, match=words):
        drawn(load(**changes))


def test_a_zone_has_a_length():
    with pytest.raises(DescriptionError, match="must be more than 0"):
        load(addresses={"pattern": "zone_write", "zone": "0 B"})


@given(st.integers(1, 100_000))
def test_steps_reach_every_zone(n):
    assert np.gcd(_coprime(n), n) == 1
    assert 1 <= _coprime(n) <= n + 1
