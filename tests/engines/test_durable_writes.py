"""Flushes, FUA and group commit, by hand, on a drive whose sectors take 10,000 ns each (rules Y1 to Y11, D10, D11).

100 sectors a track, no seek time worth naming: block b begins to pass at 10,000 · (b mod 100) ns of each revolution of
1,000,000 ns. The bus takes 1,000 ns a sector; the processor of the drive takes 2,000 ns a command, the tail 500 ns.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.records import PARTS, Op, Requests, Run, StreamRule, Sync
from diskmodel.workload import Workload

ENGINES = ("simpy", "native")
#: Time of a write of one sector into the buffer: processor, bus, tail.
ACCEPTED = 2_000 + 1_000 + 500
BY_HAND = {
    "kind": "hdd",
    "name": "by hand",
    "capacity_bytes": 2000 * 512,
    "rpm": 60_000,
    "revolution_ns": 1_000_000,
    "heads": 2,
    "zones": [{"cylinders": 10, "sectors_per_track": 100}],
    "seek": {"kind": "curve", "a_ns": 1, "b_ns_per_root": 0},
    "head_switch_ns": 0,
    "read_overhead_ns": 2_000,
    "write_overhead_ns": 2_000,
    "completion_overhead_ns": 500,
    "interface_bytes_per_s": 512e6,
    "queue": {"depth": 32, "scheduler": "fcfs"},
}


def outcome(
    engine: Any,
    writes: list[tuple[int, int]],
    rule: StreamRule,
    *,
    cache: dict[str, object] | None = None,
    disks: int = 1,
    **array: object,
) -> Run:
    """Writes of (time, block), one sector each, under the rule of a stream."""
    when, block = (np.array(column, np.int64) for column in zip(*writes, strict=True))
    n = len(writes)
    requests = Requests(
        when,
        np.ones(n, np.uint8),
        block * 512,
        np.full(n, 512),
        np.zeros(n, np.int32),
        np.ones(n),
        (rule,),
    )
    return run(resolve(described(cache=cache, disks=disks, **array), 0), requests, engine)


def described(*, cache: dict[str, object] | None = None, disks: int = 1, **array: object) -> Array:
    """A disk with a buffer, or a mirror of several."""
    buffer = {"size_bytes": 64 * 512, "segments": 1, "read_ahead_bytes": 0, "write_back": True} | (cache or {})
    return Array.parse(
        {
            "drive": BY_HAND | {"cache": buffer},
            "layout": {"level": "raid1" if disks > 1 else "jbod", "disks": disks, "strip_bytes": 512},
            "spindles": {"phase": "synchronised"},
            "drive_write_cache": True,
        }
        | array
    )


def flushes_beside(
    engine: Any, writes: list[tuple[int, int]], flushes: list[int], **array: object
) -> tuple[list[int], list[int], Run]:
    """Ends of writes of (time, block) without a sync, and of flushes at their times, of a stream of their own."""
    times = sorted([(at, Op.WRITE, block) for at, block in writes] + [(at, Op.FLUSH, 0) for at in flushes])
    when, op, block = (np.array(column, np.int64) for column in zip(*times, strict=True))
    is_flush = op == Op.FLUSH
    rules = (StreamRule("writes"), StreamRule("flushes", is_of_flushes=True))
    length = np.where(is_flush, 0, 512)
    stream = is_flush.astype(np.int32)
    requests = Requests(when, op.astype(np.uint8), block * 512, length, stream, np.ones(len(op)), rules)
    found = run(resolve(described(**array), 0), requests, engine)
    done = found.completions.done_ns
    return done[~is_flush].tolist(), done[is_flush].tolist(), found


def ends(found: Run) -> list[int]:
    return found.completions.done_ns.tolist()


def syncs(found: Run) -> list[int]:
    return found.completions.parts_ns[:, PARTS.index("sync")].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flush_ends_when_the_write_is_on_the_media(engine: str) -> None:
    """Rules Y1 and D10: block 30 has passed at 310,000, and the tail follows; the write was accepted long before."""
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.FLUSH))
    assert ends(found) == [310_500]
    assert syncs(found) == [310_500 - ACCEPTED]
    assert found.devices.n_flushes.tolist() == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_protected_cache_answers_at_once(engine: str) -> None:
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.FLUSH), cache={"power_loss_protected": True})
    assert syncs(found) == [2_500]


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_write_cache_nothing_is_flushed(engine: str) -> None:
    """Rule Y2: the write is on the media when it is done."""
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.FLUSH), drive_write_cache=False)
    assert ends(found) == [310_500]
    assert (syncs(found), found.devices.n_flushes.tolist()) == ([0], [0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("has_fua", "n_flushes", "end"), [(True, 1, 313_000), (False, 2, 313_000)])
def test_o_dsync(engine: str, has_fua: bool, n_flushes: int, end: int) -> None:
    """Rule Y4: a FUA write, or a write and a flush, which ends at 310,500; then a flush with nothing to wait for."""
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.DSYNC), drive_fua=has_fua)
    assert (ends(found), found.devices.n_flushes.tolist()) == ([end], [n_flushes])
    assert syncs(found) == [2_500]


@pytest.mark.parametrize("engine", ENGINES)
def test_who_waits_shares_the_next_flush(engine: str) -> None:
    """Rule Y4: the second and third write come while the first is flushed, and one flush serves both."""
    writes = [(0, 30), (10_000, 50), (20_000, 70)]
    found = outcome(engine, writes, StreamRule("s", 0, sync=Sync.FLUSH))
    assert found.devices.n_flushes.tolist() == [2]
    assert ends(found) == [310_500, 710_500, 710_500]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_second_write_of_a_client(engine: str) -> None:
    rule = StreamRule("s", 1, sync=Sync.FLUSH, sync_every=2)
    assert [ns > 0 for ns in syncs(outcome(engine, [(0, 30), (0, 40), (0, 50), (0, 60)], rule))] == [0, 1, 0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_array_flushes_all_its_disks(engine: str) -> None:
    """Rule Y5: both disks of a mirror have written block 30, the lost one is not asked."""
    rule = StreamRule("s", 1, sync=Sync.FLUSH)
    assert outcome(engine, [(0, 30)], rule, disks=2).devices.n_flushes.tolist() == [1, 1]
    layout = {"level": "raid1", "disks": 3, "strip_bytes": 512, "failed": [1]}
    assert outcome(engine, [(0, 30)], rule, layout=layout).devices.n_flushes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_controller_with_a_battery_answers_flushes(engine: str) -> None:
    """Rule K13."""
    controller = {"write_cache": {"size_bytes": 1 << 20, "block_bytes": 512}, "hit_ns": 7_000}
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.FLUSH), controller=controller)
    assert (syncs(found), found.devices.n_flushes.tolist()) == ([7_000], [0])


@pytest.mark.parametrize("engine", ENGINES)
def test_those_who_wait_join_the_next_batch(engine: str) -> None:
    """Rule Y6: of three records of a block each the first is written alone; the others share a write and its flush.

    Block 0 passes again at 1,000,000. When it is flushed blocks 1 and 2 are passing, and pass again a revolution later.
    """
    rule = StreamRule("s", 0, sync=Sync.FLUSH, log_bytes=64 * 512, log_block_bytes=512)
    found = outcome(engine, [(0, 0), (10_000, 0), (20_000, 0)], rule)
    assert ends(found) == [1_010_500, 2_030_500, 2_030_500]
    assert found.devices.n_writes.tolist() == [2]
    delayed = outcome(engine, [(0, 0), (10_000, 0), (20_000, 0)], replace(rule, log_delay_ns=30_000))
    assert delayed.devices.n_writes.tolist() == [1]
    assert len(set(ends(delayed))) == 1


JOURNAL = StreamRule(
    "s",
    1,
    sync=Sync.FLUSH,
    journal_first_byte=400 * 512,
    journal_bytes=1 << 16,
    journal_body_bytes=1024,
    journal_more_bytes=512,
    journal_block_bytes=512,
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("cache", "n_flushes"), [(True, 2), (False, 0)])
def test_a_commit_of_the_journal(engine: str, cache: bool, n_flushes: int) -> None:
    """Rule Y10: block 30 passes at 300,000; blocks 400 and 401 of the body have passed at 1,020,000, and their flush or
    write is answered at 1,020,500. Then block 402, the last of the commit, is passing, and passes again a turn later.
    """
    found = outcome(engine, [(0, 30)], JOURNAL, drive_write_cache=cache)
    assert ends(found) == [2_030_500]
    assert found.devices.n_flushes.tolist() == [n_flushes]
    assert found.devices.write_bytes.tolist() == [4 * 512]


@pytest.mark.parametrize("engine", ENGINES)
def test_who_waits_shares_the_next_commit(engine: str) -> None:
    """Rule Y9: the second and third sync come during the first commit, and theirs is a sector longer."""
    rule = replace(JOURNAL, n_clients=0)
    found = outcome(engine, [(0, 30), (10_000, 50), (20_000, 70)], rule)
    assert ends(found)[0] < ends(found)[1] == ends(found)[2]
    assert found.devices.write_bytes.tolist() == [(3 + 3 + 4) * 512]


@pytest.mark.parametrize("engine", ENGINES)
def test_who_comes_before_the_first_commit_has_its_turn_is_in_it(engine: str) -> None:
    """Rule Y9: writes leave the one processor at 5,000, 10,000 and 15,000 ns, and the first is answered at 8,500.

    The commit then waits until 15,000 for a processor and until 20,000 for its turn. All three syncs have come by then.
    """
    rule = replace(JOURNAL, n_clients=0)
    host = {"submission": "5 us", "processors": 1}
    found = outcome(engine, [(0, 30), (0, 32), (0, 34)], rule, host=host)
    assert len(set(ends(found))) == 1
    assert found.devices.write_bytes.tolist() == [(3 + 2 + 2 + 1) * 512]


@pytest.mark.parametrize("engine", ENGINES)
def test_fsync_commits_when_the_time_has_changed(engine: str) -> None:
    """Rule Y8: of two writes in one tick the second finds its change committed, and flushes; the third commits."""
    rule = replace(JOURNAL, n_clients=0, journal_tick_ns=4_000_000)
    found = outcome(engine, [(0, 30), (3_000_000, 50), (5_000_000, 70)], rule)
    assert found.devices.write_bytes.tolist() == [(3 + 2 * 3) * 512]
    assert found.devices.n_flushes.tolist() == [5]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("has_fua", "n_flushes"), [(True, 0), (False, 1)])
def test_o_dsync_of_a_file(engine: str, has_fua: bool, n_flushes: int) -> None:
    """Rule Y7: a FUA write, or a write and a flush, not both."""
    found = outcome(engine, [(0, 30)], StreamRule("s", 1, sync=Sync.FILE_DSYNC), drive_fua=has_fua)
    assert (ends(found), found.devices.n_flushes.tolist()) == ([310_500], [n_flushes])


def test_a_file_that_grows_costs_more_revolutions() -> None:
    """On a disk of 7,200 rpm written blocks are safe once a revolution.

    A commit adds seeks to the journal and back, and a revolution for its last block, which XFS saves.
    """
    stream = {
        "size": "4 KiB",
        "read_ratio": 0.0,
        "sync": "fdatasync",
        "clients": 1,
        "addresses": {"pattern": "sequential"},
    }
    rate = {
        (kind, file): simulate(
            Array("generic-7k2", "jbod", 1),
            Workload.parse(stream | {"file_system": kind, "file": file}),
            n_requests=200,
        ).commits_per_s
        for kind, file in (("ext4", "overwrite"), ("ext4", "append"), ("xfs", "append"))
    }
    assert rate["ext4", "overwrite"] == pytest.approx(120, rel=0.02)
    assert 20 < rate["ext4", "append"] < 40
    assert rate["ext4", "append"] < rate["xfs", "append"] < 60


def test_commits_are_reported() -> None:
    """A disk of 7,200 rpm commits once a revolution, and 64 clients share its commits."""
    commits = {"kind": "commits", "record": "300 B", "offset": "10%", "span": "64 MiB"}
    one, many = (
        simulate(Array("generic-7k2", "jbod", 1), Workload.parse(commits | {"clients": n}), n_requests=n * 100)
        for n in (1, 64)
    )
    assert one.commits_per_s == pytest.approx(120, rel=0.02)
    assert many.commits_per_s > 20 * one.commits_per_s
    fields = many.json_fields()
    assert fields["commits_per_s"] == many.commits_per_s
    assert fields["commit_latency_ms"].json_fields()["p99"] > 8


def test_a_run_without_syncs_has_no_commits() -> None:
    workload = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0.0})
    fields = simulate(Array("generic-7k2", "jbod", 1), workload, n_requests=200).json_fields()
    assert np.isnan(fields["commits_per_s"])
    assert fields["commit_latency_ms"] is None


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ({"sync": "dsync", "sync_every": 2, "read_ratio": 0.5}, "sync_every=2: is for sync = 'fdatasync'"),
        ({"sync": "fsync"}, "sync='fsync': is about writes"),
        ({"file_system": "ext4", "read_ratio": 0.5}, "file_system='ext4': is about writes that are made safe"),
        ({"file": "append", "sync": "fsync", "read_ratio": 0.5}, "file='append': is a state of a file"),
        ({"record": "300 B"}, "record and commit_delay: are of a stream of commits"),
    ],
)
def test_what_is_refused(stream: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Workload.parse({"size": "4 KiB", "clients": 1} | stream)


def test_commits_need_a_record() -> None:
    with pytest.raises(DescriptionError, match="record: is missing"):
        Workload.parse({"kind": "commits", "clients": 4})


def test_one_file_system_fills_the_array() -> None:
    stream = {"size": "4 KiB", "clients": 1, "read_ratio": 0.0, "sync": "fdatasync"}
    with pytest.raises(DescriptionError, match="they have ext4 and xfs"):
        Workload.parse({"streams": [stream | {"name": kind, "file_system": kind} for kind in ("ext4", "xfs")]})
    small = Workload.parse(stream | {"file_system": "ext4"})
    with pytest.raises(DescriptionError, match="file_system"):
        small.requests(capacity_bytes=1 << 20, n=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flush_alone_waits_for_what_others_wrote(engine: str) -> None:
    """Rule Y11: block 30 has passed at 310,000; the second flush has nothing to wait for but its command."""
    writes, flushes, found = flushes_beside(engine, [(0, 30), (600_000, 50)], [100_000, 500_000])
    assert (writes, flushes) == ([ACCEPTED, 600_000 + ACCEPTED], [310_500, 502_500])
    assert syncs(found) == [0, 210_500, 2_500, 0]
    assert found.devices.n_flushes.tolist() == [2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flush_alone_takes_the_processor(engine: str) -> None:
    """Rule Y11: also where nothing is to be flushed, as the write is on the media when it is done."""
    host = {"submission_ns": 20_000}
    _, flushes, found = flushes_beside(engine, [], [100_000, 105_000], host=host, drive_write_cache=False)
    assert (flushes, found.devices.n_flushes.tolist()) == ([120_000, 140_000], [0])
    _, flushes, _ = flushes_beside(engine, [], [100_000], host=host)
    assert flushes == [122_500]
    _, flushes, _ = flushes_beside(engine, [], [100_000], drive_write_cache=False)
    assert flushes == [100_000]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_flush_alone_sends_dirty_pages_first(engine: str) -> None:
    """Rules P9 and Y11: the page of blocks 24 to 31, which was read first, goes to the array, and then is flushed."""
    host = {"is_buffered": True, "page_cache": {"memory": "64 MiB"}, "read_ahead": "0 B"}
    writes, flushes, found = flushes_beside(engine, [(0, 24)], [1_100_000], host=host)
    assert (writes, flushes, found.devices.n_writes.tolist()) == ([321_500], [1_320_500], [1])
    assert syncs(found) == [0, 220_500]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stream_of_flushes_is_neither_read_nor_written(engine: Any) -> None:
    """Rule Y11: its latency is that of the commits, and of its stream."""
    streams = [
        {"name": "writes", "size": "512 B", "read_ratio": 0.5, "rate_per_s": 500},
        {"name": "barriers", "kind": "flushes", "rate_per_s": 100},
    ]
    found = simulate(described(), Workload.parse({"streams": streams}), n_requests=3000, engine=engine)
    barriers = found.per_stream["barriers"]
    assert (found.commits.n, found.commits.mean_ns) == (barriers.n, barriers.mean_ns)
    assert found.reads.n + found.writes.n + found.commits.n == found.n_measured
    assert found.bytes_per_s == pytest.approx(512 * found.iops_by_stream["writes"])
    assert found.commits_per_s == pytest.approx(found.iops_by_stream["barriers"])


def test_flushes_in_flat_memory_have_their_own_latency() -> None:
    """What histograms keep of them is what the completions say."""
    streams = [
        {"name": "writes", "size": "512 B", "read_ratio": 0.5, "rate_per_s": 500},
        {"name": "barriers", "kind": "flushes", "clients": 1, "think": "10 ms"},
    ]
    workload = Workload.parse({"streams": streams})
    kept, folded = (
        simulate(described(), workload, n_requests=20_000, engine="native", keep=keep) for keep in ("all", "histogram")
    )
    for name in ("reads", "writes", "commits"):
        one, other = getattr(kept, name), getattr(folded, name)
        assert other.n == pytest.approx(one.n, rel=0.1)
        assert other.mean_ns == pytest.approx(one.mean_ns, rel=0.1)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"size": "4 KiB"}, "a flush has none"),
        ({"read_ratio": 0.5}, "leave out read_ratio"),
        ({"offset": "1 MiB"}, "offset"),
        ({"addresses": {"pattern": "sequential"}}, "addresses"),
        ({"sync": "fdatasync"}, "is a sync itself"),
        ({"record": "300 B"}, "record"),
    ],
)
def test_flushes_have_no_size_and_no_place(more: dict[str, Any], says: str) -> None:
    with pytest.raises(DescriptionError, match=says):
        Workload.parse({"kind": "flushes", "rate_per_s": 10, **more})


def test_a_stream_of_flushes_is_read_as_it_was_written() -> None:
    workload = Workload.parse({"kind": "flushes", "rate_per_s": 10})
    assert Workload.parse(workload.to_dict()) == workload
    assert Workload.parse(tomllib.loads(workload.to_toml())) == workload
    assert workload.streams[0].in_words() == "flushes alone, 10/s"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_controller_without_a_battery_empties_its_cache(engine: str) -> None:
    """Rule K15: the block goes to the disk, then the disk's buffer to the media; who comes meanwhile waits."""
    controller = {"write_cache": {"size_bytes": 1 << 20, "block_bytes": 512, "protected": False}, "hit_ns": 7_000}
    found = outcome(engine, [(0, 30), (0, 50)], StreamRule("s", 1, sync=Sync.FLUSH), controller=controller)
    # the second write begins when the first is safe, and has passed once more: a revolution, and 20 sectors
    assert ends(found) == [310_500, 510_500]
    assert syncs(found) == [303_500, 193_000]
    assert found.devices.n_flushes.tolist() == [2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("throttle", "n_flushes"), [("linux", 4), ("none", 2)])
def test_flushes_of_a_disk_wait_for_a_place(engine: str, throttle: str, n_flushes: int) -> None:
    """Rule Q10: two places; the third and fourth flush wait until neither of the first two is in flight."""
    queue = {"write_throttle": throttle, "block_requests": 2}
    writes = [(0, 30), (0, 31), (0, 32), (0, 33)]
    found = outcome(engine, writes, StreamRule("s", 4, sync=Sync.FLUSH), queue=queue)
    assert found.devices.n_flushes.tolist() == [n_flushes]
