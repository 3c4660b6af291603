"""What is damaged: a small real file of every kind."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from diskmodel.formats.fio import json_output
from tests.unit.formats import test_benchmarks, test_latencies
from tests.unit.formats import test_quick_benchmarks as quick
from tests.unit.formats.files import DATA
from tests.unit.formats.pools import files as pool_files
from tests.unit.formats.pools import test_pools
from tests.unit.formats.test_recorders import WORKED as WORKED_RECORDINGS
from tests.unit.formats.test_traces import WORKED


def _data(*names: str) -> tuple[bytes, ...]:
    return tuple((DATA / name).read_bytes() for name in names)


def _short_json(text: str) -> bytes:
    """fio's JSON with one job, and of its long tables only the beginnings."""
    document = json_output.find_document(text, "")
    assert document is not None

    def shortened(value: object) -> object:
        if isinstance(value, dict):
            return {key: shortened(inner) for key, inner in list(value.items())[:30]}
        return [shortened(inner) for inner in value[:1]] if isinstance(value, list) else value

    return json.dumps(shortened(dict(document)), indent=1).encode()


def _as_parts(text: bytes) -> tuple[bytes, ...]:
    """fio's mixed output apart: terse lines, text, and JSON cut to one job."""
    lines = text.split(b"\n")
    terse = b"\n".join(line for line in lines if line[:2] in (b"3;", b"4;", b"5;"))
    prose = b"\n".join(line for line in lines if line[:2] not in (b"3;", b"4;", b"5;"))
    prose = prose[: prose.find(b"\n{")] + prose[prose.rfind(b"\n}") + 2 :]
    return terse, prose, _short_json(text.decode())


MIXED = _data("mix-fio-3.33.txt")[0]
MIX_TERSE, MIX_TEXT, MIX_JSON = _as_parts(MIXED)

FIO: dict[str, tuple[bytes, ...]] = {
    "fio-json": (MIX_JSON,),
    "fio-terse": (MIX_TERSE, *_data("terse4.txt", "terse5.txt")),
    "fio-text": (MIX_TEXT, *_data("terse4-as-text.txt", "terse5-as-text.txt")),
    "fio-job": (
        *_data("mix.fio"),
        b"[global]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40,8k/100\niodepth=8\nsize=1g\nthinktime=100\n"
        b"[a]\nstonewall\nnumjobs=3\nrandom_distribution=zipf:1.2\n[b]\nrw=write:8k\nbs=4k,128k\noffset=10%\nrate_iops=50\n",
    ),
    "fio-command": (
        b"$ sudo fio --name=a --rw randrw --bs=4k,64k --time_based \\\n  --rwmixread=70 --name b --rw=read > out.txt\n"
        b"for i in 1 2; do\n/usr/bin/fio -name=c -filename=/dev/sdb:/dev/sdc -size='1g' -thinktime=1ms; done\n",
    ),
}
LATENCY_LOGS = _data("fio_lat.1.log", "fio_clat_without_offset.1.log")
SYSSTAT: dict[str, tuple[bytes, ...]] = {
    "iostat-json": _data("iostat.json"),
    "iostat-text": _data("iostat.txt", "iostat_m.txt"),
    "sadf-json": _data("sadf.json"),
    "sar-text": _data("sar.txt"),
}
RECORDINGS = {kind: (text.encode(),) for kind, (text, *_) in WORKED_RECORDINGS.items()}
BENCHMARKS: dict[str, tuple[bytes, ...]] = {
    "diskspd-text": (
        test_benchmarks.diskspd().encode(),
        test_benchmarks.DISKSPD.format(flags="-rdpct90/10 -g50 -j5 -i10 -Sh", parameters="").encode(),
    ),
    "diskspd-xml": (test_benchmarks.DISKSPD_XML.format(limit=100).encode(),),
    "vdbench-flatfile": (test_benchmarks.FLAT.encode(),),
    "vdbench-summary": (test_benchmarks.SUMMARY.encode(),),
    "elbencho": (test_benchmarks.ELBENCHO.encode(),),
    "sysbench-fileio": (test_benchmarks.SYSBENCH.encode(), test_benchmarks.SYSBENCH_1_1.encode()),
    "dd": (quick.DD.encode(), quick.DD.replace("dsync", "direct").encode()),
    "hdparm": (quick.HDPARM.encode(),),
    "pg-test-fsync": (quick.PG.encode(),),
    "crystaldiskmark": (quick.CDM.encode(),),
    "rados-bench": (quick.RADOS.encode(),),
    "bonnie": (quick.BONNIE.encode(), quick.BONNIE_2.encode()),
}
POOLS = tuple(text.encode() for text in (pool_files.STATUS, pool_files.RESILVER))
ARCSTATS = (pool_files.arcstats().encode(), test_pools.ARCSTAT.encode())
ARRAYS: dict[str, tuple[bytes, ...]] = {
    "mdstat": _data("arrays/mdstat.txt"),
    "mdadm-detail": _data("arrays/detail.txt"),
    "storcli": _data("arrays/storcli.txt"),
    "megacli": _data("arrays/megacli.txt"),
    "ssacli": _data("arrays/ssacli.txt"),
    "arcconf": _data("arrays/arcconf.txt"),
}
LSBLK = _data("arrays/lsblk.json")
LISTED_POOLS = (*POOLS, *_data("arrays/zpool-list.txt"))
LATENCIES: dict[str, tuple[bytes, ...]] = {
    "biolatency": tuple(text.encode() for text in (test_latencies.BCC, test_latencies.BY_FLAGS, test_latencies.JSON)),
    "bpftrace-histogram": (test_latencies.BPFTRACE.encode(),),
}
HARDWARE = _data("smartctl-hdd.json", "smartctl-no-drive.json", "lsblk.json")


def _vscsi(version: int, n: int = 6) -> bytes:
    commands, ver = (0x28, 0x2A, 0x08, 0x35, 0x8A, 0x28), version << 8
    if version == 1:
        rows = (struct.pack("<IIIHHQQ", i, 4096, 1, commands[i], ver, i * 80, 10**9 + i * 700) for i in range(n))
    else:
        rows = (struct.pack("<HHIIIQQQ", commands[i], ver, i, 8192, 1, i * 90, 10**9 + i, 300) for i in range(n))
    return b"".join(rows)


TRACES: dict[str, tuple[bytes, ...]] = {name: (text.encode(),) for name, (text, _) in WORKED.items()} | {
    "blkparse": _data("blkparse.txt"),
    "blkparse-dispatch": _data("blkparse.txt"),
    "fio-iolog2": _data("iolog2.txt"),
    "fio-iolog3": _data("iolog3.txt"),
    "fio-log": (*_data("fio_lat.1.log"), b"12, 345, 0, 4096, 8192, 0\n13, 99, 1, 512, 0, 0\n"),
    "biosnoop": (
        b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n1.0 my job 7 sda W 8 4096 2.0\n3.0 x 7 sda R 8 512 1.0\n",
    ),
    "systor17": (
        b"Timestamp,Response,IOType,LUN,Offset,Size\n1455592804.5,0.001,R,0,4096,8192\n1455592804.75,,W,1,0,512\n",
    ),
    "vscsi1": (_vscsi(1),),
    "vscsi2": (_vscsi(2),),
    "oracle-general": (b"".join(struct.pack("<IQIq", 10 * i, 7 * i, 4096, -1) for i in range(6)),),
}
#: Any file: a reader also meets what is meant for another one. The long ones are left to their own checks.
ANY = tuple(
    seed
    for group in (
        *TRACES.values(),
        *FIO.values(),
        LATENCY_LOGS,
        *SYSSTAT.values(),
        *RECORDINGS.values(),
        *BENCHMARKS.values(),
        *ARRAYS.values(),
        *LATENCIES.values(),
        HARDWARE,
        LSBLK,
        LISTED_POOLS,
        ARCSTATS,
    )
    for seed in group
    if len(seed) < 4000
)

EXAMPLES = Path(__file__).parents[2] / "examples"
