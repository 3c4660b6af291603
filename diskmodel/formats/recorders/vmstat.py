"""Reports of `vmstat -d` (procps), whose counters are those since the machine was started."""

from __future__ import annotations

import re
from datetime import datetime

from diskmodel.formats.faults import LineError
from diskmodel.formats.recorders.counters import recording_of
from diskmodel.formats.sysstat.tables import Recording

_HEADING = re.compile(r"disk-+ -+reads-+ -+writes-+ -+IO-+")
_ROW = re.compile(r"(\S{1,64})((?:\s+\d{1,18}){10})(?:\s+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d))?\s*\Z", re.ASCII)
_FIX = "record with vmstat -d -t 1 600, or with iostat -x 1 600"


def is_vmstat_d(text: str) -> bool:
    """Whether a text is output of vmstat -d."""
    return bool(re.search(rf"^{_HEADING.pattern}", text[:65536], re.MULTILINE))


def read_vmstat_d(text: str, source: str) -> Recording:
    """Return the differences of the reports.

    Raises
    ------
    LineError
        When there is one report only, or reports have no times (-t).
    """
    snapshots: list[tuple[float | None, dict[str, dict[str, float]], int]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        row = _ROW.match(line.strip())
        if row is None:
            continue
        reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms, _, busy_s = map(float, row[2].split())
        if not snapshots or row[1] in snapshots[-1][1]:
            snapshots.append((None, {}, number))
        time = _seconds(row[3]) if row[3] else snapshots[-1][0]
        snapshots[-1] = (time, snapshots[-1][1], snapshots[-1][2])
        snapshots[-1][1][row[1]] = {
            "reads": reads,
            "writes": writes,
            "read_bytes": read_sectors * 512,
            "write_bytes": write_sectors * 512,
            "read_s": read_ms / 1e3,
            "write_s": write_ms / 1e3,
            "busy_s": busy_s,
            "weighted_s": (read_ms + write_ms) / 1e3,
        }
    if len(snapshots) < 2:
        rule = "is the heading of output of vmstat -d with one report: rates need two or more"
        raise LineError(source, 1, 0, "", lines[0], rule, _FIX)
    known = [(time, counters) for time, counters, _ in snapshots if time is not None]
    if len(known) < len(snapshots):
        first = next(number for time, _, number in snapshots if time is None)
        rule = "is of a report of vmstat -d without its time: rates cannot be known"
        raise LineError(source, first, 0, "", lines[first - 1], rule, _FIX)
    return recording_of(known)


def _seconds(stamp: str) -> float | None:
    try:
        return (datetime.fromisoformat(stamp) - datetime(1970, 1, 1)).total_seconds()
    except ValueError:
        return None
