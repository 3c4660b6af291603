"""Results of DiskSpd, vdbench, elbencho and sysbench, in the form of fio's jobs."""

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload
from diskmodel.formats.benchmarks.registry import BENCHMARKS, jobs_of_text
from diskmodel.formats.detect import detect_evidence

DISKSPD = """
Command Line: diskspd.exe -b4K {flags} -t2 -o8 -w25 -d10 -L E:\\x.dat
{parameters}
Results for timespan 1:
*******************************************************************************

actual test time:\t10.00s
thread count:\t\t2

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------------------------------
     0 |       40960000 |        10000 |       3.91 |    1000.00 |   16.000 |     2.000 | E:\\x.dat (8GiB)
------------------------------------------------------------------------------------------------------
total:         40960000 |        10000 |       3.91 |    1000.00 |   16.000 |     2.000
"""
PARAMETERS = """
Input parameters:

    timespan:   1
    -------------
    duration: 10s
    path: 'E:\\x.dat'
        think time: 0ms
        burst size: 0
        software cache disabled
        hardware write cache disabled, writethrough on
        performing mix test (read/write ratio: 75/25)
        block size: 4KiB
        {places}
        number of outstanding I/O operations per thread: 8
        base file offset: 1GiB
        threads per file: 2
        {more}
"""
FLAT = """<pre>
* flatfile of vdbench
 tod Run Interval reqrate rate MB/sec bytes/io read% resp resp_max xfersize threads rdpct rhpct whpct seekpct lunsize
 10:00:01.012 warm 1 9999988 50.00 0.39 8192 100.0 9.00 40.1 8192 4 100 0 0 100 1g
 10:00:02.012 warm 2 9999988 400.00 3.13 8192 100.0 10.00 40.1 8192 4 100 0 0 100 1g
 10:00:02.013 warm avg_2-2 9999988 400.00 3.13 8192 100.0 10.00 40.1 8192 4 100 0 0 100 1g
 10:00:03.012 slow 1 100.0 100.00 0.39 4096 0.0 2.00 40.1 4096 4 0 0 0 0 1g
 10:00:04.012 slow 2 100.0 104.00 0.41 4096 0.0 2.00 40.1 4096 4 0 0 0 0 1g
 10:00:05.012 slow 3 100.0 96.00 0.38 4096 0.0 2.00 40.1 4096 4 0 0 0 0 1g
"""
SUMMARY = """
16:46:14.003 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=5; For loops: threads=16

Feb 18, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write    resp   resp queue  cpu% cpu%
                               rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u sys
16:46:15.102           1     1000.0     7.81    8192  70.00   16.000   16.000   16.000   40.02    0.006  16.0  3.4   5.6
16:46:19.028     avg_2-5     2000.0    15.63    8192  70.00    8.000    8.000    8.000   40.02    0.006  16.0  3.4   5.6
16:46:20.003 Starting RD=rd2; I/O rate: 500; elapsed=5; For loops: None
16:46:25.028     avg_2-5      500.0     3.91    8192 100.00    1.000    1.000    0.000   40.02    0.006   0.5  3.4   5.6
"""
ELBENCHO = """ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,\
random aligned,IO depth,shared paths,truncate,operation,time ms [first],time ms [last],CPU% [first],CPU% [last],\
entries/s [first],\
entries/s [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],MiB [first],MiB [last],IO lat us [min],\
IO lat us [avg],IO lat us [max],rwmix read IOPS [last],rwmix read MiB/s [last],rwmix read MiB [last],version,command
2026-03-04T11:18:30.170-0500,,file,1,1,4,,,10737418240,4096,1,1,1,8,,0,MKDIRS,1,1,1,1,1,1,,,,,,,,,,,,,3.0-1,elbencho
2026-03-04T11:18:30.170-0500,,file,1,1,4,,,10737418240,4096,1,1,1,8,,0,WRITE,9000,10000,1,1,,,900,800,3,3,31,31.25,\
100,40000,90000,,,,3.0-1,elbencho -w
2026-03-04T11:18:50.170-0500,mix,file,1,1,4,,,10737418240,4096,1,0,,1,,0,RWMIX,9000,10000,1,1,,,300,300,1,1,11,11.72,\
100,3000,9000,700,2,27.34,3.0-1,elbencho -w
"""
SYSBENCH = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 16

Extra file open flags: 16384
128 files, 40Mb each
5Gb total file size
Block size 16Kb
Read/Write ratio for combined random IO test: 1.50
Periodic FSYNC enabled, calling fsync() each 100 requests.
Using synchronous I/O mode
Doing random r/w test
Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (3.5Mb/sec)
  100.00 Requests/sec executed

Test execution summary:
    total time:                          100.0000s
"""
SYSBENCH_1_1 = """sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta2)
Number of threads: 4
Extra file open flags: directio
10GiB total file size
Block size 4KiB
Using synchronous I/O mode
Doing sequential read test
Throughput:
         read:  IOPS=512.00 2.00 MiB/s (2.10 MB/s)
         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)
         fsync: IOPS=0.00
Latency (ms):
         min:                                    0.10
"""
DISKSPD_XML = """<Results><System><Tool><Version>2.2.0</Version></Tool></System>
<Profile><TimeSpans><TimeSpan><ThreadCount>0</ThreadCount><RequestCount>0</RequestCount><Targets>
<Target><Path>a.dat</Path><BlockSize>8192</BlockSize><BaseFileOffset>1048576</BaseFileOffset>
<DisableOSCache>true</DisableOSCache><WriteThrough>true</WriteThrough><BurstSize>10</BurstSize><ThinkTime>5</ThinkTime>
<FileSize>10737418240</FileSize><Random>4096</Random>
<Distribution><Percent><Range IO="90">10</Range><Range IO="10">90</Range></Percent></Distribution>
<ThreadStride>0</ThreadStride><RequestCount>4</RequestCount><WriteRatio>0</WriteRatio>
<Throughput unit="IOPS">{limit}</Throughput><ThreadsPerFile>2</ThreadsPerFile></Target>
</Targets></TimeSpan></TimeSpans></Profile>
<TimeSpan><TestTimeSeconds>10.00</TestTimeSeconds><ThreadCount>2</ThreadCount>
<Thread><Id>0</Id><Target><Path>a.dat</Path><ReadBytes>16384000</ReadBytes><ReadCount>2000</ReadCount></Target></Thread>
<Latency><AverageReadMilliseconds>40.0</AverageReadMilliseconds></Latency></TimeSpan></Results>
"""


def found(text, tmp_path, **options):
    path = tmp_path / "result"
    path.write_text(text)
    return find_workload(path, **options)


def diskspd(places="using random I/O (alignment: 4KiB)", more="IO priority: normal"):
    return DISKSPD.format(flags="-r4K -Sh", parameters=PARAMETERS.format(places=places, more=more))


# ---------------------------------------------------------------- DiskSpd


def test_settings_of_a_target(tmp_path):
    (stream,) = found(diskspd(), tmp_path).workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 16}
    assert stream["read_ratio"] == pytest.approx(0.75)
    assert (stream["offset_bytes"], stream["span_bytes"]) == (2**30, 7 * 2**30)
    assert stream["alignment_bytes"] == 4096


def test_alignment_and_stride(tmp_path):
    (stream,) = found(diskspd("using random I/O (alignment: 2KiB)"), tmp_path).workload["streams"]
    assert stream["alignment_bytes"] == 2048
    (stream,) = found(diskspd("using sequential I/O (stride: 64KiB)"), tmp_path).workload["streams"]
    assert stream["addresses"] == {"pattern": "strided", "stride_bytes": 65536}


@pytest.mark.parametrize(
    ("places", "more", "note"),
    [
        ("using mixed random/sequential I/O (80% random) (alignment/stride: 4KiB)", "", "percentage_random=80"),
        ("using interlocked sequential I/O (stride: 4KiB)", "", "share one sequence"),
        ("using sequential I/O (stride: 4KiB)", "thread stride size: 1MiB", "1,048,576 bytes apart"),
    ],
)
def test_what_is_left_out_is_named(places, more, note, tmp_path):
    assert any(note in line for line in found(diskspd(places, more), tmp_path).notes)


@pytest.mark.parametrize(
    ("limit", "rate"), [("throughput rate-limited to 50 IOPS", 100), ("throughput rate-limited to 1024 B/ms", 500)]
)
def test_a_limit_is_that_of_each_thread(limit, rate, tmp_path):
    text = diskspd(more=limit).replace("    1000.00", f"{rate:11.2f}").replace("        10000 ", f"{10 * rate:13} ")
    streams = found(text, tmp_path).workload["streams"]
    assert sum(stream["arrival"]["rate_per_s"] for stream in streams) == pytest.approx(rate, rel=0.03)


def test_a_distribution_of_bytes(tmp_path):
    ranges = "IO Distribution:\n\t\t  80% of IO => [     0   -    1GiB)\n\t\t  20% of IO => [   1GiB -       end)\n"
    (stream,) = found(diskspd(more=ranges), tmp_path).workload["streams"]
    zones = stream["addresses"]["zones"]
    assert [zone["access_ratio"] for zone in zones] == pytest.approx([0.8, 0.2])
    assert [zone["space_ratio"] for zone in zones] == pytest.approx([1 / 7, 6 / 7])


@pytest.mark.parametrize(
    ("flags", "key", "value"),
    [
        ("-r2K -Sh", "alignment_bytes", 2048),
        ("-s64K -Sh", "addresses", {"pattern": "strided", "stride_bytes": 65536}),
        ("-r -B1G -Sh", "offset_bytes", 2**30),
        ("-r -f4G -Sh", "span_bytes", 4 * 2**30),
        (
            "-rdpct90/10 -Sh",
            "addresses",
            {
                "pattern": "zoned",
                "zones": [{"access_ratio": 0.9, "space_ratio": 0.1}, {"access_ratio": 0.1, "space_ratio": 0.9}],
            },
        ),
    ],
)
def test_the_command_line_stands_in_for_its_section(flags, key, value, tmp_path):
    (stream,) = found(DISKSPD.format(flags=flags, parameters=""), tmp_path).workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 16}
    assert stream[key] == value


def test_without_settings_the_way_out_is_named(tmp_path):
    text = DISKSPD.format(flags="-r4Q", parameters="")
    with pytest.raises(FormatError, match="-Rxml"):
        found(text, tmp_path)


@pytest.mark.parametrize("total", ["40960000 |        10000 ", "       10000 |       3.91 "])
def test_a_total_that_no_disk_could_write_is_none(total, tmp_path):
    head, _, tail = diskspd().rpartition("total:")
    with pytest.raises(FormatError, match="holds no total of its requests"):
        found(f"{head}total:{tail.replace(total, '9' * 5000 + total, 1)}", tmp_path)


def test_xml_says_the_same(tmp_path):
    limited = found(DISKSPD_XML.format(limit=100), tmp_path)
    (stream,) = limited.workload["streams"]
    assert stream["arrival"] == {"kind": "poisson", "rate_per_s": 200.0}
    assert (stream["alignment_bytes"], stream["offset_bytes"]) == (4096, 2**20)
    assert [zone["access_ratio"] for zone in stream["addresses"]["zones"]] == [0.9, 0.1]
    (stream,) = found(DISKSPD_XML.format(limit=0), tmp_path).workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 8, "think_ns": 2_000_000}


# ---------------------------------------------------------------- the others


def test_flat_file(tmp_path):
    warm = found(FLAT, tmp_path)
    assert warm.kind == "vdbench-flatfile"
    (stream,) = warm.workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 4}
    assert (stream["sizes"], stream["span_bytes"]) == ([{"size_bytes": 8192, "weight": 1.0}], 2**30)
    assert any("slow" in note for note in warm.notes)
    (stream,) = found(FLAT, tmp_path, device="slow").workload["streams"]
    assert stream["arrival"] == {"kind": "given", "inter_arrival_ns": [10_000_000]}
    assert stream["addresses"]["pattern"] == "sequential"
    with pytest.raises(FormatError, match="columns instead of"):
        found(FLAT + " 10:00:05.012 slow 4 100.0\n", tmp_path)
    with pytest.raises(FormatError):
        found(FLAT.replace(" Run ", " 'Run "), tmp_path)


def test_report_of_intervals(tmp_path):
    first = found(SUMMARY, tmp_path)
    assert first.kind == "vdbench-summary"
    (stream,) = first.workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 16}
    assert stream["read_ratio"] == pytest.approx(0.7)
    (stream,) = found(SUMMARY, tmp_path, device="rd2").workload["streams"]
    assert stream["arrival"] == {"kind": "given", "inter_arrival_ns": [2_000_000]}


def test_elbencho(tmp_path):
    writes = found(ELBENCHO, tmp_path)
    (stream,) = writes.workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 32}
    assert (stream["read_ratio"], stream["span_bytes"]) == (0.0, 10 * 2**30)
    mix = found(ELBENCHO, tmp_path, device="mix").workload["streams"][0]
    assert mix["arrival"] == {"kind": "closed", "clients": 4}
    assert mix["read_ratio"] == pytest.approx(0.7)
    assert mix["addresses"]["pattern"] == "sequential"


def test_empty_lines_take_no_time(tmp_path):
    """Of a pattern that may begin on any of them and end on any later one this would take half an hour."""
    padded = SYSBENCH + "\n" * 300_000
    assert found(padded, tmp_path).workload == found(SYSBENCH, tmp_path).workload


def test_sysbench(tmp_path):
    old = found(SYSBENCH, tmp_path)
    (stream,) = old.workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 16}
    assert (stream["read_ratio"], stream["span_bytes"]) == (0.6, 5 * 2**30)
    assert any("fsync after each 100 requests" in note for note in old.notes)
    assert any("page cache" in note for note in old.notes)
    (stream,) = found(SYSBENCH_1_1, tmp_path).workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 4}
    assert (stream["read_ratio"], stream["addresses"]["pattern"]) == (1.0, "sequential")


#: Of `test_quick_benchmarks.py`.
QUICK = {"dd", "hdparm", "pg-test-fsync", "crystaldiskmark", "rados-bench", "bonnie"}


def test_each_is_recognized(tmp_path):
    path = tmp_path / "result"
    texts = {
        "diskspd-xml": DISKSPD_XML.format(limit=0),
        "diskspd-text": diskspd(),
        "vdbench-flatfile": FLAT,
        "vdbench-summary": SUMMARY,
    }
    texts |= {"elbencho": ELBENCHO, "sysbench-fileio": SYSBENCH}
    assert {*texts, *QUICK} == set(BENCHMARKS)
    for kind, text in texts.items():
        path.write_text(text)
        assert detect_evidence(path) == kind
        assert jobs_of_text(text, "", kind)
