"""Reports of nfsiostat (nfs-utils), also of versions that print each figure in a line of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping

from diskmodel.formats.faults import LineError
from diskmodel.formats.sysstat.figures import Sample, completed
from diskmodel.formats.sysstat.tables import Recording

_MOUNT = re.compile(r"(\S.*) mounted on (.+):\s*\Z")
_TABLE = re.compile(r"(read|write):\s+ops/s\s+kB/s\s+kB/op\s+retrans\s+avg RTT \(ms\)\s+avg exe \(ms\)(.*)\Z")
_TOTAL = re.compile(r"ops?/s\s+rpc bklog\s*\Z")
_FIGURE = re.compile(r"\d{1,18}(?:\.\d{1,9})?\Z", re.ASCII)
#: ops/s, kB/s, kB/op, retransmissions, round trip, execution.
_N_FIGURES = 6


def is_nfsiostat(text: str) -> bool:
    """Whether a text holds a report of nfsiostat."""
    return any(_TABLE.match(line.strip()) for line in text[:65536].split("\n"))


def read_nfsiostat(text: str, source: str) -> Recording:
    """Return the reports by mount point; the first of each covers the time since it was mounted, and is left out.

    Raises
    ------
    LineError
        For a table that is cut short.
    """
    reports: dict[str, list[dict[str, list[float]]]] = {}
    mount, open_as = "NFS", ""
    opened_at = 0
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if found := _MOUNT.match(stripped):
            mount, open_as = found[2], ""
            reports.setdefault(mount, []).append({})
        elif _TOTAL.match(stripped):
            if not reports.get(mount) or "total" in reports[mount][-1]:
                reports.setdefault(mount, []).append({})
            open_as = "total"
            reports[mount][-1][open_as] = []
        elif table := _TABLE.match(stripped):
            if not reports.get(mount) or table[1] in reports[mount][-1]:
                reports.setdefault(mount, []).append({})
            open_as, opened_at = table[1], number
            reports[mount][-1][open_as] = []
        elif open_as:
            words = [word for word in stripped.split() if not word.startswith("(")]
            if not words or not all(map(_FIGURE.match, words)):
                open_as = "" if words else open_as
                continue
            reports[mount][-1][open_as] += [float(word) for word in words]
    return _recording(reports, source, lines, opened_at)


def _recording(
    reports: Mapping[str, list[dict[str, list[float]]]], source: str, lines: list[str], opened_at: int
) -> Recording:
    found = Recording()
    n_reports = max((len(own) for own in reports.values()), default=0)
    others = 0.0
    for place in range(n_reports):
        sample: Sample = {}
        for mount, own in reports.items():
            if place >= len(own):
                continue
            read, write = own[place].get("read", []), own[place].get("write", [])
            if len(read) < _N_FIGURES or len(write) < _N_FIGURES:
                if place == n_reports - 1 and n_reports > 1:
                    found.notes.append("the last report is cut short and was left out")
                    continue
                line = lines[opened_at - 1] if opened_at else ""
                raise LineError(source, max(opened_at, 1), 0, "", line, "begins a table of nfsiostat that is cut short")
            total = (own[place].get("total") or [0.0])[0]
            others = max(others, total - read[0] - write[0])
            sample[mount] = completed(
                {
                    "reads_per_s": read[0],
                    "writes_per_s": write[0],
                    "read_bytes_per_s": read[1] * 1024,
                    "write_bytes_per_s": write[1] * 1024,
                    "read_await_ns": read[5] * 1e6,
                    "write_await_ns": write[5] * 1e6,
                }
            )
        if sample:
            found.samples.append(sample)
    found.leave_out_first("the file system was mounted", "nfsiostat 1 600")
    if others > 0.5:
        found.notes.append(
            f"up to {others:.3g} operations per second that neither read nor write (attributes, names) are left out"
        )
    found.notes.append(
        "these are requests of one client to a file server, after the client's cache: the server's disks see others"
    )
    return found
