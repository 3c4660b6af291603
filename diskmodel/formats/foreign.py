"""Files of other programs that hold no load or no response times: what they are, and what to do instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from diskmodel.formats.trace.own_csv import HEADER as OWN_HEADER

#: First bytes of binary files → what they are and what turns them into text.
_BLKTRACE = re.compile(rb"[\x00-\xff]\x74\x61\x65|\x65\x61\x74[\x00-\xff]", re.DOTALL)


@dataclass(frozen=True)
class Foreign:
    """A file that is recognized but cannot be used."""

    rule: str
    fix: str


_TEXTS: tuple[tuple[str, str, str], ...] = (
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
        r"^\s*procs -+memory-+|^\s*kthr\s+memory\s+page|^\s*r\s+b\s+\S*\s*(swpd|avm|swap)|memory\s+page\s+executable",
        "is output of vmstat, which does not count disks' requests",
        "record with iostat -x 1 600",
    ),
    (
        r"^\s*capacity\s+operations\s+bandwidth",
        "is output of zpool iostat, whose rates are of pools, not disks",
        "record with iostat -x 1 600",
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
