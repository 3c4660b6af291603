"""Flushes of recordings: used as the sync of a stream, or no figure is given."""

from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.cli.shared.inputs import with_sync
from diskmodel.engine.run import run as run_engine
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.formats import find_workload
from diskmodel.formats.fio.job import FioDirection, FioJob, FioLatency
from diskmodel.formats.fio.workload import fio_workload
from diskmodel.formats.replaying import load_replay
from diskmodel.records import Op
from diskmodel.workload import TraceWorkload, Workload
from tests.unit.cli.commands import answer, refusal, run

TRACE = (
    "  8,0 0 1 0.000000000 10 Q FWS 1000 + 8 [log]\n"
    "  8,0 0 2 0.000100000 10 D FN [log]\n"
    "  8,0 0 3 0.004000000 10 C FN 0 [0]\n"
    "  8,0 0 4 0.004100000 10 D WS 1000 + 8 [log]\n"
    "  8,0 0 5 0.005000000 10 C WS 1000 + 8 [0]\n"
    "  8,0 0 6 0.006000000 10 Q W 2000 + 8 [data]\n"
    "  8,0 0 7 0.006100000 10 D W 2000 + 8 [data]\n"
    "  8,0 0 8 0.007000000 10 C W 2000 + 8 [0]\n"
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("fdatasync=1", {"sync": "fdatasync"}),
        ("fsync=8", {"sync": "fsync", "sync_every": 8}),
        ("fsync=8\nfdatasync=2", {"sync": "fdatasync", "sync_every": 2}),
        ("sync=1", {"sync": "dsync"}),
        ("sync=dsync", {"sync": "dsync"}),
        ("sync=none", {}),
        ("fsync=0", {}),
        ("sync_file_range=write:8", {}),
        ("write_barrier=4", {}),
    ],
)
def test_what_a_job_of_fio_makes_safe(tmp_path, options, expected):
    path = tmp_path / "job.fio"
    path.write_text(f"[log]\n{options}\ndirect=1\nbs=4k\nrw=write\n")
    found = find_workload(path)
    (stream,) = found.workload["streams"]
    assert {key: stream[key] for key in ("sync", "sync_every") if key in stream} == expected
    assert Workload.parse(found.workload).has_syncs == bool(expected)
    is_named = options.startswith(("sync_file_range", "write_barrier"))
    assert any("flush" in note for note in found.notes) == is_named


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fdatasync": "1"}, "measured: 100 commits/s, each flush 9.98 ms on average"),
        ({"sync_file_range": "write:8"}, "measured: 100 calls of sync_file_range/s, each 9.98 ms on average"),
        (
            {"fsync": "16", "sync_file_range": "write:16"},
            "measured: 100 commits/s, each flush 9.98 ms on average, the calls of sync_file_range among them",
        ),
        (
            {"sync_file_range": "write:0"},
            "measured: 100 commits/s, each flush 9.98 ms on average, which no option explains",
        ),
        ({}, "measured: 100 commits/s, each flush 9.98 ms on average, which no option"),
    ],
)
def test_calls_of_sync_file_range_are_no_commits(options, said):
    """fio counts them in its section of flushes."""
    lat, sync = (FioLatency(1.0, 1e9, mean, 1.0) for mean in (20_000.0, 9_980_000.0))
    write = FioDirection(1000, 4_096_000, 10**10, 100.0, 409_600.0, lat=lat)
    settings = {"bs": "4k", "rw": "write", "direct": "1"} | options
    job = FioJob("log", options=settings, pattern="write", is_direct=True, sync=sync, n_syncs=1000)
    job = replace(job, write=write, sizes={"write": {4096: 1.0}})
    notes: list[str] = []
    fio_workload([job], "log.json", notes)
    assert any(note.startswith(f"log: {said}") for note in notes)


def test_reads_of_a_job_are_not_made_safe(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nfsync=1\ndirect=1\nbs=4k\nrw=randread\n")
    (stream,) = find_workload(path).workload["streams"]
    assert "sync" not in stream


def test_a_job_with_fdatasync_is_as_fast_as_the_platter_turns(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[log]\nfdatasync=1\ndirect=1\nbs=4k\nrw=write\n")
    found = answer("simulate", "1x generic-7k2", "--workload", path, "--requests", 2000, "--only-run-noise")
    # one write a revolution of 8.33 ms: at most 120 a second; public measurements have 58 to 105
    assert 50 < found["commits_per_s"] <= 120
    assert found["commits_per_s"] == pytest.approx(found["iops"])
    assert found["commit_latency_ms"]["mean"] > 8.3


def test_flushes_of_a_trace_follow_as_many_writes(tmp_path):
    path = tmp_path / "trace.blkparse"
    path.write_text(TRACE)
    found = find_workload(path, format="blkparse")
    (stream,) = found.workload["streams"]
    assert (stream["sync"], stream["sync_every"]) == ("fdatasync", 2)
    assert any(note.startswith("1 flushes; one follows every 2 writes") for note in found.notes)
    _, trace = load_replay(path, format="blkparse")
    assert (trace.n_flushes, trace.n_skipped) == (1, 0)


def replayed(tmp_path, text: str, **options):
    path = tmp_path / "trace.blkparse"
    path.write_text(text)
    workload, _ = load_replay(path, **{"format": "blkparse"} | options)
    return workload


def rows_of(workload) -> list[tuple[int, int, int, int]]:
    """Time (us), operation, first sector and stream of each request."""
    trace = workload.trace
    columns = (trace.when_ns // 1000, trace.op, trace.offset // 512, trace.stream)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_replay_has_the_flushes_of_its_trace(tmp_path):
    """Rule Y12: the first write asks for a flush before it, and waits for that until 4,100 us."""
    workload = replayed(tmp_path, TRACE)
    assert rows_of(workload) == [(0, Op.FLUSH, 0, 1), (4100, Op.WRITE, 1000, 0), (6000, Op.WRITE, 2000, 0)]
    assert [rule.is_of_flushes for rule in workload.trace.streams] == [False, True]
    assert rows_of(replayed(tmp_path, TRACE, with_flushes=False)) == [(0, Op.WRITE, 1000, 0), (6000, Op.WRITE, 2000, 0)]
    assert rows_of(workload.without_flushes()) == [(4100, Op.WRITE, 1000, 0), (6000, Op.WRITE, 2000, 0)]


def test_of_the_events_of_a_flush_one_is_replayed(tmp_path):
    """What asked for it; in blkparse-dispatch what the device was given; else what the trace has."""
    write = "  8,0 0 9 0.009000000 10 Q WFS 3000 + 8 [db]\n  8,0 0 9 0.009100000 10 C WFS 3000 + 8 [0]\n"
    asked = "".join(f"  8,0 0 1 0.00{at}000000 10 Q FWS [db]\n" for at in (1, 2))
    given = "  8,0 0 1 0.003000000 10 D FN [db]\n"
    ended = "  8,0 0 1 0.005000000 10 C FN 0 [0]\n"
    fua = (Op.WRITE, 3000, 1)
    for text, form, times in (
        (asked + given + ended, "blkparse", [0, 1000]),
        (asked + given + ended, "blkparse-dispatch", [0]),
        (given + ended, "blkparse", [0]),
        (ended, "blkparse", [0]),
    ):
        found = rows_of(replayed(tmp_path, text + write, format=form))
        assert [row[0] for row in found[:-1]] == times
        assert {row[1] for row in found[:-1]} == {Op.FLUSH}
        assert found[-1][1:] == fua


@pytest.mark.parametrize(("version", "stamps"), [(2, ("",) * 5), (3, ("0 ", "90 ", "200 ", "9000 ", "9000 "))])
def test_a_replay_has_the_syncs_of_an_iolog(tmp_path, version, stamps):
    """Each is a flush; `sync_file_range` makes nothing safe, and no offset of a sync says anything."""
    actions = ("write 4096 4096", "sync_file_range 0 4096", "datasync 8192 0", "sync 0 0", "write 0 4096")
    path = tmp_path / "log.iolog"
    lines = [f"{stamp}/mnt/a {action}\n" for stamp, action in zip(stamps, actions, strict=True)]
    if version == 2:
        lines.insert(2, "/mnt/a wait 9 0\n")
    path.write_text(f"fio version {version} iolog\n" + "".join(lines))
    form = f"fio-iolog{version}"
    workload = replayed(tmp_path, path.read_text(), format=form)
    times = (0, 200, 9000, 9000) if version == 3 else (0, 9000, 9000, 9000)
    expected = [(Op.WRITE, 8, 0), (Op.FLUSH, 0, 1), (Op.FLUSH, 0, 1), (Op.WRITE, 0, 0)]
    assert rows_of(workload) == [(time, *row) for time, row in zip(times, expected, strict=True)]
    _, trace = load_replay(path, format=form)
    assert (trace.n_flushes, trace.n_skipped) == (2, 1)
    _, trace = load_replay(path, format=form, with_flushes=False)
    assert (trace.n_flushes, trace.n_skipped) == (2, 3)
    (stream,) = find_workload(path, format=form).workload["streams"]
    assert (stream["sync"], stream.get("sync_every", 1)) == ("fdatasync", 1)


def test_flushes_are_replayed_alike_in_both_engines(tmp_path):
    lines = []
    for n in range(40):
        kind = ("WS", "WFS", "FWFS")[n % 3]
        lines.append(f"  8,0 0 1 {n // 25}.{n % 25 * 40:03d}000000 10 Q {kind} {n * 40_000} + 8 [db]\n")
        lines.append(f"  8,0 0 1 {n // 25}.{n % 25 * 40:03d}200000 10 D {kind} {n * 40_000} + 8 [db]\n")
        lines.append(f"  8,0 0 1 {n // 25}.{n % 25 * 40:03d}300000 10 C {kind} {n * 40_000} + 8 [0]\n")
        lines += [f"  8,0 0 1 {n // 25}.{n % 25 * 40:03d}500000 10 Q FWS [db]\n"] if n % 4 == 0 else []
    workload = replayed(tmp_path, "".join(lines))
    for array in (Array("generic-7k2", "jbod", 1), Array("generic-7k2", "raid1", 2, drive_write_cache=True)):
        requests = workload.requests(capacity_bytes=array.usable_bytes)
        simpy, native = (run_engine(resolve(array, 0), requests, engine) for engine in ("simpy", "native"))
        assert simpy.completions.done_ns.tolist() == native.completions.done_ns.tolist()
        assert simpy.devices.n_flushes.tolist() == native.devices.n_flushes.tolist()
        assert simpy.devices.n_flushes.min() > 10


def test_flushes_change_the_answer_of_a_replay(tmp_path):
    path = tmp_path / "trace.blkparse"
    path.write_text(TRACE)
    for command in (
        ("replay", "1x generic-7k2", "--trace", path, "--format", "blkparse"),
        ("simulate", "1x generic-7k2", "--workload", path, "--format", "blkparse", "--replay", "original"),
    ):
        for options in ((), ("--sync", "none")):
            assert run(*command, *options, "--json").exit_code in (0, 3)
        assert "does not apply to a replay" in refusal(*command, "--sync", "fsync")
    closed = ("simulate", "1x generic-7k2", "--workload", path, "--format", "blkparse", "--replay", "closed")
    assert "does not keep what flushes wait for" in refusal(*closed)
    assert run(*closed, "--sync", "none", "--json").exit_code in (0, 3)


@pytest.mark.parametrize(
    ("op", "length", "is_fua", "message"),
    [
        (2, 512, False, "a flush has neither a place nor a length"),
        (0, 512, True, "is_fua: is about writes"),
        (1, 0, False, "length=0: must be more than 0"),
    ],
)
def test_requests_that_no_trace_has(op, length, is_fua, message):
    with pytest.raises(DescriptionError, match=message):
        TraceWorkload.from_arrays([0], [op], [0], [length], is_fua=[is_fua])


def test_a_recorded_load_whose_flushes_are_dropped_has_no_figure(tmp_path):
    path = tmp_path / "iostat.txt"
    path.write_text(
        "Linux 6.1 (web)  03/01/24  _x86_64_  (8 CPU)\n\n"
        "Device tps kB_read/s kB_wrtn/s f/s\nsda 100 400 400 20\n\n"
        "Device tps kB_read/s kB_wrtn/s f/s\nsda 20 80 80 4\n"
    )
    command = ("simulate", "1x generic-7k2", "--workload", path, "--requests", 300, "--only-run-noise")
    said = refusal(*command)
    assert "no figure can be given" in said
    assert answer(*command, "--sync", "none")["commits_per_s"] is None
    assert answer(*command, "--sync", "fdatasync")["commits_per_s"] > 5
    (tmp_path / "plan.toml").write_text(
        'workload = "iostat.txt"\nobjective = { latency = { p99 = "40 ms" } }\n'
        'candidates = { drives = ["generic-7k2"], levels = ["raid1"] }\n'
    )
    assert "no figure can be given" in refusal("plan", tmp_path / "plan.toml")


def test_flushes_that_belong_to_no_write_are_a_stream_of_their_own(tmp_path):
    path = tmp_path / "iostat.txt"
    path.write_text(
        "Linux 6.1 (vm)  03/01/24  _x86_64_  (8 CPU)\n\n"
        "Device r/s rkB/s w/s wkB/s f/s f_await\nsda 100 400 100 400 20 1\n\n"
        "Device r/s rkB/s w/s wkB/s f/s f_await\nsda 30 120 10 40 25 8\n"
    )
    found = find_workload(path)
    reads, writes, flushes = found.workload["streams"]
    assert (reads.get("sync"), writes["sync"], writes.get("sync_every")) == (None, "fdatasync", None)
    assert flushes == {"name": "flushes", "kind": "flushes", "arrival": {"kind": "poisson", "rate_per_s": 15.0}}
    assert any("15/s belong to no write" in note for note in found.notes)
    workload = Workload.parse(found.workload)
    assert workload.commits_per_s == pytest.approx(25)
    assert not with_sync(workload, "none", "").has_syncs
    assert with_sync(workload, "dsync", "").commits_per_s == pytest.approx(10)


def test_a_trace_of_reads_and_flushes_keeps_the_flushes(tmp_path):
    path = tmp_path / "trace.blkparse"
    line = "  8,0 0 {0} 0.0{0}0000000 10 {1} {2} [log]\n"
    reads = [(action, f"R {place} + 8") for place in (1000, 9000) for action in "QDC"]
    events = [*reads, ("C", "FN 0"), ("C", "FN 0"), ("C", "FN 0")]
    path.write_text("".join(line.format(n, action, rest) for n, (action, rest) in enumerate(events, start=1)))
    found = find_workload(path, format="blkparse", interval_s=0.01)
    reads, flushes = found.workload["streams"]
    assert (reads["read_ratio"], flushes["kind"]) == (1.0, "flushes")
    assert flushes["arrival"]["rate_per_s"] == pytest.approx(1.5 * reads["arrival"]["rate_per_s"])


def test_what_explains_a_recording_times_writes_without_their_flushes(tmp_path):
    """As iostat does: a write of 0.2 ms into the cache, and 8.3 ms of its flush beside it; a read waits for some."""
    columns = "r/s rkB/s r_await w/s wkB/s w_await f/s f_await aqu-sz %util".split()
    figures = "1.00 8.00 12.00 101.00 404.00 0.20 100.00 8.30 0.85 84.00".split()
    report = "Device " + " ".join(columns) + "\nsda " + " ".join(figures) + "\n\n"
    path = tmp_path / "iostat.txt"
    path.write_text("Linux 6.1.0 (db1) \t03/02/2026 \t_x86_64_\t(8 CPU)\n\n" + 3 * report)
    found = answer("explain", path, "--array", "1x generic-7k2")
    assert found["expected"]["iostat.txt"]["writes.mean_ms"]["value"] == pytest.approx(0.2, rel=0.2)
    assert found["causes"] == []
