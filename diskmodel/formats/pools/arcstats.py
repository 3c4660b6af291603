"""The cache of OpenZFS (ARC) as its counters show it: /proc/spl/kstat/zfs/arcstats, or sysctl of FreeBSD."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diskmodel.formats.faults import LineError, file_error

#: Linux: a line of the kernel's statistics, the names of its columns, then name, type and value.
_KSTAT = re.compile(r"\d+ \d+ 0x[0-9a-f]+ \d+ \d+ \d+ \d+\s*\Z")
_COLUMNS = re.compile(r"name\s+type\s+data\s*\Z")
_LINUX = re.compile(r"([a-z]\w*)\s+(\d)\s+(-?\d{1,20})\s*\Z", re.ASCII)
_FREEBSD = re.compile(r"kstat\.zfs\.misc\.arcstats\.(\w+)\s*[:=]\s*(-?\d{1,20})\s*\Z", re.ASCII)
_COMMAND = re.compile(r"(?:.*[#$%>❯]\s+)?(?:sudo\s+)?(?:cat|sysctl)\s.*arcstats\b.*\Z")
#: Seconds or a date between two snapshots.
_TIME = re.compile(r"\d{9,}(?:\.\d+)?\Z|.*\b\d{1,2}:\d\d:\d\d\b")
#: Counters without which nothing can be said.
_NEEDED = ("hits", "misses", "size", "c_max", "demand_data_hits", "demand_data_misses")
#: Kinds of reads that are counted apart.
_KINDS = ("demand_data", "demand_metadata", "prefetch_data", "prefetch_metadata")
_RECORD = "cat /proc/spl/kstat/zfs/arcstats (FreeBSD: sysctl kstat.zfs.misc.arcstats)"


@dataclass(frozen=True)
class Reads:
    """Reads of blocks of one kind: found, being fetched by another read, and read from disks."""

    hits: int
    io_hits: int
    misses: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.hits + self.io_hits + self.misses

    @property
    def hit_ratio(self) -> float | None:
        """Share that was found; None without any."""
        return self.hits / self.n if self.n else None


@dataclass(frozen=True)
class ArcFacts:
    """What the counters show.

    Attributes
    ----------
    reads : mapping of str to Reads
        "demand_data" (what programs read), "demand_metadata", "prefetch_data", "prefetch_metadata".
    size_bytes, target_bytes, max_bytes : int
        What the cache holds, what it aims for (c) and what it may hold (c_max).
    l2_reads : Reads
        Misses that went on to cache devices (L2ARC).
    l2_size_bytes : int
        Of these devices; 0: there is none.
    is_interval : bool
        The reads are those between two snapshots; False: since the module was loaded.
    """

    reads: Mapping[str, Reads] = field(default_factory=dict)
    size_bytes: int = 0
    target_bytes: int = 0
    max_bytes: int = 0
    l2_reads: Reads = Reads(0, 0, 0)
    l2_size_bytes: int = 0
    is_interval: bool = False

    @property
    def hit_ratio(self) -> float | None:
        """Share of the reads of data by programs that needed no disk; None without any."""
        return self.reads["demand_data"].hit_ratio


def is_arcstats(text: str) -> bool:
    """Whether a text holds the counters of the ARC."""
    return len(re.findall(r"^(?:kstat\.zfs\.misc\.arcstats\.)?demand_data_(?:hits|misses)\b", text, re.M)) >= 2


def arc_of_texts(texts: Sequence[tuple[str, str]]) -> ArcFacts:
    """Return what one snapshot of the counters shows, or several: the reads between the first and the last.

    Parameters
    ----------
    texts : sequence of (str, str)
        Texts with the names of their files; a text may hold several snapshots.

    Raises
    ------
    FormatError
        When counters are missing, or went down between two snapshots.
    LineError
        For a line that is none.
    """
    snapshots = [(one, source) for text, source in texts for one in _snapshots(text, source)]
    first, (last, source) = snapshots[0][0], snapshots[-1]
    is_interval = len(snapshots) > 1
    if not is_interval:
        first = {}
    counted = {name: last.get(name, 0) - first.get(name, 0) for name in last}
    names = {f"{kind}_{what}" for kind in _KINDS for what in ("hits", "iohits", "misses")} & counted.keys()
    if down := sorted(name for name in names if counted[name] < 0):
        rule = f"has a smaller {down[0]} than the snapshot before it: the machine was restarted, or the order is wrong"
        raise file_error(source, rule, "give snapshots of one run of the machine, in their order")
    reads = {
        kind: Reads(*(counted.get(f"{kind}_{what}", 0) for what in ("hits", "iohits", "misses"))) for kind in _KINDS
    }
    return ArcFacts(
        reads,
        size_bytes=last["size"],
        target_bytes=last.get("c", last["c_max"]),
        max_bytes=last["c_max"],
        l2_reads=Reads(counted.get("l2_hits", 0), 0, counted.get("l2_misses", 0)),
        l2_size_bytes=last.get("l2_size", 0),
        is_interval=is_interval,
    )


def _snapshots(text: str, source: str) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        stripped = line.strip()
        if not stripped or _KSTAT.match(stripped) or _COLUMNS.match(stripped) or _COMMAND.match(stripped):
            continue
        linux, freebsd = _LINUX.match(stripped), _FREEBSD.match(stripped)
        if linux is None and freebsd is None:
            if _TIME.match(stripped):
                continue
            rule = "is no line of arcstats: a name, a type and a whole number"
            raise LineError(source, number, 0, "", line, rule, f"give the output of {_RECORD} as it is")
        name, value = (linux[1], linux[3]) if linux else (freebsd[1], freebsd[2]) if freebsd else ("", "0")
        if not found or name in found[-1]:
            found.append({})
        found[-1][name] = int(value)
    for at, one in enumerate(found or [{}], start=1):
        if missing := [name for name in _NEEDED if name not in one]:
            which = f"snapshot {at} " if len(found) > 1 else ""
            raise file_error(source, f"{which}has no {missing[0]}", f"give the whole output of {_RECORD}")
        if negative := next((name for name in _NEEDED if one[name] < 0), ""):
            raise file_error(source, f"has a negative {negative}", f"give the output of {_RECORD} as it is")
    return found
