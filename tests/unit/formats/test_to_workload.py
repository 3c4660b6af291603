"""Workloads from what users have: what goes in is what the description then generates."""

import json
from pathlib import Path

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.folding import FoldingCounts
from diskmodel.formats.sysstat import read_sysstat
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.writers import write_trace
from diskmodel.formats.workloads.find import find_workload
from diskmodel.workload.description import Workload
from tests.unit.formats.files import DATA


def write(path, time_ns, offset, *, op=None, length=4096, names=("sda",), device=0):
    n = len(time_ns)
    chunk = TraceChunk(
        np.asarray(time_ns, dtype=np.int64),
        np.zeros(n, np.uint8) if op is None else op.astype(np.uint8),
        np.asarray(offset, dtype=np.int64),
        np.broadcast_to(np.int64(length), n).copy(),
        np.full(n, -1),
        np.broadcast_to(np.int32(device), n).copy(),
        names,
    )
    write_trace(path, chunk, format="csv")
    return path


def test_iostat_gives_its_rates_sizes_and_mix():
    found = find_workload(DATA / "iostat.json", level=100)
    (load,) = read_sysstat(DATA / "iostat.json")
    workload = Workload.parse(found.workload)
    assert workload.offered_rate_per_s == pytest.approx(load.ios_per_s.max())
    assert found.load_per_s[100] == load.ios_per_s.max()
    assert found.load_per_s[50] == pytest.approx(np.median(load.ios_per_s))
    reads, writes = workload.streams
    assert (reads.read_ratio, reads.mean_size_bytes) == (1.0, 4096)
    assert (writes.read_ratio, writes.mean_size_bytes) == (0.0, 4608)
    assert reads.expected_rate_per_s / workload.offered_rate_per_s == pytest.approx(
        load.reads_per_s.sum() / load.ios_per_s.sum()
    )
    assert any("places are not recorded" in note for note in found.notes)


def test_the_first_report_of_iostat_is_named_as_left_out(tmp_path):
    for name in ("iostat.json", "iostat.txt"):
        assert any("the first report is left out" in note for note in find_workload(DATA / name).notes)
    path = tmp_path / "idle.txt"
    path.write_text(_IOSTAT + "".join(_report(reads=reads, writes=5 * reads) for reads in (3, 0, 0)))
    with pytest.raises(FormatError, match="no disk has any load after the first report, which covers the time since"):
        find_workload(path)


@pytest.mark.parametrize(("writes", "is_named"), [(900, True), (100, False)])
def test_a_recording_whose_busiest_samples_write_more_says_so(writes, is_named, tmp_path):
    """RAID levels are chosen by the share of writes: 90 % at the peak are 19 % of all requests."""
    path = tmp_path / "peak.txt"
    quiet = _report(reads=90, writes=10)
    path.write_text(_IOSTAT + quiet * 40 + _report(reads=1000 - writes, writes=writes))
    (note,) = [note for note in find_workload(path, level=100).notes if "busiest" in note] or [""]
    said = (
        "in the sample with at least this load 10 % are reads and the mean size is 8 KiB; the workload has those of "
        "all samples, 74 % and 8 KiB: to plan for the busiest time, cut the recording to it"
    )
    assert note == (said if is_named else "")


@pytest.mark.parametrize(
    ("reads", "writes", "read_kb", "is_taken"),
    [
        (100, 900, 8, True),
        (1000, 100, 8, False),  # the mix of all
        (1000, 5, 8, False),  # fewer writes are easier
        (600, 400, 64, True),  # longer reads are harder
        (1000, 5, 64, False),  # longer, and fewer writes
    ],
)
def test_a_plan_is_for_the_mix_of_the_busiest_time_where_that_is_harder(reads, writes, read_kb, is_taken, tmp_path):
    path = tmp_path / "peak.txt"
    peak = (
        f"Device r/s rkB/s w/s wkB/s %util\nsda {reads}.00 {read_kb * reads}.00 {writes}.00 {8 * writes}.00 10.00\n\n"
    )
    path.write_text(_IOSTAT + _report(reads=60, writes=40) * 40 + peak)
    found, whole = (find_workload(path, level=100, mix=mix) for mix in ("peak", "all"))
    assert whole.workload == find_workload(path, level=100).workload
    assert (found.workload != whole.workload) == is_taken
    assert any("which the workload has, because it is harder" in note for note in found.notes) == is_taken
    streams = Workload.parse(found.workload).streams
    rates = [stream.expected_rate_per_s for stream in streams]
    assert sum(rates) == pytest.approx(reads + writes)
    if is_taken:
        assert rates == pytest.approx([reads, writes])
        assert [stream.mean_size_bytes for stream in streams] == [read_kb << 10, 8 << 10]


_IOSTAT = "Linux 6.18.44 (vm) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n"


def _report(*, reads, writes):
    head = "Device r/s rkB/s w/s wkB/s %util\n"
    return f"{head}sda {reads}.00 {8 * reads}.00 {writes}.00 {8 * writes}.00 10.00\n\n"


DISKSPD = r"""
Command Line: diskspd.exe -b8K -r8K -t4 -o16 -w100 -d10 -L D:\test.dat

Input parameters:

    path: 'D:\test.dat'
        software cache disabled
        performing write test
        block size: 8192
        using random I/O (alignment: 8192)
        number of outstanding I/O operations: 16
        threads per file: 4

Results for timespan 1:
*******************************************************************************

actual test time:    10.00s
thread count:        4

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  |  file
------------------------------------------------------------------------------------
     0 |       327680000 |        40000 |      31.25 |    4000.00 |   16.000 | D:\test.dat (150GiB)
------------------------------------------------------------------------------------
total:         327680000 |        40000 |      31.25 |    4000.00 |   16.000

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  |  file
------------------------------------------------------------------------------------
     0 |               0 |            0 |       0.00 |       0.00 |    0.000 | D:\test.dat (150GiB)
------------------------------------------------------------------------------------
total:                 0 |            0 |       0.00 |       0.00 |    0.000

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  |  file
------------------------------------------------------------------------------------
     0 |       327680000 |        40000 |      31.25 |    4000.00 |   16.000 | D:\test.dat (150GiB)
------------------------------------------------------------------------------------
total:         327680000 |        40000 |      31.25 |    4000.00 |   16.000
"""


def test_a_file_of_diskspd_is_one_place_although_its_path_has_a_colon(tmp_path):
    path = tmp_path / "diskspd.txt"
    path.write_text(DISKSPD)
    found = find_workload(path)
    assert not any("share one region" in note for note in found.notes)
    (stream,) = Workload.parse(found.workload).streams
    assert (stream.arrival.clients, stream.mean_size_bytes, stream.read_ratio) == (64, 8192, 0.0)


def test_sadf_has_no_split_and_says_so():
    found = find_workload(DATA / "sadf.json", level=50)
    (stream,) = Workload.parse(found.workload).streams
    assert stream.expected_rate_per_s == 58256
    assert any("not counted apart" in note for note in found.notes)


def test_a_device_must_be_named_where_several_are_busy(tmp_path):
    document = json.loads((DATA / "iostat.json").read_text())
    for report in document["sysstat"]["hosts"][0]["statistics"]:
        report["disk"].append(dict(report["disk"][0], disk_device="sdb"))
    path = tmp_path / "iostat.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match="several are busy; one or several of vda, sdb, or all"):
        find_workload(path)
    assert find_workload(path, device="sdb").workload["name"] == "sdb"


@pytest.mark.parametrize("name", ["mix.fio", "mix-fio-3.33.txt"])
def test_a_fio_job_keeps_its_requests_outstanding(name):
    found = find_workload(DATA / name)
    workload = Workload.parse(found.workload)
    (stream,) = workload.streams
    assert workload.queue_depth == 16
    assert (stream.mean_size_bytes, stream.span_bytes) == (8192, 64 * 2**20)
    # 70 % were asked for; a result counts by what it measured.
    assert stream.read_ratio == (0.7 if name.endswith(".fio") else pytest.approx(96113 / (96113 + 41253)))
    assert any(
        note.startswith("only the first group of jobs was taken") and "1 later group was left out" in note
        for note in found.notes
    )


def test_a_later_group_of_jobs_is_taken_by_name():
    depths = Path(__file__).parents[3] / "examples" / "measured" / "depths.json"
    found = find_workload(depths, device="depth16")
    assert Workload.parse(found.workload).queue_depth == 16
    assert not any("first group" in note for note in found.notes)
    with pytest.raises(FormatError, match="is no job of this fio-json file; it has depth1, depth2"):
        find_workload(depths, device="depth3")


def test_fio_patterns_think_times_and_places(tmp_path):
    path = tmp_path / "job.fio"
    path.write_text(
        "[a]\nrw=read\nbs=64k\nsize=1g\noffset=2g\nthinktime=500\ndirect=1\n"
        "[b]\nrw=randwrite\nrandom_distribution=zipf:1.2\n"
    )
    found = find_workload(path)
    a, b = Workload.parse(found.workload).streams
    assert (a.addresses.pattern, a.offset_bytes, a.span_bytes, a.arrival.think_ns) == (
        "sequential",
        2**31,
        2**30,
        500_000,
    )
    assert (b.addresses.pattern, b.addresses.theta, b.read_ratio) == ("zipf", 1.2, 0.0)
    assert [note for note in found.notes if "page cache" in note and note.startswith("b:")]


def test_a_trace_gives_rate_mix_sizes_and_span(tmp_path):
    random = np.random.default_rng(5)
    n = 60_000
    op = random.random(n) < 0.3
    path = write(
        tmp_path / "t.csv",
        np.sort(random.integers(0, 60 * 10**9, n)),
        random.integers(0, 10**6, n) * 8192,
        op=op,
        length=np.where(op, 8192, random.choice([4096, 16384], n, p=[0.75, 0.25])),
    )
    found = find_workload(path, level=50)
    workload = Workload.parse(found.workload)
    reads, writes = workload.streams
    assert workload.offered_rate_per_s == pytest.approx(1000, rel=0.02)
    assert reads.expected_rate_per_s / workload.offered_rate_per_s == pytest.approx(0.7, abs=0.01)
    assert reads.mean_size_bytes == pytest.approx(0.75 * 4096 + 0.25 * 16384, rel=0.01)
    assert writes.mean_size_bytes == 8192
    assert {reads.addresses.pattern, writes.addresses.pattern} == {"uniform"}
    assert workload.span_bytes == pytest.approx(8192 * 10**6, rel=1e-3)
    requests = workload.requests(capacity_bytes=10**11, n=1000, seed=1)
    assert len(requests) == 1000


def test_load_over_time_and_the_level_that_is_asked_for(tmp_path):
    # ten seconds with 100 a second, then one with 900, then the end
    seconds = np.concatenate([np.arange(1000) / 100, 10 + np.arange(900) / 900, [11.0]])
    path = write(tmp_path / "t.csv", (seconds * 1e9).round(), np.zeros(1901))
    found = find_workload(path, level=50)
    assert found.rates_per_s.tolist() == [100.0] * 10 + [900.0]
    assert Workload.parse(found.workload).offered_rate_per_s == 100
    assert Workload.parse(find_workload(path, level=100).workload).offered_rate_per_s == 900
    assert found.load_per_s[100] == 900


@pytest.mark.parametrize("n_readers", [1, 4])
def test_sequential_runs_are_seen_through_interleaving(n_readers, tmp_path):
    n, run = 8000, 50
    turn, reader = np.divmod(np.arange(n), n_readers)
    start = np.random.default_rng(2).integers(0, 10**6, (n // n_readers // run + 1, n_readers)) * 2**20
    offset = start[turn // run, reader] + turn % run * 4096
    found = find_workload(write(tmp_path / "t.csv", np.arange(n) * 10**6, offset))
    (stream,) = Workload.parse(found.workload).streams
    assert stream.addresses.pattern == "sequential"
    assert stream.addresses.mean_run == pytest.approx(run, rel=0.05)


def test_a_hot_spot_is_distinguished_from_random_unevenness(tmp_path):
    random = np.random.default_rng(4)
    n = 20_000
    span = 10**11
    even = random.random(n) * span
    hot = np.where(random.random(n) < 0.8, random.random(n) * span / 20 + span / 2, even)
    for place, pattern in ((even, "uniform"), (hot, "hot_spot")):
        found = find_workload(write(tmp_path / "t.csv", np.arange(n) * 10**6, place.astype(np.int64) // 4096 * 4096))
        (stream,) = Workload.parse(found.workload).streams
        assert stream.addresses.pattern == pattern
    # 80 % in a twentieth and, evenly, a twentieth of the rest in the other half of the tenth
    assert stream.addresses.access_ratio == pytest.approx(0.8 + 0.2 * 0.1, abs=0.02)


def test_devices_of_a_trace_are_joined_or_picked(tmp_path):
    device = np.arange(4000) % 2
    path = write(tmp_path / "t.csv", np.arange(4000) * 10**6, device * 4096, names=("sda", "sdb"), device=device)
    both = find_workload(path)
    assert any("2 devices were taken together" in note for note in both.notes)
    one = find_workload(path, device="sdb")
    assert one.mean_per_s == pytest.approx(both.mean_per_s / 2, rel=0.01)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("smartctl-hdd.json", {}, "holds no workload"),
        ("iostat.json", {"level": 101}, "must lie from 0 to 100"),
        ("iolog3.txt", {"interval_s": 0.0}, "must lie from 0.001"),
        ("iostat.json", {"device": "sdz"}, "it has vda"),
    ],
)
def test_what_gives_no_workload_says_why(name, options, message):
    with pytest.raises(FormatError, match=message):
        find_workload(DATA / name, **options)


def test_folding_counts_keep_every_count_and_their_places():
    random = np.random.default_rng(1)
    positions = random.integers(0, 10**6, 5000)
    folding = FoldingCounts(10, max_bins=64)
    for part in np.array_split(np.sort(positions), 20):
        folding.add(part)
    assert len(folding.counts()) <= 64
    assert folding.width == 10 * 2**11  # the least power of two at which 64 bins reach a million
    np.testing.assert_array_equal(folding.counts(), np.bincount(positions // folding.width))


@pytest.mark.evidence
def test_real_traces_become_workloads(evidence):
    found = find_workload(evidence / "traces" / "hp_c3323a.trace")
    workload = Workload.parse(found.workload)
    capacity = 2056008 * 512
    assert workload.span_bytes <= -(-capacity // 4096) * 4096
    assert len(workload.requests(capacity_bytes=2 * capacity, n=500, seed=3)) == 500


@pytest.mark.parametrize(("n", "words"), [(2, "1 later group was left out"), (3, "2 later groups were left out")])
def test_further_groups_of_fio_are_counted(tmp_path, n, words):
    jobs = "".join(f"[job{number}]\nrw=randread\nstonewall\n" for number in range(n))
    path = tmp_path / "load.fio"
    path.write_text(f"[global]\nioengine=libaio\niodepth=4\nsize=1g\n{jobs}")
    assert any(words in note for note in find_workload(path).notes)


ZBD = "filename=/dev/sdd\ndirect=1\nzonemode=zbd\nioengine=libaio\niodepth=4\nbs=256k\n"


def zoned(tmp_path, text):
    path = tmp_path / "zones.fio"
    path.write_text("[a]\n" + ZBD + text)
    found = find_workload(path)
    return Workload.parse(found.workload).streams[0], " ".join(found.notes)


def test_a_job_that_writes_zones_goes_to_their_write_pointers(tmp_path):
    stream, notes = zoned(
        tmp_path, "rw=randwrite\noffset=524z\nsize=100z\nnumjobs=4\njob_max_open_zones=8\nzonesize=128m\n"
    )
    addresses = stream.addresses
    assert (addresses.pattern, addresses.n_open, addresses.zone_bytes) == ("zone_write", 32, 128 << 20)
    assert (stream.offset_bytes, stream.span_bytes, stream.arrival.clients) == (524 << 27, 100 << 27, 16)
    assert "zone" not in notes


def test_what_such_a_job_leaves_to_the_drive_is_named(tmp_path):
    stream, notes = zoned(tmp_path, "rw=randrw\n")
    assert (stream.addresses.n_open, stream.addresses.zone_bytes, stream.read_ratio) == (128, 256 << 20, 0.5)
    assert "128 zones are open" in notes
    assert "256 MiB is taken" in notes
    assert "reads fall on the whole region" in notes
    stream, notes = zoned(tmp_path, "rw=randwrite:1024\nnumjobs=4\nmax_open_zones=64\nrandom_distribution=zipf:1.1\n")
    assert stream.addresses.n_open == 4
    assert "each clone writes one zone after the other" in notes
    assert "whatever random_distribution is" in notes


def test_reads_and_sequential_writes_of_zones_are_as_without_them(tmp_path):
    stream, _ = zoned(tmp_path, "rw=randread\nread_beyond_wp=1\n")
    assert stream.addresses.pattern == "uniform"
    stream, notes = zoned(tmp_path, "rw=write\n")
    assert (stream.addresses.pattern, stream.read_ratio) == ("sequential", 0)
    assert "zone" not in notes
