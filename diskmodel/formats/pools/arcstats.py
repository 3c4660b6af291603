"""The cache of OpenZFS (ARC) as its counters show it: /proc/spl/kstat/zfs/arcstats, or sysctl of FreeBSD."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from diskmodel.formats.faults import LineError, file_error
from diskmodel.loading import dataclass

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
#: Columns of arcstat that are read, the time of each of its lines, and a figure.
_OF_TABLE = ("ddread", "ddh%", "size", "c")
_CLOCK = re.compile(r"\d{1,2}:\d\d:\d\d\Z")
_CELL = re.compile(r"(\d{1,18}(?:[.,]\d{1,6})?)([KMGTPEZ]?)\Z", re.ASCII)
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
    """Whether a text holds the counters of the ARC, or a table of them by arcstat."""
    if any(_is_table_head(line.split()) for line in text[:65536].split("\n")):
        return True
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
    tables = [
        (text, source) for text, source in texts if any(_is_table_head(line.split()) for line in text.split("\n"))
    ]
    if tables:
        if len(texts) > 1:
            rule = "is a table of arcstat, which covers a time of its own"
            raise file_error(tables[0][1], rule, "give it alone, or snapshots of the counters")
        return _of_table(*tables[0])
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


# ---------------------------------------------------------------- arcstat


def _is_table_head(words: list[str]) -> bool:
    return (
        len(words) > 2
        and words[0] == "time"
        and "read" in " ".join(words)
        and {"size", "arcsz", "c"} & {*words} != set()
    )


def _of_table(text: str, source: str) -> ArcFacts:
    """Return what arcstat (zarcstat) printed; its first line counts since the module was loaded."""
    columns: list[str] = []
    rows: list[dict[str, float]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        words = line.split()
        if _is_table_head(words):
            columns = words
            if missing := [name for name in _OF_TABLE if name not in columns]:
                rule = f"has no column {missing[0]}, the reads of data by programs"
                fix = "record with arcstat -f time,ddread,ddh%,size,c 10 60, or take snapshots of the counters"
                raise LineError(source, number, 0, "", line, rule, fix)
        elif words and columns:
            if len(words) != len(columns) or not _CLOCK.match(words[0]):
                rule = f"is no line of arcstat: a time and {len(columns) - 1} figures"
                raise LineError(source, number, 0, "", line, rule, "give its output as it was printed")
            cells = dict(zip(columns, words, strict=True))
            rows.append({name: _cell(cells[name], name, (source, number, line)) for name in _OF_TABLE})
    if not rows:
        raise file_error(source, "is a table of arcstat without a line", "record with arcstat 10 60")
    of_interval = rows[1:] or rows
    n = sum(row["ddread"] for row in of_interval)
    hits = sum(row["ddread"] * min(row["ddh%"], 100.0) / 100 for row in of_interval)
    last, none = of_interval[-1], Reads(0, 0, 0)
    return ArcFacts(
        {kind: none for kind in _KINDS} | {"demand_data": Reads(round(hits), 0, round(n) - round(hits))},
        size_bytes=round(last["size"]),
        target_bytes=round(last["c"]),
        max_bytes=round(last["c"]),
        is_interval=len(rows) > 1,
    )


def _cell(word: str, name: str, place: tuple[str, int, str]) -> float:
    match = _CELL.match(word)
    if match is None:
        source, number, line = place
        raise LineError(source, number, 0, name, line, "must be a number, with K, M, G … behind it or without")
    scale = 1024.0 if name in ("size", "c") else 1000.0
    return float(match[1].replace(",", ".")) * scale ** " KMGTPEZ".index(match[2] or " ")
