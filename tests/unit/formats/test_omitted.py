"""What shapes a load is used or named: options of fio, columns of sysstat, clocks and merges of traces."""

import codecs

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import detect_evidence, find_workload, load_trace
from diskmodel.formats.fio.reader import jobs_of_text
from diskmodel.formats.fio.workload import fio_workload
from diskmodel.formats.sizes import whole_size
from diskmodel.formats.sysstat import loads_of_text
from diskmodel.workload import Workload


def described(text, notes=None):
    return Workload.parse(fio_workload(jobs_of_text(text, kind="fio-job"), "f", notes))


HEAD = "[a]\ndirect=1\nioengine=libaio\niodepth=8\nsize=1g\nbs=4k\n"


def test_rates_become_arrivals_and_the_rest_stays_closed():
    workload = described(HEAD + "rw=randrw\nnumjobs=2\nrate_iops=350,150\n")
    assert [stream.arrival.kind for stream in workload.streams] == ["poisson", "poisson"]
    assert [stream.expected_rate_per_s for stream in workload.streams] == pytest.approx([700, 300])
    regular = described(HEAD + "rw=randread\nrate=400k\n")
    assert (regular.streams[0].arrival.kind, regular.offered_rate_per_s) == ("given", pytest.approx(100))
    half = described(HEAD + "rw=randrw\nrate_iops=,50\nrate_process=poisson\n")
    assert half.queue_depth == 8
    assert half.offered_rate_per_s == pytest.approx(50)
    with pytest.raises(FormatError, match="both given"):
        described(HEAD + "rw=read\nrate=1m\nrate_iops=5\n")


def test_pauses_below_a_rate_decide_and_others_are_named():
    """fio waits for what is outstanding, then pauses: a clone of depth 8 completes 8 requests between pauses."""
    notes = []
    paused = described(HEAD + "rw=randread\nrate_iops=500\nthinktime=1s\n", notes)
    (stream,) = paused.streams
    assert (stream.arrival.kind, stream.arrival.clients, stream.arrival.think_ns) == ("closed", 8, 10**9)
    assert any("thinktime=1s allows at most 8/s, less than the rate of 500/s" in note for note in notes)
    rated = described(HEAD + "rw=randread\nrate_iops=500\nthinktime=1ms\n", notes)
    assert rated.offered_rate_per_s == pytest.approx(500)
    assert any("thinktime=1ms is left out" in note for note in notes)
    for blocks, pause_ns in ((8, 10**9), (32, 10**9 / 4)):
        text = HEAD + f"rw=randread\nthinktime=1s\nthinktime_blocks={blocks}\n"
        assert described(text).streams[0].arrival.think_ns == pause_ns


SCRIPT = """#!/bin/bash
# fio --name=no --rw=read
[root@a ~]# sudo fio --ioengine=libaio --direct=1 --name mix --rw=randrw --rwmixread 70 --bs=8k \\
   --iodepth=16 --group_reporting --size=1g | tee out.txt
/usr/bin/fio -direct=1 -name=one -rw=randread -bs=4k -filename=/dev/sdb -name=two -rw=write -bs=1m -iodepth=4 &
"""


def test_command_lines_are_jobs_one_call_after_the_other():
    jobs = jobs_of_text(SCRIPT)
    assert [(job.name, job.group, job.pattern, job.outstanding) for job in jobs] == [
        ("mix", 0, "randrw", 16),
        ("one", 1, "randread", 1),
        ("two", 1, "write", 1),  # fio's engine on Linux waits for each request
    ]
    assert (jobs[0].read_fraction, jobs[0].is_direct, jobs[0].options["size"]) == (0.7, True, "1g")
    assert jobs[1].options["filename"] == "/dev/sdb"
    (prompted,) = jobs_of_text("j2@pc:~$ sudo fio -name=p -rw=read -size=2g")
    assert (prompted.name, prompted.options["size"]) == ("p", "2g")
    with pytest.raises(FormatError, match="give that file instead"):
        jobs_of_text("fio --output=x jobs.fio", kind="fio-command")


@pytest.mark.parametrize(
    ("options", "span"),
    [
        ("filesize=128k\nnrfiles=30\nnumjobs=4", 4 * 30 * 131072),
        ("filesize=6g\nfilename=/dev/sdb:/dev/sdc:/dev/sdd", 3 * 6 * 2**30),
        ("size=6g\nfilename=/dev/sdb:/dev/sdc", 6 * 2**30),
        ("size=1g\nnumjobs=2", 2 * 2**30),
    ],
)
def test_the_region_is_that_of_all_files(options, span):
    assert described(f"[a]\ndirect=1\nbs=4k\nrw=randread\n{options}\n").streams[0].span_bytes == span


def test_unaligned_requests_begin_at_any_sector():
    assert described(HEAD + "rw=randread\nbs_unaligned=1\n").streams[0].alignment_bytes == 512


TEXT_WITHOUT_OPTIONS = """\
big: (groupid=0, jobs=32): err= 0: pid=70956: Wed Jul  8 13:27:48 2020
  read: IOPS=9167, BW=9167MiB/s (9613MB/s)(2686GiB/300004msec)
    slat (nsec): min=0, max=409000, avg=3882.55, stdev=3631.79
    clat (usec): min=999, max=14947, avg=3482.93, stdev=991.25
     lat (usec): min=1002, max=14949, avg=3486.81, stdev=991.16
     issued rwts: total=2750270,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def test_results_without_options_keep_their_size_and_depth():
    notes = []
    jobs = jobs_of_text(TEXT_WITHOUT_OPTIONS, kind="fio-text")
    (stream,) = Workload.parse(fio_workload(jobs, "f", notes)).streams
    assert [size.size_bytes for size in stream.sizes] == [2**20]
    assert stream.alignment_bytes == 2**20
    assert stream.arrival.clients == 32
    assert not any("asked for" in note or "without direct=1" in note for note in notes)
    assert any("direct=1 is assumed" in note for note in notes)


@pytest.mark.parametrize(
    ("mean", "precision", "size"),
    [
        (1_048_650, 0.01, 2**20),
        (4_137, 0.01, 4096),
        (24_500, 0.01, 24_576),
        (5_100, 0.01, 5_120),
        (1_105_578, 0.5 / 9, 2**20),
        (1, 0.01, 512),
    ],
)
def test_a_rounded_mean_stands_for_the_roundest_size(mean, precision, size):
    assert whole_size(mean, precision) == size


def test_solaris_in_megabytes(tmp_path):
    head = "                  extended device statistics\n device  r/s  w/s  Mr/s  Mw/s wait actv  svc_t  %w  %b\n"
    path = tmp_path / "m.txt"
    path.write_text(2 * (head + " sd1     0.0 1000.0  0.0  125.0  9.0  1.0    5.8 100  98\n"))
    (stream,) = Workload.parse(find_workload(path).workload).streams
    assert stream.sizes[0].size_bytes == 131072


def test_a_device_that_was_always_busy_may_have_been_at_its_limit(tmp_path):
    head = "Linux 5.4.0 (a) \t09/17/21 \t_x86_64_\t(1 CPU)\n\n"
    table = (
        "Device r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util\n"
    )
    row = "sda 100.00 0.00 400.00 0.00 0 0 0 0 9.40 0 8.71 4.0 0 5.80 {}\n\n"
    for utilization, is_warned in (("99.60", True), ("80.00", False)):
        path = tmp_path / f"{utilization}.txt"
        path.write_text(head + 3 * (table + row.format(utilization)))
        notes = find_workload(path).notes
        assert any("sda was busy all the time in 2 of 2 samples" in note for note in notes) == is_warned


def test_stonewall_in_global_and_wait_for_separate_groups():
    walled = jobs_of_text("[global]\nstonewall\nbs=4k\n[a]\nrw=read\n[b]\nrw=read\n[c]\nrw=read\n", kind="fio-job")
    assert [job.group for job in walled] == [0, 1, 2]
    waiting = jobs_of_text("[a]\nrw=read\n[b]\nrw=read\nwait_for=a\n[c]\nrw=read\n", kind="fio-job")
    assert {job.name: job.group for job in waiting} == {"a": 0, "b": 1, "c": 0}
    with pytest.raises(FormatError, match="wait_for"):
        jobs_of_text("[a]\nrw=read\nwait_for=z\n", kind="fio-job")


def test_comments_anywhere_and_a_job_without_rw():
    (job,) = jobs_of_text("[a] ; first\nbs=8k # eight\nnumjobs=2;two\ndirect=1\n", kind="fio-job")
    assert (job.pattern, job.n_jobs, job.block_bytes["read"]) == ("read", 2, 8192)
    assert "without rw" in job.notes[0]


def test_sizes_by_weight_zones_and_strides():
    notes = []
    workload = described(HEAD.replace("bs=4k", "bssplit=4k/75:64k/25") + "rw=randread\nflow=2\nmystery=1\n", notes)
    assert {s.size_bytes: s.weight for s in workload.streams[0].sizes} == {4096: 0.75, 65536: 0.25}
    assert any("flow=2" in note for note in notes)
    assert any("mystery=1" in note and "not known" in note for note in notes)
    zones = described(HEAD + "rw=randread\nrandom_distribution=zoned:50/5:30/15:20/\n").streams[0].addresses.zones
    assert [(z.access_ratio, z.space_ratio) for z in zones] == [(0.5, 0.05), (0.3, 0.15), (0.2, pytest.approx(0.8))]
    assert described(HEAD + "rw=write:4k\n").streams[0].addresses.stride_bytes == 8192
    assert described(HEAD + "rw=randread:8\n").streams[0].addresses.mean_run == 8


def test_zones_get_their_shares():
    workload = described(HEAD + "rw=randread\nrandom_distribution=zoned:60/10:40/90\n")
    offsets = workload.requests(capacity_bytes=2**30, n=20_000, seed=1).offset
    assert (offsets < 2**30 / 10).mean() == pytest.approx(0.6, abs=0.02)


def test_what_reads_no_drive_is_refused():
    with pytest.raises(FormatError, match="creates files"):
        described("[a]\nioengine=filecreate\nfilesize=4k\n")
    with pytest.raises(FormatError, match="replays a log"):
        described("[a]\nread_iolog=x\nsize=1m\n")


OLD = """job: (g=0): rw=randrw, bs=16K-16K/16K-16K/16K-16K, ioengine=libaio, iodepth=4
fio-2.1.11
Starting 1 process

job: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 00:00:00 2016
  read : io=16000KB, bw=1600.0KB/s, iops=100, runt= 10000msec
    clat (msec): min=1, max=90, avg=20.00, stdev= 5.00
     lat (msec): min=1, max=90, avg=20.00, stdev= 5.00
  write: io=16000KB, bw=1600.0KB/s, iops=100, runt= 10000msec
    clat (msec): min=1, max=90, avg=20.00, stdev= 5.00
     lat (msec): min=1, max=90, avg=20.00, stdev= 5.00
     issued    : total=r=1000/w=1000/d=0, short=r=0/w=0/d=0
"""


def test_two_runs_of_fio_2_are_two_groups():
    jobs = jobs_of_text(OLD + OLD)
    assert [(job.group, job.block_bytes["read"], job.read.n_ios) for job in jobs] == [
        (0, 16384, 1000),
        (1, 16384, 1000),
    ]
    assert jobs[0].measured_outstanding == pytest.approx(4)


def test_a_result_that_its_depth_cannot_explain_becomes_arrivals():
    text = OLD.replace("iodepth=4", "iodepth=64")
    (job,) = jobs_of_text("fio --direct=1 --name=job\n" + text)
    notes = []
    workload = Workload.parse(fio_workload([job], "f", notes))
    assert workload.offered_rate_per_s == pytest.approx(200)
    assert any("something else limited" in note for note in notes)


# ---------------------------------------------------------------- sysstat

IOSTAT = "Linux 5.4 (h) \t01/01/26 \t_x86_64_\t(1 CPU)\n\n"
TABLE = "Device r/s rkB/s w/s wkB/s\n"


def test_a_device_that_a_report_leaves_out_did_nothing():
    text = IOSTAT + (TABLE + "sda 9 9 0 0\n\n") + TABLE + "sda 100 400 0 0\n\n" + TABLE + "\n" * 2 + TABLE + "\n"
    (load,) = loads_of_text(text)
    assert load.reads_per_s.tolist() == [100, 0, 0]


def test_human_units_names_last_and_hosts_in_front():
    rows = "   tps kB_read/s kB_wrtn/s Device\n 10.0 1.5M 0.5k sda\n\n"
    lines = (IOSTAT + rows + rows).splitlines()
    (load,) = loads_of_text("\n".join(f"web1: {line}" for line in lines))
    assert load.read_bytes_per_s.tolist() == [1.5 * 2**20]
    assert load.device == "sda"


def test_counters_that_wrapped_make_a_sample_unknown():
    text = IOSTAT + TABLE + "sda 1 4 0 0\n\n" + TABLE + "sda 10 40 0 0\n\n" + TABLE + "sda 429496729.5 1 0 0\n\n"
    (load,) = loads_of_text(text)
    assert np.isfinite(load.reads_per_s).tolist() == [True, False]
    assert any("wrapped" in note for note in load.notes)


def test_snapshots_of_diskstats_and_several_devices(tmp_path):
    path = tmp_path / "stats"
    row = "8 {minor} {name} {reads} 0 {sectors} {ms} 0 0 0 0 0 {ms} {ms}\n"
    text = ""
    for second in range(4):
        text += f"TS {1000000000 + 2 * second}\n"
        for minor, name in ((0, "sda"), (1, "sda1"), (16, "sdb")):
            text += row.format(minor=minor, name=name, reads=200 * second, sectors=1600 * second, ms=400 * second)
    path.write_text(text)
    assert detect_evidence(path) == "diskstats"
    with pytest.raises(FormatError, match="one or several of sda, sdb, or all"):
        find_workload(path)
    found = find_workload(path, device="all")
    assert found.mean_per_s == pytest.approx(200)
    assert [stream["sizes"][0]["size_bytes"] for stream in found.workload["streams"]] == [4096, 4096]
    assert find_workload(path, device="sda,sdb").mean_per_s == found.mean_per_s


def test_a_table_beyond_the_first_lines_and_sadf_d(tmp_path):
    path = tmp_path / "sar"
    text = "Linux 5.4 (h) \t01/01/26\n" + "00:00:01  CPU %user\n00:00:02 all 1.00\n" * 4000
    path.write_text(text + "\n00:00:01  tps rkB/s wkB/s DEV\n00:00:02  COM note\n00:00:02  5.0 20.0 0.0 sda\n")
    assert find_workload(path).mean_per_s == 5
    (load,) = loads_of_text(
        "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\nh;10;t1;sda;5;20;0\nh;10;t2;sda;7;28;0\n"
    )
    assert (load.ios_per_s.tolist(), load.interval_s) == ([5, 7], 10)


# ---------------------------------------------------------------- traces


def test_a_clock_that_begins_late_and_a_clock_of_whole_seconds(tmp_path):
    path = tmp_path / "t"
    path.write_text("".join(f"{5e6 + 10 * i:.3f} 0 {8 * i} 8 1\n" for i in range(400)))
    assert find_workload(path).mean_per_s == pytest.approx(100)
    path.write_text("".join(f"1538323200,{8 * i},8,0,7\n" for i in range(9)))
    with pytest.raises(FormatError, match="one time for all"):
        find_workload(path, format="tencent")


def test_a_merged_bio_lengthens_a_request_that_never_is_dispatched(tmp_path):
    path = tmp_path / "t"
    event = "  8,0    0        1     0.{:09d}  9  {}   R {} + {} [x]\n"
    events = [(1, "Q", 100, 8), (2, "Q", 108, 8), (3, "M", 108, 8), (4, "Q", 92, 8), (5, "F", 92, 8), (9, "Q", 500, 8)]
    path.write_text("".join(event.format(*row) for row in events))
    requests = load_trace(path).requests
    assert sorted(zip(requests.offset_bytes // 512, requests.length_bytes // 512, strict=True)) == [(92, 24), (500, 8)]


def test_utf16_binary_blktrace_and_biosnoop(tmp_path):
    path = tmp_path / "b"
    text = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n1.0 my job 7 sda W 8 4096 2.0\n3.0 x 7 sda R 8 512 1.0\n"
    path.write_bytes(codecs.BOM_UTF16_LE + text.encode("utf-16-le"))
    assert detect_evidence(path) == "trace:biosnoop"
    assert load_trace(path).requests.response_ns.tolist() == [2_000_000, 1_000_000]
    raw = tmp_path / "sda.blktrace.0"
    raw.write_bytes(b"\x07\x74\x61\x65" + bytes(60))
    with pytest.raises(FormatError, match="blkparse -i sda -o"):
        detect_evidence(raw)
