"""Loads over time of programs other than sysstat, worked out by hand."""

import json

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.recorders import RECORDERS, loads_of_text
from tests.unit.formats.pools.tables import sizes_table

PERFMON = (
    '"(PDH-CSV 4.0) (Pacific Standard Time)(480)","\\\\A\\PhysicalDisk(0 C:)\\Disk Reads/sec",'
    '"\\\\A\\PhysicalDisk(0 C:)\\Disk Writes/sec","\\\\A\\PhysicalDisk(0 C:)\\Avg. Disk Bytes/Read",'
    '"\\\\A\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec","\\\\A\\PhysicalDisk(_Total)\\Disk Reads/sec",'
    '"\\\\A\\PhysicalDisk(0 C:)\\% Idle Time","\\\\A\\Processor(_Total)\\% Processor Time"\n'
    '"01/31/2026 23:59:58.000"," "," "," "," "," "," "," "\n'
    '"01/31/2026 23:59:59.000","100","50","8192","204800","100","25","3"\n'
    '"02/01/2026 00:00:00.000","200","0","4096","0","200","75","4"\n'
)
ESXTOP = (
    '"(PDH-CSV 4.0) (UTC)(0)","\\\\h\\Physical Cpu(_Total)\\% Util Time","\\\\h\\Virtual Disk(vm)\\Reads/sec",'
    '"\\\\h\\Virtual Disk(vm:scsi0:0)\\Reads/sec","\\\\h\\Virtual Disk(vm:scsi0:0)\\Writes/sec",'
    '"\\\\h\\Virtual Disk(vm:scsi0:0)\\MBytes Read/sec","\\\\h\\Virtual Disk(vm:scsi0:0)\\MBytes Written/sec"\n'
    '"05/15/2026 02:13:06","1.2","64","64","32","1","0.25"\n'
    '"05/15/2026 02:13:11","1.3","128","128","64","2","0.5"\n'
)
NODE = "\n".join(
    line
    for second, reads in ((0, 1000), (10, 2500), (20, 2600))
    for line in (
        "# HELP node_disk_reads_completed_total The total number of reads completed successfully.",
        f"node_time_seconds {1.77e9 + second:.9e}",
        f'node_disk_reads_completed_total{{device="sda"}} {reads}',
        'node_disk_writes_completed_total{device="sda"} 7',
        f'node_disk_read_bytes_total{{device="sda"}} {reads * 4096}',
        'node_disk_written_bytes_total{device="sda"} 8192',
        f'node_disk_io_time_seconds_total{{device="sda"}} {second / 2}',
        f'node_disk_read_time_seconds_total{{device="sda"}} {reads * 0.004}',
    )
)
ANSWER = json.dumps(
    {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {"metric": {"__name__": name, "device": "sda", "instance": "db:9100"}, "values": values}
                for name, values in (
                    ("node_disk_reads_completed_total", [[1000, "100"], [1015, "1600"]]),
                    ("node_disk_read_bytes_total", [[1000, "0"], [1015, "12288000"]]),
                    ("node_disk_writes_completed_total", [[1000, "5"], [1015, "5"]]),
                )
            ],
        },
    }
)
CLOUDWATCH = json.dumps(
    {
        "MetricDataResults": [
            {"Id": f"m{n}", "Label": f"vol-0123abcd {name}", "Timestamps": times, "Values": values}
            for n, (name, values) in enumerate(
                (
                    ("VolumeReadOps", [60000.0, 30000.0]),
                    ("VolumeWriteOps", [0.0, 6000.0]),
                    ("VolumeReadBytes", [60000.0 * 16384, 30000.0 * 16384]),
                    ("VolumeWriteBytes", [0.0, 6000.0 * 4096]),
                )
            )
            for times in [["2026-03-04T10:05:00+00:00", "2026-03-04T10:00:00+00:00"]]
        ]
    }
)
_WAITS = (
    "    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub   trim",
    "   read  write   read  write   read  write   read  write   wait   wait",
)
ZPOOL_HEADER = (
    f"                capacity     operations     bandwidth{_WAITS[0]}\n"
    f"pool          alloc   free   read  write   read  write{_WAITS[1]}\n"
    f"------------{'  -----' * 16}\n"
)
#: A pool of one disk and its empty log: since the import, then two intervals.
ZPOOL = "".join(
    f"{ZPOOL_HEADER}tank           564G   924G {row}\n  sda          564G   924G {row}\nlogs        {'      -' * 16}\n"
    for row in (
        "  9.56K  62.5K  82.0M   926M  269us    1ms  258us  131us    6us    1us  163us    1ms  452us    2ms",
        "    150      0   600K      0    8ms      -    4ms      -  133ns      -    1ms      -      -      -",
        "     1K      2  8.00M    32K    9ms    7ms  4.5ms    6ms  133ns    1us    1ms    1us      -      -",
    )
)
#: Since the import, then two intervals: 8 KiB and joined 64 KiB read, 4 KiB and joined 64 KiB written.
HISTOGRAMS = "".join(
    sizes_table(
        "tank",
        {
            "4K": {"sync_write ind": 15 * n},
            "8K": {"sync_read ind": 50 * n},
            "64K": {"async_read agg": 10 * n, "async_write agg": 5 * n},
        },
    )
    for n in (1800, 2, 1)
)
NFSIOSTAT = "\n".join(
    f"""
nas:/x mounted on /x:

           ops/s       rpc bklog
         {reads + 100:.3f}           0.000

read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
                 {reads:.3f}         {reads * 32:.3f}          32.000        0 (0.0%)           2.000           3.000
write:             ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
                  50.000         400.000           8.000        1 (0.1%)           4.000           5.000"""
    for reads in (9.0, 200.0, 400.0)
)
VMSTAT = "\n".join(
    f"""disk- ------------reads------------ ------------writes----------- -----IO------ -----timestamp-----
       total merged sectors      ms  total merged sectors      ms    cur    sec                 CET
sda  {1000 + 600 * n} 11 {8000 + 4800 * n} {100 + 1200 * n} 9120 801 880 301 0 {31 + n} 2026-03-09 00:37:{10 + 2 * n}
"""
    for n in range(3)
)
ELBENCHO = (
    "ISO Date,Label,Phase,RuntimeMS,Rank,MixType,Done%,DoneBytes,MiB/s,IOPS,Entries,Entries/s,Lat Ent us,Lat IO us,"
    "Active,CPU,Service,\n"
    "2026-03-04T11:18:30.170-0500,,MKDIRS,5,Total,,0,0,0,0,9,0,0,0,4,17,,\n"
    "2026-03-04T11:18:31.170-0500,,WRITE,1000,Total,,10,8192000,7,2000,0,0,0,500,4,17,,\n"
    "2026-03-04T11:18:31.170-0500,,WRITE,1000,0,,10,8192000,7,2000,0,0,0,500,4,17,,\n"
    "2026-03-04T11:18:32.170-0500,,WRITE,2000,Total,,20,12288000,3,1000,0,0,0,900,4,17,,\n"
)

#: Kind → text, device, reads/s and writes/s of each sample, mean bytes of a read and of a write (NaN: there were none).
WORKED = {
    "perfmon": (PERFMON, "0 C:", [100, 200], [50, 0], [8192, 4096], [4096, np.nan]),
    "esxtop": (ESXTOP, "vm:scsi0:0", [64, 128], [32, 64], [16384, 16384], [8192, 8192]),
    "node-exporter": (NODE, "sda", [150, 10], [0, 0], [4096, 4096], [np.nan, np.nan]),
    "prometheus": (ANSWER, "sda", [100], [0], [8192], [np.nan]),
    "cloudwatch": (CLOUDWATCH, "vol-0123abcd", [100, 200], [20, 0], [16384, 16384], [4096, np.nan]),
    "nfsiostat": (NFSIOSTAT, "/x", [200, 400], [50, 50], [32768, 32768], [8192, 8192]),
    "vmstat-d": (VMSTAT, "sda", [300, 300], [0, 0], [4096, 4096], [np.nan, np.nan]),
    "zpool-iostat": (ZPOOL, "sda", [150, 1024], [0, 2], [4096, 8192], [np.nan, 16384]),
    "zpool-histograms": (HISTOGRAMS, "tank", [120, 60], [40, 20], [69632 / 3] * 2, [27648, 27648]),
    "elbencho-live": (ELBENCHO, "elbencho", [0, 0], [2000, 1000], [np.nan, np.nan], [4096, 4096]),
}


@pytest.mark.parametrize("kind", RECORDERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_recording(kind, end, tmp_path):
    text, device, reads, writes, read_bytes, write_bytes = WORKED[kind]
    path = tmp_path / "recording"
    path.write_bytes(text.replace("\n", end).encode())
    assert detect_evidence(path) == kind
    (load,) = loads_of_text(path.read_bytes().decode(), "recording", kind)
    assert load.device == device
    assert load.reads_per_s == pytest.approx(reads)
    assert load.writes_per_s == pytest.approx(writes)
    # nfsiostat and elbencho have no bytes of nothing
    assert np.where(load.reads_per_s > 0, load.read_request_bytes, np.nan) == pytest.approx(read_bytes, nan_ok=True)
    assert np.where(load.writes_per_s > 0, load.write_request_bytes, np.nan) == pytest.approx(write_bytes, nan_ok=True)
    found = find_workload(path, level=100)
    assert found.kind == kind
    assert found.mean_per_s == pytest.approx(np.mean(np.add(reads, writes)))


def test_times_and_busy_shares():
    (perfmon,) = loads_of_text(PERFMON, "", "perfmon")
    assert perfmon.interval_s == 1.0
    assert perfmon.utilization_ratio == pytest.approx([0.75, 0.25])
    (node,) = loads_of_text(NODE, "", "node-exporter")
    assert node.interval_s == 10.0
    assert node.utilization_ratio == pytest.approx([0.5, 0.5])
    assert node.read_await_ns == pytest.approx([4e6, 4e6])
    (vmstat,) = loads_of_text(VMSTAT, "", "vmstat-d")
    assert vmstat.read_await_ns == pytest.approx([2e6, 2e6])
    assert vmstat.queue_length == pytest.approx([0.6, 0.6])
    (zpool,) = loads_of_text(ZPOOL, "", "zpool-iostat")
    assert zpool.read_await_ns == pytest.approx([4e6, 4.5e6])
    (nfs,) = loads_of_text(NFSIOSTAT, "", "nfsiostat")
    assert nfs.read_await_ns == pytest.approx([3e6, 3e6])


def test_a_counter_that_fails_makes_its_sample_unknown():
    broken = PERFMON.replace('"200","0","4096"', '"-1","0","4096"')
    (load,) = loads_of_text(broken, "", "perfmon")
    assert np.isnan(load.ios_per_s).tolist() == [False, True]
    (load,) = loads_of_text(NODE.replace('"sda"} 2600', '"sda"} 26'), "", "node-exporter")
    assert np.isnan(load.ios_per_s).tolist() == [False, True]


POOLS = """\
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        10.5T  22.0T     10      4    80K  16384
backup      1,47T  85.5T      0      1      0     4K
----------  -----  -----  -----  -----  -----  -----
Mon Mar 15 13:48:44 MST 2021
tank        10.5T  22.0T     20      4   160K  16384
backup      1,47T  85.5T      0      2      0     8K
"""


def test_pools_without_their_disks():
    """Two pools, without -v: the first report is left out; what begins with a date is none."""
    tank, backup = loads_of_text(POOLS, "", "zpool-iostat")
    assert (tank.device, tank.reads_per_s.tolist(), tank.write_request_bytes.tolist()) == ("tank", [20], [4096])
    assert (backup.device, backup.writes_per_s.tolist()) == ("backup", [2])
    assert any("with -v they are shown by disk" in note for note in tank.notes)
    assert not any("rates below 1/s" in note for note in tank.notes)
    (slow, _) = loads_of_text(POOLS.replace("20      4   160K", " 0      4   160K"), "", "zpool-iostat")
    assert any("rates below 1/s are shown as 0" in note for note in slow.notes)


def test_a_cut_report_of_zpool_iostat():
    """In the last report it is left out; in the only one it is a fault, and so is a figure that is none."""
    cut = ZPOOL[: ZPOOL.rindex("sda") + 40]
    (load,) = loads_of_text(cut, "", "zpool-iostat")
    assert load.reads_per_s.tolist() == [150]
    assert any("cut short" in note for note in load.notes)
    for text, rule in ((ZPOOL_HEADER + "tank 1G", "fewer columns"), (ZPOOL.replace("600K", "6OOK"), "is no figure")):
        with pytest.raises(FormatError, match=rule):
            loads_of_text(text, "", "zpool-iostat")


def test_figures_on_lines_of_their_own():
    text = NFSIOSTAT.replace("           2.000           3.000", "\n  2.000\n   3.000")
    (load,) = loads_of_text(text, "", "nfsiostat")
    assert load.reads_per_s == pytest.approx([200, 400])
    assert load.read_await_ns == pytest.approx([3e6, 3e6])


def test_what_a_recording_leaves_out_is_said():
    notes = loads_of_text(NFSIOSTAT, "", "nfsiostat")[0].notes
    assert any("the first report is left out" in note for note in notes)
    assert any("50 operations per second that neither read nor write" in note for note in notes)


def test_node_exporter_by_the_clock_of_the_recording():
    text = "\n".join(line for line in NODE.split("\n") if "node_time" not in line)
    for second in (20, 10, 0):
        text = text[::-1].replace("# HELP"[::-1], f"{1770000000 + second}\n#HELP"[::-1], 1)[::-1]
    (load,) = loads_of_text(text, "", "node-exporter")
    assert load.reads_per_s == pytest.approx([150, 10])


def test_old_names_of_node_exporter():
    text = "\n".join(
        f'node_time {1.77e9 + s}\nnode_disk_reads_completed{{device="sda"}} {s * 5}\n'
        f'node_disk_sectors_read{{device="sda"}} {s * 40}'
        for s in (0, 10)
    )
    (load,) = loads_of_text(text, "", "node-exporter")
    assert load.reads_per_s == pytest.approx([5])
    assert load.read_request_bytes == pytest.approx([4096])


def test_statistics_of_single_metrics_one_after_the_other():
    document = json.loads(CLOUDWATCH)
    text = "\n".join(
        json.dumps(
            {
                "Label": result["Label"].split()[1],
                "Datapoints": [
                    {"Timestamp": time, "Sum": value, "Unit": "Count"}
                    for time, value in zip(result["Timestamps"], result["Values"], strict=True)
                ],
            }
        )
        for result in document["MetricDataResults"]
    )
    (load,) = loads_of_text(text, "", "cloudwatch")
    assert load.reads_per_s == pytest.approx([100, 200])
    with pytest.raises(FormatError, match="VolumeReadOps without Sum"):
        loads_of_text(text.replace('"Sum"', '"Average"'), "", "cloudwatch")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("perfmon", '"(PDH-CSV 4.0)","\\\\A\\Memory\\Available Bytes"\n"01/01/2026 00:00:00","1"\n', "in English"),
        (
            "esxtop",
            '"(PDH-CSV 4.0)","\\\\h\\Physical Cpu(_Total)\\% Util"\n"01/01/2026 00:00:00","1"\n',
            "without disks",
        ),
        ("perfmon", PERFMON.replace('"50"', '"5,0"'), "must be a number"),
        ("vmstat-d", VMSTAT.partition("disk- ")[0] + VMSTAT.split("disk- ")[1], "one report"),
        ("prometheus", ANSWER.replace("matrix", "vector"), "no range of values"),
        ("prometheus", ANSWER.replace("node_disk", "go_gc"), "without counters of disks"),
        ("node-exporter", NODE.replace("node_time_seconds", "node_boot_time"), "without the times"),
        ("node-exporter", NODE.replace("node_disk", "node_cpu"), "without its metrics of disks"),
        ("cloudwatch", CLOUDWATCH.replace("Bytes", "IdleTime"), "without VolumeReadBytes and VolumeWriteBytes"),
        ("elbencho-live", ELBENCHO.replace("12288000", "many"), "must be a number"),
    ],
)
def test_what_cannot_be_used_is_named(kind, text, message):
    with pytest.raises(FormatError, match=message):
        loads_of_text(text, "recording", kind)


def test_prometheus_of_several_machines():
    document = json.loads(ANSWER)
    for result in list(document["data"]["result"]):
        document["data"]["result"].append({**result, "metric": {**result["metric"], "instance": "web:9100"}})
    names = {load.device for load in loads_of_text(json.dumps(document), "", "prometheus")}
    assert names == {"db:sda", "web:sda"}
