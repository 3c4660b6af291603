"""What shapes a load is used or named: options of fio, columns of sysstat, clocks and merges of traces."""

import codecs

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import detect_evidence, find_workload, load_trace
from diskmodel.formats.fio.reader import jobs_of_text
from diskmodel.formats.fio.workload import fio_workload
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
    assert "wrapped" in load.notes[0]


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
