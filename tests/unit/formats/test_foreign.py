"""Files that are recognized but not read: each is called by its name, with what to do instead."""

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload

#: By kind: the first lines of a file as its program writes it, the name in the message, and the way out.
SAMPLES = {
    "MegaCli": (
        "\nAdapter 0 -- Virtual Drive Information:\nVirtual Drive: 0 (Target Id: 0)\nRAID Level : Primary-5\n",
        "is output of MegaCli",
        "diskmodel array",
    ),
    "arcconf": (
        "Controllers found: 1\n----\nLogical device number 0\n   RAID level : 5\n",
        "is output of arcconf",
        "diskmodel array",
    ),
    "bpftrace": (
        "Attaching 4 probes...\n\n@usecs:\n[64, 128)            12 |@@@@                |\n",
        "is a histogram of bpftrace",
        "biosnoop",
    ),
    "Iometer": (
        "'Test Type,Test Description\n0,Database 8K\n'Version\n1.1.0\n'Access specifications\n"
        "'Access specification name,default assignment\n8K; 67% Read; 100% random,NONE\n"
        "'size,% of size,% reads,% random,delay,burst,align,reply\n8192,100,67,100,0,1,0,0\n",
        "is a result of Iometer",
        "--reads, --block, and --iops (plan) or --queue-depth (simulate)",
    ),
    "ceph osd perf": (
        "osd  commit_latency(ms)  apply_latency(ms)\n  5                  12                 12\n",
        "is output of ceph osd perf",
        "iostat -x 1 600",
    ),
    "ceph osd perf, JSON": (
        '{"osdstats":{"osd_perf_infos":[{"id":5,"perf_stats":{"commit_latency_ms":12,"apply_latency_ms":12}}]}}',
        "is output of ceph osd perf",
        "iostat -x 1 600",
    ),
    "rados bench": (
        "hints = 1\nMaintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds\n"
        "Object prefix: benchmark_data_node1_2345\n"
        "  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n"
        "    1      16        58        42   167.983       168    0.320146    0.316402\n",
        "is a result of rados bench",
        "disks of the OSDs with iostat -x 1 600",
    ),
    "bonnie++, CSV": (
        "1.98,1.98,node1,1,1709287331,16G,,8192,5,812,99,524288,45,215040,30,1602,99,634880,40,1231.5,35,16\n",
        "is a result of bonnie++",
        "measure with fio",
    ),
    "zpool status -j": (
        '{"output_version":{"command":"zpool status","vers_major":0},"pools":{"tank":{"state":"ONLINE"}}}',
        "is JSON of zpool",
        "without -j",
    ),
    "zpool list": (
        "NAME   SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n"
        "tank  2.27T  1.22T  1.05T        -         -     0%    53%  1.00x    ONLINE  -\n",
        "is output of zpool list",
        "zpool list -v, to `diskmodel array`",
    ),
    "zpool iostat -H -r": (
        "tank\n512\t0\t0\t0\t0\t0\t0\t0\t0\n1024\t0\t0\t7\t0\t0\t0\t0\t0\n",
        "is output of zpool iostat -H with -r or -w",
        "record without -H: zpool iostat -ry 10 60",
    ),
    "zpool iostat -H": (
        "tank\t564G\t924G\t9\t62\t82.0K\t926K\n",
        "is output of zpool iostat -H",
        "record without -H: zpool iostat -vly 1 600",
    ),
    "zpool iostat -w": (
        "tank         total_wait     disk_wait    syncq_wait    asyncq_wait\n"
        "latency      read  write   read  write   read  write   read  write  scrub   trim\n"
        "----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----\n"
        "262us         812    120    901    210     12      3      0     44      0      0\n",
        "is output of zpool iostat -w",
        "put zpool iostat -ry 10 60 of the same load into the same file, or record the pool's disks with iostat -x 1",
    ),
    "dstat": (
        "--total-cpu-usage-- -dsk/total- -net/total- ---paging-- ---system--\n"
        "usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw \n"
        "  1   1  97   1   0|  12k  120k|   0     0 |   0     0 | 312   600 \n",
        "is output of dstat",
        "iostat -x 1 600",
    ),
    "dstat, CSV": (
        '"pcp-dstat 5.2.1 CSV Output"\n"Author:","PCP team <pcp@groups.io>",,,,"URL:","https://pcp.io/"\n',
        "is output of dstat",
        "iostat -x 1 600",
    ),
    "nmon": (
        "AAA,progname,nmon\nAAA,command,nmon -f -s 10 -c 60\nAAA,host,node1\nDISKBUSY,Disk %Busy node1,sda\n",
        "is a recording of nmon",
        "iostat -x 1 600",
    ),
    "iostat of AIX": (
        "System configuration: lcpu=8 drives=3 paths=4 vdisks=0\n\n"
        "Disks:         % tm_act     Kbps      tps    Kb_read   Kb_wrtn\n"
        "hdisk0           1.2      45.1      8.2    1234567    891011\n",
        "is output of iostat of AIX",
        "give diskmodel plan the sum of rps and wps as --iops",
    ),
    "iostat -D of AIX": (
        "hdisk0         xfer:  %tm_act      bps      tps      bread      bwrtn\n"
        "                         12.3     1.2M     98.0     820.1K     380.2K\n",
        "is output of iostat of AIX",
        "give diskmodel plan the sum of rps and wps as --iops",
    ),
    "iostat of macOS": (
        "              disk0               disk2 \n    KB/t  tps  MB/s     KB/t  tps  MB/s \n"
        "   23.11   45  1.01    64.00    2  0.13 \n",
        "is output of iostat of macOS or BSD",
        "on macOS give --iops, --reads and --block of diskmodel plan by hand",
    ),
    "iostat -r of Solaris": (
        "extended device statistics\nr/s,w/s,kr/s,kw/s,wait,actv,wsvc_t,asvc_t,%w,%b,device\n"
        "0.3,4.1,2.4,33.0,0.0,0.1,0.0,12.3,0,4,c0t0d0\n",
        "is output of Solaris' iostat with commas",
        "iostat -xn 1 600",
    ),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_file_is_called_by_its_name(kind, line_end, tmp_path):
    text, name, way_out = SAMPLES[kind]
    path = tmp_path / "recorded"
    path.write_text(text.replace("\n", line_end), newline="")
    with pytest.raises(FormatError) as error:
        find_workload(path)
    (fault,) = error.value.faults
    assert name in fault.rule
    assert way_out in fault.fix


def test_the_extended_table_of_solaris_is_read(tmp_path):
    path = tmp_path / "iostat.txt"
    rows = "    0.3    4.1    2.4   33.0  0.0  0.1    0.0   12.3   0   4 c0t0d0\n"
    head = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
    path.write_text(("                    extended device statistics              \n" + head + rows) * 3)
    found = find_workload(path)
    assert found.kind == "iostat-text"
    assert found.workload["streams"][0]["arrival"]["rate_per_s"] == pytest.approx(0.3)
