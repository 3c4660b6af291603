"""Zones that the host writes in order: one write at a time in each, and what is accepted (rules N1 to N3)."""

from __future__ import annotations

import numpy as np
import pytest
import simpy

from diskmodel import Array, PlanDescription, Workload, simulate
from diskmodel.drive.zones import WriteZones
from diskmodel.engine.embed import ArrayProcess
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.write_pointers import first_misplaced
from diskmodel.errors import CoverageError, DescriptionError, MountError
from diskmodel.mount import serve
from diskmodel.records import READ, WRITE, Requests, StreamRule
from diskmodel.workload import TraceWorkload

MIB = 1 << 20
ENGINES = pytest.mark.parametrize("engine", ["simpy", "native"])
#: 1000 zones of 1 MiB behind two that can be written anywhere.
DRIVE = {
    "kind": "hdd",
    "name": "zoned",
    "capacity_bytes": 1002 * MIB,
    "rpm": 6000,
    "heads": 1,
    "zones": [{"cylinders": 2004, "sectors_per_track": 1024}],
    "seek": {"track_to_track": "1 ms", "average": "2.5 ms", "full_stroke": "4 ms"},
    "read_overhead_ns": 100_000,
    "write_overhead_ns": 100_000,
    "interface_bytes_per_s": 512e6,
    "cache": {"size": "32 MiB", "segments": 4, "write_back": True},
    "recording": "shingled",
    "write_zones": {"size": "1 MiB", "conventional": 2, "max_open": 4},
    "queue": {"depth": 32},
}


def array_of(**fields):
    return Array.parse({"drive": DRIVE, "layout": {"level": "jbod", "disks": 1}} | fields)


def outcome(rows, engine, **fields):
    """What becomes of rows (operation, first sector, sectors) that all come at time 0."""
    op, first, n = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    zeros = np.zeros(len(rows), np.int64)
    requests = Requests(
        zeros, op.astype(np.uint8), first * 512, n * 512, zeros.astype(np.int32), zeros * 0.0, (StreamRule("a"),)
    )
    return run(resolve(array_of(**fields), 0), requests, engine)


# ------------------------------------------------------------------ one write in a zone
@ENGINES
def test_writes_of_a_zone_go_one_after_the_other_and_join_while_they_wait(engine):
    """Eight writes of 8 sectors: the first alone, then seven as one command of 56 sectors.

    A buffered write takes the processor 0.1 ms and its bus time: 8 µs for 8 sectors, 56 µs for 56.
    """
    found = outcome([(WRITE, 4096 + 8 * i, 8) for i in range(8)], engine)
    assert found.completions.done_ns.tolist() == [108_000] + 7 * [108_000 + 100_000 + 56_000]
    assert found.devices.n_writes.tolist() == [2]
    assert found.devices.write_bytes.tolist() == [8 * 8 * 512]


@ENGINES
def test_no_more_join_than_the_limit_and_no_gap_is_joined(engine):
    rows = [(WRITE, 4096 + 8 * i, 8) for i in range(4)] + [(WRITE, 4096 + 40, 8)]
    found = outcome(rows, engine, queue={"merge_limit": "8 KiB"})
    step = 108_000
    assert found.completions.done_ns.tolist() == [step, *2 * [step + 116_000], 2 * step + 116_000, 3 * step + 116_000]


@ENGINES
def test_zones_do_not_wait_for_each_other_nor_reads_for_anything(engine):
    """The drive's processor takes all of them, 0.1 ms each; bus times of 8 µs follow."""
    rows = [(WRITE, 4096, 8), (WRITE, 6144, 8), (WRITE, 0, 8), (WRITE, 8, 8)]
    found = outcome(rows, engine)
    assert found.completions.done_ns.tolist() == [108_000, 208_000, 308_000, 408_000]
    reads = outcome([(READ, 4096, 8), (READ, 4104, 8)], engine)
    assert reads.devices.n_reads.tolist() == [2]


@ENGINES
def test_commands_of_different_zones_do_not_merge(engine):
    rows = [(READ, 0, 8), (READ, 2040, 8), (READ, 2048, 8), (READ, 2056, 8)]
    found = outcome(rows, engine, queue={"merge": True, "drive_depth": 1})
    assert found.devices.n_reads.tolist() == [3]


# ------------------------------------------------------------------ what is accepted
def stream(**fields):
    size = {} if "sizes" in fields else {"size": "64 KiB"}
    return {**size, "read_ratio": 0.0, "clients": 2, "offset": "2 MiB", "addresses": "sequential"} | fields


ZONE_WRITE = {"pattern": "zone_write", "n_open": 4, "zone": "1 MiB"}


@pytest.mark.parametrize(
    "load",
    [
        stream(),
        stream(addresses={"pattern": "sequential", "n_readers": 4}),
        stream(addresses=ZONE_WRITE),
        stream(addresses=ZONE_WRITE, sizes=["4 KiB", "64 KiB"], read_ratio=0.5),
        stream(read_ratio=1.0, addresses="uniform", size="4 KiB"),
        stream(addresses="uniform", offset="0 B", span="2 MiB"),
        {"streams": [stream(span="100 MiB"), stream(offset="102 MiB", addresses=ZONE_WRITE)]},
    ],
)
def test_writes_in_order_are_simulated(load):
    assert simulate(array_of(), Workload.parse(load), n_requests=400).n_requests == 400


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (stream(addresses="uniform"), r"streams\.0\.addresses='uniform': writes anywhere"),
        (stream(addresses={"pattern": "sequential", "mean_run": 8}), "writes anywhere"),
        (stream(read_ratio=0.5), "leaves out what it reads"),
        (stream(size="192 KiB"), "end in another zone"),
        (stream(sizes=["64 KiB", "128 KiB"]), "end in another zone"),
        (stream(addresses={"pattern": "sequential", "n_readers": 1000}), "1000 writers that share zones"),
        (stream(addresses=ZONE_WRITE | {"zone": "2 MiB"}), "zones of 2,097,152 bytes where the drive's have 1,048,576"),
        ({"streams": [stream(), stream(addresses=ZONE_WRITE)]}, "another stream writes to as well"),
        ({"streams": [stream(addresses="uniform"), stream(addresses="zipf")]}, "and 1 more|streams.1.addresses"),
    ],
)
def test_other_writes_are_refused_and_named(load, words):
    with pytest.raises(CoverageError, match=words):
        simulate(array_of(), Workload.parse(load), n_requests=400)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"controller": {"write_cache": {"size": "1 MiB"}}}, "controller.write_cache.*order of its own"),
        ({"host": {"is_buffered": True, "page_cache": {"memory": "1 GiB"}}}, "host.page_cache.*order of its own"),
    ],
)
def test_caches_that_write_in_their_own_order_are_refused(fields, words):
    with pytest.raises(CoverageError, match=words):
        simulate(array_of(**fields), Workload.parse(stream()), n_requests=400)


def test_levels_that_spread_data_are_refused():
    with pytest.raises(DescriptionError, match="which no RAID level does"):
        array_of(layout={"level": "raid5", "disks": 4})
    plan = {
        "workload": {"size": "4 KiB", "rate": "10/s"},
        "objective": {"p99": "50 ms", "capacity": "1 GB"},
        "candidates": {"drives": ["wd-ultrastar-hc620"], "levels": ["raid10"]},
    }
    with pytest.raises(DescriptionError, match=r"drives: the host writes the zones of WD Ultrastar DC HC620"):
        PlanDescription.parse(plan)


def trace(*writes):
    at = np.arange(len(writes)) * 10_000_000
    offset, length = (np.array(column, np.int64) for column in zip(*writes, strict=True))
    return TraceWorkload.from_arrays(at, np.ones(len(writes), np.int64), offset, length)


def test_a_trace_of_writes_in_order_is_replayed():
    in_order = trace((5 * MIB + 4096, 4096), (7 * MIB, 8192), (5 * MIB + 8192, 4096), (7 * MIB, 4096), (0, 4096))
    assert simulate(array_of(), in_order).n_requests == 5
    with pytest.raises(CoverageError, match=r"trace\[1\]='write of 4,096 bytes at 5,251,072'.*not at a write pointer"):
        simulate(array_of(), trace((5 * MIB, 4096), (5 * MIB + 8192, 4096)))


def test_the_first_write_that_the_drive_would_fail_is_found():
    zones = WriteZones(size_bytes=MIB, conventional=1)

    def first(*writes):
        op, offset, length = (np.array(column) for column in zip(*writes, strict=True))
        return first_misplaced(zones, op, offset, length)

    assert first((1, 0, 512), (1, 0, 512), (0, 3 * MIB, 512)) is None
    assert first((1, 2 * MIB - 512, 1024)) == 0
    assert first((1, MIB, 512), (1, MIB + 512, 512), (1, MIB + 2048, 512)) == 2
    assert first((1, MIB - 512, 1024)) == 0


def test_what_is_left_out_is_named():
    many = simulate(array_of(), Workload.parse(stream(addresses=ZONE_WRITE | {"n_open": 5})), n_requests=400)
    assert any("writes to 5 zones at once, and the drive keeps 4 open" in message for message in many.messages)
    assert any("joined in the drive's buffer" in message for message in many.messages)
    limited = array_of(drive=DRIVE | {"cache": DRIVE["cache"] | {"write_room": "1 MiB"}})
    known = simulate(limited, Workload.parse(stream(addresses=ZONE_WRITE)), n_requests=400)
    assert not any("joined in the drive's buffer" in message for message in known.messages)
    few = simulate(array_of(), Workload.parse(stream()), n_requests=400)
    assert not any("zone" in message for message in few.messages)


# ------------------------------------------------------------------ the description
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"recording": "conventional"}, "write_zones: only shingled tracks"),
        ({"media_cache": {"size": "10 MB", "band": "1 MiB", "max_extents": 9}}, "write_zones: .*keep one of the two"),
        ({"write_zones": {"size": "1000 B"}}, "must be a multiple of the sector size 512"),
        ({"write_zones": {"size": "1 MiB", "conventional": 1002}}, "the drive has 1002 whole zones"),
        ({"write_zones": {"max_open": 0}}, "write_zones.max_open"),
    ],
)
def test_zones_that_cannot_be_are_refused(changes, words):
    with pytest.raises(DescriptionError, match=words):
        array_of(drive=DRIVE | changes)


def test_a_simulation_of_the_users_own_writes_in_order():
    array = ArrayProcess(simpy.Environment(), array_of())
    for at in (5 * MIB + 4096, 5 * MIB + 8192, 5 * MIB, 7 * MIB, 0, 8192):
        array.write(at, 4096)
    for at, n in ((5 * MIB + 8192, 4096), (9 * MIB - 4096, 8192)):
        with pytest.raises(DescriptionError, match="not at the write pointer of its zone"):
            array.write(at, n)
    array.read(5 * MIB + 8192, 4096)


def test_a_file_system_does_not_write_in_order(tmp_path):
    with pytest.raises(MountError, match="programs write to a file anywhere"):
        serve(array_of(), tmp_path, stopper=None)
