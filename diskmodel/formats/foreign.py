"""Files of other programs that hold no load or no response times: what they are, and what to do instead."""

from __future__ import annotations

import re
from pathlib import Path

from diskmodel.formats.trace.own_csv import HEADER as OWN_HEADER
from diskmodel.loading import dataclass

#: First bytes of binary files → what they are and what turns them into text.
_BLKTRACE = re.compile(rb"[\x00-\xff]\x74\x61\x65|\x65\x61\x74[\x00-\xff]", re.DOTALL)


@dataclass(frozen=True)
class Foreign:
    """A file that is recognized but cannot be used."""

    rule: str
    fix: str


_RECORD = "record with iostat -x 1 600"

_TEXTS: tuple[tuple[str, str, str], ...] = (
    (
        r"^NAME +MAJ:MIN ",
        "is output of lsblk as a table",
        "make it with lsblk -J -b -o NAME,TYPE,SIZE,MODEL,ROTA,TRAN for `diskmodel array`; a load is recorded with "
        "iostat -x 1 600",
    ),
    (
        r'"Microsoft\.Insights/metrics"',
        "is output of az monitor metrics of Azure, which is not read",
        "give plan its operations per second as --iops and the share of reads as --reads, or " + _RECORD,
    ),
    (
        r'^"?(MetricId|VMHost|Entity)"?,[^\n]*"?(Timestamp|IntervalSecs)"?|"?(disk|virtualdisk|datastore)\.numberRead',
        "is an export of vCenter's performance figures, which is not read",
        "record with esxtop -b, which is read",
    ),
    (
        r"\A'Test Type,Test Description|^'Access specifications",
        "is a result of Iometer, which is not read",
        "give its access specification by hand: --reads, --block, and --iops (plan) or --queue-depth (simulate)",
    ),
    (
        r"^osd\s+commit_latency\(ms\)\s+apply_latency\(ms\)|\"(osd_perf_infos|perf_stats)\"",
        "is output of ceph osd perf: it holds latencies of OSDs, and no load",
        "record each OSD's disks with iostat -x 1 600",
    ),
    (
        r"Maintaining \d+ concurrent (writes|reads)|^Object prefix: benchmark_data_"
        r"|^[ \t]*sec Cur ops\s+started\s+finished",
        "is a result of rados bench without its summary",
        "keep all of it, to Total writes made; or record the disks of the OSDs with iostat -x 1 600 while it runs",
    ),
    (
        r"\A1\.\d\d[a-z]?,1\.\d\d[a-z]?,[^,\n]*,\d+,\d+,",
        "is a result of bonnie++ in its form for machines",
        "give the table that it prints, measure with fio, or " + _RECORD + " while it runs",
    ),
    (
        r'"command"\s*:\s*"zpool (status|iostat|list)',
        "is JSON of zpool (-j), which is not read",
        "make it again without -j",
    ),
    (
        r"^NAME +SIZE +ALLOC +FREE ",
        "is output of zpool list: without -v it does not show which disks make a vdev",
        "give the output of zpool status, or of zpool list -v, to `diskmodel array`",
    ),
    (
        r"^\S[^\t\n]*\n512(\t\d+){6,}$|^\S[^\t\n]*\n1(\t\d+){6,}\n3\t",
        "is output of zpool iostat -H with -r or -w: without headers nothing says what its columns are",
        "record without -H: zpool iostat -ry 10 60",
    ),
    (
        r"^\S[^\t\n]*(\t[\d.,]+[KMGTPE]?){6}(\t(-|[\d.,]+[KMGTPE]?([num]?s)?))*$",
        "is output of zpool iostat -H: without headers nothing says what its columns are",
        "record without -H: zpool iostat -vly 1 600",
    ),
    (
        r'\A"?(Dstat|pcp-dstat|dool) [\d.]+ CSV [Oo]utput|^-+total-cpu-usage-+|^-+dsk/total-',
        "is output of dstat, which is not read",
        _RECORD,
    ),
    (r"\AAAA,progname,nmon|^AAA,version,|^DISKREAD,", "is a recording of nmon, which is not read", _RECORD),
    (
        r"\ASystem configuration: lcpu=|^Disks: +% tm_act +Kbps|%tm_act +bps +tps +bread",
        "is output of iostat of AIX, which is not read",
        "run iostat -D, and give diskmodel plan the sum of rps and wps as --iops and the share of rps as --reads",
    ),
    (
        r"^ +disk\d+ .*\bcpu\b +load average|^ +KB/t +tps +MB/s( +KB/t| +us)",
        "is output of iostat of macOS or BSD, which counts reads and writes together",
        "on FreeBSD record with iostat -x 1 600; on macOS give --iops, --reads and --block of diskmodel plan by hand",
    ),
    (
        r"^r/s,w/s,kr/s,kw/s,wait,actv,|^device,r/s,w/s,kr/s,kw/s,",
        "is output of Solaris' iostat with commas (iostat -r), which is not read",
        "record without -r: iostat -xn 1 600",
    ),
    (
        r"^ +tty .*\bcpu\s*\n +tin tout +kps +tps +serv",
        "is output of iostat of Solaris without its extended table",
        "record with iostat -xn 1 600",
    ),
    (
        r"^Timing (buffered disk|cached) reads:|^ Timing ",
        "is output of hdparm -t: one reader's throughput, no load",
        _RECORD,
    ),
    (
        r"^\d+\+\d+ records (in|out)",
        "is output of dd: one writer's throughput, no load",
        _RECORD,
    ),
    (r"Iozone: Performance Test of File I/O", "is a result of iozone, which measures file systems", "measure with fio"),
    (
        r"CrystalDiskMark \d|^\[(Read|Write)\]\n +(SEQ|RND|Sequential|Random)",
        "is a result of CrystalDiskMark, which runs DiskSpd and keeps only rates",
        "run DiskSpd itself with -Rxml",
    ),
    (r"^Total DISK READ *:", "is output of iotop, which counts bytes of processes and no requests", _RECORD),
    (r"^ATOP - |^# ?<-+Disks-+>|^### RECORD +\d+", "is output of atop or collectl, which is not read", _RECORD),
    (
        r"\bsysbench \d+\.\d",
        "is output of sysbench without a result of its fileio test",
        "run sysbench fileio, or fio",
    ),
    (
        r"\bvdbench\d{5}|Vdbench distribution:",
        "is output of vdbench without a table of raw devices",
        "give flatfile.html of its output folder",
    ),
    (r"^elbencho\b|OPERATION +RESULT TYPE +FIRST DONE", "is elbencho's printed result", "run it with --csvfile"),
    (
        r"^[ \t]*(disk|vmstat)[^\n]*\n[^\n]*inprogress|^disk partition|partitions? +reads? +read sectors",
        "is output of vmstat -D or -p, which counts no requests of single disks over time",
        "record with vmstat -d -t 1 600, or with iostat -x 1 600",
    ),
    (
        r'"(CounterSamples|CookedValue)"|^"?InstanceName"?,.*CookedValue|^Timestamp +CounterSamples',
        "is what Get-Counter prints, which is not read",
        "write it with Export-Counter -FileFormat CSV",
    ),
    (
        r"ioping statistics ---",
        "is a summary of ioping: it does not say which requests it made",
        "measure with fio or diskmodel measure",
    ),
    (r"^fio: .*\berr(or)?=", "holds fio's error messages without results", "run the job again and keep its output"),
    (
        r"verify failed at file|^fio: (verify|bad|job)",
        "holds fio's error messages without results",
        "run the job again and keep its output",
    ),
    (
        r"^[ \t]*procs -+memory-+|^[ \t]*kthr\s+memory\s+page|^[ \t]*r\s+b\s+\S*\s*(swpd|avm|swap)"
        r"|memory\s+page\s+executable",
        "is output of vmstat, which does not count disks' requests",
        "record with iostat -x 1 600",
    ),
    (
        r"^[ \t]*capacity\s+operations\s+bandwidth",
        "is output of zpool iostat without operations and bandwidth in its columns",
        "record with zpool iostat -vly 1 600",
    ),
    (r"^System activity data file:", "is the header of a sar file (sadf -H)", "make it again with sadf -j -- -d"),
    (r"<sysstat\b", "is sadf's XML (sadf -x)", "make it again with sadf -j -- -d"),
    (r"<svg\b", "is a picture (sadf -g)", "make it again with sadf -j -- -d"),
    (
        r"^# hostname;|^[^\t\n]*\t-?\d+\t[^\t\n]+\t\S+\t\S+\t\S+$|^\d\d:\d\d:\d\d \S+; \w+;|^File created by sar",
        "holds sar's figures without disks",
        "make it again with sadf -d -- -d",
    ),
    (
        r"^SunOS .*\n+\d\d:\d\d:\d\d +\S",
        "is Solaris' sar without a table of disks that is known",
        "record with iostat -x",
    ),
    (
        r"^(Linux|SunOS|AIX) \S+.*\(.*\n",
        "is output of sysstat without a table of disks",
        "record with iostat -x or sar -d",
    ),
    (
        r"^COMM +PID +(TYPE|T) +(DEV|DISK) ",
        "is output of iosnoop without start times: rates cannot be known",
        "record with iosnoop -s, or with biosnoop",
    ),
    (
        r"^ Device Information +: runtime",
        "is a summary of SPDK's bdevperf, which is not read",
        "measure with fio, whose JSON is read",
    ),
    (
        r"^\d+, \d+, \d+(, \d+){40,}",
        "is a histogram log of fio (write_hist_log), which is not read",
        "use write_lat_log, or json+ output",
    ),
    (
        r"^TIME\(?(ms|s)?\)? +DISK +COMM",
        "is output of biosnoop.bt, which holds no sizes and no places",
        "use bcc's biosnoop",
    ),
    (
        r"(?i)\A[^\n,;]*\b(time|timestamp|when|ts)\w*[,;][^\n]*\b(op|rw|type|offset|lba|sector|size|length|bytes)\b",
        "is a table whose columns are not known",
        f"write a trace with the header {OWN_HEADER} (unknown response: -1, device without a name: -)",
    ),
)


def recognize(path: str | Path, head: bytes) -> Foreign | None:
    """Return what a file is that cannot be used, or None when it is unknown."""
    if _BLKTRACE.match(head[:4]) and b"\0" in head[:64]:
        name = re.sub(r"\.blktrace(\.\d+)?(\.\w+)?$", "", Path(path).name)
        command = f"blkparse -i {name} -o {name}.txt"
        return Foreign("is binary output of blktrace", f"turn all of its files into text with: {command}")
    if b"\0" in head[:4096]:
        if head[:2] in (b"\x96\xd5", b"\xd5\x96"):
            return Foreign("is a binary file of sar", f"turn it into JSON with: sadf -j {Path(path).name} -- -d")
        return None
    text = head.decode("utf-8", errors="replace").replace("\r\n", "\n")
    for pattern, rule, fix in _TEXTS:
        if re.search(pattern, text, re.MULTILINE):
            return Foreign(rule, fix)
    return None
